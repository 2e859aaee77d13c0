use std::ops::Range;

use super::preflight::{Checked, Examined};
use super::{Plan, What};
use crate::archive::{KeyMapReader, Line};
use crate::commands::batches::{Batch, Batches};
use crate::document::canonical::{Scratch, digest};
use crate::document::{Lines, StoreKey};
use crate::journal::Ranges;
use crate::layout::Addressed;
use crate::stores::relocate::Origin;
use crate::stores::{BatchLimits, CollectionReader, Expiry, GuardedUpdate, store_key_fields};
use crate::{Error, Result};

/// Consecutive documents that are sent in one call.
#[derive(Default)]
pub(super) struct Writes {
    /// Their store keys.
    pub keys: Vec<StoreKey>,
    /// Their lines.
    pub lines: Lines,
    /// Their keys as a person sees them.
    pub shown: Vec<String>,
    /// Their versions.
    pub versions: Vec<Option<i64>>,
    /// The digests of their canonical forms, where they are created.
    pub digests: Vec<[u8; 32]>,
    /// Their changes, where they are changed in place.
    pub updates: Vec<GuardedUpdate>,
    /// Where they come from, where they move.
    pub origins: Vec<Origin>,
    /// Documents among them whose own time to live has passed; they are not sent.
    pub expired: u64,
    /// Documents among them that are set aside; they are not sent.
    pub set_aside: u64,
}

impl Batch for Writes {
    fn documents(&self) -> usize {
        self.keys.len()
    }

    fn bytes(&self) -> usize {
        self.lines.bytes()
    }
}

/// Cuts an archive into batches, leaving out what is done, expired or set aside.
pub(super) struct WriteBatches<'a> {
    batches: Batches,
    reader: WriteReader<'a>,
}

impl<'a> WriteBatches<'a> {
    /// Starts at the archive's beginning.
    pub fn new(
        plan: &'a Plan,
        checked: &'a Checked,
        target: &'a dyn CollectionReader,
        expiry: Expiry,
        limits: BatchLimits,
    ) -> Self {
        Self {
            batches: Batches::new(&plan.input, limits),
            reader: WriteReader::new(plan, checked, target, expiry),
        }
    }

    /// The next batch with the positions of its documents; `None` after the last document.
    pub fn next(&mut self, done: &Ranges) -> Result<Option<(Range<u64>, Writes)>> {
        let Self { batches, reader } = self;
        batches.next(done, |batch, line, in_archive| reader.take(batch, line, in_archive))
    }
}

/// What the key map says of a document.
struct OldKey {
    old: String,
    new: String,
    origin: Origin,
}

/// Turns lines into what is sent.
struct WriteReader<'a> {
    plan: &'a Plan,
    checked: &'a Checked,
    key_map: Option<KeyMapReader>,
    expiry: Expiry,
    document: Examined<'a>,
    scratch: Scratch,
    /// The next line's in the archive, from 0.
    position: u64,
}

impl<'a> WriteReader<'a> {
    fn new(plan: &'a Plan, checked: &'a Checked, target: &'a dyn CollectionReader, expiry: Expiry) -> Self {
        let sha256 =
            plan.input.manifest().and_then(|it| it.rekey.as_ref()).and_then(|it| it.key_map_sha256.clone());
        let key_map = plan.key_map.as_deref();
        let documents = plan.input.totals().map(|totals| totals.documents);
        Self {
            plan,
            checked,
            key_map: key_map.map(|path| KeyMapReader::open(path, documents, sha256.as_deref())),
            expiry,
            document: Examined::new(plan, target),
            scratch: Scratch::default(),
            position: 0,
        }
    }

    /// Takes one line into the batch; without one it has its outcome already, and only the key map goes on.
    fn take(&mut self, batch: Option<&mut Writes>, line: Line<'_>, in_archive: u64) -> Result<()> {
        let row = self.row(in_archive)?;
        let position = self.position;
        self.position += 1;
        batch.map_or(Ok(()), |batch| self.take_line(batch, line, position, row))
    }

    /// The key map's row of the document at a position of the archive.
    fn row(&mut self, in_archive: u64) -> Result<Option<OldKey>> {
        let Some(key_map) = &mut self.key_map else { return Ok(None) };
        while key_map.rows_read() < in_archive {
            // Of another shard.
            if key_map.next()?.is_none() {
                return Ok(None);
            }
        }
        Ok(key_map.next()?.map(|row| OldKey {
            old: row.old.into_owned(),
            new: row.new.into_owned(),
            origin: Origin { key: StoreKey(row.key.into()), body: row.digest },
        }))
    }

    fn take_line(
        &mut self,
        batch: &mut Writes,
        line: Line<'_>,
        position: u64,
        old: Option<OldKey>,
    ) -> Result<()> {
        if self.checked.sets_aside(&mut self.document, line.bytes, position).is_some() {
            batch.set_aside += 1;
            return Ok(());
        }
        let Examined { tape, inspector, .. } = &mut self.document;
        tape.read(line.bytes)
            .map_err(|error| Error::file(format!("Line {} is damaged: {error}", line.number)))?;
        let Addressed { store_key, shown, version, expires_at } = inspector.addressed(tape, line.bytes);
        if expires_at.is_some_and(|time| self.expiry.has_passed(time)) {
            batch.expired += 1;
            return Ok(());
        }
        let key = match store_key {
            // It goes back whatever its other fields are; only the store's own key must be one.
            Err(_) if self.plan.what == What::Legacy => {
                let (store, spec) = (self.plan.layout.store, self.plan.layout.collection_spec());
                StoreKey::of(store, &store_key_fields(store, &spec.key_fields), tape, line.bytes)
            }
            key => key,
        };
        let key = key.map_err(|refusal| Error::bug(format!("Line {}: {refusal}", line.number)))?;
        if self.plan.what.creates_rekeyed() {
            let store = self.plan.layout.store;
            batch.digests.push(digest(store, tape, line.bytes, &[], &mut self.scratch).0);
        }
        if self.plan.key_map.is_some() {
            let row = old.ok_or_else(|| {
                Error::file("The key map ends before its archive does; nothing more was written")
            })?;
            Self::check_row(&row, &shown)?;
            if self.plan.what == What::Move {
                batch.origins.push(row.origin);
            } else {
                batch.updates.push(self.update(&key, row, version));
            }
        }
        batch.shown.push(shown);
        batch.versions.push(version);
        batch.lines.push(line.bytes);
        batch.keys.push(key);
        Ok(())
    }

    /// The change of one document where it is: its key alone, if the old key and the version still stand.
    fn update(&self, key: &StoreKey, row: OldKey, version: Option<i64>) -> GuardedUpdate {
        let OldKey { old, new, .. } = row;
        let layout = &self.plan.layout;
        let field = layout.keys.first().map(|place| place.at.clone()).unwrap_or_default();
        let version_field = layout.fields.version.as_ref().and_then(|field| field.at.clone());
        GuardedUpdate {
            key: key.clone(),
            set: (field.clone(), new),
            when_text: vec![(field, old)],
            when_integer: version_field.zip(version).into_iter().collect(),
        }
    }

    /// A row of the key map belongs to the line that stands at its place.
    fn check_row(row: &OldKey, shown: &str) -> Result<()> {
        if shown == row.new {
            return Ok(());
        }
        Err(Error::file(format!(
            "The key map is not of this archive: it has {:?} where the archive has {shown:?}",
            row.new
        ))
        .hint("Fetch archive, key map and manifest of one run together."))
    }
}

impl What {
    /// Whether documents are changed where they are.
    pub fn is_in_place(self) -> bool {
        self == Self::InPlace
    }

    /// Whether documents are created under their new keys.
    pub fn creates_rekeyed(self) -> bool {
        matches!(self, Self::Rekeyed | Self::Move)
    }
}
