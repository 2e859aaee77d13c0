//! How fast documents are written: Firestore asks writers to begin slowly and to grow.

use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The writes a second that a collection takes at once, and by how much more every five minutes.
///
/// [Ramping up traffic](https://firebase.google.com/docs/firestore/best-practices#ramping_up_traffic).
const FIRST_RATE: f64 = 500.0;
const GROWTH: f64 = 1.5;
const STEP: Duration = Duration::from_mins(5);

/// The most writes of one request, which the service's own clients keep to as well.
const REQUEST: usize = 500;
/// At a given rate so many requests a second are sent, rather than all documents of a second in one.
const REQUESTS_A_SECOND: f64 = 10.0;
/// The fewest writes of a request.
const SMALLEST_REQUEST: usize = 20;

/// Admits writes at the rate that the service asks for, from any number of tasks together.
pub(super) struct Pace {
    ramp: Option<Mutex<Ramp>>,
}

/// A rate that may grow, and what was promised at it.
#[derive(Debug)]
struct Ramp {
    first: f64,
    most: f64,
    growth: f64,
    began: Option<Instant>,
    free_at: Option<Instant>,
}

impl Pace {
    /// The pace towards the service: it grows, up to `most` where that is given.
    pub(super) fn growing(most: Option<NonZeroU32>) -> Self {
        let most = most.map_or(f64::INFINITY, |most| f64::from(most.get()));
        Self::of(Ramp::new(FIRST_RATE.min(most), most, GROWTH))
    }

    /// The pace towards an emulator, which asks for none: as fast as it goes, or `most` where that is given.
    pub(super) fn steady(most: Option<NonZeroU32>) -> Self {
        match most {
            Some(most) => Self::of(Ramp::new(f64::from(most.get()), f64::from(most.get()), 1.0)),
            None => Self { ramp: None },
        }
    }

    fn of(ramp: Ramp) -> Self {
        Self { ramp: Some(Mutex::new(ramp)) }
    }

    /// Waits until so many documents may be written.
    pub(super) async fn admit(&self, documents: usize) {
        let wait = self.with(|ramp| ramp.reserve(Instant::now(), documents));
        if let Some(wait) = wait.filter(|wait| !wait.is_zero()) {
            tokio::time::sleep(wait).await;
        }
    }

    /// How many documents one request may hold.
    pub(super) fn request(&self) -> usize {
        let rate = self.rate();
        rate.map_or(REQUEST, |rate| whole(rate / REQUESTS_A_SECOND).clamp(SMALLEST_REQUEST, REQUEST))
    }

    /// How many documents are written in so many seconds at the present rate; `None` without one.
    pub(super) fn documents_in(&self, seconds: u32) -> Option<usize> {
        self.rate().map(|rate| whole(rate * f64::from(seconds)))
    }

    fn rate(&self) -> Option<f64> {
        self.with(|ramp| ramp.rate(Instant::now()))
    }

    fn with<T>(&self, ask: impl FnOnce(&mut Ramp) -> T) -> Option<T> {
        let ramp = self.ramp.as_ref()?;
        Some(ask(&mut ramp.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rate is positive and far below the limit"
)]
fn whole(number: f64) -> usize {
    number.max(1.0) as usize
}

impl Ramp {
    fn new(first: f64, most: f64, growth: f64) -> Self {
        Self { first, most, growth, began: None, free_at: None }
    }

    fn rate(&self, now: Instant) -> f64 {
        let elapsed = self.began.map(|began| now.saturating_duration_since(began)).unwrap_or_default();
        let steps = i32::try_from(elapsed.as_secs() / STEP.as_secs()).unwrap_or(i32::MAX);
        (self.first * self.growth.powi(steps)).min(self.most)
    }

    /// Promises the next free time for so many documents; tells how long until then.
    fn reserve(&mut self, now: Instant, documents: usize) -> Duration {
        let _ = self.began.get_or_insert(now);
        let rate = self.rate(now);
        let start = self.free_at.map_or(now, |free| free.max(now));
        let documents = f64::from(u32::try_from(documents).unwrap_or(u32::MAX));
        self.free_at = Some(start + Duration::from_secs_f64(documents / rate));
        start - now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_begins_at_500_and_grows_by_half_every_five_minutes() {
        let mut ramp = Ramp::new(FIRST_RATE, f64::INFINITY, GROWTH);
        let began = Instant::now();
        assert_eq!(ramp.reserve(began, 500), Duration::ZERO);
        assert_eq!(ramp.reserve(began, 1), Duration::from_secs(1));
        for (minutes, rate) in
            [(0, 500.0), (4, 500.0), (5, 750.0), (10, 1125.0), (90, 500.0 * 1.5_f64.powi(18))]
        {
            let found = ramp.rate(began + Duration::from_mins(minutes));
            assert!((found - rate).abs() < 1e-6, "{minutes} minutes: {found}");
        }
        // What was not used is not saved up.
        assert_eq!(ramp.reserve(began + Duration::from_mins(5), 750), Duration::ZERO);
        assert_eq!(ramp.reserve(began + Duration::from_mins(5), 1), Duration::from_secs(1));
    }

    #[test]
    fn a_cap_holds_from_the_beginning_and_for_ever() {
        let pace = Pace::growing(NonZeroU32::new(200));
        assert_eq!((pace.documents_in(5), pace.request()), (Some(1000), 20));
        let later = Instant::now() + Duration::from_hours(10);
        let rate = pace.with(|ramp| {
            let _ = ramp.reserve(Instant::now(), 1);
            ramp.rate(later)
        });
        assert!((rate.unwrap() - 200.0).abs() < 1e-9);
        let pace = Pace::growing(NonZeroU32::new(20_000));
        assert_eq!((pace.documents_in(1), pace.request()), (Some(500), 50));
    }

    #[test]
    fn an_emulator_is_written_as_fast_as_it_goes() {
        assert_eq!((Pace::steady(None).documents_in(1), Pace::steady(None).request()), (None, 500));
        assert_eq!(Pace::steady(NonZeroU32::new(300)).documents_in(2), Some(600));
    }

    #[tokio::test]
    async fn tasks_together_hold_to_the_rate() {
        let pace = Pace::steady(NonZeroU32::new(1000));
        let started = Instant::now();
        let _ = futures::future::join_all((0..4).map(|_| pace.admit(50))).await;
        // The last 50 of 200 begin after 150.
        assert!(started.elapsed() >= Duration::from_millis(145), "{:?}", started.elapsed());
    }
}
