//! Documents of every type and oddity of BSON through the whole road, byte for byte, or refused by name before
//! any write.

use std::collections::BTreeMap;

use mongodb::bson::{RawDocumentBuf, doc};
use rekey::document::bson::{Elements, with_text, write_line};
use rekey::signal::StopSignal;

use super::server::{Place, Server, wait};

/// An element of one value: type byte, name, value.
fn element(kind: u8, name: &str, value: &[u8]) -> Vec<u8> {
    [&[kind][..], name.as_bytes(), &[0], value].concat()
}

fn document(elements: &[Vec<u8>]) -> Vec<u8> {
    let body = elements.concat();
    let length = u32::try_from(body.len() + 5).unwrap();
    [&length.to_le_bytes()[..], &body, &[0]].concat()
}

fn text(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len() + 1).unwrap();
    [&length.to_le_bytes()[..], bytes, &[0]].concat()
}

fn binary(subtype: u8, bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap();
    [&length.to_le_bytes()[..], &[subtype], bytes].concat()
}

fn array(values: &[(u8, Vec<u8>)]) -> Vec<u8> {
    let named = values.iter().enumerate();
    document(&named.map(|(at, (kind, value))| element(*kind, &at.to_string(), value)).collect::<Vec<_>>())
}

fn nested(levels: usize) -> Vec<u8> {
    (0..levels).fold(document(&[]), |inner, _| document(&[element(3, "d", &inner)]))
}

/// A sub-document with one text field.
fn wrapper(name: &str, value: &str) -> (u8, Vec<u8>) {
    (3, document(&[element(2, name, &text(value.as_bytes()))]))
}

type Case = (String, u8, Vec<u8>);

/// Values that a server stores as they are.
#[allow(clippy::too_many_lines, reason = "a list")]
fn values() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut case = |name: &str, kind: u8, value: Vec<u8>| cases.push((name.to_owned(), kind, value));
    for value in [0, 1, -1, i32::MAX, i32::MIN] {
        case(&format!("int32 {value}"), 0x10, value.to_le_bytes().into());
    }
    for value in [0, 1, -1, i64::MAX, i64::MIN, 1 << 53, (1 << 53) + 1] {
        case(&format!("int64 {value}"), 0x12, value.to_le_bytes().into());
    }
    for value in [
        0.0,
        -0.0,
        1.0,
        1.5,
        0.1,
        f64::MAX,
        f64::MIN_POSITIVE,
        5e-324,
        f64::INFINITY,
        -f64::INFINITY,
        f64::NAN,
        -f64::NAN,
        1e21,
        1e-7,
    ] {
        case(&format!("double {value:?}"), 0x01, value.to_le_bytes().into());
    }
    for bits in [0x7ff8_0000_0000_0001_u64, 0x7ff0_0000_0000_0001, 0xfff4_0000_0000_0000] {
        case(&format!("double of bits {bits:x}"), 0x01, bits.to_le_bytes().into());
    }
    let decimal = |exponent: u128, coefficient: u128| (exponent << 113) | coefficient;
    for (name, bits) in [
        ("zero", decimal(6176, 0)),
        ("minus zero", (1 << 127) | decimal(6176, 0)),
        ("0E-10", decimal(6166, 0)),
        ("1.0", decimal(6175, 10)),
        ("greatest", decimal(12287, 10_u128.pow(34) - 1)),
        ("least", decimal(0, 1)),
        ("infinity", 0x7800 << 112),
        ("minus infinity", 0xf800 << 112),
        ("NaN", 0x7c00 << 112),
        ("minus NaN", 0xfc00 << 112),
        ("signalling NaN", 0x7e00 << 112),
        ("NaN with a payload", (0x7c00 << 112) | 1),
        ("infinity with a payload", (0x7800 << 112) | 1),
        ("a coefficient too large", decimal(6176, 10_u128.pow(34))),
        ("the large form", 0x6000 << 112),
    ] {
        case(&format!("decimal {name}"), 0x13, bits.to_le_bytes().into());
    }
    for (name, bytes) in [
        ("empty", &b""[..]),
        ("NUL", b"a\0b"),
        ("quotes", b"\"\\/\x08\x0c\n\r\t\x1f\x7f"),
        ("beyond ASCII", "Zażółć ñ 🎁 \u{2028}".as_bytes()),
        ("invalid UTF-8", b"\xff\xfe"),
        ("a lone surrogate", b"\xed\xa0\x80"),
        ("a cut character", b"\xc3"),
    ] {
        case(&format!("string: {name}"), 0x02, text(bytes));
        case(&format!("symbol: {name}"), 0x0e, text(bytes));
    }
    case("code", 0x0d, text(b"function() {}"));
    let scope = document(&[element(0x10, "x", &1_i32.to_le_bytes())]);
    let code = text(b"f(x)");
    let length = u32::try_from(4 + code.len() + scope.len()).unwrap().to_le_bytes();
    case("code with scope", 0x0f, [&length[..], &code, &scope].concat());
    case("dbPointer", 0x0c, [text(b"db.things"), vec![7; 12]].concat());
    for value in [0, 1, -1, i64::MAX, i64::MIN, 1_767_319_445_678] {
        case(&format!("date {value}"), 0x09, value.to_le_bytes().into());
    }
    for subtype in [0, 3, 4, 5, 6, 8, 9, 0x80, 0xff] {
        case(&format!("binary of subtype {subtype:02x}"), 0x05, binary(subtype, &[7; 16]));
    }
    case("binary: empty", 0x05, binary(0, b""));
    case("binary of the old subtype", 0x05, binary(2, b"\x03\0\0\0abc"));
    case("binary of the old subtype with a wrong length", 0x05, binary(2, b"\x09\0\0\0abc"));
    for options in ["", "i", "imx", "xi", "ii"] {
        case(
            &format!("regular expression /{options}"),
            0x0b,
            [b"^a\"b$\0", options.as_bytes(), b"\0"].concat(),
        );
    }
    for (name, kind) in [("undefined", 0x06), ("null", 0x0a), ("minKey", 0xff), ("maxKey", 0x7f)] {
        case(name, kind, Vec::new());
    }
    for value in [0, 1] {
        case(&format!("bool {value}"), 0x08, vec![value]);
    }
    for value in [1, u64::MAX, 1 << 32] {
        case(&format!("timestamp {value:x}"), 0x11, value.to_le_bytes().into());
    }
    case("objectId", 0x07, vec![0xab; 12]);
    let zero = element(0x11, "t", &[0; 8]);
    case("a timestamp of zero within", 0x03, document(&[zero]));
    case("an empty document", 0x03, document(&[]));
    case("an empty array", 0x04, document(&[]));
    case(
        "arrays within arrays",
        0x04,
        array(&[(4, array(&[(0x0a, vec![]), (4, array(&[]))])), (3, document(&[]))]),
    );
    case("an array with odd names", 0x04, document(&[element(0x0a, "1", b""), element(0x0a, "0", b"")]));
    case("an array with one name twice", 0x04, document(&[element(0x0a, "0", b""), element(0x0a, "0", b"")]));
    case("a name twice", 0x03, document(&[element(0x10, "a", &[1, 0, 0, 0]), element(0x0a, "a", b"")]));
    case("names out of order", 0x03, document(&[element(0x0a, "b", b""), element(0x0a, "a", b"")]));
    case("an empty name", 0x03, document(&[element(0x0a, "", b"")]));
    case("a dotted name", 0x03, document(&[element(0x0a, "a.b", b"")]));
    case("a name of invalid UTF-8", 0x03, document(&[[&b"\x0a\xff\0"[..]].concat()]));
    case("a reference", 0x03, document(&[element(2, "$ref", &text(b"c")), element(0x0a, "$id", b"")]));
    case("an operator", 0x03, document(&[element(3, "$set", &document(&[]))]));
    case(
        "$regex and $options",
        0x03,
        document(&[element(2, "$regex", &text(b"a")), element(2, "$options", &text(b"i"))]),
    );
    for (name, value) in [
        ("$oid", "65a0f1c2d3e4f5a6b7c8d9e0"),
        ("$oid", "xyz"),
        ("$numberInt", "1"),
        ("$numberLong", "1"),
        ("$numberDouble", "1.0"),
        ("$numberDecimal", "1"),
        ("$date", "2026-01-02T03:04:05Z"),
        ("$binary", "AA=="),
        ("$uuid", "6f9619ff-8b86-d011-b42d-00c04fc964ff"),
        ("$code", "f()"),
        ("$symbol", "s"),
        ("$undefined", "true"),
        ("$minKey", "1"),
        ("$rawBson", "BQAAAAA="),
    ] {
        let (kind, value) = wrapper(name, value);
        cases.push((format!("a document that looks like {name} ({})", value.len()), kind, value));
    }
    for levels in [100, 170] {
        cases.push((format!("{levels} levels"), 3, nested(levels)));
    }
    cases
}

/// An event that holds a value.
fn event(number: usize, kind: u8, value: &[u8]) -> Vec<u8> {
    let id = [&[0; 4][..], &u64::try_from(number).unwrap().to_be_bytes()].concat();
    document(&[
        element(0x07, "_id", &id),
        element(0x02, "eventId", &text(format!("event-{number}").as_bytes())),
        element(0x02, "streamId", &text(format!("A-{number:04}").as_bytes())),
        element(0x02, "aggregateType", &text(b"Order")),
        element(kind, "value", value),
        element(0x12, "version", &0_i64.to_le_bytes()),
        element(0x12, "globalSequence", &i64::try_from(number).unwrap().to_le_bytes()),
    ])
}

/// What the documents must be afterwards.
fn moved(before: &BTreeMap<Vec<u8>, Vec<u8>>) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let moved = before.iter().map(|(id, document)| {
        let field = Elements::of(document).unwrap().map(Result::unwrap).find(|it| it.name == b"streamId");
        let mut changed = Vec::new();
        let key = format!("t:acme:{}", field.unwrap().text().unwrap());
        with_text(document, "streamId", &key, &mut changed).unwrap();
        (id.clone(), changed)
    });
    moved.collect()
}

#[test]
fn every_value_that_is_stored_comes_through_with_every_byte() {
    let place = Place::new(Server::ReplicaSet);
    let scene = place.scene();
    scene.put(&[], "events", "shop.db", "shop");
    let cases = values();
    wait(async {
        let collection = place.collection("c-shop-shop").await;
        for (number, (name, kind, value)) in cases.iter().enumerate() {
            let event = RawDocumentBuf::from_bytes(event(number + 1, *kind, value)).unwrap();
            let _ = collection.insert_one(event).await.unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    });
    let before = wait(place.documents("c-shop-shop"));
    for (number, (name, kind, value)) in cases.iter().enumerate() {
        let event = event(number + 1, *kind, value);
        assert!(before.values().any(|stored| *stored == event), "the server itself changed: {name}");
    }
    let exported = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    assert_eq!(exported["documents"], cases.len());
    let escaped =
        scene.lines("legacy.ndjson").iter().filter(|line| line.starts_with("{\"$rawBson\"")).count();
    assert_eq!(exported["escape_records"], escaped);
    assert!((20..cases.len() / 2).contains(&escaped), "{escaped} of {}", cases.len());
    let rekey = ["rekey", "legacy.ndjson", "--out", "rekeyed.ndjson", "--tenant", "acme"];
    assert_eq!(scene.done(&rekey)["rekeyed"], cases.len());
    assert_eq!(scene.json("rekeyed.ndjson.manifest.json")["escape_records"], escaped);
    let expected = moved(&before);
    for (file, name, more) in [("moved.db", "moved", "--create-target"), ("shop.db", "shop", "--in-place")] {
        let result = scene.import("rekeyed.ndjson", file, name, &[more]);
        assert_eq!(result["written"], cases.len(), "{result}");
        let stored = wait(place.documents(&scene.collection(file, name)));
        for (number, (name, ..)) in cases.iter().enumerate() {
            let id = expected.keys().nth(number).unwrap();
            assert!(stored.get(id) == expected.get(id), "{name}");
        }
        let again = scene.import("rekeyed.ndjson", file, name, &[more]);
        assert_eq!((&again["written"], &again["identical"]), (&0.into(), &cases.len().into()));
        let verdict = scene.verify(&["rekeyed.ndjson"], file, name, &["--legacy", "legacy.ndjson"]).ended(0);
        assert_eq!(verdict["verdict"], "match", "{verdict}");
    }
    println!("{} values of BSON, {escaped} as escape records: every byte as it was", cases.len());
}

/// Documents that a server would refuse or change are in no collection, but may be in an archive.
#[test]
fn what_a_server_would_refuse_or_change_is_refused_by_name_before_any_write() {
    let place = Place::new(Server::ReplicaSet);
    let scene = place.scene();
    let mut cases: Vec<Case> = vec![
        ("bool 2".into(), 0x08, vec![2]),
        ("a timestamp of zero".into(), 0x11, vec![0; 8]),
        ("190 levels".into(), 3, nested(190)),
    ];
    let mut documents: Vec<Vec<u8>> =
        cases.iter().enumerate().map(|(number, (_, kind, value))| event(number + 1, *kind, value)).collect();
    let id = |kind: u8, value: &[u8]| {
        let plain = event(77, 0x0a, b"");
        let rest: Vec<_> =
            Elements::of(&plain).unwrap().skip(1).map(|element| element.unwrap().whole.to_vec()).collect();
        document(&[&[element(kind, "_id", value)][..], &rest].concat())
    };
    for (name, kind, value) in [
        ("_id of a field with $", 3, document(&[element(0x0a, "$x", b"")])),
        ("_id that is not first", 0x07, vec![1; 12]),
        ("two fields _id", 0x07, vec![2; 12]),
    ] {
        documents.push(match name {
            "_id that is not first" => {
                let plain = id(kind, &value);
                let mut all: Vec<_> =
                    Elements::of(&plain).unwrap().map(|it| it.unwrap().whole.to_vec()).collect();
                all.rotate_left(1);
                document(&all)
            }
            "two fields _id" => {
                let plain = id(kind, &value);
                let mut all: Vec<_> =
                    Elements::of(&plain).unwrap().map(|it| it.unwrap().whole.to_vec()).collect();
                all.push(element(0x0a, "_id", b""));
                document(&all)
            }
            _ => id(kind, &value),
        });
        cases.push((name.to_owned(), kind, value));
    }
    let _ = wait(place.run(doc! { "create": "target" }));
    for ((name, ..), document) in cases.iter().zip(&documents) {
        let mut line = Vec::new();
        write_line(document, &mut line);
        scene.write("legacy.ndjson", [&line[..], b"\n"].concat());
        let to = place.address();
        let rekey = [
            "rekey",
            "legacy.ndjson",
            "--layout",
            "mongodb-events",
            "--expect-documents",
            "1",
            "--tenant",
            "acme",
            "--out",
            "rekeyed.ndjson",
        ];
        let ran = scene.result(&rekey);
        if ran.code == Some(5) {
            continue;
        }
        ran.ended_with(0);
        let import =
            ["import", "rekeyed.ndjson", "--to", &to, "--collection", "target", "--subscribers-handled"];
        let result = scene.result(&import).ended(5);
        assert_eq!(result["refused"], 1, "{name}: {result}");
        let refused = result["findings"].as_array().unwrap().iter().find(|it| it["code"] == "target-rule");
        assert!(refused.is_some_and(|it| it["key"].is_string()), "{name}: {result}");
    }
    assert!(wait(place.documents("target")).is_empty(), "something was written");
}

/// `_id`s of every type, the greatest and the least value of all among them.
#[test]
fn ids_of_every_type_are_read_once_each_in_any_number_of_parts() {
    use rekey::stores::Rates;
    use rekey::stores::StoreAddress;
    use rekey::stores::connect::{self, StoreOptions};

    let place = Place::new(Server::ReplicaSet);
    let mut ids: Vec<(u8, Vec<u8>)> = vec![
        (0xff, vec![]),
        (0x7f, vec![]),
        (0x0a, vec![]),
        (0x08, vec![0]),
        (0x08, vec![1]),
        (0x07, vec![9; 12]),
        (0x09, vec![1; 8]),
        (0x11, vec![2; 8]),
        (0x05, binary(0, b"abc")),
        (0x02, text(b"\xff")),
        (0x0e, text(b"symbol")),
        (0x0d, text(b"code")),
        (0x01, f64::NAN.to_le_bytes().into()),
        (0x03, document(&[element(0x10, "a", &[1, 0, 0, 0]), element(0x10, "b", &[1, 0, 0, 0])])),
    ];
    ids.extend((0..200_i32).map(|number| (0x10, number.to_le_bytes().into())));
    ids.extend((0..200).map(|number| (0x02, text(format!("s{number}").as_bytes()))));
    wait(async {
        let documents: Vec<_> =
            ids.iter().map(|(kind, id)| (3, document(&[element(*kind, "_id", id)]))).collect();
        let command =
            document(&[element(2, "insert", &text(b"ids")), element(4, "documents", &array(&documents))]);
        let command = RawDocumentBuf::from_bytes(command).unwrap();
        let answer = place.client().await.database(&place.database).run_raw_command(command).await.unwrap();
        assert_eq!(answer.get_i32("n").unwrap(), i32::try_from(ids.len()).unwrap(), "{answer}");
        let address = StoreAddress::parse(&place.address()).unwrap();
        let store = StoreOptions { address, collection: "ids".to_owned(), rates: Rates::default() };
        let reader = connect::open_reader(&store, &StopSignal::new()).await.unwrap();
        let snapshot = reader.snapshot().await.unwrap();
        for parts in [1, 2, 7, 40] {
            for limit in [1, 13, 1000] {
                let found =
                    crate::conformance::documents::scan(&*reader, parts, limit, snapshot.as_ref()).await;
                let distinct: std::collections::BTreeSet<_> = found.iter().collect();
                assert_eq!(
                    (found.len(), distinct.len()),
                    (ids.len(), ids.len()),
                    "{parts} parts, {limit} a page"
                );
            }
        }
        assert_eq!(reader.count(snapshot.as_ref()).await.unwrap(), Some(ids.len() as u64));
    });
}
