//! Writes whose answers are settled: what exists is compared, what is unknown is read back before it is
//! sent again.

use std::borrow::Cow;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;

use super::answers::Answers;
use super::{Collection, Created, Guarded, GuardedUpdate, StoreError, StoreErrorKind, guard};
use crate::document::json::Tape;
use crate::document::{Lines, StoreKey, StoreKind, text_field};

/// How often a write is sent whose answer is lost again and again, and the pause after the first loss; each further
/// one is twice as long.
const ROUNDS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(50);

/// What became of one document that was to be created.
#[derive(Debug)]
pub enum Outcome {
    /// It was written by this call.
    Written,
    /// The same document is there: from an earlier run, or from a call whose answer was lost.
    Identical,
    /// A different document stands in the way.
    Conflict(Conflict),
    /// It was not written.
    Failed(StoreError),
}

/// What stands in the way of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// A different document under the same key: its line.
    Different(Box<[u8]>),
    /// A document under another key that holds the same values in a unique index; its name, where the
    /// store tells it.
    UniqueTaken(Option<String>),
    /// The document that was to move is gone, and not under its new key.
    Gone,
    /// The document that was to move is no longer what it was: its line.
    Changed(Box<[u8]>),
}

impl From<StoreError> for Outcome {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

/// Tells whether the document that is there is the one that was to be written, system fields aside.
///
/// A stored document that cannot be read counts as different.
pub fn classify(kind: StoreKind, wanted: &[u8], stored: Box<[u8]>) -> Outcome {
    match guard::is_same(kind, wanted, &stored) {
        Ok(true) => Outcome::Identical,
        _ => Outcome::Conflict(Conflict::Different(stored)),
    }
}

/// Creates documents and settles each; `keys` are the store keys of `lines`. With `in_empty` the collection
/// was empty when the run began and nobody else writes it.
pub async fn create(
    collection: &dyn Collection,
    keys: &[StoreKey],
    lines: &Lines,
    in_empty: bool,
) -> Vec<Outcome> {
    let kind = collection.kind();
    let wanted = |at| lines.get(at).unwrap_or_default();
    let send = |pending: Vec<usize>| {
        async move {
            let batch = subset(lines, &pending);
            let created = if in_empty {
                collection.create_in_empty(&batch).await
            } else {
                collection.create(&batch).await
            };
            let answers = pending.iter().zip(created).map(|(at, created)| match created {
                Created::Written => Answer::Settled(Outcome::Written),
                Created::Exists(Some(stored)) => Answer::Settled(classify(kind, wanted(*at), stored)),
                Created::Exists(None) => Answer::Doubtful(Doubt::Exists),
                Created::UniqueTaken(index) => {
                    Answer::Settled(Outcome::Conflict(Conflict::UniqueTaken(Some(index))))
                }
                Created::Failed(error) => Answer::failed(error),
            });
            answers.collect()
        }
        .boxed()
    };
    let look = |at, doubt: &Doubt, stored: Option<Box<[u8]>>| match (doubt, stored) {
        (_, Some(stored)) => Some(classify(kind, wanted(at), stored)),
        // It is there, but not under its key.
        (Doubt::Exists, None) => Some(Outcome::Conflict(Conflict::UniqueTaken(None))),
        (Doubt::Unknown(_), None) => None,
    };
    settle(collection, keys, send, look).await
}

/// Changes documents where their guard holds, and settles each.
pub async fn update(collection: &dyn Collection, updates: &[GuardedUpdate]) -> Vec<Guarded> {
    let kind = collection.kind();
    let keys: Vec<StoreKey> = updates.iter().map(|update| update.key.clone()).collect();
    let send = |pending: Vec<usize>| {
        async move {
            let batch: Vec<_> = pending.iter().filter_map(|at| updates.get(*at).cloned()).collect();
            collection.update(&batch).await.into_iter().map(Answer::of_guarded).collect()
        }
        .boxed()
    };
    let look = |at: usize, _: &Doubt, stored: Option<Box<[u8]>>| {
        let (Some(stored), Some(update)) = (stored, updates.get(at)) else { return Some(Guarded::Missing) };
        let mut tape = Tape::new();
        if tape.read(&stored).is_err() {
            return Some(Guarded::Differs(Some(stored)));
        }
        let text = text_field(kind, &tape, &stored, &update.set.0);
        if text.is_some_and(|text| text == update.set.1) {
            return Some(Guarded::Done);
        }
        let open = guard::holds(kind, &tape, &stored, update);
        (!open).then_some(Guarded::Differs(Some(stored)))
    };
    settle(collection, &keys, send, look).await
}

/// Deletes documents that are still equal to `expected` (one line a key), and settles each.
pub async fn delete(collection: &dyn Collection, keys: &[StoreKey], expected: &Lines) -> Vec<Guarded> {
    let kind = collection.kind();
    let send = |pending: Vec<usize>| {
        async move {
            let batch: Vec<_> = pending.iter().filter_map(|at| keys.get(*at).cloned()).collect();
            let deleted = collection.delete(&batch, &subset(expected, &pending)).await;
            deleted.into_iter().map(Answer::of_guarded).collect()
        }
        .boxed()
    };
    let look = |at, _: &Doubt, stored: Option<Box<[u8]>>| {
        // Gone, by the call whose answer was lost or otherwise.
        let Some(stored) = stored else { return Some(Guarded::Done) };
        let expected = expected.get(at).unwrap_or_default();
        let open = guard::is_same(kind, &stored, expected).unwrap_or(false);
        (!open).then_some(Guarded::Differs(Some(stored)))
    };
    settle(collection, keys, send, look).await
}

/// The documents at these places, ascending; the batch itself where that is all of it.
pub(super) fn subset<'a>(lines: &'a Lines, places: &[usize]) -> Cow<'a, Lines> {
    if places.len() == lines.len() {
        return Cow::Borrowed(lines);
    }
    let mut some = Lines::new();
    places.iter().filter_map(|at| lines.get(*at)).for_each(|line| some.push(line));
    Cow::Owned(some)
}

enum Answer<O> {
    Settled(O),
    Doubtful(Doubt),
}

enum Doubt {
    /// It is there, but the store did not say what.
    Exists,
    /// It may or may not have been done.
    Unknown(StoreError),
}

impl<O: From<StoreError>> Answer<O> {
    fn failed(error: StoreError) -> Self {
        match error.kind {
            StoreErrorKind::UnknownOutcome => Self::Doubtful(Doubt::Unknown(error)),
            _ => Self::Settled(error.into()),
        }
    }
}

impl Answer<Guarded> {
    fn of_guarded(answer: Guarded) -> Self {
        match answer {
            Guarded::Failed(error) => Self::failed(error),
            answer => Self::Settled(answer),
        }
    }
}

/// Sends all, reads back what is doubtful, and sends again what `look` finds undone (`None`).
async fn settle<'a, O: From<StoreError>>(
    collection: &dyn Collection,
    keys: &[StoreKey],
    send: impl Fn(Vec<usize>) -> BoxFuture<'a, Vec<Answer<O>>>,
    look: impl Fn(usize, &Doubt, Option<Box<[u8]>>) -> Option<O>,
) -> Vec<O> {
    let mut settled = Answers::new(keys.len());
    let mut pending: Vec<usize> = (0..keys.len()).collect();
    for round in 1..=ROUNDS {
        let mut doubtful = Vec::new();
        for (at, answer) in pending.iter().copied().zip(send(pending.clone()).await) {
            match answer {
                Answer::Settled(outcome) => settled.put(at, outcome),
                Answer::Doubtful(doubt) => doubtful.push((at, doubt)),
            }
        }
        if doubtful.is_empty() {
            break;
        }
        let asked: Vec<StoreKey> = doubtful.iter().filter_map(|(at, _)| keys.get(*at).cloned()).collect();
        pending.clear();
        match collection.read(&asked).await {
            Ok(stored) => {
                for ((at, doubt), stored) in doubtful.into_iter().zip(stored) {
                    match (look(at, &doubt, stored), doubt) {
                        (Some(outcome), _) => settled.put(at, outcome),
                        (None, Doubt::Unknown(error)) if round == ROUNDS => settled.put(at, error.into()),
                        (None, _) => pending.push(at),
                    }
                }
            }
            Err(error) => doubtful.iter().for_each(|(at, _)| settled.fail(&[*at], &error)),
        }
        if pending.is_empty() {
            break;
        }
        tokio::time::sleep(PAUSE * 2_u32.pow(round)).await;
    }
    settled.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stores::embedded::temporary;
    use crate::stores::faults::{Call, Fault, Faults};
    use crate::stores::{CollectionReader as _, CollectionSpec, CollectionWriter as _};

    fn documents(count: usize) -> (Vec<StoreKey>, Lines) {
        let mut lines = Lines::new();
        for at in 0..count {
            lines.push(format!(r#"{{"_id":"{at}","s":"A"}}"#).as_bytes());
        }
        ((0..count).map(|at| StoreKey(format!("[\"{at}\"]").into())).collect(), lines)
    }

    fn written(outcomes: &[Outcome]) -> usize {
        outcomes.iter().filter(|outcome| matches!(outcome, Outcome::Written)).count()
    }

    async fn faulty(plan: impl FnOnce(Faults) -> Faults) -> (tempfile::TempDir, Faults) {
        let (folder, collection) = temporary(StoreKind::MongoDb, &CollectionSpec::default()).await;
        (folder, plan(Faults::new(Box::new(collection))))
    }

    #[tokio::test]
    async fn a_write_whose_answer_is_lost_is_found_and_not_sent_again() {
        let (_folder, faults) = faulty(|faults| faults.on(Call::Create, 0..1, Fault::LostAnswer)).await;
        let (keys, lines) = documents(5);
        let outcomes = create(&faults, &keys, &lines, false).await;
        assert!(outcomes.iter().all(|outcome| matches!(outcome, Outcome::Identical)), "{outcomes:?}");
        assert_eq!(faults.calls(Call::Create), 1);
    }

    #[tokio::test]
    async fn a_write_that_is_lost_itself_is_sent_again() {
        let (_folder, faults) = faulty(|faults| faults.on(Call::Create, 0..2, Fault::LostRequest)).await;
        let (keys, lines) = documents(5);
        assert_eq!(written(&create(&faults, &keys, &lines, true).await), 5);
        assert_eq!(faults.calls(Call::Create), 3);
    }

    #[tokio::test]
    async fn a_store_that_never_answers_is_given_up() {
        let (_folder, faults) = faulty(|faults| faults.every(Call::Create, 1, Fault::LostRequest)).await;
        let (keys, lines) = documents(2);
        for outcome in create(&faults, &keys, &lines, false).await {
            let Outcome::Failed(error) = outcome else { panic!("{outcome:?}") };
            assert_eq!(error.kind, StoreErrorKind::UnknownOutcome);
        }
    }

    #[tokio::test]
    async fn changes_and_deletes_with_lost_answers_are_found_done() {
        let (_folder, faults) = faulty(|faults| {
            let faults = faults.on(Call::Update, 0..1, Fault::LostAnswer);
            faults.on(Call::Update, 1..2, Fault::LostRequest).on(Call::Delete, 0..1, Fault::LostAnswer)
        })
        .await;
        let (keys, lines) = documents(2);
        let _ = faults.create(&lines).await;
        for to in ["B", "C"] {
            let from = if to == "B" { "A" } else { "B" };
            let updates = keys.iter().map(|key| GuardedUpdate {
                key: key.clone(),
                set: ("s".into(), to.into()),
                when_text: vec![("s".into(), from.into())],
                when_integer: Vec::new(),
            });
            let changed = update(&faults, &updates.collect::<Vec<_>>()).await;
            assert!(matches!(changed[..], [Guarded::Done, Guarded::Done]), "{to} {changed:?}");
        }
        let mut expected = Lines::new();
        for line in faults.read(&keys).await.unwrap() {
            expected.push(&line.unwrap());
        }
        let deleted = delete(&faults, &keys, &expected).await;
        assert!(matches!(deleted[..], [Guarded::Done, Guarded::Done]), "{deleted:?}");
        assert_eq!(faults.count(None).await.unwrap(), Some(0));
    }
}
