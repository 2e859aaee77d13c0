use super::*;

const RAW: Option<Escaping> = Some(Escaping::Raw);
const ESCAPED: Option<Escaping> = Some(Escaping::Escaped);

#[test]
fn a_key_is_legacy_or_rekeyed_in_every_place_or_neither() {
    let event = |id, stream| state("firestore-events", RAW, &firestore_event(id, stream));
    assert_eq!(event("Order:42:10", "Order:42"), Ok(KeyState::Legacy));
    assert_eq!(event("t:acme:Order:42:10", "t:acme:Order:42"), Ok(rekeyed("acme")));
    assert_eq!(event("t:a:b:Order:42:10", "t:a:b:Order:42"), Ok(rekeyed("a:b")));
    for (id, stream) in [
        ("t:acme:Order:42:10", "Order:42"),
        ("Order:42:10", "t:acme:Order:42"),
        ("t:acme:Order:42:10", "t:acme2:Order:42"),
        ("t:acme:Order:42:11", "t:acme:Order:42"),
        ("Order:42:9", "Order:42"),
        ("t::Order:42:10", "t::Order:42"),
        ("order:42:10", "order:42"),
    ] {
        assert_eq!(event(id, stream), Err(Reason::KeyMismatch), "{id} {stream}");
    }
}

#[test]
fn a_type_called_t_does_not_make_a_key_rekeyed() {
    let line = cosmosdb_event("t:42:10", "t:42").replace("Order", "t");
    assert_eq!(state("cosmosdb-events", RAW, &line), Ok(KeyState::Legacy));
}

#[test]
fn terms_are_read_and_the_mismatch_names_what_the_fields_say() {
    let identity = inspected("cosmosdb-events", None, &cosmosdb_event("Order:42:10", "Order:42")).unwrap();
    assert_eq!((&*identity.type_name, &*identity.id, identity.version), ("Order", "42", Some(10)));
    let refusal = inspected("mongodb-events", ESCAPED, &mongodb_event("t:a:b:c")).unwrap_err();
    assert_eq!(refusal.detail, r#"The key "t:a:b:c" is rekeyed, but its terms are not escaped."#);
    let refusal = inspected("cosmosdb-events", None, &cosmosdb_event("Order:43:10", "Order:42")).unwrap_err();
    assert!(refusal.detail.contains(r#""id" is "Order:43:10""#), "{refusal}");
    assert!(refusal.detail.contains(r#""Order:42:10""#), "{refusal}");
}

#[test]
fn the_sort_key_of_an_event_is_its_version() {
    let version = r#","version":{"N":"7"}"#;
    let event = |sk, version| state("dynamodb-events", RAW, &dynamodb_event("Order:A:1", sk, version));
    assert_eq!(event("7", version), Ok(KeyState::Legacy));
    assert_eq!(event("7.0", version), Ok(KeyState::Legacy));
    assert_eq!(event("8", version), Err(Reason::KeyMismatch));
    assert_eq!(event("7.5", version), Err(Reason::FieldType));
    assert_eq!(event("7", ""), Err(Reason::FieldMissing));
    assert_eq!(event("-1", r#","version":{"N":"-1"}"#), Err(Reason::FieldType));
    assert_eq!(event("7", r#","version":{"S":"7"}"#), Err(Reason::FieldType));
}

#[test]
fn other_items_of_a_shared_table_are_foreign() {
    let saga = |pk: &str, sk| state("dynamodb-sagas", RAW, &dynamodb_saga(pk, sk));
    assert_eq!(saga(&format!("SAGA#{SAGA}"), "OrderSaga"), Ok(KeyState::Legacy));
    assert_eq!(saga(&format!("SAGA#t:acme:{SAGA}"), "OrderSaga"), Ok(rekeyed("acme")));
    assert_eq!(saga("SNAPSHOT#1", "Order"), Err(Reason::Foreign));
    assert_eq!(saga(&format!("SAGA#{SAGA}"), "OtherSaga"), Err(Reason::KeyMismatch));
    assert_eq!(saga("SAGA#1", "OrderSaga"), Err(Reason::KeyMismatch));
}

#[test]
fn a_mongodb_stream_is_rekeyed_if_it_can_be_taken_apart() {
    let event = |escaping, stream: &str| {
        let identity = inspected("mongodb-events", escaping, &mongodb_event(stream));
        identity.map(|it| (it.tenant().map(str::to_owned), it.id)).map_err(|refusal| refusal.reason)
    };
    let legacy = |id: &str| Ok((None, id.to_owned()));
    let moved = |tenant: &str, id: &str| Ok((Some(tenant.to_owned()), id.to_owned()));
    for escaping in [None, RAW, ESCAPED] {
        assert_eq!(event(escaping, "A-1001"), legacy("A-1001"));
        assert_eq!(event(escaping, "eu:42%"), legacy("eu:42%"));
        assert_eq!(event(escaping, "t:acme:42"), moved("acme", "42"));
        // No second colon, or no tenant: no release joins a key so.
        assert_eq!(event(escaping, "t:42"), legacy("t:42"));
        assert_eq!(event(escaping, "t::42"), legacy("t::42"));
    }
    assert_eq!(event(RAW, "t:acme:eu:42"), moved("acme", "eu:42"));
    assert_eq!(event(None, "t:acme:eu:42"), moved("acme", "eu:42"));
    assert_eq!(event(ESCAPED, "t:acme:eu:42"), Err(Reason::KeyMismatch));
    assert_eq!(event(ESCAPED, "t:a%3Ab:eu%3A42"), moved("a:b", "eu:42"));
    assert_eq!(event(RAW, "t:a%3Ab:eu%3A42"), moved("a%3Ab", "eu%3A42"));
    assert_eq!(event(None, "t:a%3Ab:eu%3A42"), Err(Reason::EscapingNeeded));
}

#[test]
fn a_mongodb_saga_without_saga_id_is_told_by_its_key() {
    let legacy = mongodb_saga("");
    let moved = legacy.replace(SAGA, &format!("t:acme:{SAGA}"));
    assert_eq!(inspected("mongodb-sagas", RAW, &legacy).unwrap().id, SAGA);
    assert_eq!(state("mongodb-sagas", RAW, &moved), Ok(rekeyed("acme")));
    assert_eq!(inspected("mongodb-sagas", RAW, &moved).unwrap().id, SAGA);
    let with_field = mongodb_saga(&format!(r#""sagaId":"{SAGA}","#));
    assert_eq!(state("mongodb-sagas", RAW, &with_field), Ok(KeyState::Legacy));
    assert_eq!(state("mongodb-sagas", RAW, &mongodb_saga(r#""sagaId":"other","#)), Err(Reason::KeyMismatch));
    assert_eq!(state("mongodb-sagas", RAW, &mongodb_saga(r#""sagaId":null,"#)), Err(Reason::FieldType));
}

#[test]
fn without_an_escaping_one_reading_is_enough() {
    let line = |key: &str| cosmosdb_event(&format!("{key}:10"), key);
    let read = |key: &str| state("cosmosdb-events", None, &line(key));
    assert_eq!(read("t:acme:Order:42"), Ok(rekeyed("acme")));
    assert_eq!(read("t:a:b:Order:42"), Ok(rekeyed("a:b")));
    assert_eq!(read("t:a%3Ab:Order:42"), Err(Reason::EscapingNeeded));
}

#[test]
fn sagas_may_lack_a_version_but_not_have_a_wrong_one() {
    let saga = |members: &str| inspected("cosmosdb-sagas", RAW, &cosmosdb_saga(members));
    assert_eq!(saga("").unwrap().version, None);
    assert_eq!(saga(r#","version":2"#).unwrap().version, Some(2));
    for wrong in ["null", "\"2\"", "-1", "2.5", "9223372036854775808"] {
        let refusal = saga(&format!(r#","version":{wrong}"#)).unwrap_err();
        assert_eq!(refusal.reason, Reason::FieldType);
        assert!(refusal.detail.contains("\"version\""), "{refusal}");
    }
}

#[test]
fn stored_owners_are_read_from_the_field_and_from_the_state() {
    let owners = |members: &str| {
        inspected("cosmosdb-sagas", RAW, &cosmosdb_saga(members))
            .map(|identity| identity.stored_owner)
            .map_err(|refusal| refusal.reason)
    };
    let state = |json: &str| format!(r#","stateJson":"{}""#, json.replace('\\', "\\\\").replace('"', "\\\""));
    assert_eq!(owners(r#","tenantId":"acme""#).unwrap(), ["acme"]);
    assert_eq!(owners(&state(r#"{"tenantId":"b"}"#)).unwrap(), ["b"]);
    let both = format!(r#","tenantId":"a"{}"#, state(r#"{"x":{"tenantId":"no"},"tenantId":"b"}"#));
    assert_eq!(owners(&both).unwrap(), ["a", "b"]);
    for nothing in [r#","tenantId":null"#, r#","tenantId":"""#, "", r#","stateJson":null"#] {
        assert_eq!(owners(nothing).unwrap(), [""; 0], "{nothing}");
    }
    for json in ["not JSON", "", "[1]", r#""text""#, "{}", r#"{"tenantId":null}"#, r#"{"tenantId":""}"#] {
        assert_eq!(owners(&state(json)).unwrap(), [""; 0], "{json}");
    }
    for (json, reason) in [
        (r#"{"tenantId":1}"#, Reason::FieldType),
        (r#"{"tenantId":"a","tenantId":"b"}"#, Reason::DuplicateName),
        (r#"{"tenantId":"a""#, Reason::Malformed),
        (r#"{"a":"\ud800"}"#, Reason::Malformed),
    ] {
        assert_eq!(owners(&state(json)), Err(reason), "{json}");
    }
    assert_eq!(owners(r#","tenantId":5"#), Err(Reason::FieldType));
}

#[test]
fn escaped_names_and_values_are_read_by_their_text() {
    let line = mongodb_event("A-1001")
        .replace("\"streamId\"", r#""stream\u0049d""#)
        .replace("A-1001", r"A\u002d1001");
    assert_eq!(inspected("mongodb-events", RAW, &line).unwrap().id, "A-1001");
    let line = firestore_event("Order:42:10", "Order:42").replace("events/", r"events\/");
    assert_eq!(state("firestore-events", RAW, &line), Ok(KeyState::Legacy));
}

#[test]
fn what_else_a_document_says_can_be_asked_for() {
    let line = mongodb_event("A-1001");
    let inspector = Inspector::new(&layout("mongodb-events"), None);
    assert_eq!(inspector.event_id(&tape(&line), line.as_bytes()).as_deref(), Some("e-1"));
    assert_eq!(inspector.display_key(&tape(&line), line.as_bytes()), "A-1001");
    assert_eq!(inspector.expires_at(&tape(&line), line.as_bytes()), None);
    let line = dynamodb_saga("SAGA#1", "x").replace(r#""sagaId""#, r#""ttl":{"N":"1767323045"},"sagaId""#);
    let inspector = Inspector::new(&layout("dynamodb-sagas"), None);
    assert_eq!(inspector.expires_at(&tape(&line), line.as_bytes()), Some(1_767_323_045));
    assert_eq!(inspector.display_key(&tape(&line), line.as_bytes()), "SAGA#1");
}

#[test]
fn a_stream_is_called_in_a_tenant_map_as_it_is_in_the_legacy_store() {
    for (name, line, expected) in [
        ("mongodb-events", mongodb_event("A-1001"), "A-1001"),
        ("mongodb-events", mongodb_event("t:acme:A-1001"), "A-1001"),
        ("cosmosdb-events", cosmosdb_event("Order:42:10", "Order:42"), "Order:42"),
        ("mongodb-sagas", mongodb_saga(""), SAGA),
        ("dynamodb-sagas", dynamodb_saga(&format!("SAGA#{SAGA}"), "OrderSaga"), SAGA),
    ] {
        let identity = inspected(name, RAW, &line).unwrap();
        let mut key = String::new();
        Inspector::new(&layout(name), RAW).map_key(&identity, &mut key);
        assert_eq!(key, expected, "{name}");
    }
}

#[test]
fn lines_that_are_not_the_store_s_lossless_form_are_refused() {
    for (name, line, reason) in [
        ("mongodb-events", r#"{"$rawBson":"AAAA"}"#.to_owned(), Reason::EscapeRecord),
        ("mongodb-events", r#"{"$rawBson":"BQAAAAA="}"#.to_owned(), Reason::FieldMissing),
        ("mongodb-events", mongodb_event("A-1").replace(r#"{"$numberLong":"3"}"#, "3"), Reason::NotLossless),
        ("dynamodb-events", r#"{"pk":{"S":"x"}}"#.to_owned(), Reason::NotLossless),
        ("firestore-events", r#"{"name":"p/c/x"}"#.to_owned(), Reason::NotLossless),
        (
            "firestore-sagas",
            r#"{"fields":{"sagaId":{"stringValue":"1"},"sagaType":{"stringValue":"S"}}}"#.to_owned(),
            Reason::FieldMissing,
        ),
    ] {
        assert_eq!(state(name, RAW, &line), Err(reason), "{line}");
    }
}

#[test]
fn the_stream_is_told_by_what_is_stored_and_a_mongodb_one_by_its_type_too() {
    let stream = |name, line: &str| {
        let mut key = Vec::new();
        let inspector = Inspector::new(&layout(name), None);
        let length = inspector.order_key(&tape(line), line.as_bytes(), &mut key).unwrap();
        key.truncate(length);
        key
    };
    let order = mongodb_event("A-1");
    let invoice = order.replace("Order", "Invoice");
    assert_ne!(stream("mongodb-events", &order), stream("mongodb-events", &invoice));
    assert_eq!(stream("mongodb-events", &order), stream("mongodb-events", &order.replace("\"3\"", "\"4\"")));
    assert_ne!(stream("mongodb-events", &order), stream("mongodb-events", &mongodb_event("t:acme:A-1")));
    // What would be refused sorts all the same.
    assert!(!stream("mongodb-events", r#"{"_id":{"$numberInt":"1"},"version":"x"}"#).is_empty());
}

#[test]
fn a_rekeyed_document_is_carried_over_without_what_the_server_wrote() {
    let line = cosmosdb_event("t:a:b:Order:42:10", "t:a:b:Order:42");
    let mut inspector = Inspector::new(&layout("cosmosdb-events"), RAW);
    let (tape, mut identity, mut out) = (tape(&line), Identity::default(), Vec::new());
    inspector.inspect(&tape, line.as_bytes(), &mut identity).unwrap();
    inspector.carry_over(&tape, line.as_bytes(), &identity, &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), line.replace(r#","_etag":"\"0\"","_ts":1"#, ""));
    assert!(inspector.escaping_mattered());
}
