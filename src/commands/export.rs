//! `rekey export`: one collection in, a version-ordered archive and its manifest out.

use std::path::Path;

use super::legacy_blocks::SORT_BUDGET;
use super::manifest::{TOOL, count_notices, file_name, layout_account};
use super::source::find_layout;
use super::state_folder;
use super::store::{describe, reader_concurrency, refuse_other_key, tell_what_was_seen};
use crate::archive::{ArchiveWriter, Companions, FORMAT, Manifest, Staged, now};
use crate::check::Reason;
use crate::document::json::Tape;
use crate::document::lossless::is_escape_record;
use crate::document::{Lines, StoreKind};
use crate::layout::{Identity, Inspector, Layout};
use crate::options::{Destination, ExportOptions};
use crate::report::{ExportReport, NoticeCode, Outcome, Report};
use crate::scan::{PageConsumer, scan};
use crate::shard::{ShardReader, Shards};
use crate::signal::StopSignal;
use crate::sort::{Sorted, Sorter};
use crate::stores::{CollectionReader, Description, Snapshot, StoreError, StoreErrorKind, connect};
use crate::ui::{Ui, format};
use crate::{Error, Result};

/// Exports a collection.
pub async fn run(options: ExportOptions, ui: &Ui, stop: &StopSignal) -> Result<Outcome> {
    let started = now();
    let reader = connect::open_reader(&options.from, stop).await?;
    let layout = find_layout(&options.layout, Some(options.from.address.kind()), None)?;
    let before = describe(reader.as_ref(), "source", ui).await?;
    refuse_other_key(&before, &layout, "nothing was written")?;
    let file = options.out.file().or(options.manifest.as_deref());
    let folder = state_folder(options.state_dir.as_deref(), file)?;
    // Opened before the long work, so that a path that cannot be written fails in the first second.
    let writer = match &options.out {
        Destination::File(path) => ArchiveWriter::create(path)?,
        Destination::Stdout => ArchiveWriter::spooled(&folder)?,
    };

    let snapshot = take_snapshot(reader.as_ref(), options.no_snapshot).await?;
    let task = ui.progress().start("reading", before.documents);
    let consumer = Consumer::new(
        &layout,
        &options,
        &folder,
        Box::new(move |documents, bytes| task.add(documents, bytes)),
    );
    let stopped = || stop.check("Interrupted; nothing was written. Run the same command again.");
    let concurrency = reader_concurrency(&options.from.rates);
    let read = scan(reader.as_ref(), snapshot.as_ref(), concurrency, consumer, stopped).await;
    let consumer = read.map_err(|error| snapshot_hint(error, snapshot.is_some()))?;
    refuse_changed_collection(reader.as_ref(), &before, snapshot.as_ref(), consumer.read).await?;
    // After the documents: it is then at least what they hold.
    let counter = super::counter::read(&options.from, &layout, stop).await?;
    if consumer.read == 0 {
        empty_source(&before, options.allow_empty, ui)?;
    }

    let (left_out, escape_records) = (consumer.left_out, consumer.escape_records);
    let inspector = Inspector::new(&layout, None);
    let (writer, streams) =
        tokio::task::block_in_place(|| write(consumer.sorter.finish()?, writer, &inspector, stop))?;
    let archive = writer.finish()?;
    tell_what_was_seen(reader.as_ref(), "source", ui);
    notices(ui, left_out, escape_records, snapshot.is_none(), &before);
    let manifest = Manifest {
        format: FORMAT,
        tool: TOOL.to_owned(),
        archive: file_name(options.out.file()),
        layout: layout_account(&layout),
        store: layout.store,
        consistent: snapshot.is_some(),
        snapshot,
        counter,
        source: Some(before),
        shard: options.shard.clone(),
        started,
        ended: now(),
        totals: archive.totals.clone(),
        streams,
        sorted: true,
        escape_records,
        notices: count_notices(ui),
        rekey: None,
    };
    let manifest_path = match &options.out {
        Destination::File(path) => Some(Companions::of(path).manifest),
        Destination::Stdout => options.manifest.clone(),
    };
    let report = ExportReport {
        layout: layout.name.clone(),
        documents: archive.totals.documents,
        streams,
        bytes: archive.totals.bytes,
        sha256: archive.totals.sha256.clone(),
        consistent: manifest.consistent,
        escape_records,
        archive: options.out.file().map(Path::to_owned),
        manifest: manifest_path.clone(),
    };
    let mut staged = Staged::new();
    staged.add(archive.output);
    if let Some(path) = &manifest_path {
        staged.add(manifest.stage(path)?);
    }
    staged.commit()?;
    Ok(Outcome::done(Report::Export(report)).of_shards(options.shard))
}

/// Sorts what a scan reads, leaving out what the layout says is not its own.
struct Consumer {
    kind: StoreKind,
    tape: Tape,
    inspector: Inspector,
    identity: Identity,
    has_conditions: bool,
    shards: Option<(Shards, ShardReader)>,
    key: Vec<u8>,
    sorter: Sorter,
    read: u64,
    left_out: u64,
    escape_records: u64,
    watch: Box<dyn Fn(u64, u64) + Send>,
}

impl Consumer {
    fn new(
        layout: &Layout,
        options: &ExportOptions,
        folder: &Path,
        watch: Box<dyn Fn(u64, u64) + Send>,
    ) -> Self {
        let shards = options.shard.clone();
        Self {
            kind: layout.store,
            tape: Tape::new(),
            inspector: Inspector::new(layout, None),
            identity: Identity::default(),
            has_conditions: !layout.conditions.is_empty(),
            shards: shards.map(|shards| (shards.clone(), ShardReader::new(layout, shards.of()))),
            key: Vec::new(),
            sorter: Sorter::new(folder, SORT_BUDGET),
            read: 0,
            left_out: 0,
            escape_records: 0,
            watch,
        }
    }

    /// Whether the document is another kind's that shares the collection.
    fn is_left_out(&mut self, line: &[u8]) -> bool {
        self.has_conditions
            && matches!(self.inspector.inspect(&self.tape, line, &mut self.identity),
                Err(refusal) if refusal.reason == Reason::Foreign)
    }
}

impl Consumer {
    /// Whether the document is of the shards that are exported.
    ///
    /// # Errors
    /// Refused: nobody can tell. An archive of shards would miss it, or leave its stream with a hole.
    fn is_of_shards(&mut self, line: &[u8]) -> Result<bool> {
        let Some((shards, reader)) = &mut self.shards else { return Ok(true) };
        match reader.shard(line) {
            Ok(number) => Ok(shards.contains(number)),
            Err(refusal) => {
                let key = self.inspector.display_key(&self.tape, line);
                Err(Error::refused(format!(
                    "Nobody can tell the shard of the document {key:?} ({refusal}); nothing was written"
                ))
                .hint("Export without --shard: rekey refuses such a document by name, or sets its stream aside."))
            }
        }
    }
}

impl PageConsumer for Consumer {
    fn take(&mut self, lines: &Lines) -> Result<()> {
        for line in lines.iter() {
            self.read += 1;
            self.key.clear();
            self.tape.read(line).map_err(|error| {
                Error::bug(format!("A document read from {} is not strict JSON: {error}", self.kind.title()))
            })?;
            if self.is_left_out(line) {
                self.left_out += 1;
                continue;
            }
            if !self.is_of_shards(line)? {
                continue;
            }
            self.escape_records += u64::from(is_escape_record(&self.tape, line));
            // A document without a key of its layout goes first; the rewrite refuses it by name.
            let _ = self.inspector.order_key(&self.tape, line, &mut self.key);
            self.sorter.push(&self.key, line)?;
        }
        (self.watch)(lines.len() as u64, lines.bytes() as u64);
        Ok(())
    }
}

/// Writes the sorted documents and counts their streams.
fn write(
    mut sorted: Sorted,
    mut writer: ArchiveWriter,
    inspector: &Inspector,
    stop: &StopSignal,
) -> Result<(ArchiveWriter, u64)> {
    let (mut stream, mut streams, mut written) = (Vec::new(), 0, 0_u64);
    while let Some((key, line)) = sorted.next()? {
        let this = key.get(..inspector.stream_key_len(key)).unwrap_or_default();
        if stream != this || streams == 0 {
            streams += 1;
            stream.clear();
            stream.extend_from_slice(this);
        }
        writer.write_line(line)?;
        written += 1;
        if written.is_multiple_of(10_000) {
            stop.check("Interrupted; nothing was written. Run the same command again.")?;
        }
    }
    Ok((writer, streams))
}

async fn take_snapshot(reader: &dyn CollectionReader, without: bool) -> Result<Option<Snapshot>> {
    if without { Ok(None) } else { Ok(reader.snapshot().await?) }
}

fn snapshot_hint(error: Error, had_snapshot: bool) -> Error {
    if had_snapshot && error.kind() == crate::ErrorKind::Store {
        return error
            .hint("Pass --no-snapshot if the store keeps too little history for one consistent read.");
    }
    error
}

/// A renamed or dropped collection must never be "0 documents, success".
async fn refuse_changed_collection(
    reader: &dyn CollectionReader,
    before: &Description,
    snapshot: Option<&Snapshot>,
    read: u64,
) -> Result<()> {
    let after = match reader.describe().await {
        Err(error) if error.kind == StoreErrorKind::NotFound => None,
        after => Some(after?),
    };
    let is_same =
        |after: &Description| after.identity == before.identity && after.key_fields == before.key_fields;
    if !after.as_ref().is_some_and(is_same) {
        return Err(Error::store(format!(
            "{} was replaced while it was read; nothing was written",
            before.location
        ))
        .hint("Find out who renamed, dropped or re-created it, then export again."));
    }
    match reader.count(snapshot).await? {
        Some(count) if count != read => Err(Error::store(format!(
            "{} holds {} but the scan gave {read}; nothing was written",
            before.location,
            format::count(count, "document")
        ))
        .hint("Stop whoever writes to the collection, then export again.")),
        _ => Ok(()),
    }
}

fn empty_source(source: &Description, allow_empty: bool, ui: &Ui) -> Result<()> {
    if source.store == StoreKind::Firestore && !allow_empty {
        let error = StoreError::new(
            StoreErrorKind::NotFound,
            format!(
                "{} holds no documents, or does not exist: Firestore cannot tell; nothing was written",
                source.location
            ),
        );
        return Err(Error::from(error)
            .hint("Check project, database and collection; pass --allow-empty if it is empty."));
    }
    ui.notice(NoticeCode::EmptySource, format!("{} holds no documents.", source.location));
    Ok(())
}

fn notices(ui: &Ui, left_out: u64, escape_records: u64, without_snapshot: bool, source: &Description) {
    if left_out > 0 {
        let message = format!(
            "{} left out: the collection is shared with other kinds.",
            format::subject(left_out, "document", ["was", "were"])
        );
        ui.notice(NoticeCode::Foreign, message);
    }
    if escape_records > 0 {
        let message = format!(
            "{} stand as escape records; mongoimport would read them wrongly.",
            format::count(escape_records, "document")
        );
        ui.notice(NoticeCode::EscapeRecords, message);
    }
    if without_snapshot {
        let message = format!(
            "{} was not read at one moment; it must not have been written meanwhile.",
            source.location
        );
        ui.notice(NoticeCode::NotConsistent, message);
    }
}
