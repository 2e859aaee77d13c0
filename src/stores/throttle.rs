//! Holds writes to a number of documents a second.

use std::num::NonZeroU32;

use async_trait::async_trait;
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};

use super::reads_through::ReadsThrough;
use super::waits::Waits;
use super::{
    BatchLimits, Collection, CollectionReader, CollectionSpec, CollectionWriter, Created, Guarded,
    GuardedUpdate, StoreResult,
};
use crate::document::{Lines, StoreKey};

/// A collection that takes so many documents a second, from any number of tasks together. Reads pass freely.
pub struct Throttle {
    inner: Box<dyn Collection>,
    limiter: DefaultDirectRateLimiter,
    burst: NonZeroU32,
    waits: Waits,
}

impl Throttle {
    /// Wraps a collection.
    pub fn new(inner: Box<dyn Collection>, documents_per_second: NonZeroU32, waits: Waits) -> Self {
        let batch = u32::try_from(inner.batch_limits().documents).unwrap_or(u32::MAX);
        let burst = NonZeroU32::new(batch).unwrap_or(NonZeroU32::MIN).min(documents_per_second);
        let quota = Quota::per_second(documents_per_second).allow_burst(burst);
        Self { inner, limiter: RateLimiter::direct(quota), burst, waits }
    }

    /// Waits until so many documents may be written.
    ///
    /// Errors: [`StoreErrorKind::Interrupted`](super::StoreErrorKind::Interrupted) once the run is asked to stop.
    async fn admit(&self, documents: usize) -> StoreResult<()> {
        let mut left = u32::try_from(documents).unwrap_or(u32::MAX);
        while let Some(next) = NonZeroU32::new(left.min(self.burst.get())) {
            // Never more than the burst, so that the limiter never refuses.
            if self.waits.until(self.limiter.until_n_ready(next)).await?.is_err() {
                return Ok(());
            }
            left -= next.get();
        }
        Ok(())
    }
}

impl ReadsThrough for Throttle {
    fn reader(&self) -> &dyn CollectionReader {
        &*self.inner
    }
}

#[async_trait]
impl CollectionWriter for Throttle {
    fn batch_limits(&self) -> BatchLimits {
        let limits = self.inner.batch_limits();
        let burst = usize::try_from(self.burst.get()).unwrap_or(usize::MAX);
        BatchLimits { documents: limits.documents.min(burst), ..limits }
    }

    async fn create_collection(&self, spec: &CollectionSpec) -> StoreResult<()> {
        self.inner.create_collection(spec).await
    }

    async fn create(&self, lines: &Lines) -> Vec<Created> {
        if let Err(error) = self.admit(lines.len()).await {
            return Created::all_failed(lines.len(), &error);
        }
        self.inner.create(lines).await
    }

    async fn create_in_empty(&self, lines: &Lines) -> Vec<Created> {
        if let Err(error) = self.admit(lines.len()).await {
            return Created::all_failed(lines.len(), &error);
        }
        self.inner.create_in_empty(lines).await
    }

    async fn update(&self, updates: &[GuardedUpdate]) -> Vec<Guarded> {
        if let Err(error) = self.admit(updates.len()).await {
            return Guarded::all_failed(updates.len(), &error);
        }
        self.inner.update(updates).await
    }

    async fn relocate(&self, old: &Lines, new: &Lines) -> Vec<Guarded> {
        if let Err(error) = self.admit(old.len() + new.len()).await {
            return Guarded::all_failed(old.len(), &error);
        }
        self.inner.relocate(old, new).await
    }

    async fn delete(&self, keys: &[StoreKey], expected: &Lines) -> Vec<Guarded> {
        if let Err(error) = self.admit(keys.len()).await {
            return Guarded::all_failed(keys.len(), &error);
        }
        self.inner.delete(keys, expected).await
    }

    async fn raise(&self, key: &StoreKey, field: &str, least: i64) -> StoreResult<Option<i64>> {
        self.admit(1).await?;
        self.inner.raise(key, field, least).await
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::document::StoreKind;
    use crate::stores::embedded::temporary;

    #[tokio::test]
    async fn writes_keep_to_the_rate_whatever_the_size_of_the_batches() {
        let (_folder, collection) = temporary(StoreKind::MongoDb, &CollectionSpec::default()).await;
        let throttle = Throttle::new(Box::new(collection), NonZeroU32::new(200).unwrap(), Waits::default());
        assert_eq!(throttle.batch_limits().documents, 200);
        let started = Instant::now();
        for batch in 0..2 {
            let mut lines = Lines::new();
            (0..150).for_each(|at| lines.push(format!("{{\"_id\":\"{batch}-{at}\"}}").as_bytes()));
            assert!(throttle.create(&lines).await.iter().all(|created| matches!(created, Created::Written)));
        }
        // 200 at once, then 100 more at 200 a second.
        assert!(started.elapsed() >= Duration::from_millis(490), "{:?}", started.elapsed());
    }
}
