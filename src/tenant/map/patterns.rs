//! The rows that match many keys, prefixes and regular expressions: few enough to be held in memory.

use super::rows::Row;
use regex::{Regex, RegexSet, RegexSetBuilder};
use std::collections::{BTreeMap, HashMap};

/// How large the compiled expressions may become together; the crate's default suits a few dozen.
const COMPILED_BYTES: usize = 256 << 20;

/// A row without its key.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub line: u64,
    pub tenant: Box<str>,
    type_name: Option<Box<str>>,
}

impl Target {
    fn of(row: &Row<'_>) -> Self {
        Self { line: row.line, tenant: row.tenant.into(), type_name: row.type_name.map(Into::into) }
    }

    fn is_for(&self, type_name: &str) -> bool {
        self.type_name.as_deref().is_none_or(|only| only == type_name)
    }
}

/// Prefix rows by the length of their prefix in bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Prefixes(BTreeMap<usize, HashMap<Box<[u8]>, Vec<Target>>>);

impl Prefixes {
    /// Adds a row.
    pub fn add(&mut self, row: &Row<'_>) {
        let prefix = row.key.as_bytes();
        self.0.entry(prefix.len()).or_default().entry(prefix.into()).or_default().push(Target::of(row));
    }

    /// The rows with the longest prefix that `key` begins with.
    pub fn find(&self, type_name: &str, key: &str) -> impl Iterator<Item = &Target> {
        let longest_first = self.0.range(..=key.len()).rev();
        let found = longest_first
            .filter_map(|(length, rows)| rows.get(key.as_bytes().get(..*length)?))
            .map(|rows| rows.iter().filter(|row| row.is_for(type_name)))
            .find(|rows| rows.clone().next().is_some());
        found.into_iter().flatten()
    }
}

/// Regular expressions while they are read.
#[derive(Debug, Default)]
pub(super) struct Expressions {
    patterns: Vec<String>,
    targets: Vec<Target>,
}

impl Expressions {
    /// Adds a row, or says what is wrong with its expression.
    pub fn add(&mut self, row: &Row<'_>) -> Result<(), String> {
        // Alone first: `a)(?:b` would become valid by being put in a group.
        let anchored = format!(r"\A(?:{})\z", row.key);
        let _ = Regex::new(row.key).and_then(|_| Regex::new(&anchored)).map_err(|e| e.to_string())?;
        self.patterns.push(anchored);
        self.targets.push(Target::of(row));
        Ok(())
    }

    /// Compiles all of them into one automaton.
    pub fn compile(self) -> Result<CompiledExpressions, regex::Error> {
        let set = RegexSetBuilder::new(&self.patterns).size_limit(COMPILED_BYTES).build()?;
        Ok(CompiledExpressions { set, targets: self.targets })
    }
}

/// The regex rows, all tried at once.
#[derive(Clone, Debug)]
pub(super) struct CompiledExpressions {
    set: RegexSet,
    targets: Vec<Target>,
}

impl CompiledExpressions {
    /// The rows whose expression matches the whole of `key`.
    pub fn find(&self, type_name: &str, key: &str) -> impl Iterator<Item = &Target> {
        let matches = if self.set.is_empty() { None } else { Some(self.set.matches(key)) };
        matches
            .into_iter()
            .flatten()
            .filter_map(|index| self.targets.get(index))
            .filter(move |target| target.is_for(type_name))
    }
}
