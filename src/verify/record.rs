use std::borrow::Cow;

use sha2::{Digest as _, Sha256};

use crate::key::version_of;
use crate::layout::DocumentKind;
use crate::{Error, Result};

/// One document as the comparison sees it; written into a row of a sort.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record<'a> {
    /// The digest of the whole canonical document.
    pub whole: [u8; 32],
    /// What it adds to its tenant's content sum.
    pub content: [u8; 32],
    /// The number of its tenant.
    pub tenant: u32,
    /// The number of the archive it is from; 0 for a store.
    pub archive: u32,
    /// When it expires, in seconds since 1970; 0 if it does not.
    pub expires_at: i64,
    /// The short digest of what identifies the document whoever owns it.
    pub event: [u8; 16],
    /// How many bytes of the row's key identify the stream.
    pub stream_len: u32,
    /// Its version, where it has one.
    pub version: Option<i64>,
    /// Its key as a person sees it.
    pub shown: Cow<'a, str>,
    /// Its type.
    pub type_name: Cow<'a, str>,
    /// Its aggregate or saga id.
    pub id: Cow<'a, str>,
    /// The text of its store key.
    pub store_key: Cow<'a, str>,
}

impl Record<'_> {
    /// Writes the record into an emptied buffer.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(&self.whole);
        out.extend_from_slice(&self.content);
        out.extend_from_slice(&self.event);
        out.extend_from_slice(&self.tenant.to_le_bytes());
        out.extend_from_slice(&self.archive.to_le_bytes());
        out.extend_from_slice(&self.stream_len.to_le_bytes());
        out.extend_from_slice(&self.expires_at.to_le_bytes());
        out.push(u8::from(self.version.is_some()));
        out.extend_from_slice(&self.version.unwrap_or_default().to_le_bytes());
        for text in [&self.shown, &self.type_name, &self.id, &self.store_key] {
            out.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
            out.extend_from_slice(text.as_bytes());
        }
    }

    /// Reads a record.
    pub fn read(row: &[u8]) -> Result<Record<'_>> {
        Self::parse(row).ok_or_else(|| Error::bug("A sorted record has lost its form"))
    }

    fn parse(row: &[u8]) -> Option<Record<'_>> {
        let mut rest = row;
        let whole = take::<32>(&mut rest)?;
        let content = take::<32>(&mut rest)?;
        let event = take::<16>(&mut rest)?;
        let tenant = u32::from_le_bytes(take(&mut rest)?);
        let archive = u32::from_le_bytes(take(&mut rest)?);
        let stream_len = u32::from_le_bytes(take(&mut rest)?);
        let expires_at = i64::from_le_bytes(take(&mut rest)?);
        let [has_version] = take::<1>(&mut rest)?;
        let version = i64::from_le_bytes(take(&mut rest)?);
        let mut text = || {
            let length = usize::try_from(u32::from_le_bytes(take(&mut rest)?)).ok()?;
            let (text, after) = rest.split_at_checked(length)?;
            rest = after;
            std::str::from_utf8(text).ok().map(Cow::Borrowed)
        };
        let (shown, type_name, id, store_key) = (text()?, text()?, text()?, text()?);
        let version = (has_version == 1).then_some(version);
        Some(Record {
            whole,
            content,
            tenant,
            archive,
            expires_at,
            event,
            stream_len,
            version,
            shown,
            type_name,
            id,
            store_key,
        })
    }

    /// A record that outlives its row.
    pub fn into_owned(self) -> Record<'static> {
        let own = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        Record {
            shown: own(self.shown),
            type_name: own(self.type_name),
            id: own(self.id),
            store_key: own(self.store_key),
            whole: self.whole,
            content: self.content,
            tenant: self.tenant,
            archive: self.archive,
            expires_at: self.expires_at,
            event: self.event,
            stream_len: self.stream_len,
            version: self.version,
        }
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk::<N>()?;
    *rest = tail;
    Some(*head)
}

/// The short digest of what identifies an event (its event id) or a saga (type and id) whatever its key.
pub(crate) fn event_digest(parts: &[&[u8]]) -> [u8; 16] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let digest: [u8; 32] = hasher.finalize().into();
    let mut short = [0; 16];
    short.copy_from_slice(&digest[..16]);
    short
}

/// The key under which both sides meet: the order key, for sagas without the version, which may differ.
pub fn join_key(kind: DocumentKind, order_key: &[u8], stream_len: usize, out: &mut Vec<u8>) {
    out.clear();
    let (stream, rest) = order_key.split_at(stream_len.min(order_key.len()));
    out.extend_from_slice(stream);
    let skipped = match (kind, version_of(rest)) {
        (DocumentKind::Events, _) => 0,
        (_, Some(_)) => 9,
        (_, None) => 1,
    };
    out.extend_from_slice(rest.get(skipped..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let record = Record {
            whole: [1; 32],
            content: [2; 32],
            event: [3; 16],
            tenant: 4,
            archive: 5,
            stream_len: 6,
            expires_at: -7,
            version: Some(8),
            shown: "t:acme:Order:ü".into(),
            type_name: "Order".into(),
            id: String::new().into(),
            store_key: "[\"x\"]".into(),
        };
        let mut row = Vec::new();
        record.write(&mut row);
        assert_eq!(Record::read(&row).unwrap(), record);
        let _ = row.pop();
        assert!(Record::read(&row).is_err());
    }
}
