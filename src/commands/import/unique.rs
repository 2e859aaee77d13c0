use super::Job;
use super::target::Found;
use crate::commands::store::reader_concurrency;
use crate::document::Lines;
use crate::document::json::Tape;
use crate::scan::{PageConsumer, scan};
use crate::signal::StopSignal;
use crate::stores::clashes::Clashes;
use crate::ui::{ProgressTask, Ui};
use crate::{Error, Result};

/// Learns what the target would not keep apart. Where it has a rule over several documents (unique keys, the old hash) and
/// holds some, all of these are read: asked one by one, a large archive would wait for as many answers as it has documents.
pub(super) async fn clashes(job: &Job, found: &Found, ui: &Ui, stop: &StopSignal) -> Result<Clashes> {
    let Found::There(target) = found else { return Ok(Clashes::default()) };
    let clashes = Clashes::of(&target.description);
    if target.was_empty || !clashes.concern_stored_documents() {
        return Ok(clashes);
    }
    let task = ui.progress().start("reading what is stored", target.description.documents);
    let consumer = Stored { clashes, tape: Tape::new(), task };
    let stopped = || stop.check("Interrupted; nothing was written. Run the same command again.");
    let concurrency = reader_concurrency(&job.to.rates);
    Ok(scan(&*target.collection, None, concurrency, consumer, stopped).await?.clashes)
}

/// What is stored, as far as rules over several documents are concerned.
struct Stored {
    clashes: Clashes,
    tape: Tape,
    task: Box<dyn ProgressTask>,
}

impl PageConsumer for Stored {
    fn take(&mut self, lines: &Lines) -> Result<()> {
        for line in lines.iter() {
            self.tape
                .read(line)
                .map_err(|error| Error::bug(format!("A stored document is not strict JSON: {error}")))?;
            self.clashes.take_stored(&self.tape, line);
        }
        self.task.add(lines.len() as u64, lines.bytes() as u64);
        Ok(())
    }
}
