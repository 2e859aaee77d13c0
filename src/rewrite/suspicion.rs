use std::collections::BTreeMap;

use memchr::memmem;

use super::verdict::RefusedDocument;
use crate::check::{Reason, Refusal};
use crate::document::text::unescape;
use crate::document::{DOCUMENT_ID, StoreKind};
use crate::layout::{DocumentKind, Layout};

/// Beyond so many bytes of unattributable lines every stream is suspected, instead of looking through them
/// for each.
const MAX_BYTES: usize = 1024 * 1024;

/// Events of which nobody can say for certain which stream they belong to.
///
/// Besides what cannot be attributed at all that is what lacks a field of its key, such as the type that is half
/// of a stream's key on MongoDB. A stream that may have lost such an event must not be moved: without its tail it would be appended to under
/// a version that is taken. So every stream whose key an unattributable line mentions is suspected, and all of
/// them are where a damaged line has lost its key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suspicion {
    /// Line number → the line without the escapes of its strings.
    lines: BTreeMap<u64, String>,
    bytes: usize,
    everything: Option<u64>,
}

impl Suspicion {
    /// Takes an unattributable line; sagas are alone in their streams and leave no hole.
    pub fn add(&mut self, layout: &Layout, refused: &RefusedDocument, line: &[u8]) {
        if layout.kind != DocumentKind::Events {
            return;
        }
        let strings: Vec<_> = strings(line).collect();
        let lost_its_key = refused.refusal.reason == Reason::Malformed && !holds_a_key(layout, &strings);
        if lost_its_key || self.bytes > MAX_BYTES {
            self.everything = self.everything.or(Some(refused.line));
            return;
        }
        // Not only its strings: where a quote is missing they are what stands between them.
        let text = unescape(line).into_owned();
        self.bytes += text.len();
        let _ = self.lines.insert(refused.line, text);
    }

    /// Takes what another pass found, too; tells whether anything of it is new.
    pub fn extend(&mut self, other: Self) -> bool {
        let Self { lines, everything, .. } = other;
        let known = (self.lines.len(), self.everything);
        self.everything = self.everything.or(everything);
        for (line, text) in lines {
            let _ = self.lines.entry(line).or_insert(text);
        }
        self.bytes = self.lines.values().map(String::len).sum();
        known != (self.lines.len(), self.everything)
    }

    /// Whether there is nothing to suspect anybody for.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.everything.is_none()
    }

    /// Why the stream must stay where it is; `map_key` is its key as a tenant map has it.
    pub fn of(&self, map_key: &str) -> Option<Refusal> {
        let key = memmem::Finder::new(map_key);
        let mentions =
            |text: &str| key.find_iter(text.as_bytes()).any(|at| stands_alone(text, at, map_key.len()));
        let mentioned = || self.lines.iter().find(|(_, text)| mentions(text));
        let line = self.everything.or_else(|| mentioned().map(|(line, _)| *line))?;
        let detail = format!("line {line} may be a document of the stream, and cannot be read");
        Some(Refusal::new(Reason::StreamRefused, detail))
    }
}

/// Whether what is found is no part of a longer word: `A-1` is not mentioned by `A-10`.
fn stands_alone(text: &str, at: usize, length: usize) -> bool {
    let before = text.get(..at).and_then(|before| before.chars().next_back());
    let after = text.get(at + length..).and_then(|after| after.chars().next());
    ![before, after].into_iter().flatten().any(char::is_alphanumeric)
}

/// The whole strings of a line that need not be JSON, with their quotes.
fn strings(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let start = rest.iter().position(|byte| *byte == b'"')?;
        let string = rest.get(start..)?;
        let mut escaped = true; // The quote that it begins with does not end it.
        for (index, byte) in string.iter().enumerate() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => {
                    let (whole, after) = string.split_at(index + 1);
                    rest = after;
                    return Some(whole);
                }
                _ => {}
            }
        }
        None
    })
}

/// Whether the name of a key field stands among the strings with a string after it: its value, or the name of
/// its type and then its value.
fn holds_a_key(layout: &Layout, strings: &[&[u8]]) -> bool {
    let after = if matches!(layout.store, StoreKind::DynamoDb | StoreKind::Firestore) { 2 } else { 1 };
    let keys = layout.keys.iter().filter(|key| key.change().is_some());
    keys.map(|key| if key.at == DOCUMENT_ID { ("name", 1) } else { (key.at.as_str(), after) }).any(
        |(name, after)| {
            let name = format!("\"{name}\"");
            strings.iter().position(|it| *it == name.as_bytes()).is_some_and(|at| at + after < strings.len())
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suspicion(layout: &str, reason: Reason, line: &str) -> Suspicion {
        let layout = Layout::builtin(layout).unwrap();
        let refused =
            RefusedDocument { line: 7, key: String::new(), version: None, refusal: Refusal::new(reason, "") };
        let mut suspicion = Suspicion::default();
        suspicion.add(&layout, &refused, line.as_bytes());
        suspicion
    }

    #[test]
    fn a_cut_off_line_casts_suspicion_on_the_stream_it_names() {
        for (layout, line) in [
            ("cosmosdb-events", r#"{"id":"Order:A-1:7","streamId":"Ord"#),
            ("dynamodb-events", r#"{"Item":{"pk":{"S":"Order:A-1"},"sk":{"N":"#),
            ("firestore-events", r#"{"name":"projects/p/databases/d/documents/events/Order:A-1:7","fie"#),
            ("mongodb-events", r#"{"_id":{"$oid":"00"},"streamId":"Order:\u0041-1","aggr"#),
        ] {
            let suspicion = suspicion(layout, Reason::Malformed, line);
            assert!(suspicion.of("Order:A-1").is_some(), "{layout}");
            assert_eq!(suspicion.of("Order:B-1"), None, "{layout}");
            assert_eq!(suspicion.of("rder:A-1"), None, "{layout}");
        }
    }

    #[test]
    fn a_line_that_lost_its_key_casts_suspicion_on_every_stream() {
        for (layout, line) in [
            ("cosmosdb-events", r#"{"id":"Order:A-"#),
            ("dynamodb-events", r#"{"Item":{"pk":{"S":"Ord"#),
            ("firestore-events", r#"{"name":"projects/p/data"#),
            ("mongodb-events", r#"{"_id":{"$oid":"00"},"eventId":"1","streamId":"#),
        ] {
            assert!(suspicion(layout, Reason::Malformed, line).of("Order:B-1").is_some(), "{layout}");
        }
    }

    #[test]
    fn a_whole_document_without_a_key_and_a_saga_cast_none_on_others() {
        assert_eq!(suspicion("cosmosdb-events", Reason::FieldMissing, "{}").of("Order:A-1"), None);
        assert!(suspicion("cosmosdb-sagas", Reason::Malformed, "{").is_empty());
    }
}
