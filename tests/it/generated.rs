//! Legacy documents in any number, the same ones on every run.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rekey::document::StoreKind;
use rekey::document::text::write_quoted;

use crate::scene::size;

/// Seven tenants: constants, letters beyond ASCII, and a colon that only escaping tells from a separator.
pub const TENANTS: [&str; 7] =
    ["acme", "globex", "initech", "stark:eu", "umbrella", "zürich-☂", "__default__"];

const TYPES: [&str; 3] = ["Cart", "Invoice", "Order"];
const SAGA_TYPES: [&str; 3] = ["OrderSagaState", "RefundSagaState", "ShipmentSagaState"];

/// A generator of pseudo-random numbers (`SplitMix64`).
pub struct Random(pub u64);

impl Random {
    /// The generator of one test, another one for each seed that `REKEY_SEED` gives.
    pub fn seeded(test: u64) -> Self {
        Self(Self(size("REKEY_SEED", 0) as u64).next() ^ test)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for index in (1..items.len()).rev() {
            items.swap(index, self.below(index + 1));
        }
    }
}

/// What a tenant owns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Owned {
    pub streams: usize,
    pub documents: usize,
}

/// Documents in no order, the map of their tenants, and what each tenant owns.
pub struct Generated {
    pub store: StoreKind,
    /// `events` or `sagas`.
    pub kind: &'static str,
    pub lines: Vec<String>,
    pub map: String,
    pub tenants: BTreeMap<&'static str, Owned>,
}

impl Generated {
    /// An even number of streams, ten events each on average: one to nineteen.
    pub fn events(store: StoreKind, streams: usize) -> Self {
        assert_eq!(streams % 2, 0, "a short stream and a long one make twenty events");
        let mut generated = Self::empty(store, "events");
        for number in 0..streams {
            let stream = Stream::new(number);
            generated.own(stream.tenant(), &stream.map_key(store), stream.length());
            generated.lines.extend((0..stream.length()).map(|version| stream.event(store, version)));
        }
        generated.shuffled()
    }

    pub fn sagas(store: StoreKind, sagas: usize) -> Self {
        let mut generated = Self::empty(store, "sagas");
        for number in 0..sagas {
            let saga = Saga::new(number);
            generated.own(saga.tenant, &saga.id, 1);
            generated.lines.push(saga.line(store));
        }
        generated.shuffled()
    }

    /// The number of streams or sagas.
    pub fn streams(&self) -> usize {
        self.tenants.values().map(|owned| owned.streams).sum()
    }

    fn empty(store: StoreKind, kind: &'static str) -> Self {
        Self { store, kind, lines: Vec::new(), map: "key,tenant\n".to_owned(), tenants: BTreeMap::new() }
    }

    fn own(&mut self, tenant: &'static str, key: &str, documents: usize) {
        let owned = self.tenants.entry(tenant).or_default();
        owned.streams += 1;
        owned.documents += documents;
        writeln!(self.map, "\"{}\",{tenant}", key.replace('"', "\"\"")).unwrap();
    }

    /// A store gives documents in an order of its own.
    fn shuffled(mut self) -> Self {
        Random(7).shuffle(&mut self.lines);
        self
    }
}

/// One aggregate.
pub struct Stream {
    number: usize,
    random: u64,
}

impl Stream {
    pub fn new(number: usize) -> Self {
        Self { number, random: Random(number as u64).next() }
    }

    pub fn tenant(&self) -> &'static str {
        TENANTS[usize::try_from(self.random % 7).unwrap()]
    }

    pub fn type_name(&self) -> &'static str {
        TYPES[self.number % TYPES.len()]
    }

    /// Ids hold what separates terms, what escapes it, what CSV and JSON quote, and what is not ASCII.
    pub fn id(&self) -> String {
        let number = self.number;
        match number % 11 {
            3 => format!("eu:{number}"),
            5 => format!("50%3A {number}"),
            7 => format!("say \"{number}\", {number}"),
            9 => format!("ñ-🎁-{number}"),
            _ => format!("A-{number:06}"),
        }
    }

    /// Neighbours have twenty events together.
    pub fn length(&self) -> usize {
        let short = (self.number / 2) % 10 + 1;
        if self.number.is_multiple_of(2) { short } else { 20 - short }
    }

    fn map_key(&self, store: StoreKind) -> String {
        match store {
            StoreKind::MongoDb => self.id(),
            _ => format!("{}:{}", self.type_name(), self.id()),
        }
    }

    /// One event as the old release stored it.
    pub fn event(&self, store: StoreKind, version: usize) -> String {
        let unique = self.number * 100 + version;
        let quoted = |text: &str| quote(text);
        let (kind, id) = (self.type_name(), self.id());
        let stream = format!("{kind}:{id}");
        let key = quoted(&format!("{stream}:{version}"));
        let (stream, id, event_type) = (quoted(&stream), quoted(&id), quoted(&format!("{kind}Changed")));
        let kind = quoted(kind);
        let event_id = quoted(&format!("00000000-0000-4000-8000-{unique:012}"));
        let payload = quoted(&STANDARD.encode(format!(r#"{{"amount":{unique},"note":"naïve ✓"}}"#)));
        let metadata = quoted(&STANDARD.encode(format!(r#"{{"correlationId":"{unique}"}}"#)));
        let at = r#""2026-01-02T03:04:05.6780000+01:00""#;
        match store {
            StoreKind::MongoDb => format!(
                r#"{{"_id":{{"$oid":"{unique:024x}"}},"eventId":{event_id},"streamId":{id},"aggregateType":{kind},"eventType":{event_type},"payload":{{"$binary":{{"base64":{payload},"subType":"00"}}}},"metadata":{{"$binary":{{"base64":{metadata},"subType":"00"}}}},"version":{{"$numberLong":"{version}"}},"occurredAt":[{{"$numberLong":"639042372000751322"}},{{"$numberInt":"0"}}],"globalSequence":{{"$numberLong":"{unique}"}}}}"#
            ),
            StoreKind::DynamoDb => format!(
                r#"{{"Item":{{"pk":{{"S":{stream}}},"sk":{{"N":"{version}"}},"eventId":{{"S":{event_id}}},"aggregateId":{{"S":{id}}},"aggregateType":{{"S":{kind}}},"eventType":{{"S":{event_type}}},"version":{{"N":"{version}"}},"timestamp":{{"S":{at}}},"eventData":{{"S":{payload}}},"metadata":{{"S":{metadata}}}}}}}"#
            ),
            StoreKind::Firestore => format!(
                r#"{{"name":"projects/shop/databases/(default)/documents/shop/{},"fields":{{"streamId":{{"stringValue":{stream}}},"eventId":{{"stringValue":{event_id}}},"aggregateId":{{"stringValue":{id}}},"aggregateType":{{"stringValue":{kind}}},"eventType":{{"stringValue":{event_type}}},"version":{{"integerValue":"{version}"}},"timestamp":{{"stringValue":{at}}},"eventData":{{"stringValue":{payload}}},"metadata":{{"stringValue":{metadata}}}}},"createTime":"2026-01-02T03:04:05.678Z","updateTime":"2026-01-02T03:04:05.678Z"}}"#,
                &key[1..]
            ),
            StoreKind::CosmosDb => format!(
                r#"{{"id":{key},"streamId":{stream},"eventId":{event_id},"aggregateId":{id},"aggregateType":{kind},"eventType":{event_type},"version":{version},"timestamp":{at},"eventData":{payload},"metadata":{metadata},"_rid":"r{unique}","_self":"dbs/a/","_etag":"\"{unique}\"","_attachments":"attachments/","_ts":1767323045}}"#
            ),
        }
    }
}

/// One saga; every third one says whose it is, every second of these inside its state.
struct Saga {
    number: usize,
    id: String,
    tenant: &'static str,
}

impl Saga {
    fn new(number: usize) -> Self {
        let mixed = Random(number as u64).next();
        let id = format!("{:08x}-5ca9-4000-8000-{number:012x}", mixed >> 32);
        Self { number, id, tenant: TENANTS[usize::try_from(mixed % 7).unwrap()] }
    }

    fn line(&self, store: StoreKind) -> String {
        let Self { number, id, tenant } = self;
        let kind = SAGA_TYPES[number % SAGA_TYPES.len()];
        let version = number % 13 + 1;
        let completed = number.is_multiple_of(4);
        let owner = if number % 6 == 3 { quote(tenant) } else { "null".to_owned() };
        let stored_owner = number % 6 == 0;
        let state =
            quote(&format!(r#"{{"sagaId":"{id}","tenantId":{owner},"version":{},"note":"→"}}"#, version - 1));
        let tenant = quote(tenant);
        match store {
            StoreKind::MongoDb => format!(
                r#"{{"_id":"{id}","sagaType":"{kind}","tenantId":{},"stateJson":{state},"isCompleted":{completed},"version":{{"$numberLong":"{version}"}},"createdUtc":{{"$date":{{"$numberLong":"1779105600764"}}}}}}"#,
                if stored_owner { &tenant } else { "null" }
            ),
            StoreKind::DynamoDb => format!(
                r#"{{"Item":{{"PK":{{"S":"SAGA#{id}"}},"SK":{{"S":"{kind}"}},"sagaId":{{"S":"{id}"}},"sagaType":{{"S":"{kind}"}},{}"stateJson":{{"S":{state}}},"isCompleted":{{"BOOL":{completed}}},"version":{{"N":"{version}"}}{}}}}}"#,
                if stored_owner { format!(r#""tenantId":{{"S":{tenant}}},"#) } else { String::new() },
                if completed { r#","ttl":{"N":"4102444800"}"# } else { "" }
            ),
            StoreKind::Firestore => format!(
                r#"{{"name":"projects/shop/databases/(default)/documents/shop/{id}_{kind}","fields":{{"sagaId":{{"stringValue":"{id}"}},"sagaType":{{"stringValue":"{kind}"}},{}"stateJson":{{"stringValue":{state}}},"isCompleted":{{"booleanValue":{completed}}},"version":{{"integerValue":"{version}"}},"createdUtc":{{"timestampValue":"2026-05-18T12:00:00.764562Z"}}}},"createTime":"2026-05-18T12:00:00.764562Z","updateTime":"2026-05-21T12:00:01.149864Z"}}"#,
                if stored_owner {
                    format!(r#""tenantId":{{"stringValue":{tenant}}},"#)
                } else {
                    String::new()
                }
            ),
            StoreKind::CosmosDb => format!(
                r#"{{"id":"{id}","sagaId":"{id}","sagaType":"{kind}","tenantId":{},"stateJson":{state},"isCompleted":{completed},"version":{version},"_rid":"r{number}","_self":"dbs/a/","_etag":"\"{number}\"","_attachments":"attachments/","_ts":1767323045}}"#,
                if stored_owner { &tenant } else { "null" }
            ),
        }
    }
}

fn quote(text: &str) -> String {
    let mut quoted = Vec::new();
    write_quoted(text, &mut quoted);
    String::from_utf8(quoted).unwrap()
}
