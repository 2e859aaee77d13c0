//! A signal ends a run that waits for its pace, for a service that turns everything down, and for one that hangs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use firestore::gcloud_sdk::tonic::Code;

use super::server::{emulator, fresh_project, scene_in};
use super::service::{Fate, Service};
use crate::signals::{commands, each_goes_on, each_stops, prepare};

const EXHAUSTED: Fate = Fate::Status(Code::ResourceExhausted, "Quota exceeded");

#[test]
fn a_signal_interrupts_every_wait() {
    let what = Arc::new(AtomicU8::new(0));
    let goes_wrong = what.clone();
    let service = Service::before(&emulator(), move |method, _, _| {
        let is_write = matches!(method, "BatchWrite" | "Commit");
        match goes_wrong.load(Ordering::SeqCst) {
            1 if !is_write => EXHAUSTED,
            2 if is_write => EXHAUSTED,
            3 if !is_write => Fate::Hang,
            4 if is_write => Fate::Hang,
            _ => Fate::Pass,
        }
    });
    let scene = scene_in(&format!("firestore://{}", fresh_project()), service.host(), "c");
    let count = prepare(&scene, 20);
    let (reading, writing) = commands(&scene);
    for (wrong, commands) in [(1, &reading), (2, &writing), (3, &reading), (4, &writing)] {
        what.store(wrong, Ordering::SeqCst);
        each_stops(&scene, commands, &[]);
    }
    what.store(0, Ordering::SeqCst);
    each_stops(&scene, &writing, &["--max-writes-per-second", "1"]);
    each_goes_on(&scene, &writing, count);
}
