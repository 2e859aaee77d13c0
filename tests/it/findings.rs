//! Whatever is changed behind the tool's back, `verify` finds it, names it and exits 1; with the manifest
//! alone it still sees that something is wrong.

use rekey::document::StoreKind;
use serde_json::{Value, json};

use crate::generated::{Generated, Stream};
use crate::intruder::Intruder;
use crate::scene::{STORES, Scene};

/// What a tampering must lead to: the key to be named, the codes that must name it, the totals that differ
/// from zero besides `expected` and `found`, and how many more are found than expected.
struct Found {
    key: String,
    codes: &'static [&'static str],
    totals: &'static [(&'static str, u64)],
    more: i64,
}

/// Moves documents, tampers with a copy of the store and looks what `verify` makes of it.
struct Case {
    scene: Scene,
    generated: Generated,
}

impl Case {
    fn events(store: StoreKind) -> Self {
        Self::new(Generated::events(store, 40))
    }

    fn sagas(store: StoreKind) -> Self {
        Self::new(Generated::sagas(store, 40))
    }

    fn new(generated: Generated) -> Self {
        let scene = Scene::new(generated.store);
        scene.moved(&generated);
        let case = Self { scene, generated };
        // What is not tampered with must match, or the cases below would show nothing.
        for archive in ["rekeyed.ndjson", "rekeyed.ndjson.manifest.json"] {
            assert_eq!(case.scene.verify(&[archive], "moved.db", "moved", &[]).ended(0)["verdict"], "match");
        }
        case
    }

    fn tampered(&self, what: &str, tamper: impl FnOnce(&Intruder, &[String]) -> Found) {
        let what = format!("{}: {what}", self.scene.layout(self.generated.kind));
        self.scene.copy("moved.db", "tampered.db");
        let found = {
            let intruder = Intruder::open(&self.scene, "tampered.db", "moved", self.generated.kind);
            tamper(&intruder, &self.scene.lines("rekeyed.ndjson"))
        };
        let result = self.scene.verify(&["rekeyed.ndjson"], "tampered.db", "moved", &[]).ended(1);
        assert_eq!((&result["verdict"], &result["level"]), (&json!("mismatch"), &json!("content")), "{what}");
        let findings = result["findings"].as_array().unwrap();
        for code in found.codes {
            // Of a document under two keys either is named, and the other one with it.
            let mentions = |it: &Value| {
                let quoted = format!("{:?}", found.key);
                it["key"] == found.key.as_str() || it["message"].as_str().unwrap().contains(&quoted)
            };
            let named = findings.iter().any(|it| it["code"] == *code && mentions(it));
            assert!(named, "{what}: no {code} names {:?} in {findings:#?}", found.key);
        }
        assert_eq!(self.totals(&result, found.more), found.totals, "{what}: {findings:#?}");
        let file = result["findings_file"].as_str().expect("findings are in a file");
        assert_eq!(self.scene.lines(file).len(), findings.len(), "{what}");

        let result =
            self.scene.verify(&["rekeyed.ndjson.manifest.json"], "tampered.db", "moved", &[]).ended(1);
        assert_eq!((&result["verdict"], &result["level"]), (&json!("mismatch"), &json!("counts")), "{what}");
        assert_ne!(result["findings"], json!([]), "{what}");
        println!("{what}: found and named, {:?}; exit 1, with the manifest alone, too", found.codes);
    }

    /// The totals that are not zero, after those every result has.
    fn totals<'a>(&self, result: &'a Value, more: i64) -> Vec<(&'a str, u64)> {
        let totals = result["totals"].as_object().unwrap();
        let count = self.generated.lines.len();
        assert_eq!(totals["expected"], count);
        assert_eq!(totals["found"].as_i64().unwrap(), i64::try_from(count).unwrap() + more);
        let others = totals.iter().filter(|(name, _)| !["expected", "found"].contains(&name.as_str()));
        let others = others.map(|(name, count)| (name.as_str(), count.as_u64().unwrap()));
        others.filter(|(_, count)| *count > 0).collect()
    }
}

/// The rekeyed document of one event.
fn event(intruder: &Intruder, store: StoreKind, stream: &Stream, version: usize) -> String {
    intruder.rekeyed(&stream.event(store, version), stream.tenant())
}

#[test]
fn one_byte_changed_in_one_payload() {
    for store in STORES {
        Case::events(store).tampered("one byte changed in one payload", |intruder, _| {
            let line = intruder.stored(&event(intruder, store, &Stream::new(5), 3));
            intruder.replace(&line, &line.replacen("eyJhbW91", "eyJhbW92", 1));
            Found { key: intruder.shown(&line), codes: &["different"], totals: &[("different", 1)], more: 0 }
        });
    }
}

#[test]
fn one_event_deleted() {
    for store in STORES {
        let case = Case::events(store);
        case.tampered("one event deleted", |intruder, _| {
            let line = event(intruder, store, &Stream::new(5), 3);
            intruder.delete(&line);
            Found { key: intruder.shown(&line), codes: &["missing"], totals: &[("missing", 1)], more: -1 }
        });
        case.tampered("the last event of a stream deleted", |intruder, _| {
            let stream = Stream::new(5);
            let line = event(intruder, store, &stream, stream.length() - 1);
            intruder.delete(&line);
            let codes = &["missing", "versions-differ"];
            Found { key: intruder.shown(&line), codes, totals: &[("missing", 1)], more: -1 }
        });
    }
}

#[test]
fn one_event_added() {
    for store in STORES {
        Case::events(store).tampered("one event added", |intruder, _| {
            let stream = Stream::new(5);
            let line = event(intruder, store, &stream, stream.length());
            intruder.create(&line);
            let codes = &["unexpected", "versions-differ"];
            Found { key: intruder.shown(&line), codes, totals: &[("unexpected", 1)], more: 1 }
        });
    }
}

#[test]
fn one_event_under_two_keys() {
    for store in STORES {
        Case::events(store).tampered("one event under two keys", |intruder, _| {
            let stream = Stream::new(5);
            let other = if stream.tenant() == "acme" { "globex" } else { "acme" };
            // On MongoDB the copy has an _id of its own.
            let copy = intruder.rekeyed(&stream.event(store, 0), other).replacen("0001f4", "ffffff", 1);
            intruder.create(&copy);
            let codes = &["unexpected", "doubled"];
            Found { key: intruder.shown(&copy), codes, totals: &[("doubled", 1), ("unexpected", 1)], more: 1 }
        });
    }
}

/// The text of a saga's version and of its tenant, as the store's form has them.
fn saga_version(store: StoreKind, version: u64) -> String {
    match store {
        StoreKind::MongoDb => format!(r#""version":{{"$numberLong":"{version}"}}"#),
        StoreKind::DynamoDb => format!(r#""version":{{"N":"{version}"}}"#),
        StoreKind::Firestore => format!(r#""version":{{"integerValue":"{version}"}}"#),
        StoreKind::CosmosDb => format!(r#""isCompleted":false,"version":{version}"#),
    }
}

fn saga_tenant(store: StoreKind) -> &'static str {
    match store {
        StoreKind::MongoDb | StoreKind::CosmosDb => r#""tenantId":"acme","#,
        StoreKind::DynamoDb => r#","tenantId":{"S":"acme"}"#,
        StoreKind::Firestore => r#","tenantId":{"stringValue":"acme"}"#,
    }
}

#[test]
fn one_saga_version_raised() {
    for store in STORES {
        Case::sagas(store).tampered("one saga version raised", |intruder, lines| {
            let line = lines.iter().find(|line| line.contains(&saga_version(store, 7))).unwrap();
            let line = intruder.stored(line);
            intruder.replace(&line, &line.replacen(&saga_version(store, 7), &saga_version(store, 8), 1));
            let codes = &["different", "versions-differ"];
            Found { key: intruder.shown(&line), codes, totals: &[("different", 1)], more: 0 }
        });
    }
}

#[test]
fn one_saga_without_its_tenant() {
    for store in STORES {
        Case::sagas(store).tampered("one saga without tenantId", |intruder, lines| {
            let line = lines.iter().find(|line| line.contains(saga_tenant(store))).unwrap();
            let line = intruder.stored(line);
            intruder.replace(&line, &line.replacen(saga_tenant(store), "", 1));
            Found { key: intruder.shown(&line), codes: &["different"], totals: &[("different", 1)], more: 0 }
        });
    }
}
