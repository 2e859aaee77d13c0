//! One document in many spellings: every spelling has the same canonical form and digest.

use proptest::prelude::*;

use StoreKind::{CosmosDb, DynamoDb, Firestore, MongoDb};

use super::tests::{form, form_without};
use super::*;

/// A document that can be spelled in many ways.
#[derive(Clone, Debug)]
enum Value {
    /// Texts of one value, for this store.
    Texts(&'static [&'static str]),
    Text(String),
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
}

/// Spells JSON; each choice takes one of the numbers, over and over.
struct Spelling<'s> {
    choices: std::iter::Cycle<std::slice::Iter<'s, usize>>,
    out: String,
}

impl Spelling<'_> {
    fn choose(&mut self, among: usize) -> usize {
        self.choices.next().unwrap_or(&0) % among
    }

    fn space(&mut self) {
        let space = ["", "", "", " ", "\n\t"][self.choose(5)];
        self.out.push_str(space);
    }

    fn quoted(&mut self, text: &str) {
        self.out.push('"');
        for character in text.chars() {
            match (character, self.choose(6)) {
                ('/', 1) => self.out.push_str("\\/"),
                ('"' | '\\', _) => self.out.extend(['\\', character]),
                (character, 0) if character < '\u{ffff}' => self.escape(character),
                (character, _) if character < ' ' => self.escape(character),
                (character, _) => self.out.push(character),
            }
        }
        self.out.push('"');
    }

    fn escape(&mut self, character: char) {
        let escape = format!("\\u{:04X}", u32::from(character));
        self.out.push_str(&escape);
    }

    /// Writes the members in an order of its own, if the store keeps none.
    fn members(
        &mut self,
        keeps_order: bool,
        members: &[(String, Value)],
        value: &mut dyn FnMut(&mut Self, &Value),
    ) {
        let turn = if keeps_order || members.is_empty() { 0 } else { self.choose(members.len()) };
        self.out.push('{');
        for (place, (name, member)) in members[turn..].iter().chain(&members[..turn]).enumerate() {
            if place > 0 {
                self.out.push(',');
            }
            self.space();
            self.quoted(name);
            self.space();
            self.out.push(':');
            self.space();
            value(self, member);
            self.space();
        }
        self.out.push('}');
    }

    fn elements(&mut self, elements: &[Value], value: &mut dyn FnMut(&mut Self, &Value)) {
        self.out.push('[');
        for (place, element) in elements.iter().enumerate() {
            if place > 0 {
                self.out.push(',');
            }
            self.space();
            value(self, element);
        }
        self.space();
        self.out.push(']');
    }

    fn wrapped(&mut self, opening: &str, contents: impl FnOnce(&mut Self), closing: &str) {
        self.out.push_str(opening);
        contents(self);
        self.out.push_str(closing);
    }

    fn value(&mut self, kind: StoreKind, value: &Value) {
        let mut inner = |spelling: &mut Self, value: &Value| spelling.value(kind, value);
        match (kind, value) {
            (_, Value::Texts(texts)) => {
                let text = texts[self.choose(texts.len())];
                self.out.push_str(text);
            }
            (MongoDb | CosmosDb, Value::Text(text)) => self.quoted(text),
            (MongoDb | CosmosDb, Value::List(list)) => self.elements(list, &mut inner),
            (MongoDb | CosmosDb, Value::Map(map)) => self.members(kind == MongoDb, map, &mut inner),
            (DynamoDb, Value::Text(text)) => self.wrapped("{\"S\":", |s| s.quoted(text), "}"),
            (DynamoDb, Value::List(list)) => self.wrapped("{\"L\":", |s| s.elements(list, &mut inner), "}"),
            (DynamoDb, Value::Map(map)) => {
                self.wrapped("{\"M\":", |s| s.members(false, map, &mut inner), "}");
            }
            (Firestore, Value::Text(text)) => self.wrapped("{\"stringValue\":", |s| s.quoted(text), "}"),
            (Firestore, Value::List(list)) => {
                self.wrapped("{\"arrayValue\":{\"values\":", |s| s.elements(list, &mut inner), "}}");
            }
            (Firestore, Value::Map(map)) => {
                self.wrapped("{\"mapValue\":{\"fields\":", |s| s.members(false, map, &mut inner), "}}");
            }
        }
    }
}

/// Spells a whole document.
fn spell(kind: StoreKind, fields: &[(String, Value)], choices: &[usize]) -> String {
    let mut spelling = Spelling { choices: choices.iter().cycle(), out: String::new() };
    let frame = match kind {
        MongoDb | CosmosDb => ["", ""],
        DynamoDb => ["{\"Item\":", "}"],
        Firestore => ["{\"name\":\"c/id\",\"fields\":", "}"],
    };
    let fields = |spelling: &mut Spelling<'_>| {
        spelling.members(kind == MongoDb, fields, &mut |spelling, value| spelling.value(kind, value));
    };
    spelling.wrapped(frame[0], fields, frame[1]);
    spelling.out
}

/// Values of the store's own types, each with several texts.
fn texts(kind: StoreKind) -> &'static [&'static [&'static str]] {
    match kind {
        MongoDb => &[
            &["null"],
            &["true"],
            &[r#"{"$numberDouble":"1.5"}"#, r#"{ "$numberDouble" : "15e-1" }"#],
            &[r#"{"$numberLong":"1"}"#],
            &[r#"{"$binary":{"base64":"AA==","subType":"00"}}"#],
        ],
        DynamoDb => &[
            &[r#"{"NULL":true}"#],
            &[r#"{"N":"100"}"#, r#"{"N":"1E2"}"#, r#"{"N":"100.0"}"#],
            &[r#"{"N":"7"}"#],
            &[r#"{"NS":["1","2"]}"#, r#"{"NS":["2.0","1"]}"#],
            &[r#"{"B":"AA=="}"#],
        ],
        Firestore => &[
            &[r#"{"nullValue":null}"#],
            &[r#"{"integerValue":"7"}"#, r#"{"integerValue":7}"#],
            &[r#"{"doubleValue":7}"#, r#"{"doubleValue":7.0}"#, r#"{"doubleValue":"7"}"#],
            &[
                r#"{"timestampValue":"2026-01-02T03:04:05Z"}"#,
                r#"{"timestampValue":"2026-01-02T03:04:05.000Z"}"#,
            ],
            &[r#"{"geoPointValue":{}}"#, r#"{"geoPointValue":{"latitude":0,"longitude":0}}"#],
        ],
        CosmosDb => &[&["null"], &["false"], &["100", "1e2", "100.0"], &["7"], &["-0.5", "-5e-1"]],
    }
}

fn any_fields(kind: StoreKind) -> impl Strategy<Value = Vec<(String, Value)>> {
    let leaf = prop_oneof![
        prop::sample::select(texts(kind)).prop_map(Value::Texts),
        "[a-z/\"\\\\é😀\u{1}]{0,12}".prop_map(Value::Text),
    ];
    let name = || "[a-zA-Z/é😀\"]{1,12}";
    let value = leaf.prop_recursive(3, 20, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::List),
            prop::collection::btree_map(name(), inner, 0..4)
                .prop_map(|map| Value::Map(map.into_iter().collect())),
        ]
    });
    prop::collection::btree_map(name(), value, 0..12).prop_map(|map| map.into_iter().collect())
}

fn any_document() -> impl Strategy<Value = (StoreKind, Vec<(String, Value)>)> {
    prop::sample::select(&StoreKind::ALL[..]).prop_flat_map(|kind| (Just(kind), any_fields(kind)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn every_spelling_of_a_document_has_one_digest(
        (kind, fields) in any_document(), choices in prop::collection::vec(any::<usize>(), 1..60),
    ) {
        let plain = form(kind, &spell(kind, &fields, &[0]));
        prop_assert_eq!(form(kind, &spell(kind, &fields, &choices)), plain.clone());
        let left_out: Vec<_> = fields.iter().step_by(2).map(|(name, _)| name.as_str()).collect();
        let rest = form_without(kind, &spell(kind, &fields, &choices), &left_out);
        let kept: Vec<_> = fields.iter().skip(1).step_by(2).cloned().collect();
        prop_assert_eq!(rest, form(kind, &spell(kind, &kept, &[0])));
    }

    #[test]
    fn another_value_in_any_place_is_another_form((kind, fields) in any_document(), at in any::<prop::sample::Index>()) {
        prop_assume!(!fields.is_empty());
        let before = spell(kind, &fields, &[0]);
        let mut changed = fields.clone();
        let at = at.index(fields.len());
        changed[at].1 = Value::List(vec![changed[at].1.clone()]);
        let after = spell(kind, &changed, &[0]);
        prop_assert_ne!(form(kind, &before), form(kind, &after));
        prop_assert_eq!(differing_fields(kind, before.as_bytes(), after.as_bytes()), [changed[at].0.clone()]);
    }
}
