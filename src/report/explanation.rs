//! What a code means and what to do about it, from the page that documents them all.

use std::ops::ControlFlow;

use serde::Serialize;

/// The page; each of its tables lists codes, with their meaning and, mostly, what to do.
const PAGE: &str = include_str!("../../docs/exit-codes.md");

/// One code explained.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The code as it stands in results: a reason, a finding, a notice or an exit code.
    pub code: String,
    /// The kind of code: the heading of its part of the page.
    pub kind: String,
    /// What it means, one sentence.
    pub meaning: String,
    /// What to do about it, where there is something to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl Explanation {
    /// Every code, in the order of the page. A word may stand for more than one (a reason and a notice, say).
    #[must_use]
    pub fn all() -> Vec<Self> {
        let (mut kind, mut all) = ("", Vec::new());
        for line in PAGE.lines() {
            if let Some(heading) = line.strip_prefix("## ") {
                kind = heading;
            } else if let Some(explanation) = Self::of_row(kind, line) {
                all.push(explanation);
            }
        }
        all
    }

    /// What a code means; where there is no such code, the closest one.
    pub fn find(code: &str) -> ControlFlow<Option<String>, Vec<Self>> {
        let all = Self::all();
        let found: Vec<Self> = all.iter().filter(|it| it.code == code).cloned().collect();
        if !found.is_empty() {
            return ControlFlow::Continue(found);
        }
        let distance = |it: &&Self| strsim::osa_distance(&it.code, code);
        let closest = all.iter().min_by_key(distance).filter(|it| distance(it) <= it.code.len() / 3);
        ControlFlow::Break(closest.map(|it| it.code.clone()))
    }

    /// Reads a row of a table; headings and rules are none.
    fn of_row(kind: &str, line: &str) -> Option<Self> {
        let cells: Vec<&str> = line.strip_prefix('|')?.strip_suffix('|')?.split('|').map(str::trim).collect();
        let (code, rest) = cells.split_first()?;
        let code = match code.strip_prefix('`').and_then(|code| code.strip_suffix('`')) {
            Some(code) => code,
            None if code.parse::<u8>().is_ok() => code,
            None => return None,
        };
        let remedy = rest.get(1).filter(|remedy| !remedy.is_empty()).map(|remedy| plain(remedy));
        Some(Self { code: code.to_owned(), kind: kind.to_owned(), meaning: plain(rest.first()?), remedy })
    }
}

/// The text without the page's markup.
fn plain(text: &str) -> String {
    text.replace('`', "").replace("<sup>", "^").replace("</sup>", "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Reason;
    use crate::report::{FindingCode, NoticeCode};

    #[test]
    fn every_code_is_explained() {
        let all = Explanation::all();
        let explained = |code: &str, kind: &str| {
            let found: Vec<_> =
                all.iter().filter(|it| it.code == code && it.kind.starts_with(kind)).collect();
            assert_eq!(found.len(), 1, "{kind} {code}");
            found[0].clone()
        };
        for reason in Reason::ALL {
            let it = explained(reason.code(), "Reasons: why a document is refused");
            assert_eq!(it.remedy.as_deref(), Some(reason.advice()), "{reason}");
        }
        for finding in FindingCode::ALL {
            assert!(explained(finding.code(), "Findings").remedy.is_some(), "{finding}");
        }
        for notice in NoticeCode::ALL {
            let _ = explained(notice.code(), "Notices");
        }
        for exit in ["0", "1", "2", "3", "4", "5", "70", "74", "130", "141", "143"] {
            let _ = explained(exit, "Exit codes");
        }
    }

    #[test]
    fn a_mistyped_code_gets_the_closest_one_and_nonsense_none() {
        let closest = |code| match Explanation::find(code) {
            ControlFlow::Break(closest) => closest,
            ControlFlow::Continue(found) => panic!("{found:?}"),
        };
        assert_eq!(closest("key-to-long").as_deref(), Some("key-too-long"));
        assert_eq!(closest("zebra"), None);
    }

    #[test]
    fn a_word_with_two_meanings_has_both() {
        let ControlFlow::Continue(found) = Explanation::find("foreign") else { panic!("no such code") };
        assert_eq!(found.len(), 2);
    }
}
