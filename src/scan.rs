//! Reads a whole collection, several parts at once, and hands the pages to one consumer.

use futures::{StreamExt, TryStreamExt, stream};
use tokio::sync::mpsc;

use crate::document::Lines;
use crate::stores::{CollectionReader, ScanPart, Snapshot};
use crate::{Error, ErrorKind, Result};

/// How many documents a page is asked for.
const PAGE_DOCUMENTS: usize = 1_000;
/// How many pages wait for the consumer before the readers do.
const PAGES_WAITING: usize = 4;

/// What takes the pages of a scan, on a thread of its own, in no particular order.
pub trait PageConsumer: Send + 'static {
    /// Takes one page; an error ends the scan.
    fn take(&mut self, lines: &Lines) -> Result<()>;
}

/// Reads every document of the collection once and returns the consumer.
///
/// Reading and consuming overlap; memory is bounded by the pages in flight. `stop` is asked between pages.
pub async fn scan<C: PageConsumer>(
    reader: &dyn CollectionReader,
    snapshot: Option<&Snapshot>,
    concurrency: usize,
    mut consumer: C,
    stop: impl Fn() -> Result<()> + Sync,
) -> Result<C> {
    let parts = reader.parts(concurrency.max(1) * 4).await?;
    let (send, mut receive) = mpsc::channel::<Lines>(PAGES_WAITING);
    let consuming = tokio::task::spawn_blocking(move || {
        while let Some(lines) = receive.blocking_recv() {
            consumer.take(&lines)?;
        }
        Ok::<C, Error>(consumer)
    });
    let reading = {
        let (stop, send) = (&stop, send);
        stream::iter(parts)
            .map(Ok)
            .try_for_each_concurrent(concurrency.max(1), |part| {
                let send = send.clone();
                async move { read_part(reader, &part, snapshot, &send, stop).await }
            })
            .await
    };
    let ended = consuming.await.map_err(|e| Error::caused(ErrorKind::Bug, "A scan's consumer ended", e))?;
    // The consumer's own error is the cause where both ended early.
    let consumer = ended?;
    reading.map(|()| consumer)
}

/// Reads one part page by page until the store says that it was the last.
async fn read_part(
    reader: &dyn CollectionReader,
    part: &ScanPart,
    snapshot: Option<&Snapshot>,
    send: &mpsc::Sender<Lines>,
    stop: &(impl Fn() -> Result<()> + Sync),
) -> Result<()> {
    let mut position = None;
    loop {
        stop()?;
        let page = reader.page(part, position.as_ref(), PAGE_DOCUMENTS, snapshot).await?;
        if !page.lines.is_empty() && send.send(page.lines).await.is_err() {
            return Ok(()); // The consumer has ended; its error is reported by whoever joins it.
        }
        match page.next {
            None => return Ok(()),
            next => position = next,
        }
    }
}
