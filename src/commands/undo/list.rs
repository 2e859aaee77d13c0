use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{Job, folder, refuse_unknown_legacy};
use crate::archive::{RecordedEscaping, UNDO_LIST};
use crate::commands::legacy_blocks::SORT_BUDGET;
use crate::commands::source::find_layout;
use crate::commands::state_folder;
use crate::options::UndoOptions;
use crate::sort::{Sorted, SortedTable, Sorter};
use crate::stores::Description;
use crate::undo_list::{Header, Place, UndoListReader, lists_of};
use crate::{Error, Result};

/// Separates the entries of one key in a row. No entry holds it.
pub(super) const BETWEEN: u8 = b'\n';

/// What the lists name.
pub(super) struct Listed {
    /// Store key → its entries.
    pub table: SortedTable,
    /// How many documents there are; a key counts once.
    pub documents: u64,
}

/// Finds the lists that are meant and what they are of.
pub(super) fn find(options: &UndoOptions, target: &Description) -> Result<Job> {
    let mut lists = Vec::new();
    for path in &options.lists {
        let is_list = path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(UNDO_LIST));
        if is_list {
            lists.push(path.clone());
        } else {
            lists.extend(beside(options, path, target)?);
        }
    }
    let headers = lists.iter().map(|path| UndoListReader::open(path).map(|list| list.header().clone()));
    let headers = headers.collect::<Result<Vec<_>>>()?;
    let (Some(first), Some(list)) = (headers.first(), lists.first()) else {
        return Err(Error::usage("No undo list was named; nothing was changed"));
    };
    for (path, header) in lists.iter().zip(&headers) {
        refuse_another_target(path, header, target)?;
        if (&header.layout, header.in_place) != (&first.layout, first.in_place) {
            return Err(Error::usage(format!(
                "{list:?} and {path:?} are of imports of another kind; nothing was changed"
            ))
            .hint("Take them back one after the other."));
        }
    }
    if !first.in_place {
        refuse_unknown_legacy(options, first.source.as_ref(), target)?;
    }
    let layout = find_layout(&options.layout, Some(target.store), Some((&first.layout, target.store)))?;
    let escaping = RecordedEscaping::together(headers.iter().map(|header| header.escaping))?.escaping();
    let folder = folder(options, list)?;
    Ok(Job { archive: first.archive.clone(), layout, escaping, in_place: first.in_place, folder, lists })
}

/// The list of an archive that is of an import into the target; several where its shards were imported.
fn beside(options: &UndoOptions, archive: &Path, target: &Description) -> Result<Vec<PathBuf>> {
    let folder = state_folder(options.state_dir.as_deref().filter(|folder| folder.is_dir()), Some(archive))?;
    let name = archive.file_name().unwrap_or_default().to_string_lossy();
    let (mut found, mut archives) = (Vec::new(), BTreeSet::new());
    let all = lists_of(&folder, &name)?;
    for path in &all {
        let list = UndoListReader::open(path)?;
        if list.header().target.is(&Place::of(target)) {
            found.push(path.clone());
            let _ = archives.insert(list.header().archive_sha256.clone());
        }
    }
    match archives.len() {
        1 => Ok(found),
        0 => {
            let into = &target.location;
            let error = Error::usage(format!(
                "No undo list of an import of {name:?} into {into} is in {folder:?}; nothing was changed"
            ));
            Err(match all.first() {
                Some(other) => {
                    error.hint(format!("{other:?} is of another target: name that one with --from."))
                }
                None => error.hint("Pass the list itself, or --state-dir if the import had one."),
            })
        }
        several => Err(Error::usage(format!(
            "Imports of {several} archives called {name:?} into {} left undo lists; nothing was changed",
            target.location
        ))
        .hint(format!("Pass the list of the one that is meant: {}.", names(&found)))),
    }
}

fn names(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| format!("{path:?}")).collect::<Vec<_>>().join(", ")
}

fn refuse_another_target(path: &Path, header: &Header, target: &Description) -> Result<()> {
    if header.target.is(&Place::of(target)) {
        return Ok(());
    }
    Err(Error::usage(format!(
        "The undo list {path:?} is of an import into {}, not into {}; nothing was changed",
        header.target.location, target.location
    ))
    .hint("Name the collection that was imported into with --from and --collection."))
}

/// Reads the lists into a table.
pub(super) fn read(job: &Job) -> Result<Listed> {
    let mut rows = Rows::new(sorted(job)?)?;
    let mut table = Sorter::new(&job.folder, SORT_BUDGET);
    let mut documents = 0;
    while let Some((key, entries)) = rows.next()? {
        table.push(&key, &entries)?;
        documents += 1;
    }
    Ok(Listed { table: table.into_table()?, documents })
}

/// The entries in the order of their store keys.
fn sorted(job: &Job) -> Result<Sorted> {
    let mut sorter = Sorter::new(&job.folder, SORT_BUDGET);
    for path in &job.lists {
        let mut list = UndoListReader::open(path)?;
        loop {
            let Some(entry) = list.next()? else { break };
            let key = entry.key.to_owned();
            sorter.push(key.as_bytes(), list.line())?;
        }
    }
    sorter.finish()
}

/// Sorted entries, those of one key together.
struct Rows {
    sorted: Sorted,
    next: Option<(Vec<u8>, Vec<u8>)>,
}

impl Rows {
    fn new(mut sorted: Sorted) -> Result<Self> {
        let next = sorted.next()?.map(|(key, entry)| (key.to_vec(), entry.to_vec()));
        Ok(Self { sorted, next })
    }

    /// The next key and its entries, each different from the others.
    fn next(&mut self) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
        let Some((key, mut entries)) = self.next.take() else { return Ok(None) };
        while let Some((next_key, entry)) = self.sorted.next()? {
            if next_key != key {
                self.next = Some((next_key.to_vec(), entry.to_vec()));
                break;
            }
            if entries.split(|byte| *byte == BETWEEN).all(|known| known != entry) {
                entries.push(BETWEEN);
                entries.extend_from_slice(entry);
            }
        }
        Ok(Some((key, entries)))
    }
}
