use super::Job;
use super::document::{Standing, standing};
use super::evidence::{Evidence, Stored, length, place};
use super::list::Listed;
use crate::commands::legacy_blocks::SORT_BUDGET;
use crate::commands::withdraw::{OpenStream, Reason, Verdicts};
use crate::report::{Finding, FindingCode, Findings};
use crate::sort::{SortedTable, Sorter};
use crate::stores::Expiry;
use crate::ui::Ui;
use crate::{Error, Result};

/// Why a stream is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// The store holds a document of it that no list names.
    Unlisted,
    /// One of its documents is no longer what was imported.
    SavedSince,
    /// One of its documents has no equal legacy document.
    LegacyMissing,
    /// The document was changed after its stream was found to be as imported: it alone is left.
    ChangedMeanwhile,
}

impl Reason for Left {
    fn code(self) -> &'static str {
        match self {
            Self::Unlisted => "unlisted",
            Self::SavedSince => "saved-since",
            Self::LegacyMissing => "legacy-missing",
            Self::ChangedMeanwhile => "changed-meanwhile",
        }
    }

    fn message(self) -> &'static str {
        match self {
            Self::Unlisted => "no undo list names it",
            Self::SavedSince => "it is no longer what was imported",
            Self::LegacyMissing => "no equal legacy document stands",
            Self::ChangedMeanwhile => "it was changed while its stream was being taken back",
        }
    }
}

/// A decision on every stream.
pub(super) struct Decided {
    pub verdicts: Verdicts,
    /// Documents that are as the import left them, by their order keys: [`Going`]. Those of streams that are left are
    /// among them.
    pub going: Sorter,
}

/// A document that is to be taken back, in a row of a sort.
pub(super) struct Going<'a> {
    /// What identifies its stream.
    pub stream: &'a [u8],
    pub store_key: &'a str,
    /// What the lists say of it.
    pub entries: &'a [u8],
}

impl<'a> Going<'a> {
    /// The order key is the row's key.
    fn write(document: &Stored, entries: &[u8], out: &mut Vec<u8>) {
        out.clear();
        for length in [document.stream_len, document.store_key.len()] {
            out.extend_from_slice(&(length as u64).to_le_bytes());
        }
        out.extend_from_slice(document.store_key.as_bytes());
        out.extend_from_slice(entries);
    }

    pub fn read(order_key: &'a [u8], row: &'a [u8]) -> Result<Self> {
        let parse = || {
            let mut rest = row;
            let stream = order_key.get(..length(&mut rest)?)?;
            let (store_key, entries) = length(&mut rest).and_then(|length| rest.split_at_checked(length))?;
            Some(Self { stream, store_key: std::str::from_utf8(store_key).ok()?, entries })
        };
        parse().ok_or_else(|| Error::bug("A document to be taken back has lost its form"))
    }
}

/// Goes through what the target holds and decides, stream by stream.
pub(super) fn decide(
    job: &Job,
    Listed { table: listed, documents }: Listed,
    evidence: Evidence,
    expiry: Expiry,
    findings: &mut Findings,
    ui: &Ui,
    stopped: &dyn Fn() -> Result<()>,
) -> Result<Decided> {
    let Evidence { stored, likenesses, legacy_places, .. } = evidence;
    let task = ui.progress().start("deciding", Some(stored.rows()));
    let mut verdicts = Verdicts::default();
    let mut judge = Judge {
        in_place: job.in_place,
        listed,
        likenesses: likenesses.into_table()?,
        legacy_places: legacy_places.into_table()?,
        expiry,
        open: OpenStream::default(),
        going: Sorter::new(&job.folder, SORT_BUDGET),
        row: Vec::new(),
    };
    let mut stored = stored.finish()?;
    while let Some((key, row)) = stored.next()? {
        stopped()?;
        let document = Stored::read(row)?;
        let stream = key.get(..document.stream_len).unwrap_or(key);
        if judge.open.stream() != stream {
            let stream = stream.to_vec();
            judge.end(&mut verdicts, findings)?;
            judge.open.begin(&stream);
        }
        judge.judge(&document, key)?;
        task.add(1, row.len() as u64);
    }
    judge.end(&mut verdicts, findings)?;
    task.finish();
    // What was not met is not there.
    verdicts.gone = documents.saturating_sub(verdicts.documents);
    verdicts.documents = documents;
    Ok(Decided { verdicts, going: judge.going })
}

struct Judge {
    in_place: bool,
    listed: SortedTable,
    likenesses: SortedTable,
    legacy_places: SortedTable,
    expiry: Expiry,
    open: OpenStream<Left>,
    going: Sorter,
    row: Vec<u8>,
}

impl Judge {
    fn judge(&mut self, document: &Stored, order_key: &[u8]) -> Result<()> {
        let Some(entries) = self.listed.first(document.store_key.as_bytes())? else {
            self.open.keep(Left::Unlisted, left(document));
            return Ok(());
        };
        let standing = standing(&entries, &document.whole, &document.shown, document.version)?;
        if standing == Standing::PutBack {
            return Ok(());
        }
        self.open.documents += 1;
        let reason = match standing {
            _ if !document.is_readable => Some(Left::SavedSince),
            Standing::Created => self.misses_legacy(document)?.then_some(Left::LegacyMissing),
            Standing::Changed { old, .. } => {
                self.is_old_key_in_use(document, &old)?.then_some(Left::Unlisted)
            }
            Standing::PutBack | Standing::Another => Some(Left::SavedSince),
        };
        if let Some(reason) = reason {
            self.open.keep(reason, left(document));
            return Ok(());
        }
        Going::write(document, &entries, &mut self.row);
        self.going.push(order_key, &self.row)
    }

    /// Whether its removal would lose something: no equal legacy document stands, and it has not expired either.
    fn misses_legacy(&mut self, document: &Stored) -> Result<bool> {
        let stands = self.likenesses.first(&document.likeness)?.is_some();
        Ok(!stands && !document.expires_at.is_some_and(|time| self.expiry.has_passed(time)))
    }

    /// Whether somebody has written under the key that it would get back.
    fn is_old_key_in_use(&mut self, document: &Stored, old: &str) -> Result<bool> {
        if !self.in_place {
            return Ok(false);
        }
        let mut legacy = self.legacy_places.get(&place(&document.type_name, old))?;
        while let Some(store_key) = legacy.next()? {
            // One that was put back by an earlier run stands there, too.
            if self.listed.first(store_key)?.is_none() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn end(&mut self, verdicts: &mut Verdicts, findings: &mut Findings) -> Result<()> {
        self.open.end(verdicts, findings, |documents, left| {
            format!("The stream's {documents} imported documents are left: of this one, {}.", left.message())
        })
    }
}

/// A finding that names the document.
fn left(document: &Stored) -> Finding {
    Finding {
        key: Some(document.shown.clone()).filter(|key| !key.is_empty()),
        version: document.version,
        ..Finding::new(FindingCode::Left, "")
    }
}
