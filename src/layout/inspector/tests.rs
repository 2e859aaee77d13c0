//! Documents of all kinds, read and rewritten.

mod cosmosdb_hierarchical;
mod limits;
mod properties;
mod reading;
mod rewriting;

use super::*;
use crate::check::{Reason, Refusal};
use crate::layout::{KeyState, StoredOwner};

const SAGA: &str = "6f9619ff-8b86-d011-b42d-00c04fc964ff";

fn layout(name: &str) -> Layout {
    Layout::parse(Layout::builtin_text(name).unwrap(), name).unwrap()
}

fn tape(line: &str) -> Tape {
    let mut tape = Tape::new();
    tape.read(line.as_bytes()).unwrap_or_else(|error| panic!("{error}: {line}"));
    tape
}

fn inspected(name: &str, escaping: Option<Escaping>, line: &str) -> Result<Identity, Refusal> {
    let mut identity = Identity::default();
    Inspector::new(&layout(name), escaping).inspect(&tape(line), line.as_bytes(), &mut identity)?;
    Ok(identity)
}

fn state(name: &str, escaping: Option<Escaping>, line: &str) -> Result<KeyState, Reason> {
    inspected(name, escaping, line).map(|it| it.state).map_err(|refusal| refusal.reason)
}

fn rekeyed(tenant: &str) -> KeyState {
    KeyState::Rekeyed { tenant: tenant.to_owned() }
}

/// Inspects and rewrites, joining terms as they are.
fn rewritten(name: &str, line: &str, tenant: &str) -> Result<String, Refusal> {
    rewritten_by(&layout(name), Some(Escaping::Raw), line, tenant, StoredOwner::Refuse)
}

fn rewritten_by(
    layout: &Layout,
    escaping: Option<Escaping>,
    line: &str,
    tenant: &str,
    owner: StoredOwner,
) -> Result<String, Refusal> {
    let mut inspector = Inspector::new(layout, escaping);
    let (tape, mut identity) = (tape(line), Identity::default());
    inspector.inspect(&tape, line.as_bytes(), &mut identity)?;
    let mut out = b"before".to_vec();
    let result = inspector.rewrite(&tape, line.as_bytes(), &identity, tenant, owner, &mut out);
    let made = String::from_utf8(out.split_off("before".len())).unwrap();
    assert!(result.is_ok() || made.is_empty(), "nothing is appended on an error");
    result.map(|()| made)
}

fn mongodb_event(stream: &str) -> String {
    format!(
        r#"{{"_id":{{"$oid":"65a0f1c2d3e4f5a600000001"}},"eventId":"e-1","streamId":"{stream}","aggregateType":"Order","version":{{"$numberLong":"3"}}}}"#
    )
}

fn mongodb_saga(members: &str) -> String {
    format!(r#"{{"_id":"{SAGA}","sagaType":"OrderSaga",{members}"isCompleted":false}}"#)
}

fn dynamodb_event(pk: &str, sk: &str, members: &str) -> String {
    format!(
        r#"{{"Item":{{"pk":{{"S":"{pk}"}},"sk":{{"N":"{sk}"}},"aggregateId":{{"S":"A:1"}},"aggregateType":{{"S":"Order"}}{members}}}}}"#
    )
}

fn dynamodb_saga(pk: &str, sk: &str) -> String {
    format!(
        r#"{{"Item":{{"PK":{{"S":"{pk}"}},"SK":{{"S":"{sk}"}},"sagaId":{{"S":"{SAGA}"}},"sagaType":{{"S":"OrderSaga"}}}}}}"#
    )
}

fn firestore_event(id: &str, stream: &str) -> String {
    format!(
        r#"{{"name":"projects/p/databases/(default)/documents/events/{id}","fields":{{"streamId":{{"stringValue":"{stream}"}},"aggregateId":{{"stringValue":"42"}},"aggregateType":{{"stringValue":"Order"}},"version":{{"integerValue":"10"}}}},"createTime":"2026-01-02T03:04:05Z","updateTime":"2026-01-02T03:04:05Z"}}"#
    )
}

fn cosmosdb_event(id: &str, stream: &str) -> String {
    format!(
        r#"{{"id":"{id}","streamId":"{stream}","aggregateId":"42","aggregateType":"Order","version":10,"_etag":"\"0\"","_ts":1}}"#
    )
}

fn cosmosdb_saga(members: &str) -> String {
    format!(r#"{{"id":"{SAGA}","sagaId":"{SAGA}","sagaType":"OrderSaga"{members}}}"#)
}
