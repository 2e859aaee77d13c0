//! Every before/after document of `tests/vectors/rekey-vectors.json`, through a layout.

use rekey::document::StoreKind;
use rekey::document::json::Tape;
use rekey::key::Escaping;
use rekey::layout::{Identity, Inspector, KeyState, Layout, StoredOwner};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Vector<'a> {
    name: String,
    store: String,
    escaping: Escaping,
    tenant: String,
    #[serde(borrow)]
    before: &'a RawValue,
    #[serde(borrow)]
    after: &'a RawValue,
}

/// A document as an archive's line: DynamoDB items are wrapped.
fn line(store: StoreKind, document: &RawValue) -> Vec<u8> {
    match store {
        StoreKind::DynamoDb => format!("{{\"Item\":{document}}}").into_bytes(),
        _ => document.get().into(),
    }
}

fn names(layout: &Layout, line: &[u8]) -> Vec<String> {
    let mut tape = Tape::new();
    tape.read(line).unwrap();
    let fields = layout.store.fields(&tape, line).unwrap();
    tape.members(fields).map(|member| member.name(line).into_owned()).collect()
}

fn read(inspector: &mut Inspector, line: &[u8]) -> (Tape, Identity) {
    let mut tape = Tape::new();
    tape.read(line).unwrap();
    let mut identity = Identity::default();
    inspector.inspect(&tape, line, &mut identity).unwrap();
    (tape, identity)
}

fn check(vector: &Vector<'_>) {
    let what = format!("{}, {}", vector.store, vector.name);
    let layout = Layout::builtin(&vector.store).unwrap();
    let mut inspector = Inspector::new(&layout, Some(vector.escaping));
    let before = line(layout.store, vector.before);
    let after = line(layout.store, vector.after);

    let (tape, identity) = read(&mut inspector, &before);
    assert_eq!(identity.state, KeyState::Legacy, "{what}");
    let mut out = Vec::new();
    inspector.rewrite(&tape, &before, &identity, &vector.tenant, StoredOwner::Refuse, &mut out).unwrap();

    let made: Value = serde_json::from_slice(&out).unwrap();
    let expected: Value = serde_json::from_slice(&after).unwrap();
    assert_eq!(made, expected, "{what}");
    // DynamoDB and Firestore keep no order of their own, but the line's bytes do.
    assert_eq!(names(&layout, &out), names(&layout, &after), "{what}");

    let (new_tape, new_identity) = read(&mut inspector, &out);
    assert_eq!(new_identity.state, KeyState::Rekeyed { tenant: vector.tenant.clone() }, "{what}");
    let terms = |it: &Identity| (it.type_name.clone(), it.id.clone(), it.version);
    assert_eq!(terms(&new_identity), terms(&identity), "{what}");
    let order_key = |inspector: &Inspector| {
        let mut key = Vec::new();
        let stream_len = inspector.order_key(&new_tape, &out, &mut key).unwrap();
        assert_eq!(inspector.stream_key_len(&key), stream_len, "{what}");
        key
    };
    let mut foretold = Vec::new();
    let _ =
        inspector.rewrite(&tape, &before, &identity, &vector.tenant, StoredOwner::Refuse, &mut Vec::new());
    let _ = inspector.new_order_key(&tape, &before, &mut foretold).unwrap();
    assert_eq!(order_key(&inspector), foretold, "{what}");
    assert_eq!(inspector.display_key(&new_tape, &out), inspector.new_display_key(), "{what}");
    let new_store_key = inspector.new_store_key(&tape, &before).unwrap();
    assert_eq!(inspector.store_key(&new_tape, &out).unwrap(), new_store_key, "{what}");
}

#[test]
fn every_vector_is_rewritten_as_the_framework_expects() {
    let text = include_str!("../vectors/rekey-vectors.json");
    let vectors: Vec<Vector<'_>> = serde_json::from_str(text).unwrap();
    assert_eq!(vectors.len(), 54);
    vectors.iter().for_each(check);
}
