//! Archives: documents as lines, with a manifest that says what makes them whole.
//!
//! # The lines
//!
//! An archive is UTF-8 text, one document a line (its digest is what `sha256sum` says of the plain file).
//! Files of other tools differ in small things, so these rules hold for every file that is read:
//!
//! | in the file | rule |
//! |---|---|
//! | byte order mark | dropped at the beginning of each file |
//! | line end | LF; every CR right before it (or before the end of the file) is dropped |
//! | last line without a line end | read if it ends with `}`, and marked; otherwise the file is cut off |
//! | blank line (nothing but space, tab, CR) | skipped; it counts in line numbers, but is no document and not in the digest |
//! | no line at all | zero documents, no error |
//! | a line longer than the bound (64 MiB) | an error that names file and line |
//! | NUL | an error that names file and line: no JSON holds one |
//! | compression | by name (`.zst`, `.gz`, several members too); other contents than the name says are an error |
//! | name ends in `.part` | refused everywhere: a file that is still growing, or was left by a run that died |
//!
//! Digest, documents and bytes are those of the lines after these rules, each with one LF.
//!
//! # The files
//!
//! Beside an archive `NAME` stand `NAME.manifest.json`, after the rewrite `NAME.keys.ndjson` (the key map),
//! and `NAME.refused.ndjson` where documents were refused. All are written as `….part` and renamed
//! together, the manifest last ([`Staged`]).

mod chunk;
mod compression;
mod content_sum;
mod evidence;
mod expectation;
mod folder;
mod input;
mod key_map;
mod line_reader;
mod manifest;
mod names;
mod part_file;
mod parts;
mod source;
mod spool;
mod staged;
mod stoppable;
mod tally;
mod vendor;
mod write_behind;
mod writer;

pub use chunk::{Chunk, Line};
pub use content_sum::ContentSum;
pub use expectation::Expectation;
pub use input::{ArchiveInput, OpenOptions};
pub use key_map::{KeyMapReader, KeyMapRow, KeyMapWriter};
pub use line_reader::{CHUNK_BYTES, LineReader, MAX_LINE_BYTES};
pub use manifest::{
    CounterAccount, FORMAT, LayoutAccount, Manifest, RecordedEscaping, RekeyAccount, TenantAccount, now,
};
pub use names::Companions;
pub(crate) use names::UNDO as UNDO_LIST;
pub(crate) use part_file::sync_folder_of;
pub use staged::{Output, Staged};
pub use tally::Totals;
pub use vendor::VendorManifest;
pub use writer::{ArchiveWriter, WrittenArchive};
