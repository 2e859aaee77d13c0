//! The answers of a call for several documents, each put to its document's place as it comes.

use super::error::{StoreError, StoreErrorKind};

/// An answer for each document of a call, in the documents' order, of which some may not be known yet.
#[derive(Debug)]
pub(super) struct Answers<T>(Vec<Option<T>>);

impl<T: From<StoreError>> Answers<T> {
    /// Waits for so many answers.
    pub(super) fn new(count: usize) -> Self {
        Self((0..count).map(|_| None).collect())
    }

    /// Puts the answer of the document at a place, instead of an earlier one.
    pub(super) fn put(&mut self, at: usize, answer: T) {
        if let Some(place) = self.0.get_mut(at) {
            *place = Some(answer);
        }
    }

    /// Puts the same failure to several places.
    pub(super) fn fail(&mut self, places: &[usize], error: &StoreError) {
        for at in places {
            self.put(*at, error.duplicate().into());
        }
    }

    /// The places whose answer is known and like this.
    #[cfg(any(test, feature = "firestore"))]
    pub(super) fn places(&self, is_like: impl Fn(&T) -> bool) -> Vec<usize> {
        let known = self.0.iter().enumerate();
        known.filter(|(_, answer)| answer.as_ref().is_some_and(&is_like)).map(|(at, _)| at).collect()
    }

    /// All answers; a document without one may or may not have been written.
    pub(super) fn finish(self) -> Vec<T> {
        self.0.into_iter().map(|answer| answer.unwrap_or_else(|| unanswered().into())).collect()
    }
}

/// The failure of a document that the store's answer leaves out.
pub(super) fn unanswered() -> StoreError {
    StoreError::new(StoreErrorKind::UnknownOutcome, "The store gave no answer for a document")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stores::Created;

    #[test]
    fn a_document_without_an_answer_may_have_been_written() {
        let mut answers = Answers::new(3);
        answers.put(0, Created::Written);
        answers.put(7, Created::Written);
        answers.fail(&[1], &StoreError::new(StoreErrorKind::Permanent, "no"));
        assert_eq!(answers.places(|answer| matches!(answer, Created::Written)), [0]);
        let kinds: Vec<_> = answers.finish().iter().map(Created::failure).collect();
        let expected = [None, Some(StoreErrorKind::Permanent), Some(StoreErrorKind::UnknownOutcome)];
        assert_eq!(kinds, expected);
    }
}
