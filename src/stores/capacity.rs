//! Holds the capacity units that the service says it consumed to a rate.

use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How far the schedule may lag behind the clock and still be made up for; longer idleness is lost.
const CREDIT: Duration = Duration::from_millis(100);

/// One kind of capacity, read or write, of all requests to a table or container together.
///
/// Every request takes the next free stretch of time by what it will probably consume. When the answer says
/// what it did consume, the schedule is moved by the difference, so that the rate holds whatever the guess.
/// Without a rate nothing ever waits.
pub(super) struct Capacity {
    rate: Option<f64>,
    next: Mutex<Instant>,
    /// Units a document, as seen so far.
    per_document: Mutex<f64>,
}

/// What a request was admitted with.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub(super) struct Admitted(f64);

impl Capacity {
    /// Holds to so many units a second; `per_document` is the first guess of what a document costs.
    pub(super) fn new(units_per_second: Option<NonZeroU32>, per_document: f64) -> Self {
        Self {
            rate: units_per_second.map(|rate| f64::from(rate.get())),
            next: Mutex::new(Instant::now()),
            per_document: Mutex::new(per_document),
        }
    }

    /// Waits until a request that will consume about so many units may be sent.
    pub(super) async fn admit(&self, units: f64) -> Admitted {
        if let Some(at) = self.take(units) {
            tokio::time::sleep_until(at).await;
        }
        Admitted(units)
    }

    /// As [`admit`](Self::admit), for a read of so many documents.
    pub(super) async fn admit_documents(&self, documents: usize) -> Admitted {
        self.admit(self.units_for(documents)).await
    }

    /// Notes what a request did consume; `None` where the answer does not say, so that the guess stands.
    pub(super) fn consumed(&self, admitted: Admitted, units: Option<f64>) {
        let (Some(rate), Some(units)) = (self.rate, units) else { return };
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let difference = Duration::from_secs_f64((units - admitted.0).abs() / rate);
        *next = if units >= admitted.0 {
            *next + difference
        } else {
            next.checked_sub(difference).unwrap_or(*next)
        };
    }

    /// Notes that a request was turned down and consumed nothing.
    pub(super) fn refused(&self, admitted: Admitted) {
        self.consumed(admitted, Some(0.0));
    }

    /// Notes what documents were seen to cost.
    pub(super) fn learn(&self, documents: usize, units: Option<f64>) {
        let Some(units) = units.filter(|units| documents > 0 && *units > 0.0) else { return };
        let mut known = self.per_document.lock().unwrap_or_else(PoisonError::into_inner);
        *known = f64::midpoint(*known, units / count(documents));
    }

    /// How many of `wanted` documents one request may ask for and still last no longer than a second.
    pub(super) fn page(&self, wanted: usize) -> usize {
        let Some(rate) = self.rate else { return wanted };
        let per_document = *self.per_document.lock().unwrap_or_else(PoisonError::into_inner);
        // A float too large for the type becomes its largest value.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let most = (rate / per_document) as usize;
        wanted.min(most.max(1))
    }

    fn units_for(&self, documents: usize) -> f64 {
        *self.per_document.lock().unwrap_or_else(PoisonError::into_inner) * count(documents)
    }

    fn take(&self, units: f64) -> Option<Instant> {
        let length = Duration::from_secs_f64(units.max(0.0) / self.rate?);
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let at = (*next).max(now.checked_sub(CREDIT).unwrap_or(now));
        *next = at + length;
        Some(at)
    }
}

#[allow(clippy::cast_precision_loss)] // A batch is far below 2^52 documents.
fn count(documents: usize) -> f64 {
    documents as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capacity(rate: u32) -> Capacity {
        Capacity::new(NonZeroU32::new(rate), 0.25)
    }

    #[tokio::test]
    async fn the_rate_holds_whatever_was_guessed() {
        for (guess, real) in [(1.0, 1.0), (1.0, 3.0), (4.0, 1.0)] {
            let capacity = capacity(200);
            let started = Instant::now();
            let mut consumed = 0.0;
            while started.elapsed() < Duration::from_millis(500) {
                let admitted = capacity.admit(guess).await;
                capacity.consumed(admitted, Some(real));
                consumed += real;
            }
            let rate = consumed / started.elapsed().as_secs_f64();
            // The credit is a fifth of this short time.
            assert!((150.0..=250.0).contains(&rate), "{rate} units a second for {guess} and {real}");
        }
    }

    #[tokio::test]
    async fn what_was_refused_is_given_back_and_without_a_rate_nothing_waits() {
        let started = Instant::now();
        let (held, free) = (capacity(1), Capacity::new(None, 1.0));
        for _ in 0..100 {
            let admitted = held.admit(1.0).await;
            held.refused(admitted);
            let admitted = free.admit(1_000.0).await;
            free.consumed(admitted, Some(5_000.0));
        }
        assert!(started.elapsed() < Duration::from_millis(500), "{:?}", started.elapsed());
    }

    #[test]
    fn a_page_lasts_a_second_at_most() {
        let capacity = capacity(10);
        assert_eq!(capacity.page(1_000), 40);
        (0..20).for_each(|_| capacity.learn(10, Some(1_000.0)));
        assert_eq!(capacity.page(1_000), 1);
        assert_eq!(Capacity::new(None, 1.0).page(1_000), 1_000);
    }
}
