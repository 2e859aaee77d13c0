use super::Archives;
use crate::archive::{Companions, KeyMapReader};
use crate::commands::legacy_blocks::SORT_BUDGET;
use crate::sort::{Sorted, SortedTable, Sorter};
use crate::stores::Expiry;
use crate::verify::{Found, Record, write_place};
use crate::{Error, Result};

/// Stands for the store key in the place of a document that a key map has under its new key.
pub(super) const CARRIED_OVER: &str = "new";

/// What decides whether a stream may go.
pub(super) struct Evidence {
    /// Legacy documents that are stored, by their order keys: 32 bytes of digest, then the key shown.
    pub stored: Sorted,
    /// Place of a legacy document in the key maps → its tenant. Where rekeyed documents were carried over, every
    /// document stands there under its new key, too, as [`CARRIED_OVER`].
    pub moved: SortedTable,
    /// Rekeyed documents that are stored, by their join keys: 32 bytes of digest.
    pub twins: SortedTable,
    /// What the stores of the legacy documents and of the twins delete by themselves.
    pub expiry: [Expiry; 2],
}

/// Sorts what was found and reads the key maps.
pub(super) fn gather(archives: &Archives, found: Found, expiry: [Expiry; 2]) -> Result<Evidence> {
    let mut moved = Sorter::new(&archives.folder, SORT_BUDGET);
    let mut place = Vec::new();
    for (manifest_path, manifest) in archives.rekeyed.manifests() {
        let sha256 = manifest.rekey.as_ref().and_then(|rekey| rekey.key_map_sha256.as_deref());
        let Some(sha256) = sha256 else {
            return Err(Error::usage(format!("{manifest_path:?} names no key map; nothing was deleted"))
                .hint("Rewrite the legacy archive into a file: the key map stands beside it."));
        };
        // Documents that carried a tenant already stand in the legacy archive, too, as such or beside their twins.
        let carried_over = manifest.rekey.as_ref().is_some_and(|it| it.already_rekeyed + it.merged > 0);
        let path = Companions::beside_manifest(manifest_path).key_map;
        let mut key_map = KeyMapReader::open(&path, Some(manifest.totals.documents), Some(sha256));
        while let Some(row) = key_map.next()? {
            write_place(&row.old, row.version, &row.key, &mut place);
            moved.push(&place, row.tenant.as_bytes())?;
            if carried_over {
                write_place(&row.new, row.version, CARRIED_OVER, &mut place);
                moved.push(&place, row.tenant.as_bytes())?;
            }
        }
    }
    let mut rekeyed = found.rekeyed.finish()?;
    let mut twins = Sorter::new(&archives.folder, SORT_BUDGET);
    while let Some((key, row)) = rekeyed.next()? {
        let record = Record::read(row)?;
        twins.push(key, &record.whole)?;
    }
    Ok(Evidence {
        stored: found.legacy.finish()?,
        moved: moved.into_table()?,
        twins: twins.into_table()?,
        expiry,
    })
}
