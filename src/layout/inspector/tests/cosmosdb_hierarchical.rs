use super::*;

fn item(customer: &str) -> String {
    format!(
        r#"{{"id":"1","customerId":"{customer}","meterSlug":"api-calls","timeBucket":"2026-01","n":1.50}}"#
    )
}

#[test]
fn the_broadest_component_gets_the_tenant() {
    let layout = Layout::builtin("cosmosdb-hierarchical").unwrap();
    let by = |line: &str, tenant| rewritten_by(&layout, None, line, tenant, StoredOwner::Refuse);
    assert_eq!(by(&item("c-1"), "acme").unwrap(), item("acme__c-1"));
    assert_eq!(by(&item("acme__c-1"), "acme").unwrap_err().reason, Reason::AlreadyRekeyed);
    let too_long = "x".repeat(2048 - "__c-1api-calls2026-01".len() + 1);
    assert_eq!(by(&item("c-1"), &too_long).unwrap_err().reason, Reason::KeyTooLong);
    assert!(by(&item("c-1"), &too_long[1..]).is_ok());
}

#[test]
fn an_item_is_a_stream_of_its_own_and_its_customer_is_looked_up() {
    let layout = Layout::builtin("cosmosdb-hierarchical").unwrap();
    let mut inspector = Inspector::new(&layout, None);
    let (line, mut identity) = (item("c-1"), Identity::default());
    inspector.inspect(&tape(&line), line.as_bytes(), &mut identity).unwrap();
    assert_eq!((identity.version, &*identity.id), (None, "1"));
    let mut key = String::new();
    inspector.map_key(&identity, &mut key);
    assert_eq!(key, "c-1");
    let store_key = inspector.store_key(&tape(&line), line.as_bytes()).unwrap();
    assert_eq!(store_key.to_string(), r#"["c-1","api-calls","2026-01","1"]"#);
    assert!(layout.probe().is_none());
    assert_eq!(layout.touched_fields(), ["customerId"]);
    assert!(!layout.keeps_store_key());
}

#[test]
fn every_component_is_a_string_that_is_there() {
    let layout = Layout::builtin("cosmosdb-hierarchical").unwrap();
    let by = |line: &str| rewritten_by(&layout, None, line, "acme", StoredOwner::Refuse);
    let number = item("c-1").replace("\"2026-01\"", "202601");
    let refusal = by(&number).unwrap_err();
    assert_eq!(refusal.reason, Reason::FieldType);
    assert!(refusal.detail.contains("timeBucket"), "{refusal}");
    let missing = item("c-1").replace("\"meterSlug\":\"api-calls\",", "");
    let refusal = by(&missing).unwrap_err();
    assert_eq!(refusal.reason, Reason::FieldMissing);
    assert!(refusal.detail.contains("meterSlug"), "{refusal}");
}

#[test]
fn paths_are_the_container_s_in_its_order_and_three_at_most() {
    let layout = Layout::builtin("cosmosdb-hierarchical").unwrap();
    let set = |pairs: [(&str, &str); 2]| {
        let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
        layout.clone().with_parameters(&pairs)
    };
    let renamed = set([("broadest", "/tenant"), ("narrowest", "day")]).unwrap();
    assert_eq!(renamed.store_key_fields(), ["tenant", "meterSlug", "day", "id"]);
    assert_eq!(renamed.touched_fields(), ["tenant"]);
    let text = Layout::builtin_text("cosmosdb-hierarchical").unwrap();
    for (keys, what) in [
        (r#"[{ name = "/a" }, { name = "/b" }, { name = "/c" }, { name = "/d" }]"#, "a, b, c, d"),
        (r#"[{ name = "/a", type = "S" }]"#, "without a type"),
        ("[]", "one to three paths"),
    ] {
        let (before, _) = text.split_once("[collection]").unwrap();
        let error = Layout::parse(&format!("{before}[collection]\nkey = {keys}\n"), "mine.toml").unwrap_err();
        assert!(error.to_string().contains("collection.key") && error.to_string().contains(what), "{error}");
    }
}
