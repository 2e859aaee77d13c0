use super::Job;
use super::list::BETWEEN;
use crate::document::canonical::{Scratch, digest};
use crate::document::json::Tape;
use crate::document::{StoreKey, StoreKind};
use crate::layout::{Identity, Inspector, KeyState};
use crate::undo_list::{Entry, Wrote};
use crate::verify::event_digest;
use crate::{Error, Result};

/// What identifies a document whatever its key, and what of it stays the same when the key changes.
pub(super) type Likeness = [u8; 48];

/// Stands before the store key of a document that no stream can be told of.
const NO_STREAM: &[u8] = b"\xff\xffno stream\xff";

/// A stored document as the way back sees it; the buffers live as long as the reader.
pub(super) struct Document {
    store: StoreKind,
    touched: Vec<String>,
    pub tape: Tape,
    pub inspector: Inspector,
    pub identity: Identity,
    /// Its order key: the stream first.
    pub order_key: Vec<u8>,
    pub stream_len: usize,
    /// Whether the layout can read it.
    pub is_readable: bool,
    scratch: Scratch,
}

impl Document {
    pub fn new(job: &Job) -> Self {
        Self {
            store: job.layout.store,
            touched: job.layout.touched_fields().into_iter().map(str::to_owned).collect(),
            tape: Tape::new(),
            inspector: Inspector::new(&job.layout, job.escaping),
            identity: Identity::default(),
            order_key: Vec::new(),
            stream_len: 0,
            is_readable: false,
            scratch: Scratch::default(),
        }
    }

    /// Reads a line; its store key, or `None` if it has none of the layout's.
    pub fn read(&mut self, line: &[u8]) -> Result<Option<StoreKey>> {
        self.order_key.clear();
        self.tape
            .read(line)
            .map_err(|error| Error::bug(format!("A stored document is not strict JSON: {error}")))?;
        let Ok(store_key) = self.inspector.store_key(&self.tape, line) else { return Ok(None) };
        let stream_len = self.inspector.order_key(&self.tape, line, &mut self.order_key);
        self.is_readable = self.inspector.inspect(&self.tape, line, &mut self.identity).is_ok();
        self.stream_len = stream_len.unwrap_or_else(|_| {
            self.order_key.clear();
            self.order_key.extend_from_slice(NO_STREAM);
            self.order_key.extend_from_slice(store_key.0.as_bytes());
            self.order_key.len()
        });
        Ok(Some(store_key))
    }

    /// Whether the document read last carries a legacy key.
    pub fn is_legacy(&self) -> bool {
        self.is_readable && self.identity.state == KeyState::Legacy
    }

    /// Its key as a person sees it.
    pub fn shown(&self, line: &[u8]) -> String {
        self.inspector.display_key(&self.tape, line).into_owned()
    }

    /// The digest of its canonical form.
    pub fn whole(&mut self, line: &[u8]) -> [u8; 32] {
        digest(self.store, &self.tape, line, &[], &mut self.scratch).0
    }

    /// What it has in common with its legacy self.
    pub fn likeness(&mut self, line: &[u8]) -> Likeness {
        let event = if let Some(event_id) = self.inspector.event_id(&self.tape, line) {
            event_digest(&[event_id.as_bytes()])
        } else {
            let Identity { type_name, id, others, .. } = &self.identity;
            let terms = [type_name, id].into_iter().chain(others.iter().map(|other| &other.value));
            event_digest(&terms.map(String::as_bytes).collect::<Vec<_>>())
        };
        let body = digest(self.store, &self.tape, line, &self.touched, &mut self.scratch);
        let mut likeness = [0; 48];
        let (head, tail) = likeness.split_at_mut(event.len());
        head.copy_from_slice(&event);
        tail.copy_from_slice(&body.0);
        likeness
    }
}

/// How a stored document stands to the entries of its key.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It was created by the import and is what it was then.
    Created,
    /// It was changed by the import, from this key, and has the new one.
    Changed { old: String, new: String },
    /// It has its old key: nothing is to be done.
    PutBack,
    /// It is no longer what the import left.
    Another,
}

/// Holds a stored document against the entries of its key.
pub(super) fn standing(
    entries: &[u8],
    whole: &[u8; 32],
    shown: &str,
    stored_version: Option<i64>,
) -> Result<Standing> {
    let mut standing = Standing::Another;
    for line in entries.split(|byte| *byte == BETWEEN) {
        let entry =
            Entry::parse(line).ok_or_else(|| Error::bug("An entry of an undo list has lost its form"))?;
        match entry.wrote {
            Wrote::Created { digest } if digest == *whole => return Ok(Standing::Created),
            Wrote::Changed { old, new, version } if new == shown && version == stored_version => {
                return Ok(Standing::Changed { old: old.into_owned(), new: new.into_owned() });
            }
            Wrote::Changed { old, .. } if old == shown => standing = Standing::PutBack,
            _ => {}
        }
    }
    Ok(standing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_stands_as_one_of_its_entries_says() {
        let created = format!(r#"{{"key":["1"],"digest":"{}"}}"#, hex::encode([7; 32]));
        let changed = r#"{"key":["1"],"old":"A","new":"t:x:A","version":3}"#;
        let both = format!("{created}\n{changed}");
        let of = |digest, shown, version| standing(both.as_bytes(), &[digest; 32], shown, version).unwrap();
        assert_eq!(of(7, "?", None), Standing::Created);
        assert_eq!(of(8, "t:x:A", Some(3)), Standing::Changed { old: "A".into(), new: "t:x:A".into() });
        assert_eq!(of(8, "t:x:A", Some(4)), Standing::Another);
        assert_eq!(of(8, "A", Some(3)), Standing::PutBack);
        assert_eq!(of(8, "B", Some(3)), Standing::Another);
        assert!(standing(b"{}", &[7; 32], "", None).is_err());
    }
}
