//! Unordered inserts, with the outcome of each document.

use mongodb::bson::Document;

use super::command::Body;
use super::failure::{Action, document_failure, kind_of_code};
use super::{MAX_DOCUMENT, MongoDbCollection};
use crate::document::Lines;
use crate::document::bson::Parser;
use crate::stores::{Created, StoreError, StoreErrorKind, StoreResult};

/// The code of a key that is taken.
pub(super) const DUPLICATE_KEY: i32 = 11000;
/// The most bytes of the documents of one command, which as a whole may have 16 MiB and some.
const COMMAND_BYTES: usize = 12 * 1024 * 1024;

impl MongoDbCollection {
    /// Creates documents. A collection that is not there is not made by it.
    pub(super) async fn insert(&self, lines: &Lines) -> Vec<Created> {
        if let Err(error) = self.stays_the_same().await {
            return Created::all_failed(lines.len(), &error);
        }
        let mut created: Vec<Option<Created>> = Vec::with_capacity(lines.len());
        let mut parser = Parser::default();
        let mut command = Inserts::default();
        let mut document = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            document.clear();
            created.push(parse(&mut parser, line, &mut document).err().map(Created::Failed));
            if matches!(created.last(), Some(Some(_))) {
                continue;
            }
            if !command.places.is_empty() && command.documents.len() + document.len() > COMMAND_BYTES {
                self.send(std::mem::take(&mut command), &mut created).await;
            }
            command.push(at, &document);
        }
        if !command.places.is_empty() {
            self.send(command, &mut created).await;
        }
        created.into_iter().map(|it| it.unwrap_or(Created::Written)).collect()
    }

    /// Makes sure that the collection is there, since an insert would make it without its indexes, and that it is
    /// the one of the first write.
    async fn stays_the_same(&self) -> StoreResult<()> {
        let Some(uuid) = self.specification().await?.info.uuid else { return Ok(()) };
        if *self.written.get_or_init(|| uuid.bytes.clone()) == uuid.bytes {
            return Ok(());
        }
        let message = format!("{} was replaced while it was written", self.location);
        Err(StoreError::new(StoreErrorKind::Permanent, message))
    }

    /// Sends one command; documents without an entry in the answer are written.
    async fn send(&self, command: Inserts, created: &mut [Option<Created>]) {
        let Inserts { places, documents } = command;
        let mut put = |place: usize, outcome| {
            if let Some(created) = places.get(place).and_then(|at| created.get_mut(*at)) {
                *created = Some(outcome);
            }
        };
        let mut body = Body::command("insert", &self.name);
        body.boolean("ordered", false);
        self.state_write_concern(&mut body);
        body.array("documents", |array| array.append(&documents));
        match self.run(body, Action::INSERT).await {
            Err(error) => (0..places.len()).for_each(|at| put(at, Created::Failed(error.duplicate()))),
            Ok(answer) => {
                let concern = self.concern_failure(&answer);
                if let Some(error) = &concern {
                    (0..places.len()).for_each(|at| put(at, Created::Failed(error.duplicate())));
                }
                for error in write_errors(&answer) {
                    put(error.place, error.created());
                }
            }
        }
    }

    /// States the write concern of the connection string, or the majority.
    pub(super) fn state_write_concern(&self, body: &mut Body) {
        let concern = self.deployment.write_concern.as_ref();
        let bytes = concern.and_then(|concern| mongodb::bson::serialize_to_vec(concern).ok());
        if let Some(bytes) = bytes {
            body.document("writeConcern", &bytes);
        }
    }

    /// What a write that did not meet its write concern came to.
    pub(super) fn concern_failure(&self, answer: &Document) -> Option<StoreError> {
        let concern = answer.get_document("writeConcernError").ok()?;
        let code = concern.get_i32("code").unwrap_or_default();
        let kind = match kind_of_code(code, true) {
            StoreErrorKind::Permanent => StoreErrorKind::Permanent,
            _ => StoreErrorKind::UnknownOutcome,
        };
        let message = format!("{} did not meet the write concern (code {code})", self.location);
        Some(StoreError::new(kind, message))
    }
}

fn parse(parser: &mut Parser, line: &[u8], document: &mut Vec<u8>) -> StoreResult<()> {
    let permanent = |message: String| StoreError::new(StoreErrorKind::Permanent, message);
    parser.document(line, document).map_err(|refusal| permanent(refusal.to_string()))?;
    if document.len() > MAX_DOCUMENT {
        return Err(permanent(format!(
            "The document has {} bytes; MongoDB takes {MAX_DOCUMENT}",
            document.len()
        )));
    }
    Ok(())
}

/// Documents of one command, as the elements of an array.
#[derive(Default)]
struct Inserts {
    /// Their places in the batch.
    places: Vec<usize>,
    documents: Vec<u8>,
}

impl Inserts {
    fn push(&mut self, at: usize, document: &[u8]) {
        let mut index = itoa::Buffer::new();
        self.documents.push(0x03);
        self.documents.extend_from_slice(index.format(self.places.len()).as_bytes());
        self.documents.push(0);
        self.documents.extend_from_slice(document);
        self.places.push(at);
    }
}

/// One statement or document of a command that failed.
pub(super) struct WriteError {
    /// Its place in the command.
    pub place: usize,
    pub code: i32,
    /// The index that holds the values already.
    pub index: String,
}

impl WriteError {
    fn created(self) -> Created {
        match self.code {
            DUPLICATE_KEY if self.index == "_id_" => Created::Exists(None),
            DUPLICATE_KEY => Created::UniqueTaken(self.index),
            code => Created::Failed(document_failure(code)),
        }
    }
}

pub(super) fn write_errors(answer: &Document) -> Vec<WriteError> {
    let errors = answer.get_array("writeErrors").ok();
    let error = |error: &mongodb::bson::Bson| {
        let error = error.as_document()?;
        let message = error.get_str("errmsg").unwrap_or_default();
        // `E11000 duplicate key error collection: db.events index: ux_stream dup key: { … }`
        let index = message.split_once(" index: ").and_then(|(_, rest)| rest.split_once(" dup key"));
        Some(WriteError {
            place: usize::try_from(error.get_i32("index").ok()?).ok()?,
            code: error.get_i32("code").unwrap_or_default(),
            index: index.map_or_else(|| "unknown".to_owned(), |(name, _)| name.to_owned()),
        })
    };
    errors.into_iter().flatten().filter_map(error).collect()
}
