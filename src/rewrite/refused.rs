use std::io::Write;

use base64::Engine as _;
use serde::Serialize;
use serde_json::value::RawValue;

use super::verdict::RefusedDocument;
use crate::check::Reason;
use crate::document::json::Tape;
use crate::{Error, Result};

/// One line of the list of refused documents.
#[derive(Serialize)]
struct Entry<'a> {
    line: u64,
    key: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<i64>,
    reason: Reason,
    detail: &'a str,
    advice: &'static str,
    /// The whole document as it stands in the archive.
    #[serde(skip_serializing_if = "Option::is_none")]
    document: Option<&'a RawValue>,
    /// The whole line, where it is not strict JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    line_base64: Option<String>,
}

/// Writes one refused document to `out`, whole if its line is given.
pub fn write_entry(refused: &RefusedDocument, line: Option<&[u8]>, out: &mut Vec<u8>) -> Result<()> {
    // A raw value may hold lone surrogates or a name twice: what other readers would stumble over goes as base64.
    let strict = line.filter(|line| Tape::new().read(line).is_ok());
    let document = strict.and_then(|line| serde_json::from_slice::<&RawValue>(line).ok());
    let entry = Entry {
        line: refused.line,
        key: &refused.key,
        version: refused.version,
        reason: refused.refusal.reason,
        detail: &refused.refusal.detail,
        advice: refused.refusal.reason.advice(),
        line_base64: match (document, line) {
            (None, Some(line)) => Some(base64::engine::general_purpose::STANDARD.encode(line)),
            _ => None,
        },
        document,
    };
    serde_json::to_writer(&mut *out, &entry)
        .map_err(|e| Error::caused(crate::ErrorKind::Bug, "Cannot write a refused document", e))?;
    out.write_all(b"\n").map_err(|e| Error::caused(crate::ErrorKind::Bug, "Cannot grow a buffer", e))
}
