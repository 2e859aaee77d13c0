//! Documents that move to another key in one step, each with an answer that is settled.

use super::answers::Answers;
use super::outcome::{Conflict, Outcome, classify, subset};
use super::{Collection, Guarded, StoreError, StoreErrorKind, StoreResult};
use crate::document::canonical::{Scratch, digest};
use crate::document::json::Tape;
use crate::document::{Lines, StoreKey, StoreKind};

/// How often a move is tried whose answer is lost, or whose document changes on the way.
const ROUNDS: usize = 5;

/// Where a document comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Its key so far.
    pub key: StoreKey,
    /// The digest of what of it stays the same.
    pub body: [u8; 32],
}

/// Moves documents to the keys of `lines`, which are `keys`; `beside` are the fields that change with the key. A
/// document moves only if it is still what `origins` says, and only where nothing is.
pub async fn relocate(
    collection: &dyn Collection,
    (origins, beside): (&[Origin], &[String]),
    keys: &[StoreKey],
    lines: &Lines,
) -> Vec<Outcome> {
    let mut settled = Answers::new(keys.len());
    let mut judge = Judge { kind: collection.kind(), beside, tape: Tape::new(), scratch: Scratch::default() };
    let mut pending: Vec<usize> = (0..keys.len()).collect();
    for round in 1..=ROUNDS {
        let (old, new) = match stored(collection, origins, keys, &pending).await {
            Ok(stored) => stored,
            Err(error) => {
                settled.fail(&pending, &error);
                break;
            }
        };
        let (mut open, mut old_lines) = (Vec::new(), Lines::new());
        for ((at, old), new) in pending.drain(..).zip(old).zip(new) {
            let wanted = lines.get(at).unwrap_or_default();
            let body = origins.get(at).map(|origin| origin.body);
            if let Some(outcome) = judge.outcome(wanted, body, old.as_deref(), new) {
                settled.put(at, outcome);
            } else {
                open.push(at);
                old_lines.push(old.as_deref().unwrap_or_default());
            }
        }
        if open.is_empty() {
            break;
        }
        let answers = collection.relocate(&old_lines, &subset(lines, &open)).await;
        for (at, answer) in open.into_iter().zip(answers) {
            match answer {
                Guarded::Done => settled.put(at, Outcome::Written),
                Guarded::Failed(error) if error.kind != StoreErrorKind::UnknownOutcome => {
                    settled.put(at, error.into());
                }
                Guarded::Failed(error) if round == ROUNDS => settled.put(at, error.into()),
                // Whatever happened to it meanwhile, the next look tells.
                _ => pending.push(at),
            }
        }
    }
    settled.finish()
}

type Stored = Vec<Option<Box<[u8]>>>;

/// What stands under the old keys and under the new ones of the documents at these places.
async fn stored(
    collection: &dyn Collection,
    origins: &[Origin],
    keys: &[StoreKey],
    places: &[usize],
) -> StoreResult<(Stored, Stored)> {
    let old: Vec<StoreKey> = places.iter().filter_map(|at| Some(origins.get(*at)?.key.clone())).collect();
    let new: Vec<StoreKey> = places.iter().filter_map(|at| keys.get(*at).cloned()).collect();
    Ok((collection.read(&old).await?, collection.read(&new).await?))
}

struct Judge<'a> {
    kind: StoreKind,
    beside: &'a [String],
    tape: Tape,
    scratch: Scratch,
}

impl Judge<'_> {
    /// What a document comes to without moving it; `None` if it is to be moved.
    fn outcome(
        &mut self,
        wanted: &[u8],
        body: Option<[u8; 32]>,
        old: Option<&[u8]>,
        new: Option<Box<[u8]>>,
    ) -> Option<Outcome> {
        if let Some(new) = new {
            return Some(classify(self.kind, wanted, new));
        }
        let Some(old) = old else { return Some(Outcome::Conflict(Conflict::Gone)) };
        if self.tape.read(old).is_err() {
            let message = "The stored document cannot be read";
            return Some(StoreError::new(StoreErrorKind::Permanent, message).into());
        }
        let found = digest(self.kind, &self.tape, old, self.beside, &mut self.scratch);
        (body != Some(found.0)).then(|| Outcome::Conflict(Conflict::Changed(old.into())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stores::CollectionSpec;
    use crate::stores::embedded::temporary;

    fn line(id: &str, stream: &str, payload: &str) -> String {
        format!(
            r#"{{"name":"projects/p/databases/d/documents/c/{id}","fields":{{"data":{{"stringValue":"{payload}"}},"streamId":{{"stringValue":"{stream}"}}}}}}"#
        )
    }

    fn lines(texts: &[String]) -> Lines {
        let mut lines = Lines::new();
        for text in texts {
            lines.push(text.as_bytes());
        }
        lines
    }

    #[tokio::test]
    async fn a_document_moves_only_if_it_is_what_it_was_and_only_where_nothing_is() {
        let (_folder, collection) = temporary(StoreKind::Firestore, &CollectionSpec::default()).await;
        let stored = ["moves", "changed", "taken", "done"].map(|id| line(id, id, id));
        let others = [line("t:taken", "t:taken", "another"), line("t:gone", "t:gone", "gone")];
        let _ =
            crate::stores::CollectionWriter::create(&collection, &lines(&[&stored[..], &others].concat()))
                .await;
        let beside = ["streamId", "@id"].map(str::to_owned);
        let ids = ["moves", "changed", "taken", "gone", "missing"];
        let key = |id: &str| StoreKey(format!("[\"{id}\"]").into());
        let origin = |id: &&str| {
            let text = line(id, id, if *id == "changed" { "before" } else { id });
            let mut tape = Tape::new();
            tape.read(text.as_bytes()).unwrap();
            let digest =
                digest(StoreKind::Firestore, &tape, text.as_bytes(), &beside, &mut Scratch::default());
            Origin { key: key(id), body: digest.0 }
        };
        let origins: Vec<Origin> = ids.iter().map(origin).collect();
        let keys: Vec<StoreKey> = ids.iter().map(|id| key(&format!("t:{id}"))).collect();
        let wanted = lines(&ids.map(|id| line(&format!("t:{id}"), &format!("t:{id}"), id)));
        for round in 0..2 {
            let outcomes = relocate(&collection, (&origins, &beside), &keys, &wanted).await;
            assert!(
                matches!(
                    (&outcomes[..], round),
                    (
                        [
                            Outcome::Written,
                            Outcome::Conflict(Conflict::Changed(_)),
                            Outcome::Conflict(Conflict::Different(_)),
                            Outcome::Identical,
                            Outcome::Conflict(Conflict::Gone)
                        ],
                        0
                    ) | ([Outcome::Identical, ..], 1)
                ),
                "{outcomes:?}"
            );
        }
        let left = crate::stores::CollectionReader::read(&collection, &[key("moves"), key("t:moves")])
            .await
            .unwrap();
        assert!(left[0].is_none() && left[1].is_some(), "in one step");
    }
}
