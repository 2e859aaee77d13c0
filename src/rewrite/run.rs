use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::collect::{Collected, Collector};
use super::join::Joiner;
use super::rules::Rules;
use super::worker::{WorkedBlock, Worker};
use crate::archive::Chunk;
use crate::tenant::TenantResolver;
use crate::{Error, Result};

/// How many blocks are under way for each worker.
const BLOCKS_PER_WORKER: usize = 3;

/// Gives the lines of a legacy archive in order, block by block.
pub trait BlockSource: Send {
    /// Fills `block` with the next lines; `false` after the last ones, when the archive has proven whole.
    fn fill(&mut self, block: &mut Chunk) -> Result<bool>;
}

/// What a pass over an archive needs besides its lines.
pub struct Pass<'a> {
    /// The rules.
    pub rules: Arc<Rules>,
    /// The tenants; each thread asks a clone of its own.
    pub tenants: &'a TenantResolver,
    /// How many workers rewrite.
    pub workers: usize,
    /// Where a stream goes that is too long to be held in memory.
    pub spill_folder: PathBuf,
    /// Told of each finished block: documents and bytes; an error ends the pass.
    pub watch: &'a (dyn Fn(u64, u64) -> Result<()> + Sync),
}

/// A block on its way, with its place in the archive.
type Numbered = (u64, Box<WorkedBlock>);

impl Pass<'_> {
    /// Runs the lines of `source` through the workers into `collector`.
    pub fn run(&self, source: &mut dyn BlockSource, collector: Collector) -> Result<Collected> {
        let workers = self.workers.max(1);
        let blocks = workers * BLOCKS_PER_WORKER;
        let (free, take_free) = sync_channel::<Box<WorkedBlock>>(blocks);
        let (full, take_full) = sync_channel::<Numbered>(blocks);
        let (done, take_done) = sync_channel::<Result<Numbered>>(blocks);
        for _ in 0..blocks {
            let _ = free.send(Box::default());
        }
        let take_full = Mutex::new(take_full);
        let stopped = AtomicBool::new(false);
        thread::scope(|scope| {
            let failed = done.clone();
            let reader = scope.spawn(move || {
                if let Err(error) = read(source, &take_free, &full) {
                    let _ = failed.send(Err(error));
                }
                drop((full, failed));
            });
            for _ in 0..workers {
                let done = done.clone();
                let (take_full, stopped) = (&take_full, &stopped);
                let _worker = scope.spawn(move || self.work(take_full, &done, stopped));
            }
            drop(done);
            let joined = self.join(&take_done, &free, collector);
            // The others end when nobody takes what they have: the channels close behind this thread.
            stopped.store(true, Ordering::Relaxed);
            drop((take_done, free));
            reader.join().map_err(|_| Error::bug("The reading thread ended early"))?;
            joined
        })
    }

    /// Rewrites blocks until there are no more.
    fn work(
        &self,
        take: &Mutex<Receiver<Numbered>>,
        done: &SyncSender<Result<Numbered>>,
        stopped: &AtomicBool,
    ) {
        let mut worker = Worker::new(&self.rules, self.tenants);
        loop {
            let next = take.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok((number, mut block)) = next else { return };
            if stopped.load(Ordering::Relaxed) {
                continue; // The reader must not be left waiting.
            }
            let result = worker.work(&mut block).map(|()| (number, block));
            if done.send(result).is_err() {
                stopped.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Takes worked blocks in the archive's order.
    fn join(
        &self,
        take: &Receiver<Result<Numbered>>,
        free: &SyncSender<Box<WorkedBlock>>,
        collector: Collector,
    ) -> Result<Collected> {
        let mut joiner = Joiner::new(&self.rules, self.tenants, self.spill_folder.clone(), collector);
        let mut early: BTreeMap<u64, Box<WorkedBlock>> = BTreeMap::new();
        let mut next = 0;
        for worked in take {
            let (number, block) = worked?;
            let _ = early.insert(number, block);
            while let Some(mut block) = early.remove(&next) {
                joiner.take(&block)?;
                (self.watch)(block.block.len() as u64, block.block.bytes() as u64)?;
                block.clear();
                let _ = free.send(block); // The reader may have ended.
                next += 1;
            }
        }
        joiner.finish()?.finish()
    }
}

/// Reads blocks into free buffers until the source ends, or nobody needs more.
fn read(
    source: &mut dyn BlockSource,
    free: &Receiver<Box<WorkedBlock>>,
    full: &SyncSender<Numbered>,
) -> Result<()> {
    for number in 0.. {
        let Ok(mut block) = free.recv() else { return Ok(()) };
        if !source.fill(&mut block.block)? || full.send((number, block)).is_err() {
            return Ok(());
        }
    }
    Ok(())
}
