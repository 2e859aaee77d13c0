use proptest::prelude::*;

use super::*;
use crate::document::StoreKind;
use crate::document::text::write_quoted;
use crate::key::Terms;

/// A typed member of the store's form.
fn member(store: StoreKind, name: &str, value: &str) -> String {
    let mut out = Vec::new();
    write_quoted(name, &mut out);
    out.push(b':');
    store.write_text(value, &mut out);
    String::from_utf8(out).unwrap()
}

fn version_member(store: StoreKind, name: &str, version: i64) -> String {
    let value = match store {
        StoreKind::MongoDb => format!(r#"{{"$numberLong":"{version}"}}"#),
        StoreKind::DynamoDb => format!(r#"{{"N":"{version}"}}"#),
        StoreKind::Firestore => format!(r#"{{"integerValue":"{version}"}}"#),
        StoreKind::CosmosDb => version.to_string(),
    };
    format!("\"{name}\":{value}")
}

/// A legacy document of a built-in layout, its members parted by `gap`, with one more at the end.
fn legacy(layout: &Layout, terms: &Terms<'_>, gap: &str, extra: &str) -> String {
    let store = layout.store;
    let mut members = Vec::new();
    let mut id = String::new();
    for (term, field) in layout.fields.iter() {
        let Some(at) = field.at.as_deref().filter(|_| field.bare.is_none()) else { continue };
        members.push(match terms.text(&term) {
            Some(text) => member(store, at, text),
            None => version_member(store, at, terms.version.unwrap()),
        });
    }
    for place in &layout.keys {
        let mut value = String::new();
        place.legacy.as_ref().or(place.stays.as_ref()).unwrap().render(terms, Escaping::Raw, &mut value);
        match place.is {
            _ if place.at == "@id" => id = value,
            crate::layout::FieldType::String => members.push(member(store, &place.at, &value)),
            crate::layout::FieldType::Integer => {
                members.push(version_member(store, &place.at, terms.version.unwrap()));
            }
        }
    }
    if layout.name == "mongodb-events" {
        members.push(r#""_id":{"$oid":"65a0f1c2d3e4f5a600000001"}"#.to_owned());
    }
    members.push(member(store, "extra", extra));
    let fields = members.join(&format!("{gap},{gap}"));
    match store {
        StoreKind::MongoDb | StoreKind::CosmosDb => format!("{{{gap}{fields}{gap}}}"),
        StoreKind::DynamoDb => format!(r#"{{"Item":{gap}{{{fields}}}}}"#),
        StoreKind::Firestore => {
            let mut name = Vec::new();
            write_quoted(&format!("projects/p/databases/d/documents/c/{id}"), &mut name);
            let name = String::from_utf8(name).unwrap();
            format!(r#"{{"name":{name},{gap}"fields":{{{fields}}}}}"#)
        }
    }
}

/// The line without the values that a rewrite changes and without the members it adds.
fn untouched(layout: &Layout, line: &str, added: &[&str]) -> String {
    let tape = tape(line);
    let fields = layout.store.fields(&tape, line.as_bytes()).unwrap();
    let touched = layout.touched_fields();
    let mut cuts = Vec::new();
    if let Some(name) = tape.find(line.as_bytes(), None, "name").filter(|_| touched.contains(&"@id")) {
        let end = name.value.end as usize;
        let slash = line[..end].rfind('/').unwrap();
        cuts.push(slash..end);
    }
    for member in tape.members(fields) {
        let name = member.name(line.as_bytes());
        if added.contains(&&*name) {
            cuts.push(member.name.start as usize - 1..member.value.end as usize);
        } else if touched.contains(&&*name) {
            cuts.push(member.value.start as usize..member.value.end as usize);
        }
    }
    cuts.sort_by_key(|cut| cut.start);
    let mut out = line.to_owned();
    cuts.into_iter().rev().for_each(|cut| out.replace_range(cut, ""));
    out
}

/// The framework's layouts.
fn layouts() -> impl Strategy<Value = Layout> {
    let names: Vec<_> = Layout::NAMES.iter().copied().filter(|it| *it != "cosmosdb-hierarchical").collect();
    proptest::sample::select(names).prop_map(layout)
}

proptest! {
    #[test]
    fn a_rewritten_document_is_read_back_with_its_tenant_and_all_else_stays(
        layout in layouts(), escaped: bool, tenant in "[ab:%é_\"]{1,5}", type_name in "[at:%é_]{1,4}",
        id in "[at:%注\\\\ ]{1,6}", version in 0_i64.., extra in "\\PC{0,5}", gap in "[ \t]{0,2}",
    ) {
        let escaping = if escaped { Escaping::Escaped } else { Escaping::Raw };
        let bare = layout.store == StoreKind::MongoDb;
        // Joined raw, a bare key ends its tenant at the first colon; and what begins `t:` counts as rekeyed.
        let tenant = if bare && !escaped { tenant.replace(':', "_") } else { tenant };
        let id = if bare { id.replacen("t:", "x:", 1) } else { id };
        let id = if layout.store == StoreKind::CosmosDb { id.replace('\\', "-") } else { id };
        let terms = Terms { tenant: "", type_name: &type_name, id: &id, version: Some(version), others: &[] };
        let before = legacy(&layout, &terms, &gap, &extra);
        let mut inspector = Inspector::new(&layout, Some(escaping));

        let mut identity = Identity::default();
        inspector.inspect(&tape(&before), before.as_bytes(), &mut identity).unwrap();
        prop_assert_eq!(&identity.state, &KeyState::Legacy);
        let mut after = Vec::new();
        inspector
            .rewrite(&tape(&before), before.as_bytes(), &identity, &tenant, StoredOwner::Refuse, &mut after)
            .unwrap();
        let after = String::from_utf8(after).unwrap();

        let mut read = Identity::default();
        inspector.inspect(&tape(&after), after.as_bytes(), &mut read).unwrap();
        prop_assert_eq!(read.tenant(), Some(tenant.as_str()));
        prop_assert_eq!((&read.type_name, &read.id, read.version), (&identity.type_name, &id, Some(version)));
        let added: Vec<_> = layout.sets.iter().map(|set| set.at.as_str()).collect();
        prop_assert_eq!(untouched(&layout, &before, &[]), untouched(&layout, &after, &added));
    }

    #[test]
    fn order_keys_sort_by_stream_then_version_as_a_number(
        a in ("[a-c:\u{0}]{0,3}", 0_i64..200), b in ("[a-c:\u{0}]{0,3}", 0_i64..200),
    ) {
        let layout = layout("cosmosdb-events");
        let inspector = Inspector::new(&layout, None);
        let key = |(id, version): &(String, i64)| {
            let terms = Terms { type_name: "Order", id, version: Some(*version), ..Terms::default() };
            let line = legacy(&layout, &terms, "", "");
            let mut key = Vec::new();
            let stream_len = inspector.order_key(&tape(&line), line.as_bytes(), &mut key).unwrap();
            (key[..stream_len].to_vec(), key)
        };
        let ((a_stream, a_key), (b_stream, b_key)) = (key(&a), key(&b));
        prop_assert_eq!(a_key.cmp(&b_key), a.cmp(&b));
        prop_assert_eq!(a_stream == b_stream, a.0 == b.0);
    }
}
