use std::path::Path;

use super::KeyMaps;
use super::expected::Recorder;
use crate::Result;
use crate::archive::{ArchiveInput, Chunk};
use crate::document::canonical::{Scratch, digest};
use crate::layout::Layout;
use crate::sort::Sorter;

/// The place of a line that cannot be read: no document has it.
const UNREADABLE: &[u8] = b"unreadable";

/// Gets the shown key and version of a document and what is wrong with it.
pub type Differs<'a> = dyn FnMut(&str, Option<i64>, &str) -> Result<()> + 'a;

/// Gets a document's position in the archive, place, shown key, version and body digest.
type EachBody<'a> = dyn FnMut(u64, &[u8], &str, Option<i64>, &[u8; 32]) -> Result<()> + 'a;

/// What holding the legacy archive against the key maps came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bodies {
    /// Legacy documents that a key map names, with the same body.
    pub same: u64,
    /// Legacy documents that no key map names.
    pub not_moved: u64,
}

/// Proves that nothing but the key and the filled-in fields changed: every legacy document that a key map names
/// has the body (everything the rewrite does not touch) that the key map recorded, and every rekeyed document
/// too. `differs` gets the key of each that has not.
pub fn compare_bodies(
    legacy: &ArchiveInput,
    rekeyed: &ArchiveInput,
    key_maps: &mut KeyMaps,
    layout: &Layout,
    folder: &Path,
    budget: usize,
    differs: &mut Differs<'_>,
) -> Result<Bodies> {
    let mut moved = Sorter::new(folder, budget);
    check_rekeyed(rekeyed, key_maps, layout, &mut moved, differs)?;
    let mut moved = moved.into_table()?;
    let mut bodies = Bodies::default();
    each_body(legacy, layout, &mut |_, place, shown, version, body| {
        match moved.first(place)? {
            None => bodies.not_moved += 1,
            Some(row) if row.get(..32) == Some(body.as_slice()) => bodies.same += 1,
            Some(_) => differs(shown, version, "the legacy document is not the one that was rewritten")?,
        }
        Ok(())
    })?;
    if bodies.same < moved.rows() {
        differs("", None, "the key map names documents that the legacy archive does not hold")?;
    }
    Ok(bodies)
}

/// Goes through rekeyed archive and key maps side by side.
fn check_rekeyed(
    rekeyed: &ArchiveInput,
    key_maps: &mut KeyMaps,
    layout: &Layout,
    moved: &mut Sorter,
    differs: &mut Differs<'_>,
) -> Result<()> {
    let mut place = Vec::new();
    each_body(rekeyed, layout, &mut |position, _, shown, version, body| {
        let row = key_maps.row(position, shown, |row| {
            write_place(&row.old, row.version, &row.key, &mut place);
            Ok(row.digest)
        })?;
        if row != *body {
            differs(shown, version, "the rekeyed document differs in more than its key from the legacy one")?;
        }
        moved.push(&place, &row)
    })
}

/// Hands over each document's position, place (shown key, version, store key), shown key, version and body.
fn each_body(input: &ArchiveInput, layout: &Layout, each: &mut EachBody<'_>) -> Result<()> {
    let mut recorder = Recorder::new(layout, None);
    let touched: Vec<String> = layout.touched_fields().into_iter().map(str::to_owned).collect();
    let mut scratch = Scratch::default();
    let mut place = Vec::new();
    let mut reader = input.line_reader();
    let mut chunk = Chunk::new();
    while reader.fill(&mut chunk)? {
        for (index, line) in chunk.lines().enumerate() {
            let position = chunk.position(index);
            let Ok(inspected) = recorder.read(line.bytes) else {
                // A line that cannot be read cannot have been moved either.
                each(position, UNREADABLE, "", None, &[0; 32])?;
                continue;
            };
            // A document that the layout refuses was not moved; its place is still its own.
            let version = inspected.is_ok().then_some(recorder.identity.version).flatten();
            let body = digest(layout.store, &recorder.tape, line.bytes, &touched, &mut scratch);
            let shown = recorder.inspector.display_key(&recorder.tape, line.bytes);
            let store_key = recorder.inspector.store_key(&recorder.tape, line.bytes);
            let store_key = store_key.map(|key| key.0).unwrap_or_default();
            write_place(&shown, version, &store_key, &mut place);
            each(position, &place, &shown, version, &body.0)?;
        }
    }
    reader.finish().map(drop)
}

/// Writes what a key map knows a legacy document by: its key as shown, its version, its store key.
pub fn write_place(shown: &str, version: Option<i64>, store_key: &str, out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(&(shown.len() as u64).to_le_bytes());
    out.extend_from_slice(shown.as_bytes());
    out.push(u8::from(version.is_some()));
    out.extend_from_slice(&version.unwrap_or_default().to_le_bytes());
    out.extend_from_slice(store_key.as_bytes());
}
