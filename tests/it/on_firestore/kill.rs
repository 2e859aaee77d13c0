//! Killed at any moment and run again, a command ends where an uninterrupted run ends.
//!
//! `REKEY_FIRESTORE_KILLS` sets how often each command is killed, `REKEY_FIRESTORE_KILL_STREAMS` how much it has to do.

use rekey::document::StoreKind;

use super::disturbed::end_in_the_same_state;
use super::server::{emulator, prepared};
use crate::generated::{Generated, Random};
use crate::killed::killed_and_run_again;
use crate::scene::size;

#[test]
fn killed_at_any_moment_and_run_again_every_command_ends_in_the_same_state() {
    let generated = Generated::events(StoreKind::Firestore, size("REKEY_FIRESTORE_KILL_STREAMS", 40));
    let scene = prepared(&generated, &emulator());
    let mut random = Random::seeded(4);
    let kills = size("REKEY_FIRESTORE_KILLS", 2);
    let hits = end_in_the_same_state(&scene, &generated, kills, |arguments, whole| {
        killed_and_run_again(&scene, arguments, whole, &mut random)
    });
    println!("export, import and prune killed {hits:?} times: the same end state");
}
