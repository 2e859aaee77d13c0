use super::*;

/// Several partition key components, the broadest of which gets the tenant; no version, no framework.
const HIERARCHICAL: &str = r#"
name  = "cosmosdb-hierarchical"
store = "cosmosdb"
kind  = "items"

[fields]
id       = { is = "string", at = "id" }
customer = { is = "string", bare = "customerId" }

[[key]]
at      = "customerId"
legacy  = "{customer}"
rekeyed = "{tenant}__{customer}"

[stream]
key = ["customerId", "meterSlug", "timeBucket", "id"]

[tenant_map]
key = "{customer}"

[document]
max_bytes = 2_097_152
drop      = ["_rid", "_self", "_etag", "_attachments", "_ts"]

[[limit]]
at        = ["customerId", "meterSlug", "timeBucket"]
max_bytes = 2048

[collection]
key = [{ name = "/customerId" }, { name = "/meterSlug" }, { name = "/timeBucket" }]
"#;

fn item(customer: &str) -> String {
    format!(
        r#"{{"id":"1","customerId":"{customer}","meterSlug":"api-calls","timeBucket":"2026-01","n":1.50}}"#
    )
}

#[test]
fn the_broadest_component_gets_the_tenant() {
    let layout = Layout::parse(HIERARCHICAL, "hierarchical.toml").unwrap();
    let by = |line: &str, tenant| rewritten_by(&layout, None, line, tenant, StoredOwner::Refuse);
    assert_eq!(by(&item("c-1"), "acme").unwrap(), item("acme__c-1"));
    assert_eq!(by(&item("acme__c-1"), "acme").unwrap_err().reason, Reason::AlreadyRekeyed);
    let too_long = "x".repeat(2048 - "__c-1api-calls2026-01".len() + 1);
    assert_eq!(by(&item("c-1"), &too_long).unwrap_err().reason, Reason::KeyTooLong);
    assert!(by(&item("c-1"), &too_long[1..]).is_ok());
}

#[test]
fn an_item_is_a_stream_of_its_own_and_its_customer_is_looked_up() {
    let layout = Layout::parse(HIERARCHICAL, "hierarchical.toml").unwrap();
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
