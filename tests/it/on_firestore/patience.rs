//! A service that takes nothing is given up in time, and one that is away sooner.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use firestore::gcloud_sdk::tonic::Code;

use super::server::{emulator, fresh_project, scene_in};
use super::service::{Fate, Service};
use crate::patience::{each_gives_up, import_loses_its_store};
use crate::signals::{commands, prepare};
use crate::wire::Wire;

#[test]
fn a_service_that_turns_every_write_down_is_given_up() {
    let refuses = Arc::new(AtomicBool::new(false));
    let now = refuses.clone();
    let service = Service::before(&emulator(), move |method, _, _| match method {
        "BatchWrite" | "Commit" if now.load(Ordering::SeqCst) => {
            Fate::Status(Code::ResourceExhausted, "Quota exceeded")
        }
        _ => Fate::Pass,
    });
    let scene = scene_in(&format!("firestore://{}", fresh_project()), service.host(), "c");
    let _ = prepare(&scene, 20);
    refuses.store(true, Ordering::SeqCst);
    let (_, writing) = commands(&scene);
    each_gives_up(&scene, &writing, 3_000, &(2_000..=7_000), &["given up: ", "RESOURCE_EXHAUSTED"]);
}

#[test]
fn a_service_that_is_away_is_given_up_sooner() {
    let wire = Wire::to(&emulator());
    let scene = scene_in(&format!("firestore://{}", fresh_project()), wire.host(), "c");
    let _ = prepare(&scene, 40);
    import_loses_its_store(&scene, &scene.address("moved.db"), &[], &wire);
}
