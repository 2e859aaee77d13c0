use std::sync::Arc;

use super::Archives;
use super::evidence::{CARRIED_OVER, Evidence};
use crate::archive::{Chunk, Line};
use crate::commands::legacy_blocks::legacy_blocks;
use crate::commands::withdraw::{OpenStream, Reason, Verdicts};
use crate::document::canonical::{Scratch, digest};
use crate::document::json::Tape;
use crate::layout::{Identity, Inspector, KeyState, StoredOwner};
use crate::report::{Finding, FindingCode, Findings};
use crate::rewrite::{Rules, out_of_order};
use crate::sort::Sorted;
use crate::stores::Expiry;
use crate::ui::Ui;
use crate::verify::{join_key, write_place};
use crate::{Error, Result};

/// Why a stream's legacy documents are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kept {
    /// No key map names one of its documents.
    NotMoved,
    /// One of its documents has no twin.
    TwinMissing,
    /// One of its documents has a twin with another content.
    TwinDifferent,
    /// One of its documents no longer has the content that was exported.
    Changed,
    /// The store holds a document of it that the archive does not.
    Extra,
    /// The document is not one the layout reads.
    Unreadable,
    /// The document was changed after its stream was found to be as exported: it alone is kept.
    ChangedMeanwhile,
}

impl Reason for Kept {
    fn code(self) -> &'static str {
        match self {
            Self::NotMoved => "not-moved",
            Self::TwinMissing => "twin-missing",
            Self::TwinDifferent => "twin-different",
            Self::Changed => "changed",
            Self::Extra => "extra",
            Self::Unreadable => "unreadable",
            Self::ChangedMeanwhile => "changed-meanwhile",
        }
    }

    fn message(self) -> &'static str {
        match self {
            Self::NotMoved => "no key map names it, so its stream was not moved",
            Self::TwinMissing => "its rekeyed twin is not there",
            Self::TwinDifferent => "its rekeyed twin has another content",
            Self::Changed => "it is no longer what was exported",
            Self::Extra => "the store holds it but the archive does not",
            Self::Unreadable => "it is not a legacy document of the layout",
            Self::ChangedMeanwhile => "it was changed while its stream was being deleted",
        }
    }
}

/// Goes through the legacy archive and decides, stream by stream.
pub(super) fn decide(
    archives: &Archives,
    evidence: Evidence,
    findings: &mut Findings,
    ui: &Ui,
    stopped: &dyn Fn() -> Result<()>,
) -> Result<Verdicts> {
    let task = ui.progress().start("deciding", archives.legacy.expected_documents());
    let mut judge = Judge::new(archives, evidence)?;
    let mut decided = Verdicts::default();
    let rules = Arc::new(Rules::for_reading(archives.layout.clone(), archives.escaping));
    let mut blocks = legacy_blocks(&archives.legacy, &rules, &archives.folder, |_, _| stopped())?;
    let mut chunk = Chunk::new();
    let mut last_key = Vec::new();
    while blocks.fill(&mut chunk)? {
        stopped()?;
        for line in chunk.lines() {
            let order = judge.read(line.bytes);
            if judge.key < last_key {
                return Err(out_of_order(line.number));
            }
            last_key.clone_from(&judge.key);
            judge.open_stream(order, &mut decided, findings)?;
            judge.judge(line)?;
        }
        task.add(chunk.len() as u64, chunk.bytes() as u64);
    }
    let totals = archives.legacy.totals();
    let totals = totals.ok_or_else(|| Error::bug("The legacy archive was not read to its end"))?;
    judge.end(&mut decided, findings)?;
    for (path, manifest) in archives.rekeyed.manifests() {
        if manifest.rekey.as_ref().is_some_and(|rekey| rekey.input_sha256 != totals.sha256) {
            return Err(Error::usage(format!(
                "{path:?} was not made from {}; nothing was deleted",
                archives.legacy.name()
            ))
            .hint("Pass the legacy archive that rekey read."));
        }
    }
    task.finish();
    Ok(decided)
}

/// The row of a stored legacy document that comes next.
struct Stored {
    rows: Sorted,
    next: Option<(Vec<u8>, [u8; 32], String)>,
}

impl Stored {
    fn new(rows: Sorted) -> Result<Self> {
        let mut stored = Self { rows, next: None };
        stored.advance()?;
        Ok(stored)
    }

    fn advance(&mut self) -> Result<()> {
        self.next = match self.rows.next()? {
            None => None,
            Some((key, row)) => {
                let (digest, shown) = row
                    .split_first_chunk::<32>()
                    .ok_or_else(|| Error::bug("A stored row has lost its form"))?;
                Some((key.to_vec(), *digest, String::from_utf8_lossy(shown).into_owned()))
            }
        };
        Ok(())
    }
}

struct Judge<'a> {
    archives: &'a Archives,
    stored: Stored,
    moved: crate::sort::SortedTable,
    twins: crate::sort::SortedTable,
    expiry: [Expiry; 2],
    inspector: Inspector,
    tape: Tape,
    /// Whether the tape holds the line read last.
    is_json: bool,
    identity: Identity,
    key: Vec<u8>,
    place: Vec<u8>,
    twin: Vec<u8>,
    twin_key: Vec<u8>,
    twin_join: Vec<u8>,
    scratch: Scratch,
    open: OpenStream<Kept>,
}

impl<'a> Judge<'a> {
    fn new(archives: &'a Archives, evidence: Evidence) -> Result<Self> {
        Ok(Self {
            archives,
            stored: Stored::new(evidence.stored)?,
            moved: evidence.moved,
            twins: evidence.twins,
            expiry: evidence.expiry,
            inspector: Inspector::new(&archives.layout, archives.escaping),
            tape: Tape::new(),
            is_json: false,
            identity: Identity::default(),
            key: Vec::new(),
            place: Vec::new(),
            twin: Vec::new(),
            twin_key: Vec::new(),
            twin_join: Vec::new(),
            scratch: Scratch::default(),
            open: OpenStream::default(),
        })
    }

    /// Reads a line; the length of the part of its order key that identifies the stream, which is nothing for
    /// a line that cannot be read.
    fn read(&mut self, line: &[u8]) -> usize {
        self.key.clear();
        self.is_json = self.tape.read(line).is_ok();
        let stream_len =
            if self.is_json { self.inspector.order_key(&self.tape, line, &mut self.key).ok() } else { None };
        if stream_len.is_none() {
            self.key.clear();
        }
        stream_len.unwrap_or_default()
    }

    fn open_stream(
        &mut self,
        stream_len: usize,
        decided: &mut Verdicts,
        findings: &mut Findings,
    ) -> Result<()> {
        let stream = self.key.get(..stream_len).unwrap_or_default();
        if self.open.stream() == stream {
            return Ok(());
        }
        let stream = stream.to_vec();
        self.end(decided, findings)?;
        self.open.begin(&stream);
        Ok(())
    }

    /// Judges the line read last.
    fn judge(&mut self, line: Line<'_>) -> Result<()> {
        let Line { number, bytes: line } = line;
        self.open.documents += 1;
        self.pass_extras(false)?;
        if !self.is_json {
            self.open.keep(Kept::Unreadable, Finding { line: Some(number), ..kept("") });
            return Ok(());
        }
        let inspected = self.inspector.inspect(&self.tape, line, &mut self.identity);
        let shown = self.inspector.display_key(&self.tape, line).into_owned();
        if inspected.is_ok() && self.identity.state != KeyState::Legacy && self.is_carried_over(&shown)? {
            // It was moved before it was exported: there is no legacy document of it.
            self.open.gone += 1;
            return Ok(());
        }
        if inspected.is_err() || self.identity.state != KeyState::Legacy {
            self.open.keep(Kept::Unreadable, Finding { line: Some(number), ..kept(&shown) });
            return Ok(());
        }
        let is_stored = self.stored.next.as_ref().is_some_and(|(key, ..)| *key == self.key);
        if !is_stored {
            self.open.gone += 1;
            return Ok(());
        }
        let whole = digest(self.archives.layout.store, &self.tape, line, &[], &mut self.scratch);
        let is_changed = self.stored.next.as_ref().is_some_and(|(_, stored, _)| *stored != whole.0);
        self.stored.advance()?;
        let reason = if is_changed { Some(Kept::Changed) } else { self.judge_twin(line, &shown)? };
        if let Some(reason) = reason {
            self.open.keep(reason, Finding { version: self.identity.version, ..kept(&shown) });
        }
        Ok(())
    }

    /// Whether a key map has the rekeyed document read last as one that was in the legacy archive.
    fn is_carried_over(&mut self, shown: &str) -> Result<bool> {
        write_place(shown, self.identity.version, CARRIED_OVER, &mut self.place);
        Ok(self.moved.first(&self.place)?.is_some())
    }

    /// Whether the document's twin is there and equal to what the rewrite makes of it now.
    fn judge_twin(&mut self, line: &[u8], shown: &str) -> Result<Option<Kept>> {
        let store_key = self.inspector.store_key(&self.tape, line).map(|key| key.0).unwrap_or_default();
        write_place(shown, self.identity.version, &store_key, &mut self.place);
        let Some(tenant) = self.moved.first(&self.place)? else { return Ok(Some(Kept::NotMoved)) };
        let tenant = String::from_utf8_lossy(&tenant).into_owned();
        self.twin.clear();
        let rewritten = self.inspector.rewrite(
            &self.tape,
            line,
            &self.identity,
            &tenant,
            StoredOwner::Replace,
            &mut self.twin,
        );
        self.twin_key.clear();
        let order =
            rewritten.and_then(|()| self.inspector.new_order_key(&self.tape, line, &mut self.twin_key));
        let Ok(stream_len) = order else { return Ok(Some(Kept::NotMoved)) };
        join_key(self.archives.layout.kind, &self.twin_key, stream_len, &mut self.twin_join);
        let Some(stored) = self.twins.first(&self.twin_join)? else {
            let expires_at = self.inspector.expires_at(&self.tape, line);
            // Both stores delete it by themselves, and the import did not write it again.
            let has_expired = expires_at.is_some_and(|time| self.expiry.iter().all(|it| it.has_passed(time)));
            return Ok((!has_expired).then_some(Kept::TwinMissing));
        };
        let mut tape = Tape::new();
        tape.read(&self.twin)
            .map_err(|error| Error::bug(format!("A rewritten document is not JSON: {error}")))?;
        let expected = digest(self.archives.layout.store, &tape, &self.twin, &[], &mut self.scratch);
        Ok((stored != expected.0).then_some(Kept::TwinDifferent))
    }

    /// Passes stored documents that the archive does not hold; those of the open stream keep it.
    fn pass_extras(&mut self, to_the_end: bool) -> Result<()> {
        while let Some((key, _, shown)) = &self.stored.next {
            let stream = self.open.stream();
            let of_stream = !stream.is_empty() && key.starts_with(stream);
            let belongs_here = *key < self.key || (to_the_end && of_stream);
            if !belongs_here {
                return Ok(());
            }
            if of_stream {
                let finding = kept(shown);
                self.open.keep(Kept::Extra, finding);
            }
            self.stored.advance()?;
        }
        Ok(())
    }

    /// Ends the open stream.
    fn end(&mut self, decided: &mut Verdicts, findings: &mut Findings) -> Result<()> {
        // The line read last is the next stream's, so what is stored before it and of this stream is extra.
        self.pass_extras(true)?;
        self.open.end(decided, findings, |documents, kept| match (documents, kept.message()) {
            (0, why) => format!("The stream's legacy documents are gone; of this one, {why}."),
            (1, why) => format!("The stream's legacy document is kept: of this one, {why}."),
            (_, why) => format!("The stream's {documents} legacy documents are kept: of this one, {why}."),
        })
    }
}

/// A finding that names the legacy document with this key.
fn kept(shown: &str) -> Finding {
    let key = Some(shown.to_owned()).filter(|key| !key.is_empty());
    Finding { key, ..Finding::new(FindingCode::Kept, "") }
}
