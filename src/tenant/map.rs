//! A tenant map: rows that say which tenant a key, or every key of a form, belongs to.

mod exact;
mod lines;
mod patterns;
mod rows;

use super::claims::{Claim, Claims, Settled};
use crate::{
    Error, Result,
    check::{Reason, Refusal},
    sort::{SortedTable, Sorter},
};
use lines::{LineMarks, LineSet};
use patterns::{CompiledExpressions, Expressions, Prefixes};
use rows::{Match, Rows};
use std::{path::Path, sync::Arc};

/// How many unused rows are named.
const NAMED_ROWS: usize = 10;

/// The rows of a CSV file, ready to be asked for streams.
///
/// An exact row beats the row with the longest prefix, which beats regular expressions. Rows with a type match
/// streams of that type only; within a rank every match counts, and all must name one tenant.
/// A clone shares the rows and what is known of their use, so that each thread asks its own.
#[derive(Clone)]
pub struct TenantMap {
    exact: SortedTable,
    rows: Arc<SharedRows>,
    claims: Claims,
    /// The stream that `claims` is about.
    asked: Option<(String, String)>,
}

/// What all clones of a map share besides the exact rows.
struct SharedRows {
    prefixes: Prefixes,
    expressions: CompiledExpressions,
    lines: LineSet,
    /// The lines of the rows that decided a stream.
    used: LineMarks,
    sha256: String,
}

/// The rows of a map that gave no stream its tenant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnusedRows {
    /// How many rows the map has.
    pub rows: u64,
    /// How many of them matched nothing, or only what a row of a higher rank matched too.
    pub unused: u64,
    /// The lines on which the first ten of these begin.
    pub first_lines: Vec<u64>,
}

impl TenantMap {
    /// Reads a map. Exact rows beyond `budget_bytes` are spilled to a temporary file in `spill_dir`.
    ///
    /// A header or row that cannot be used is a usage error that names its line.
    pub fn read(path: &Path, spill_dir: &Path, budget_bytes: usize) -> Result<Self> {
        Self::read_watched(path, spill_dir, budget_bytes, |_| ())
    }

    /// Reads a map and hands the tenant of each row to `watch`.
    pub fn read_watched(
        path: &Path,
        spill_dir: &Path,
        budget_bytes: usize,
        mut watch: impl FnMut(&str),
    ) -> Result<Self> {
        let mut rows = Rows::open(path)?;
        let mut sorter = Sorter::new(spill_dir, budget_bytes);
        let (mut prefixes, mut expressions) = (Prefixes::default(), Expressions::default());
        let (mut lines, mut payload) = (LineSet::default(), Vec::new());
        while let Some(row) = rows.next()? {
            lines.insert(row.line);
            watch(row.tenant);
            match row.kind {
                Match::Exact => exact::push(&mut sorter, &row, &mut payload)?,
                Match::Prefix => prefixes.add(&row),
                Match::Regex => {
                    let (line, added) = (row.line, expressions.add(&row));
                    added.map_err(|what| rows.error(line, &what))?;
                }
            }
        }
        if lines.count() == 0 {
            return Err(Error::usage(format!("The tenant map {} has a header and no row", path.display())));
        }
        let expressions = expressions.compile().map_err(|e| {
            Error::usage(format!(
                "The regular expressions of the tenant map {} are too large together: {e}",
                path.display()
            ))
            .hint("Use prefix rows where the expressions only end in `.*`.")
        })?;
        let (used, sha256) = (lines.marks(), rows.sha256());
        Ok(Self {
            exact: sorter.into_table()?,
            rows: Arc::new(SharedRows { prefixes, expressions, lines, used, sha256 }),
            claims: Claims::default(),
            asked: None,
        })
    }

    /// Finds the tenant of the stream with this type and legacy key. Asking in the order of the keys is fastest.
    ///
    /// The outer error is a temporary file that cannot be read, the inner one `tenant-missing` or
    /// `tenant-ambiguous`.
    pub fn find(&mut self, type_name: &str, key: &str) -> Result<Result<&str, Refusal>> {
        let asked = self.asked.as_ref().is_some_and(|(t, k)| t == type_name && k == key);
        if !asked {
            self.asked = None;
            self.claims.clear();
            self.ask(type_name, key)?;
            self.asked = Some((type_name.to_owned(), key.to_owned()));
        }
        Ok(match self.claims.settle() {
            Settled::Agreed(tenant) => Ok(tenant),
            Settled::Unclaimed => {
                Err(Refusal::new(Reason::TenantMissing, format!("no row of the tenant map matches {key:?}")))
            }
            Settled::Disputed(first, other) => Err(ambiguous(key, first, other)),
        })
    }

    fn ask(&mut self, type_name: &str, key: &str) -> Result<()> {
        let Self { exact, rows, claims, .. } = self;
        let mut add = |line: u64, tenant: &str| {
            claims.add(line, tenant);
            rows.used.set(line);
        };
        if exact::find(exact, type_name, key, &mut add)? {
            return Ok(());
        }
        let mut prefixes = rows.prefixes.find(type_name, key).peekable();
        if prefixes.peek().is_some() {
            prefixes.for_each(|row| add(row.line, &row.tenant));
        } else {
            rows.expressions.find(type_name, key).for_each(|row| add(row.line, &row.tenant));
        }
        Ok(())
    }

    /// How many rows there are.
    pub fn rows(&self) -> u64 {
        self.rows.lines.count()
    }

    /// The SHA-256 of the file, in hex.
    pub fn sha256(&self) -> &str {
        &self.rows.sha256
    }

    /// The rows that gave no stream its tenant so far, whichever clone was asked.
    pub fn unused_rows(&self) -> UnusedRows {
        let unused = || self.rows.lines.unmarked(&self.rows.used);
        UnusedRows {
            rows: self.rows(),
            unused: unused().count() as u64,
            first_lines: unused().take(NAMED_ROWS).collect(),
        }
    }
}

fn ambiguous(key: &str, first: &Claim, other: &Claim) -> Refusal {
    let detail = format!(
        "the tenant map gives {key:?} the tenant {:?} on line {} and {:?} on line {}",
        first.tenant, first.line, other.tenant, other.line
    );
    Refusal::new(Reason::TenantAmbiguous, detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn map(text: &str) -> Result<TenantMap> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("map.csv");
        std::fs::write(&path, text).unwrap();
        TenantMap::read(&path, dir.path(), 1 << 20)
    }

    fn find(map: &mut TenantMap, type_name: &str, key: &str) -> Result<String, Reason> {
        map.find(type_name, key).unwrap().map(str::to_owned).map_err(|refusal| refusal.reason)
    }

    #[test]
    fn exact_beats_the_longest_prefix_which_beats_expressions() {
        let mut map =
            map("key,tenant,match\nOrder:7,exact,\nOrder:,short,prefix\nOrder:1,long,prefix\n.*,any,regex\n")
                .unwrap();
        let asked = [
            ("Order:7", "exact"),
            ("Order:12", "long"),
            ("Order:71", "short"),
            ("Order", "any"),
            ("Order:7", "exact"),
        ];
        for (key, tenant) in asked {
            assert_eq!(find(&mut map, "Order", key).as_deref(), Ok(tenant), "{key}");
        }
    }

    #[test]
    fn expressions_match_whole_keys() {
        let mut map = map("key,tenant,match\na|b+,acme,regex\n(?i)x.y,globex,regex\n").unwrap();
        assert_eq!(find(&mut map, "", "bbb").as_deref(), Ok("acme"));
        assert_eq!(find(&mut map, "", "XéY").as_deref(), Ok("globex"));
        for key in ["ab", "xa", "a\n", "xyyy", "x\ny"] {
            assert_eq!(find(&mut map, "", key), Err(Reason::TenantMissing), "{key:?}");
        }
    }

    #[test]
    fn rows_with_a_type_match_streams_of_that_type_only() {
        let mut map = map("key,tenant,type,match\nS-1,acme,Order,\nS-1,globex,Cart,\nS-,initech,Bill,prefix\nS,umbrella,,prefix\n").unwrap();
        let asked = [("Order", "acme"), ("Cart", "globex"), ("Bill", "initech"), ("Other", "umbrella")];
        for (type_name, tenant) in asked {
            assert_eq!(find(&mut map, type_name, "S-1").as_deref(), Ok(tenant), "{type_name}");
        }
    }

    #[test]
    fn rows_of_one_rank_that_disagree_are_refused_naming_both_lines() {
        let rows = [
            "k,acme,,exact\nk,acme,,exact\nk,globex,T,exact",
            "k,acme,,prefix\nk,acme,T,prefix\nk,globex,,prefix",
            "k|j,acme,,regex\nk,acme,,regex\nk+,globex,,regex",
        ];
        for rows in rows {
            let mut map = map(&format!("key,tenant,type,match\n{rows}\n")).unwrap();
            let refusal = map.find("T", "k").unwrap().unwrap_err();
            assert_eq!(refusal.reason, Reason::TenantAmbiguous);
            assert!(refusal.detail.contains("line 2") && refusal.detail.contains("line 4"), "{refusal}");
        }
    }

    #[test]
    fn rows_that_decide_nothing_are_reported() {
        let exact: Vec<_> = (0..20).map(|number| format!("k{number},acme,")).collect();
        let map = map(&format!("key,tenant,match\n{}\nk,globex,prefix\n", exact.join("\n"))).unwrap();
        assert_eq!(map.unused_rows().unused, 21);
        for key in ["k0", "k3", "k-", "nothing"] {
            let _ = map.clone().find("", key).unwrap();
        }
        let expected =
            UnusedRows { rows: 21, unused: 18, first_lines: vec![3, 4, 6, 7, 8, 9, 10, 11, 12, 13] };
        assert_eq!(map.unused_rows(), expected);
    }

    #[test]
    fn maps_without_rows_and_wrong_expressions_are_usage_errors() {
        let cases = [
            ("key,tenant\n", "no row"),
            ("key,tenant,match\na,acme,\n(,acme,regex\n", "Line 3"),
            ("key,tenant,match\na)(?:b,acme,regex\n", "Line 2"),
        ];
        for (text, named) in cases {
            let error = map(text).err().unwrap();
            assert_eq!(error.kind(), crate::ErrorKind::Usage);
            assert!(error.to_string().contains(named), "{error}");
        }
    }

    /// The rule of the command line, the slow way: every row of every rank is tried.
    fn expected(
        rows: &[(String, String, String, &str)],
        type_name: &str,
        key: &str,
    ) -> Result<String, Reason> {
        let matching = |kind: &'static str| {
            rows.iter().filter(move |row| row.3 == kind && (row.2.is_empty() || row.2 == type_name))
        };
        let exact: Vec<_> = matching("exact").filter(|row| row.0 == key).collect();
        let prefixes: Vec<_> = matching("prefix").filter(|row| key.starts_with(&row.0)).collect();
        let longest = prefixes.iter().map(|row| row.0.len()).max();
        let prefixes: Vec<_> = prefixes.into_iter().filter(|row| Some(row.0.len()) == longest).collect();
        let expressions: Vec<_> = matching("regex").filter(|row| row.0 == key).collect();
        let best =
            [exact, prefixes, expressions].into_iter().find(|rank| !rank.is_empty()).unwrap_or_default();
        match best.first() {
            None => Err(Reason::TenantMissing),
            Some(first) if best.iter().all(|row| row.1 == first.1) => Ok(first.1.clone()),
            Some(_) => Err(Reason::TenantAmbiguous),
        }
    }

    proptest! {
        #[test]
        fn precedence_is_that_of_trying_every_row(
            rows in proptest::collection::vec(("[aé]{1,3}", "[xy]", "[TU]?", prop::sample::select(vec!["exact", "prefix", "regex"])), 1..12),
            asked in proptest::collection::vec(("[TU]", "[aé]{0,4}"), 1..8),
        ) {
            let lines: Vec<_> = rows.iter().map(|(key, tenant, only, kind)| format!("{key},{tenant},{only},{kind}")).collect();
            let mut map = map(&format!("key,tenant,type,match\n{}\n", lines.join("\n"))).unwrap();
            for (type_name, key) in asked {
                prop_assert_eq!(find(&mut map, &type_name, &key), expected(&rows, &type_name, &key));
            }
        }
    }
}
