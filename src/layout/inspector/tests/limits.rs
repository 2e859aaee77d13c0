use super::*;
use crate::document::size::stored_size;

/// A text of exactly `bytes` bytes, most of its characters two bytes long.
fn text(bytes: usize) -> String {
    "é".repeat(bytes / 2) + if bytes % 2 == 1 { "x" } else { "" }
}

fn reason(name: &str, line: &str, tenant: &str) -> Option<Reason> {
    rewritten(name, line, tenant).err().map(|refusal| refusal.reason)
}

#[test]
fn keys_may_have_as_many_bytes_as_the_store_allows_and_not_one_more() {
    // What the key holds besides the tenant: `t:` + tenant + `:Order:42:10` and the like.
    let event = |escape: fn(&str, &str) -> String| escape("Order:42:10", "Order:42");
    let dynamodb = dynamodb_event("Order:A:1", "7", r#","version":{"N":"7"}"#);
    let dynamodb_saga = dynamodb_saga(&format!("SAGA#{SAGA}"), "OrderSaga");
    let bare = format!("t::{SAGA}");
    let saga = format!("SAGA#t::{SAGA}");
    for (name, line, rest, limit) in [
        ("cosmosdb-events", event(cosmosdb_event), "t::Order:42:10", 1023),
        ("cosmosdb-sagas", cosmosdb_saga(""), bare.as_str(), 1023),
        ("firestore-events", event(firestore_event), "t::Order:42:10", 1500),
        ("dynamodb-events", dynamodb, "t::Order:A:1", 2048),
        ("dynamodb-sagas", dynamodb_saga, saga.as_str(), 2048),
    ] {
        let room = limit - rest.len();
        assert_eq!(reason(name, &line, &text(room)), None, "{name}");
        assert_eq!(reason(name, &line, &text(room + 1)), Some(Reason::KeyTooLong), "{name}");
    }
}

#[test]
fn a_key_that_is_too_long_is_told_with_its_length() {
    let refusal =
        rewritten("cosmosdb-events", &cosmosdb_event("Order:42:10", "Order:42"), &text(1010)).unwrap_err();
    assert_eq!(refusal.detail, "The new value of id has 1024 bytes; Cosmos DB allows 1023.");
}

#[test]
fn a_sort_key_that_could_not_be_stored_is_refused() {
    let type_name = "T".repeat(1025);
    let line = dynamodb_saga(&format!("SAGA#{SAGA}"), &type_name).replace("OrderSaga", &type_name);
    assert_eq!(reason("dynamodb-sagas", &line, "acme"), Some(Reason::KeyTooLong));
}

#[test]
fn characters_and_ids_that_a_store_forbids_are_refused() {
    let cosmos = cosmosdb_event("Order:42:10", "Order:42");
    for tenant in ["a/b", r"a\b", "a?b", "a#b"] {
        assert_eq!(reason("cosmosdb-events", &cosmos, tenant), Some(Reason::KeyForbidden), "{tenant}");
    }
    let firestore = firestore_event("Order:42:10", "Order:42");
    assert_eq!(reason("firestore-events", &firestore, "a/b"), Some(Reason::KeyForbidden));
    assert_eq!(reason("firestore-events", &firestore, "a?b"), None);
    assert_eq!(reason("dynamodb-sagas", &dynamodb_saga(&format!("SAGA#{SAGA}"), "OrderSaga"), "a/b#?"), None);
}

#[test]
fn reserved_ids_are_refused_by_a_layout_that_could_make_them() {
    let text =
        Layout::builtin_text("firestore-sagas").unwrap().replace("t:{tenant|e}:{id|e}_", "{tenant|e}{id|e}");
    let layout = Layout::parse(&text, "mine.toml").unwrap();
    let saga = r#"{"name":"p/sagas/_x___","fields":{"sagaId":{"stringValue":"_x"},"sagaType":{"stringValue":"__"}}}"#;
    let by = |tenant| rewritten_by(&layout, None, saga, tenant, StoredOwner::Refuse).map_err(|it| it.reason);
    assert_eq!(by("_"), Err(Reason::KeyForbidden));
    assert!(by("x").is_ok());
}

#[test]
fn the_size_that_counts_is_that_of_the_rewritten_document() {
    for (name, prefix, suffix, limit) in [
        ("dynamodb-events", r#","b":{"S":""#, r#""}"#, 409_600),
        ("cosmosdb-sagas", r#","b":""#, r#"""#, 2_097_152),
    ] {
        let line = |bytes: usize| {
            let filler = format!("{prefix}{}{suffix}", "x".repeat(bytes));
            match name {
                "cosmosdb-sagas" => cosmosdb_saga(&filler),
                _ => dynamodb_event("Order:A:1", "7", &format!(r#","version":{{"N":"7"}}{filler}"#)),
            }
        };
        let size = |line: &str| stored_size(layout(name).store, &tape(line), line.as_bytes());
        let grown = size(&rewritten(name, &line(0), "acme").unwrap());
        let room = usize::try_from(limit - grown).unwrap();
        assert!(size(&line(room + 1)) <= limit, "it would have fit before");
        assert_eq!(reason(name, &line(room), "acme"), None, "{name}");
        assert_eq!(reason(name, &line(room + 1), "acme"), Some(Reason::DocumentTooLarge), "{name}");
    }
}
