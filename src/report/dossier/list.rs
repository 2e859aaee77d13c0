use std::ops::ControlFlow;
use std::path::PathBuf;

use serde::Serialize;

use crate::report::{Explanation, Finding, FindingCode, FindingsAccount};

/// How many findings of one code a report shows; all of them are in the findings file.
const EXAMPLES: usize = 10;

/// What was found, by code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FindingList {
    /// How many in all.
    pub total: u64,
    /// The file with all of them.
    #[serde(serialize_with = "crate::report::verb::path")]
    pub file: Option<PathBuf>,
    /// One for each code, the most frequent first.
    pub groups: Vec<FindingGroup>,
}

/// The findings of one code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FindingGroup {
    /// The stable code.
    pub code: FindingCode,
    /// How many there are.
    pub count: u64,
    /// What the code means, as `rekey explain` says it.
    pub meaning: String,
    /// What to do, as `rekey explain` says it.
    pub remedy: String,
    /// The first few.
    pub examples: Vec<Finding>,
}

impl FindingList {
    /// Puts findings in order and says what each code means.
    #[must_use]
    pub fn of(account: &FindingsAccount) -> Self {
        let mut groups: Vec<_> = account
            .by_code
            .iter()
            .map(|(code, count)| {
                let (meaning, remedy) = explained(*code);
                let examples = account.first.iter().filter(|finding| finding.code == *code);
                FindingGroup {
                    code: *code,
                    count: *count,
                    meaning,
                    remedy,
                    examples: examples.take(EXAMPLES).cloned().collect(),
                }
            })
            .collect();
        groups.sort_by(|a, b| b.count.cmp(&a.count).then(a.code.cmp(&b.code)));
        Self { total: account.total, file: account.file.clone(), groups }
    }
}

/// What a code means and what to do. A word may be a reason and a notice, say: the page's part decides.
fn explained(code: FindingCode) -> (String, String) {
    let part = match code {
        FindingCode::Refused(_) => "Reasons: why a document is refused",
        _ => "Findings",
    };
    let ControlFlow::Continue(found) = Explanation::find(code.code()) else { return Default::default() };
    let found = found.into_iter().find(|it| it.kind.starts_with(part));
    found.map(|it| (it.meaning, it.remedy.unwrap_or_default())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Reason;

    #[test]
    fn every_code_has_a_meaning_and_a_remedy() {
        let refused = Reason::ALL.iter().map(|reason| FindingCode::Refused(*reason));
        for code in FindingCode::ALL.iter().copied().chain(refused) {
            let (meaning, remedy) = explained(code);
            assert!(!meaning.is_empty() && !remedy.is_empty(), "{code}");
        }
    }

    #[test]
    fn the_most_frequent_code_comes_first_with_its_first_examples() {
        let first = (0..30).map(|line| Finding {
            line: Some(line),
            ..Finding::new(FindingCode::Missing, "It is in the archive and not in the store.")
        });
        let by_code = [(FindingCode::Missing, 70), (FindingCode::Different, 2), (FindingCode::Doubled, 100)];
        let account = FindingsAccount {
            total: 172,
            by_code: by_code.into(),
            first: first.collect(),
            file: Some("a.findings.ndjson".into()),
            ..FindingsAccount::default()
        };
        let list = FindingList::of(&account);
        let codes: Vec<_> = list.groups.iter().map(|group| (group.code, group.count)).collect();
        assert_eq!(codes, [by_code[2], by_code[0], by_code[1]]);
        assert_eq!(list.groups[1].examples.len(), EXAMPLES);
        assert_eq!(list.groups[1].examples[0].line, Some(0));
    }
}
