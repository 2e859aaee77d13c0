//! `doctor`: rights that the service does not tell are tried by commits that cannot be done.

use firestore::gcloud_sdk::tonic::Code;
use rekey::document::StoreKind;

use super::server::{emulator, prepared, scene_at};
use super::service::{Fate, Service};
use crate::doctor::{codes, held, of_server};
use crate::generated::Generated;

/// Whether what was sent holds a text.
fn holds(sent: &[u8], text: &[u8]) -> bool {
    sent.windows(text.len()).any(|part| part == text)
}

#[test]
fn every_right_is_tried_and_no_document_is_touched() {
    let scene = scene_at(&emulator());
    scene.seed(&Generated::events(StoreKind::Firestore, 4), "shop.db", "shop");
    let result = of_server(&scene, &["--for", "prune"], 0);
    assert_eq!(held(&result), ["yes"; 5]);
    assert!(codes(&result, "notices").contains(&"emulator".to_owned()), "{result}");
    let store = &result["stores"][0];
    assert!(store["clock_ahead_ms"].as_i64().unwrap().abs() < 2_000, "{store}");
    assert_eq!(result["machine"]["variables"][0], "FIRESTORE_EMULATOR_HOST");
}

#[test]
fn a_missing_right_is_told_from_the_others() {
    let generated = Generated::events(StoreKind::Firestore, 4);
    let denied = Fate::Status(Code::PermissionDenied, "Missing or insufficient permissions.");
    let service = Service::before(&emulator(), move |method, _, sent| {
        if method == "Commit" && holds(sent, b"rekey-doctor-create") { denied } else { Fate::Pass }
    });
    let scene = prepared(&generated, service.host());
    assert_eq!(held(&of_server(&scene, &[], 0)), ["yes", "no", "yes", "yes", "no"]);
    // Whoever may change nothing at all is denied every commit.
    let service = Service::before(
        &emulator(),
        move |method, _, _| {
            if method == "Commit" { denied } else { Fate::Pass }
        },
    );
    let scene = prepared(&generated, service.host());
    let result = of_server(&scene, &["--for", "prune"], 1);
    assert_eq!(held(&result), ["yes", "unknown", "no", "no", "unknown"]);
    let message = result["findings"][0]["message"].as_str().unwrap();
    assert!(message.contains("may not delete") && message.contains("datastore.entities.delete"), "{message}");
}
