use std::collections::{BTreeMap, BTreeSet};

use crate::Result;
use crate::report::{Finding, Findings};
use crate::rewrite::{StreamId, stream_id};

/// Why a stream stays.
pub(crate) trait Reason: Copy {
    /// The stable word in results.
    fn code(self) -> &'static str;

    /// What is the matter with the document that is the reason, after a colon.
    fn message(self) -> &'static str;
}

/// What is to become of each stream.
#[derive(Debug, Default)]
pub(crate) struct Verdicts {
    kept: BTreeSet<StreamId>,
    /// Reason → documents that stay for it.
    pub reasons: BTreeMap<&'static str, u64>,
    /// Documents judged.
    pub documents: u64,
    /// Documents that are gone already, and how many of them are of streams that stay.
    pub gone: u64,
    pub gone_of_kept: u64,
}

impl Verdicts {
    /// Whether a stream stays.
    pub fn keeps(&self, stream: &[u8]) -> bool {
        self.kept.contains(&stream_id(stream))
    }

    /// Whether no stream stays.
    pub fn is_all(&self) -> bool {
        self.kept.is_empty()
    }

    /// Counts documents that stay; of a stream all of whose documents are gone, there are none.
    pub fn count(&mut self, reason: impl Reason, documents: u64) {
        *self.reasons.entry(reason.code()).or_default() += documents;
    }

    /// How many documents stay.
    pub fn staying(&self) -> u64 {
        self.reasons.values().sum()
    }

    /// How many documents go if nobody writes meanwhile.
    pub fn going(&self) -> u64 {
        self.documents.saturating_sub(self.staying() + self.gone)
    }
}

/// The stream being judged.
pub(crate) struct OpenStream<R> {
    stream: Vec<u8>,
    /// Its documents so far that are to go.
    pub documents: u64,
    /// Those of them that are gone.
    pub gone: u64,
    kept: Option<(R, Finding)>,
}

impl<R> Default for OpenStream<R> {
    fn default() -> Self {
        Self { stream: Vec::new(), documents: 0, gone: 0, kept: None }
    }
}

impl<R: Reason> OpenStream<R> {
    /// The part of an order key that identifies it; nothing for documents of which nobody can tell.
    pub fn stream(&self) -> &[u8] {
        &self.stream
    }

    /// Goes on with the next stream, once this one has ended.
    pub fn begin(&mut self, stream: &[u8]) {
        *self = Self { stream: stream.to_vec(), ..Self::default() };
    }

    /// Keeps it, because of a document; the first reason counts.
    pub fn keep(&mut self, reason: R, document: Finding) {
        let _ = self.kept.get_or_insert((reason, document));
    }

    /// Ends it: its verdict is noted, and one that stays is a finding with the message for its documents that are there
    /// and the reason.
    pub fn end(
        &mut self,
        verdicts: &mut Verdicts,
        findings: &mut Findings,
        message: impl FnOnce(u64, R) -> String,
    ) -> Result<()> {
        let Self { stream, documents, gone, kept } = std::mem::take(self);
        verdicts.documents += documents;
        verdicts.gone += gone;
        // A stream of which nothing is to go stays without a word.
        let Some((reason, document)) = kept.filter(|_| documents > 0) else { return Ok(()) };
        verdicts.gone_of_kept += gone;
        let _ = verdicts.kept.insert(stream_id(&stream));
        verdicts.count(reason, documents - gone);
        findings.push(Finding { message: message(documents - gone, reason), ..document })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::FindingCode;

    #[derive(Clone, Copy)]
    struct Because;

    impl Reason for Because {
        fn code(self) -> &'static str {
            "because"
        }

        fn message(self) -> &'static str {
            "it is so"
        }
    }

    #[test]
    fn a_stream_stays_whole_or_goes_and_what_is_not_to_go_is_not_counted() {
        let (mut verdicts, mut findings) = (Verdicts::default(), Findings::new(None));
        let mut open = OpenStream::default();
        for (stream, documents, gone, kept) in [("a", 3, 1, false), ("b", 3, 1, true), ("c", 0, 0, true)] {
            open.begin(stream.as_bytes());
            (open.documents, open.gone) = (documents, gone);
            if kept {
                open.keep(Because, Finding::new(FindingCode::Kept, ""));
            }
            open.end(&mut verdicts, &mut findings, |documents, _| format!("{documents} stay")).unwrap();
        }
        assert_eq!((verdicts.documents, verdicts.gone, verdicts.gone_of_kept), (6, 2, 1));
        assert_eq!((verdicts.staying(), verdicts.going(), verdicts.is_all()), (2, 2, false));
        assert!(verdicts.keeps(b"b") && !verdicts.keeps(b"a") && !verdicts.keeps(b"c"));
        let account = findings.finish().unwrap();
        assert_eq!((account.total, account.first[0].message.as_str()), (1, "2 stay"));
    }
}
