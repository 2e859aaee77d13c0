//! What the real store would set by itself when a document is written.
//!
//! | store | set |
//! |---|---|
//! | Firestore | `name` (under the collection), `createTime`, `updateTime` |
//! | Cosmos DB | `_rid`, `_self`, `_etag`, `_attachments`, `_ts` |
//!
//! The time is a logical clock: it starts at 2026-01-01 and moves by a microsecond a written document, so
//! that the same writes give the same bytes on every run. On MongoDB and DynamoDB a line is stored as it is.

use crate::document::json::{Member, Tape};
use crate::document::text::write_quoted;
use crate::document::{StoreKind, document_id};

/// 2026-01-01T00:00:00Z in microseconds.
const START: i64 = 1_767_225_600_000_000;

/// What Cosmos DB writes into every item.
const COSMOSDB_FIELDS: [&str; 5] = ["_rid", "_self", "_etag", "_attachments", "_ts"];

/// Where and when a document is written.
pub(super) struct Stamp<'a> {
    /// The kind whose rules are kept.
    pub kind: StoreKind,
    /// The collection's name.
    pub collection: &'a str,
    /// The collection's number in the file.
    pub number: u64,
    /// The count of documents written to the file before.
    pub tick: u64,
}

impl Stamp<'_> {
    /// Appends a new document as the store would hold it.
    pub(super) fn create(&self, tape: &Tape, line: &[u8], out: &mut Vec<u8>) {
        match self.kind {
            StoreKind::MongoDb | StoreKind::DynamoDb => out.extend_from_slice(line),
            StoreKind::Firestore => {
                let time = self.time();
                self.firestore(tape, line, &time, &time, out);
            }
            StoreKind::CosmosDb => {
                let rid = self.rid();
                let path = format!("dbs/{:08x}/colls/{:08x}/docs/{rid}/", 0, self.number);
                self.cosmosdb(tape, line, &quoted(&rid), &quoted(&path), out);
            }
        }
    }

    /// Appends a changed document as the store would hold it; `line` still has what was set at its creation.
    pub(super) fn update(&self, tape: &Tape, line: &[u8], out: &mut Vec<u8>) {
        let kept = |name: &str| {
            let value = tape.find(line, None, name).map(|value| value.raw(line));
            value.map_or_else(|| quoted(""), <[u8]>::to_vec)
        };
        match self.kind {
            StoreKind::MongoDb | StoreKind::DynamoDb => out.extend_from_slice(line),
            StoreKind::Firestore => self.firestore(tape, line, &kept("createTime"), &self.time(), out),
            StoreKind::CosmosDb => self.cosmosdb(tape, line, &kept("_rid"), &kept("_self"), out),
        }
    }

    fn firestore(&self, tape: &Tape, line: &[u8], created: &[u8], updated: &[u8], out: &mut Vec<u8>) {
        let id = document_id(tape, line).unwrap_or_default();
        let name = format!("projects/embedded/databases/(default)/documents/{}/{id}", self.collection);
        out.extend_from_slice(b"{\"name\":");
        write_quoted(&name, out);
        out.push(b',');
        write_others(tape, line, &["name", "createTime", "updateTime"], out);
        out.extend_from_slice(b"\"createTime\":");
        out.extend_from_slice(created);
        out.extend_from_slice(b",\"updateTime\":");
        out.extend_from_slice(updated);
        out.push(b'}');
    }

    fn cosmosdb(&self, tape: &Tape, line: &[u8], rid: &[u8], path: &[u8], out: &mut Vec<u8>) {
        out.push(b'{');
        write_others(tape, line, &COSMOSDB_FIELDS, out);
        out.extend_from_slice(b"\"_rid\":");
        out.extend_from_slice(rid);
        out.extend_from_slice(b",\"_self\":");
        out.extend_from_slice(path);
        let seconds = START.saturating_add_unsigned(self.tick) / 1_000_000;
        let rest = format!(
            ",\"_etag\":\"\\\"{:08x}-0000-0000-0000-000000000000\\\"\",\"_attachments\":\"attachments/\",\"_ts\":{seconds}}}",
            self.tick
        );
        out.extend_from_slice(rest.as_bytes());
    }

    fn rid(&self) -> String {
        use base64::Engine as _;
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.number.to_be_bytes());
        bytes[8..].copy_from_slice(&self.tick.to_be_bytes());
        // `/` is not allowed in a path segment; Cosmos DB uses the same alphabet.
        base64::engine::general_purpose::URL_SAFE.encode(bytes)
    }

    fn time(&self) -> Vec<u8> {
        let microseconds = START.saturating_add_unsigned(self.tick);
        let time = jiff::Timestamp::from_microsecond(microseconds).unwrap_or(jiff::Timestamp::MAX);
        quoted(&format!("{time:.6}"))
    }
}

fn quoted(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 2);
    write_quoted(text, &mut out);
    out
}

/// Appends `"name":value,` for every member of the line's object but those named.
fn write_others(tape: &Tape, line: &[u8], but: &[&str], out: &mut Vec<u8>) {
    let kept = |member: &&Member| !but.iter().any(|name| member.is_named(line, name));
    for member in tape.members(None).filter(kept) {
        write_quoted(&member.name(line), out);
        out.push(b':');
        out.extend_from_slice(member.raw(line));
        out.push(b',');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(kind: StoreKind, tick: u64, line: &str, update: bool) -> String {
        let mut tape = Tape::new();
        tape.read(line.as_bytes()).unwrap();
        let stamp = Stamp { kind, collection: "events", number: 1, tick };
        let mut out = Vec::new();
        if update {
            stamp.update(&tape, line.as_bytes(), &mut out);
        } else {
            stamp.create(&tape, line.as_bytes(), &mut out);
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn mongodb_and_dynamodb_keep_a_line_byte_for_byte() {
        let line = r#"{ "_id" : "a" , "x":{"$numberLong":"1"}}"#;
        assert_eq!(written(StoreKind::MongoDb, 7, line, false), line);
        assert_eq!(written(StoreKind::DynamoDb, 7, r#"{"Item": {} }"#, false), r#"{"Item": {} }"#);
    }

    #[test]
    fn firestore_names_are_rooted_anew_and_times_are_set() {
        let line =
            r#"{"name":"projects/p/databases/d/documents/old/A:0","fields":{"a": {}},"updateTime":"x"}"#;
        let created = written(StoreKind::Firestore, 3, line, false);
        assert_eq!(
            created,
            r#"{"name":"projects/embedded/databases/(default)/documents/events/A:0","fields":{"a": {}},"createTime":"2026-01-01T00:00:00.000003Z","updateTime":"2026-01-01T00:00:00.000003Z"}"#
        );
        let updated = written(StoreKind::Firestore, 1_000_005, &created, true);
        assert!(updated.ends_with(
            r#","createTime":"2026-01-01T00:00:00.000003Z","updateTime":"2026-01-01T00:00:01.000005Z"}"#
        ));
    }

    #[test]
    fn cosmosdb_system_fields_are_replaced_and_an_update_changes_the_etag_alone() {
        let line = r#"{"id":"A:0","_etag":"old","_meta":1,"_ts":5}"#;
        let created = written(StoreKind::CosmosDb, 16, line, false);
        assert_eq!(
            created,
            r#"{"id":"A:0","_meta":1,"_rid":"AAAAAAAAAAEAAAAAAAAAEA==","_self":"dbs/00000000/colls/00000001/docs/AAAAAAAAAAEAAAAAAAAAEA==/","_etag":"\"00000010-0000-0000-0000-000000000000\"","_attachments":"attachments/","_ts":1767225600}"#
        );
        assert_eq!(
            written(StoreKind::CosmosDb, 17, &created, true),
            created.replace("\"00000010-", "\"00000011-")
        );
    }
}
