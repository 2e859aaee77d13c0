use super::Job;
use super::document::{Document, Likeness};
use crate::commands::legacy_blocks::SORT_BUDGET;
use crate::commands::store::reader_concurrency;
use crate::document::Lines;
use crate::options::UndoOptions;
use crate::scan::{PageConsumer, scan};
use crate::sort::Sorter;
use crate::stores::CollectionReader;
use crate::ui::{ProgressTask, Ui};
use crate::{Error, Result};

/// What decides whether a stream may be taken back.
pub(super) struct Evidence {
    in_place: bool,
    /// Documents of the target that carry a tenant, or that nobody can read, by their order keys: [`Stored`].
    pub stored: Sorter,
    /// The likenesses of legacy documents.
    pub likenesses: Sorter,
    /// Where documents were changed in place: the places of the target's legacy documents → their store keys.
    pub legacy_places: Sorter,
}

/// A document of the target, in a row of a sort.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stored {
    pub is_readable: bool,
    pub stream_len: usize,
    pub version: Option<i64>,
    /// When it expires, in seconds since 1970.
    pub expires_at: Option<i64>,
    pub whole: [u8; 32],
    pub likeness: Likeness,
    pub store_key: String,
    pub shown: String,
    pub type_name: String,
}

impl Evidence {
    pub fn new(job: &Job) -> Self {
        let sorter = |share| Sorter::new(&job.folder, SORT_BUDGET / share);
        Self { in_place: job.in_place, stored: sorter(1), likenesses: sorter(2), legacy_places: sorter(4) }
    }

    /// Reads the collection that was imported into.
    pub async fn read_target(
        self,
        job: &Job,
        options: &UndoOptions,
        reader: &dyn CollectionReader,
        ui: &Ui,
        stopped: &(impl Fn() -> Result<()> + Sync),
    ) -> Result<Self> {
        let role = if options.legacy.is_some() { Role::Target } else { Role::Both };
        self.read(role, job, options, reader, ui, stopped).await
    }

    /// Reads the collection that holds the legacy documents.
    pub async fn read_legacy(
        self,
        job: &Job,
        options: &UndoOptions,
        reader: &dyn CollectionReader,
        ui: &Ui,
        stopped: &(impl Fn() -> Result<()> + Sync),
    ) -> Result<Self> {
        self.read(Role::Legacy, job, options, reader, ui, stopped).await
    }

    async fn read(
        self,
        role: Role,
        job: &Job,
        options: &UndoOptions,
        reader: &dyn CollectionReader,
        ui: &Ui,
        stopped: &(impl Fn() -> Result<()> + Sync),
    ) -> Result<Self> {
        let consumer = Consumer {
            evidence: self,
            role,
            document: Document::new(job),
            row: Vec::new(),
            task: ui.progress().start("reading", None),
        };
        let snapshot = reader.snapshot().await?;
        let concurrency = reader_concurrency(&options.from.rates);
        Ok(scan(reader, snapshot.as_ref(), concurrency, consumer, stopped).await?.evidence)
    }
}

/// What a collection is looked at for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// What was imported, and the legacy documents beside it.
    Both,
    /// What was imported.
    Target,
    /// The legacy documents.
    Legacy,
}

struct Consumer {
    evidence: Evidence,
    role: Role,
    document: Document,
    row: Vec<u8>,
    task: Box<dyn ProgressTask>,
}

impl PageConsumer for Consumer {
    fn take(&mut self, lines: &Lines) -> Result<()> {
        for line in lines.iter() {
            self.take_line(line)?;
        }
        self.task.add(lines.len() as u64, lines.bytes() as u64);
        Ok(())
    }
}

impl Consumer {
    fn take_line(&mut self, line: &[u8]) -> Result<()> {
        let Self { evidence, role, document, row, .. } = self;
        // What has no key of the layout's was not imported.
        let Some(store_key) = document.read(line)? else { return Ok(()) };
        // One with a tenant in its key is none, wherever it stands: it may be the copy of another import.
        if document.is_legacy() && *role != Role::Target {
            let likeness = document.likeness(line);
            evidence.likenesses.push(&likeness, &[])?;
        }
        if *role == Role::Legacy {
            return Ok(());
        }
        if document.is_legacy() {
            if evidence.in_place {
                let place = place(&document.identity.type_name, &document.shown(line));
                evidence.legacy_places.push(&place, store_key.0.as_bytes())?;
            }
            return Ok(());
        }
        let stored = Stored {
            is_readable: document.is_readable,
            stream_len: document.stream_len,
            version: document.identity.version.filter(|_| document.is_readable),
            expires_at: document.inspector.expires_at(&document.tape, line),
            whole: document.whole(line),
            likeness: document.likeness(line),
            store_key: store_key.0.into(),
            shown: document.shown(line),
            type_name: document.identity.type_name.clone(),
        };
        stored.write(row);
        evidence.stored.push(&document.order_key, row)
    }
}

/// Where a document stands that keeps its store key: its type and its key.
pub(super) fn place(type_name: &str, key: &str) -> Vec<u8> {
    [type_name.as_bytes(), b"\0", key.as_bytes()].concat()
}

impl Stored {
    fn write(&self, out: &mut Vec<u8>) {
        out.clear();
        out.push(u8::from(self.is_readable));
        out.extend_from_slice(&self.whole);
        out.extend_from_slice(&self.likeness);
        out.extend_from_slice(&(self.stream_len as u64).to_le_bytes());
        for number in [self.version, self.expires_at] {
            out.push(u8::from(number.is_some()));
            out.extend_from_slice(&number.unwrap_or_default().to_le_bytes());
        }
        for text in [&self.store_key, &self.shown, &self.type_name] {
            out.extend_from_slice(&(text.len() as u64).to_le_bytes());
            out.extend_from_slice(text.as_bytes());
        }
    }

    pub fn read(row: &[u8]) -> Result<Self> {
        Self::parse(row).ok_or_else(|| Error::bug("A sorted document has lost its form"))
    }

    fn parse(mut rest: &[u8]) -> Option<Self> {
        let [is_readable] = take(&mut rest)?;
        let (whole, likeness) = (take(&mut rest)?, take(&mut rest)?);
        let stream_len = length(&mut rest)?;
        let mut number = || {
            let ([is_some], value) = (take(&mut rest)?, i64::from_le_bytes(take(&mut rest)?));
            Some((is_some == 1).then_some(value))
        };
        let (version, expires_at) = (number()?, number()?);
        let mut text = || {
            let length = length(&mut rest)?;
            let (text, after) = rest.split_at_checked(length)?;
            rest = after;
            String::from_utf8(text.to_vec()).ok()
        };
        let (store_key, shown, type_name) = (text()?, text()?, text()?);
        let is_readable = is_readable == 1;
        Some(Self {
            is_readable,
            stream_len,
            version,
            expires_at,
            whole,
            likeness,
            store_key,
            shown,
            type_name,
        })
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk::<N>()?;
    *rest = tail;
    Some(*head)
}

/// Takes a length off a row.
pub(super) fn length(rest: &mut &[u8]) -> Option<usize> {
    usize::try_from(u64::from_le_bytes(take(rest)?)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_document_is_read_as_it_was_written() {
        let stored = Stored {
            is_readable: true,
            stream_len: 5,
            version: Some(-1),
            expires_at: None,
            whole: [1; 32],
            likeness: [2; 48],
            store_key: "[\"x\"]".into(),
            shown: "t:acme:ü".into(),
            type_name: String::new(),
        };
        let mut row = Vec::new();
        stored.write(&mut row);
        assert_eq!(Stored::read(&row).unwrap(), stored);
        let _ = row.pop();
        assert!(Stored::read(&row[..row.len() - 8]).is_err());
    }
}
