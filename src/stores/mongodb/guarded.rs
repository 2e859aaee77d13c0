//! Guarded changes: the text of one field, where key and version still stand.

use super::MongoDbCollection;
use super::command::{Body, first, id_document};
use super::create::{DUPLICATE_KEY, write_errors};
use super::failure::{Action, document_failure};
use crate::document::bson::write_line;
use crate::document::json::Tape;
use crate::document::{StoreKey, StoreKind};
use crate::stores::{Guarded, GuardedUpdate, StoreError, StoreErrorKind, StoreResult, guard};

impl MongoDbCollection {
    /// Changes documents where their guard holds.
    ///
    /// The server's answer counts the changes but does not tell which documents they were, so that the
    /// documents are looked at before; the guard stands in every statement all the same.
    pub(super) async fn set_texts(&self, updates: &[GuardedUpdate]) -> Vec<Guarded> {
        match self.try_set_texts(updates).await {
            Ok(changed) => changed,
            Err(error) => Guarded::all_failed(updates.len(), &error),
        }
    }

    async fn try_set_texts(&self, updates: &[GuardedUpdate]) -> StoreResult<Vec<Guarded>> {
        let keys: Vec<StoreKey> = updates.iter().map(|update| update.key.clone()).collect();
        let mut changed = Vec::with_capacity(updates.len());
        let mut open = Vec::new();
        let mut tape = Tape::new();
        for (at, (stored, update)) in self.read_raw(&keys).await?.into_iter().zip(updates).enumerate() {
            changed.push(match stored {
                None => Guarded::Missing,
                Some(stored) => {
                    let line = line(&stored);
                    let holds =
                        tape.read(&line).is_ok() && guard::holds(StoreKind::MongoDb, &tape, &line, update);
                    if holds {
                        open.push(at);
                        Guarded::Done
                    } else {
                        Guarded::Differs(Some(line))
                    }
                }
            });
        }
        if open.is_empty() {
            return Ok(changed);
        }
        let mut body = Body::command("update", &self.name);
        body.boolean("ordered", false);
        self.state_write_concern(&mut body);
        let statements = open.iter().filter_map(|at| updates.get(*at)).collect::<Vec<_>>();
        let ids =
            statements.iter().map(|update| id_document(&update.key)).collect::<StoreResult<Vec<_>>>()?;
        body.array("updates", |array| {
            for (at, (update, id)) in statements.iter().zip(&ids).enumerate() {
                array.within(&at.to_string(), |statement| statement.guarded_set(update, id));
            }
        });
        let answers = self.send_guarded(body, &open, Action::UPDATE).await;
        self.settle(answers, &open, &keys, &mut changed);
        Ok(changed)
    }

    /// Sends statements and tells what became of each, or that it is not certain.
    pub(super) async fn send_guarded(
        &self,
        body: Body,
        open: &[usize],
        action: Action,
    ) -> Vec<Option<Guarded>> {
        let answer = match self.run(body, action).await {
            Ok(answer) => answer,
            Err(error) => return open.iter().map(|_| Some(Guarded::Failed(error.duplicate()))).collect(),
        };
        if let Some(error) = self.concern_failure(&answer) {
            return open.iter().map(|_| Some(Guarded::Failed(error.duplicate()))).collect();
        }
        let errors = write_errors(&answer);
        let count = usize::try_from(answer.get_i32("n").unwrap_or_default()).unwrap_or_default();
        // Where all that did not fail were found, each was.
        let certain = count + errors.len() == open.len();
        let mut answers: Vec<_> = open.iter().map(|_| certain.then_some(Guarded::Done)).collect();
        for error in errors {
            if let Some(answer) = answers.get_mut(error.place) {
                *answer = Some(match error.code {
                    DUPLICATE_KEY => Guarded::UniqueTaken(error.index),
                    code => Guarded::Failed(document_failure(code)),
                });
            }
        }
        answers
    }

    /// Puts the answers to their places. What is not certain was changed by somebody between the look and
    /// the statement: it is left to be read back.
    pub(super) fn settle(
        &self,
        answers: Vec<Option<Guarded>>,
        open: &[usize],
        keys: &[StoreKey],
        outcomes: &mut [Guarded],
    ) {
        for (at, answer) in open.iter().zip(answers) {
            let Some(place) = outcomes.get_mut(*at) else { continue };
            *place = answer.unwrap_or_else(|| {
                let key = keys.get(*at).map(ToString::to_string).unwrap_or_default();
                let message =
                    format!("Somebody else wrote the document {key} of {} at the same time", self.location);
                Guarded::Failed(StoreError::new(StoreErrorKind::UnknownOutcome, message))
            });
        }
    }
}

impl Body {
    /// `{"q": {"_id": …, guards…}, "u": {"$set": {field: text}}}`
    fn guarded_set(&mut self, update: &GuardedUpdate, id: &[u8]) {
        self.within("q", |query| {
            if let Ok(id) = first(id) {
                query.value("_id", &id);
            }
            update.when_text.iter().for_each(|(name, text)| query.text(name, text));
            update.when_integer.iter().for_each(|(name, value)| query.int64(name, *value));
        });
        let (name, text) = &update.set;
        self.within("u", |change| change.within("$set", |set| set.text(name, text)));
    }
}

/// The line of a stored document.
pub(super) fn line(stored: &[u8]) -> Box<[u8]> {
    let mut line = Vec::with_capacity(stored.len() * 2);
    write_line(stored, &mut line);
    line.into_boxed_slice()
}
