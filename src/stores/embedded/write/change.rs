//! Guarded changes and deletes, and the counter that is only raised.

use super::{Failure, Writer};
use crate::check::{Reason, Refusal};
use crate::document::text::write_quoted;
use crate::document::{StoreKey, StoreKind, find_field};
use crate::stores::embedded::fields::read_stored;
use crate::stores::{Created, Guarded, GuardedUpdate, StoreResult, guard};

impl Writer<'_> {
    /// Changes one document if its guard holds; the error is a failure of the file.
    pub(in crate::stores::embedded) fn update(&mut self, update: &GuardedUpdate) -> StoreResult<Guarded> {
        self.try_update(update).or_else(|failure| failure.into_error(self.file).map(Guarded::Failed))
    }

    /// Deletes one document if it is still the expected one; the error is a failure of the file.
    pub(in crate::stores::embedded) fn delete(
        &mut self,
        key: &StoreKey,
        expected: &[u8],
    ) -> StoreResult<Guarded> {
        self.try_delete(key, expected).or_else(|failure| failure.into_error(self.file).map(Guarded::Failed))
    }

    /// Creates one document and deletes the one it takes the place of; the error is a failure of the file.
    pub(in crate::stores::embedded) fn relocate(&mut self, old: &[u8], new: &[u8]) -> StoreResult<Guarded> {
        self.try_relocate(old, new).or_else(|failure| failure.into_error(self.file).map(Guarded::Failed))
    }

    /// Raises an integer field, or makes the document with it; what it held before.
    pub(in crate::stores::embedded) fn raise(
        &mut self,
        key: &StoreKey,
        field: &str,
        least: i64,
    ) -> StoreResult<Option<i64>> {
        match self.try_raise(key, field, least) {
            Ok(held) => Ok(held),
            Err(failure) => Err(failure.into_error(self.file)?),
        }
    }

    fn try_update(&mut self, update: &GuardedUpdate) -> Result<Guarded, Failure> {
        let kind = self.file.kind();
        let key = self.key(&update.key)?;
        let Some(before) = self.get(&key)? else { return Ok(Guarded::Missing) };
        read_stored(&mut self.tape, &before)?;
        if !guard::holds(kind, &self.tape, &before, update) {
            return Ok(Guarded::Differs(Some(before)));
        }
        let mut after = Vec::with_capacity(before.len() + update.set.1.len());
        let set = (update.set.0.as_str(), update.set.1.as_str());
        guard::write_with_text(kind, &self.tape, &before, set, &mut after)?;
        let taken = self.replace(&key, &before, &after)?;
        Ok(taken.map_or(Guarded::Done, Guarded::UniqueTaken))
    }

    fn try_delete(&mut self, key: &StoreKey, expected: &[u8]) -> Result<Guarded, Failure> {
        let key = self.key(key)?;
        let Some(stored) = self.get(&key)? else { return Ok(Guarded::Missing) };
        if !guard::is_same(self.file.kind(), &stored, expected)? {
            return Ok(Guarded::Differs(Some(stored)));
        }
        read_stored(&mut self.tape, &stored)?;
        let rows = self.index_rows(&stored);
        let _ = self.documents.remove(key.as_slice())?;
        let _ = self.sample.remove(key.as_slice())?;
        for (table, mut row) in self.indexes.iter_mut().zip(rows) {
            row.extend_from_slice(&key);
            let _ = table.remove(row.as_slice())?;
        }
        Ok(Guarded::Done)
    }

    fn try_relocate(&mut self, old: &[u8], new: &[u8]) -> Result<Guarded, Failure> {
        let kind = self.file.kind();
        if kind != StoreKind::Firestore {
            let detail = format!("{} documents are never moved in one step.", kind.title());
            return Err(Refusal::new(Reason::TargetRule, detail).into());
        }
        self.tape.read(old)?;
        let from = StoreKey::of(kind, &self.entry.store_key_fields(kind), &self.tape, old)?;
        let ordered = self.key(&from)?;
        match self.get(&ordered)? {
            None => return Ok(Guarded::Missing),
            Some(stored) if !guard::is_unchanged(kind, &stored, old)? => {
                return Ok(Guarded::Differs(Some(stored)));
            }
            Some(_) => {}
        }
        match self.try_create(new)? {
            Created::Written => self.try_delete(&from, old),
            _ => Ok(Guarded::UniqueTaken("the document id".to_owned())),
        }
    }

    fn try_raise(&mut self, key: &StoreKey, field: &str, least: i64) -> Result<Option<i64>, Failure> {
        let kind = self.file.kind();
        let refused = |detail: String| Refusal::new(Reason::TargetRule, detail);
        if kind != StoreKind::MongoDb {
            return Err(refused(format!("{} has no counters.", kind.title())).into());
        }
        let number = format!("{{\"$numberLong\":\"{least}\"}}");
        let ordered = self.key(key)?;
        let Some(before) = self.get(&ordered)? else {
            let _ = self.try_create(&new_counter(key, field, &number))?;
            return Ok(None);
        };
        read_stored(&mut self.tape, &before)?;
        let value = find_field(kind, &self.tape, &before, field)?;
        let held = value.and_then(|value| Some((value, kind.integer(&self.tape, &before, value)?)));
        let Some((value, held)) = held else {
            return Err(refused(format!("The counter {field:?} of {key} is no integer.")).into());
        };
        if held < least {
            let place = value.value.start as usize..value.value.end as usize;
            let mut after = before.to_vec();
            let _ = after.splice(place, number.into_bytes());
            if let Some(index) = self.replace(&ordered, &before, &after)? {
                return Err(refused(format!("The unique index {index:?} holds the counter's value.")).into());
            }
        }
        Ok(Some(held))
    }

    /// Puts `after` in the place of `before`, unless a unique index has its values already: its name.
    fn replace(&mut self, key: &[u8], before: &[u8], after: &[u8]) -> Result<Option<String>, Failure> {
        read_stored(&mut self.tape, before)?;
        let rows_before = self.index_rows(before);
        if self.read(after)? != key {
            let detail = "A field of the key cannot be changed in place.";
            return Err(Refusal::new(Reason::TargetRule, detail).into());
        }
        let rows = self.index_rows(after);
        if let Some(index) = self.taken(&rows, key)? {
            return Ok(Some(index));
        }
        let mut stored = Vec::with_capacity(after.len());
        self.stamp().update(&self.tape, after, &mut stored);
        self.put(key, &stored)?;
        for (table, (mut old, mut new)) in self.indexes.iter_mut().zip(rows_before.into_iter().zip(rows)) {
            if old == new {
                continue;
            }
            old.extend_from_slice(key);
            new.extend_from_slice(key);
            let _ = table.remove(old.as_slice())?;
            let _ = table.insert(new.as_slice(), key)?;
        }
        Ok(None)
    }
}

/// A document that holds nothing but its key and one integer.
fn new_counter(key: &StoreKey, field: &str, number: &str) -> Vec<u8> {
    let id = key.0.strip_prefix('[').and_then(|key| key.strip_suffix(']')).unwrap_or(&key.0);
    let mut line = format!("{{\"_id\":{id},").into_bytes();
    write_quoted(field, &mut line);
    line.push(b':');
    line.extend_from_slice(number.as_bytes());
    line.push(b'}');
    line
}
