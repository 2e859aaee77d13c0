use super::*;

#[test]
fn only_the_stream_of_a_mongodb_event_changes() {
    let line = r#" { "version" : {"$numberLong":"3"} , "streamId":"A\u002d1" ,"aggregateType":"Order","metadata":null,"x":{"streamId":"A-1","caf\u00e9":[1e3]} } "#
        .replace("1e3", r#"{"$numberDouble":"1e3"}"#)
        .replace(r#"{ "version""#, r#"{ "_id":1, "version""#)
        .replace("\"_id\":1", r#""_id":{"$numberInt":"1"}"#);
    let expected = line.replace(r"A\u002d1", "t:acme:A-1");
    assert_eq!(rewritten("mongodb-events", &line, "acme").unwrap(), expected);
}

#[test]
fn the_last_segment_of_a_firestore_name_is_replaced_whatever_its_slashes_look_like() {
    for slash in ["/", r"\/", r"\u002f", r"\u002F"] {
        let line = firestore_event("Order:42:10", "Order:42")
            .replace("documents/events/", &format!("documents{slash}events{slash}"));
        let expected = line
            .replace("Order:42:10", "t:acme:Order:42:10")
            .replace(r#""Order:42""#, r#""t:acme:Order:42""#)
            .replace(r#","createTime":"2026-01-02T03:04:05Z","updateTime":"2026-01-02T03:04:05Z""#, "");
        assert_eq!(rewritten("firestore-events", &line, "acme").unwrap(), expected);
    }
}

#[test]
fn dropped_members_take_one_comma_each_wherever_they_stand() {
    let keep = r#""id":"t:b:1:0","streamId":"t:b:1","aggregateId":"1","aggregateType":"","version":0"#;
    let legacy = keep.replace("t:b:", ":");
    for (line, expected) in [
        (format!(r#"{{{legacy},"_ts":1}}"#), format!("{{{keep}}}")),
        (format!(r#"{{"_ts":1,{legacy}}}"#), format!("{{{keep}}}")),
        (
            format!(r#"{{"_ts":1,"_rid":{{"a":[1,2]}},{legacy},"_self":"","_etag":"x"}}"#),
            format!("{{{keep}}}"),
        ),
        (format!(r#"{{ "_ts":1 , "_rid":"", {legacy} , "_self":"" }}"#), format!("{{ {keep} }}")),
        (
            format!(r#"{{"a":1,"_ts":1,"_rid":"",{legacy},"_self":"","z":{{"_ts":2}}}}"#),
            format!(r#"{{"a":1,{keep},"z":{{"_ts":2}}}}"#),
        ),
    ] {
        let layout = layout("cosmosdb-events");
        let mut made = rewritten_by(&layout, Some(Escaping::Raw), &line, "b", StoredOwner::Refuse).unwrap();
        made = made.replace("t:b::1", "t:b:1");
        assert_eq!(made, expected, "{line}");
    }
}

#[test]
fn a_saga_gets_its_tenant_in_place_or_last() {
    let saga = |members| rewritten("cosmosdb-sagas", &cosmosdb_saga(members), "acme").unwrap();
    let expected = |members: &str| cosmosdb_saga(members).replacen(SAGA, &format!("t:acme:{SAGA}"), 1);
    assert_eq!(saga(r#","tenantId":null,"z":1"#), expected(r#","tenantId":"acme","z":1"#));
    assert_eq!(saga(r#","tenantId":"","z":1"#), expected(r#","tenantId":"acme","z":1"#));
    assert_eq!(saga(r#","z":1"#), expected(r#","z":1,"tenantId":"acme""#));
    assert_eq!(saga(r#","z":1,"_ts":5"#), expected(r#","z":1,"tenantId":"acme""#));
    // The owner stands already, in bytes of its own choosing.
    assert_eq!(saga(r#","tenantId":"acm\u0065""#), expected(r#","tenantId":"acm\u0065""#));
}

#[test]
fn a_mongodb_saga_gets_its_id_as_a_field_where_it_has_none() {
    let moved = |line: &str| line.replacen(SAGA, &format!("t:acme:{SAGA}"), 1).replace("false}", "false");
    let line = mongodb_saga(r#""tenantId":null,"#);
    let expected = moved(&line).replace("null", "\"acme\"") + &format!(r#","sagaId":"{SAGA}"}}"#);
    assert_eq!(rewritten("mongodb-sagas", &line, "acme").unwrap(), expected);
    let line = mongodb_saga(&format!(r#""sagaId":"{SAGA}","#));
    let expected = moved(&line) + r#","tenantId":"acme"}"#;
    assert_eq!(rewritten("mongodb-sagas", &line, "acme").unwrap(), expected);
}

#[test]
fn an_added_attribute_keeps_sorted_names_sorted() {
    let unsorted = dynamodb_saga(&format!("SAGA#{SAGA}"), "OrderSaga");
    let sorted = unsorted.replace("}}}", r#"},"version":{"N":"2"}}}"#);
    for (line, expected) in [
        (&sorted, sorted.replace(r#","version""#, r#","tenantId":{"S":"acme"},"version""#)),
        (&unsorted, unsorted.replace("}}}", r#"},"tenantId":{"S":"acme"}}}"#)),
        (
            &sorted.replace("\"SK\"", "\"zz\":{\"BOOL\":true},\"SK\""),
            sorted
                .replace("\"SK\"", "\"zz\":{\"BOOL\":true},\"SK\"")
                .replace(r#"{"N":"2"}}"#, r#"{"N":"2"},"tenantId":{"S":"acme"}}"#),
        ),
    ] {
        let expected = expected.replacen(SAGA, &format!("t:acme:{SAGA}"), 1);
        assert_eq!(&rewritten("dynamodb-sagas", line, "acme").unwrap(), &expected);
    }
}

#[test]
fn another_owner_is_refused_or_replaced() {
    let layout = layout("cosmosdb-sagas");
    let line = cosmosdb_saga(r#","tenantId":"other","stateJson":"{\"tenantId\":\"third\"}""#);
    let by = |owner| rewritten_by(&layout, Some(Escaping::Raw), &line, "acme", owner);
    let refusal = by(StoredOwner::Refuse).unwrap_err();
    assert_eq!(refusal.reason, Reason::OwnerMismatch);
    assert!(refusal.detail.contains("\"other\"") && refusal.detail.contains("\"acme\""), "{refusal}");
    let expected = line.replacen(SAGA, &format!("t:acme:{SAGA}"), 1).replace("\"other\"", "\"acme\"");
    assert_eq!(by(StoredOwner::Replace).unwrap(), expected);
    let in_state = cosmosdb_saga(r#","stateJson":"{\"tenantId\":\"third\"}""#);
    assert_eq!(rewritten("cosmosdb-sagas", &in_state, "acme").unwrap_err().reason, Reason::OwnerMismatch);
}

#[test]
fn terms_that_the_escapings_write_differently_need_one() {
    let layout = layout("mongodb-events");
    let by = |escaping, stream, tenant| {
        rewritten_by(&layout, escaping, &mongodb_event(stream), tenant, StoredOwner::Refuse)
            .map_err(|refusal| refusal.reason)
    };
    assert_eq!(by(None, "A-1", "acme"), Ok(mongodb_event("t:acme:A-1")));
    assert_eq!(by(None, "A:1", "acme"), Err(Reason::EscapingNeeded));
    assert_eq!(by(None, "A-1", "100%"), Err(Reason::EscapingNeeded));
    assert_eq!(by(Some(Escaping::Raw), "A:1", "100%"), Ok(mongodb_event("t:100%:A:1")));
    assert_eq!(by(Some(Escaping::Escaped), "A:1", "100%"), Ok(mongodb_event("t:100%25:A%3A1")));
}

#[test]
fn it_is_remembered_whether_the_escaping_mattered() {
    let mut inspector = Inspector::new(&layout("mongodb-events"), Some(Escaping::Escaped));
    let mut identity = Identity::default();
    for (stream, mattered) in [("A-1", false), ("A:1", true), ("A-2", true)] {
        let line = mongodb_event(stream);
        inspector.inspect(&tape(&line), line.as_bytes(), &mut identity).unwrap();
        inspector
            .rewrite(&tape(&line), line.as_bytes(), &identity, "acme", StoredOwner::Refuse, &mut Vec::new())
            .unwrap();
        assert_eq!(inspector.escaping_mattered(), mattered);
    }
}

#[test]
fn a_rekeyed_document_is_not_rekeyed_again() {
    let line = mongodb_event("t:acme:A-1");
    assert_eq!(rewritten("mongodb-events", &line, "acme").unwrap_err().reason, Reason::AlreadyRekeyed);
}

#[test]
fn quotes_and_control_characters_are_escaped_in_the_new_key() {
    let line = mongodb_event(r"a\u0000\nb\u2028");
    let made = rewritten("mongodb-events", &line, "a\"\\").unwrap();
    assert_eq!(made, mongodb_event("t:a\\\"\\\\:a\\u0000\\nb\u{2028}"));
}

/// A document that holds a NaN with a payload, which canonical Extended JSON does not carry.
fn escaped(fields: &str) -> String {
    let mut document = Vec::new();
    crate::document::bson::Parser::default().document(fields.as_bytes(), &mut document).unwrap();
    let _ = document.pop();
    document.extend_from_slice(b"\x01x\0\x01\0\0\0\0\0\xf8\x7f\0");
    let length = u32::try_from(document.len()).unwrap();
    document[..4].copy_from_slice(&length.to_le_bytes());
    let mut line = Vec::new();
    crate::document::bson::write_line(&document, &mut line);
    assert!(line.starts_with(b"{\"$rawBson\""));
    String::from_utf8(line).unwrap()
}

#[test]
fn an_escape_record_is_rewritten_as_bson() {
    let event = |stream: &str| {
        let fields = r#""aggregateType":"Order","version":{"$numberLong":"3"},"payload":null"#;
        escaped(&format!(r#"{{"_id":{{"$oid":"65a0f1c2d3e4f5a6b7c8d9e0"}},"streamId":"{stream}",{fields}}}"#))
    };
    assert_eq!(rewritten("mongodb-events", &event("A-1"), "acme").unwrap(), event("t:acme:A-1"));
    let saga = |id: &str, tenant: &str, last: &str| {
        escaped(&format!(
            r#"{{"_id":"{id}","sagaType":"Order","tenantId":{tenant},"stateJson":"{{}}"{last}}}"#
        ))
    };
    let made = rewritten("mongodb-sagas", &saga("6f96", "null", ""), "acme").unwrap();
    let expected = saga("t:acme:6f96", "\"acme\"", "");
    let mut before = Vec::new();
    let mut after = Vec::new();
    let canonical = crate::document::canonical::write_canonical;
    canonical(crate::document::StoreKind::MongoDb, expected.as_bytes(), &["sagaId".to_owned()], &mut before)
        .unwrap();
    canonical(crate::document::StoreKind::MongoDb, made.as_bytes(), &["sagaId".to_owned()], &mut after)
        .unwrap();
    assert_eq!(String::from_utf8(after), String::from_utf8(before));
    let layout = layout("mongodb-sagas");
    let mut tape = Tape::new();
    tape.read(made.as_bytes()).unwrap();
    let inspector = Inspector::new(&layout, None);
    assert_eq!(inspector.display_key(&tape, made.as_bytes()), "t:acme:6f96");
    assert_eq!(&*inspector.store_key(&tape, made.as_bytes()).unwrap().0, r#"["t:acme:6f96"]"#);
}
