//! What an import into the emulator wrote is taken back, and what it moved.

use rekey::document::StoreKind;

use super::server::{emulator, scene_at};
use crate::generated::Generated;
use crate::undo::{moved_and_back, there_and_back};

#[test]
fn an_import_is_taken_back() {
    there_and_back(&scene_at(&emulator()), &Generated::events(StoreKind::Firestore, 20));
    there_and_back(&scene_at(&emulator()), &Generated::sagas(StoreKind::Firestore, 40));
}

#[test]
fn what_was_moved_comes_back_by_restore_and_undo() {
    moved_and_back(&scene_at(&emulator()), &Generated::events(StoreKind::Firestore, 20));
}
