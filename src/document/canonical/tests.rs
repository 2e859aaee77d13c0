use StoreKind::{CosmosDb, DynamoDb, Firestore, MongoDb};

use super::*;

pub(super) fn form(kind: StoreKind, line: &str) -> String {
    form_without(kind, line, &[])
}

/// The canonical form, after checking that it is its own form and that the digest is that of the form.
pub(super) fn form_without(kind: StoreKind, line: &str, leave_out: &[&str]) -> String {
    let leave_out: Vec<String> = leave_out.iter().map(|name| (*name).to_owned()).collect();
    let mut out = Vec::new();
    write_canonical(kind, line.as_bytes(), &leave_out, &mut out).unwrap();
    let mut again = Vec::new();
    write_canonical(kind, &out, &leave_out, &mut again).unwrap();
    assert_eq!(
        String::from_utf8_lossy(&again),
        String::from_utf8_lossy(&out),
        "the form of the form of {line}"
    );
    let mut tape = Tape::new();
    tape.read(line.as_bytes()).unwrap();
    let digest = digest(kind, &tape, line.as_bytes(), &leave_out, &mut Scratch::default());
    assert_eq!(digest, DocumentDigest(Sha256::digest(&out).into()), "{line}");
    String::from_utf8(out).unwrap()
}

/// Puts a value where the store keeps a field `f`.
fn line(kind: StoreKind, value: &str) -> String {
    match kind {
        MongoDb | CosmosDb => format!(r#"{{"f":{value}}}"#),
        DynamoDb => format!(r#"{{"Item":{{"f":{value}}}}}"#),
        Firestore => format!(r#"{{"fields":{{"f":{value}}},"name":"id"}}"#),
    }
}

/// Checks that the values of each group share one form, and that no two groups do.
fn check_groups(kind: StoreKind, groups: &[&[&str]]) {
    let mut seen: Vec<(String, &str)> = Vec::new();
    for group in groups {
        let first = form(kind, &line(kind, group[0]));
        for value in *group {
            assert_eq!(form(kind, &line(kind, value)), first, "{kind} {value}");
        }
        for (other, value) in &seen {
            assert_ne!(*other, first, "{kind} {value} and {}", group[0]);
        }
        seen.push((first, group[0]));
    }
}

#[test]
fn mongodb_keeps_order_and_types() {
    assert_eq!(form(MongoDb, r#" {"b": "\u0041\/", "a":[ {"x":null} ]} "#), r#"{"b":"A/","a":[{"x":null}]}"#);
    assert_ne!(form(MongoDb, r#"{"a":null,"b":null}"#), form(MongoDb, r#"{"b":null,"a":null}"#));
    check_groups(
        MongoDb,
        &[
            &[r#"{"$numberInt":"1"}"#, r#"{"$numberInt" : "\u0031"}"#],
            &[r#"{"$numberLong":"1"}"#],
            &[r#"{"$numberDouble":"1.0"}"#, r#"{"$numberDouble":"1"}"#, r#"{"$numberDouble":"10e-1"}"#],
            &[r#"{"$numberDecimal":"1"}"#],
            &[r#"{"$numberDecimal":"1.0"}"#],
            &[r#"{"$numberDouble":"-0.0"}"#, r#"{"$numberDouble":"-0"}"#],
            &[r#"{"$numberDouble":"0.0"}"#, r#"{"$numberDouble":"0E+5"}"#],
            &[r#"{"$numberDouble":"NaN"}"#],
            &[r#"{"$numberDouble":"Infinity"}"#],
            &[r#"{"$numberDouble":"-Infinity"}"#],
            &[r#"{"$numberDouble":"1e999"}"#],
            &[r#"{"$numberDouble":"9007199254740993"}"#, r#"{"$numberDouble":"9007199254740992.0"}"#],
            &[r#"{"x":{"$numberDouble":"1"},"$type":"a.b","":{"$oid":"zz"}}"#],
            &[r#"{"$numberDouble":"1","x":null}"#],
            &[r#"{"$numberDouble":"1.0","x":null}"#],
        ],
    );
}

#[test]
fn dynamodb_compares_numbers_by_value_and_sets_as_sets() {
    assert_eq!(
        form(DynamoDb, r#"{"Item":{"z":{"M":{"b":{"N":"1.0"},"a":{"L":[]}}},"a":{"S":"x"}}}"#),
        r#"{"Item":{"a":{"S":"x"},"z":{"M":{"a":{"L":[]},"b":{"N":"1"}}}}}"#
    );
    check_groups(
        DynamoDb,
        &[
            &[
                r#"{"N":"1.5"}"#,
                r#"{"N":"1.50"}"#,
                r#"{"N":"+01.5"}"#,
                r#"{"N":"15E-1"}"#,
                r#"{"N":"\u0031.5"}"#,
            ],
            &[r#"{"N":"100"}"#, r#"{"N":"1E+2"}"#, r#"{"N":"0100"}"#],
            &[r#"{"N":"0"}"#, r#"{"N":"-0"}"#, r#"{"N":"0.000"}"#, r#"{"N":"-0E-7"}"#],
            &[r#"{"N":"7"}"#, r#"{"N":"007"}"#],
            &[r#"{"N":"3804086584686624768"}"#],
            &[r#"{"N":"3804086584686624769"}"#],
            &[r#"{"N":"99999999999999999999999999999999999999"}"#],
            &[r#"{"N":"1E-130"}"#, r#"{"N":"0.1e-129"}"#],
            &[r#"{"N":"-9.9999999999999999999999999999999999999E+125"}"#],
            &[r#"{"S":"1"}"#],
            &[r#"{"N":"one"}"#],
            &[r#"{"SS":["b","a","c"]}"#, r#"{"SS":["c","b","a"]}"#],
            &[r#"{"SS":["a","a","b","c"]}"#],
            &[r#"{"L":[{"S":"a"},{"S":"b"}]}"#],
            &[r#"{"L":[{"S":"b"},{"S":"a"}]}"#],
            &[r#"{"NS":["1","2.0"]}"#, r#"{"NS":["2","1.0"]}"#],
            &[r#"{"SS":["1","2"]}"#],
            &[r#"{"B":"AP8+Pw=="}"#, r#"{"B":"AP8+Pw"}"#],
            &[r#"{"BS":["AA==","AQ=="]}"#, r#"{"BS":["AQ==","AA=="]}"#],
            &[r#"{"NULL":true}"#],
            &[r#"{"BOOL":true}"#],
            &[r#"{"M":{"S":{"S":"a"}}}"#],
            &[r#"{"M":{"a":{"N":"1"},"b":{"N":"2"}}}"#, r#"{"M":{"b":{"N":"2.0"},"a":{"N":"1"}}}"#],
            &[r#"{"S":"a","N":"1"}"#],
            &[r#"{"S":"a","N":"1.0"}"#],
            &["{}"],
        ],
    );
}

#[test]
fn firestore_compares_what_the_store_holds() {
    let rest = r#"{"name":"projects/p/databases/(default)/documents/events/Order:A-1:0","createTime":"x","updateTime":"y",
        "fields":{"b":{"stringValue":"\u00e9"},"a":{"integerValue":1}}}"#;
    assert_eq!(
        form(Firestore, rest),
        r#"{"fields":{"a":{"integerValue":"1"},"b":{"stringValue":"é"}},"name":"Order:A-1:0"}"#
    );
    assert_eq!(form_without(Firestore, rest, &["@id", "a"]), r#"{"fields":{"b":{"stringValue":"é"}}}"#);
    check_groups(
        Firestore,
        &[
            &[
                r#"{"integerValue":"1"}"#,
                r#"{"integerValue":1}"#,
                r#"{"integerValue":"1.0"}"#,
                r#"{"integerValue":1e0}"#,
            ],
            &[
                r#"{"doubleValue":1}"#,
                r#"{"doubleValue":1.0}"#,
                r#"{"doubleValue":1e0}"#,
                r#"{"doubleValue":"1"}"#,
            ],
            &[r#"{"doubleValue":0}"#, r#"{"doubleValue":0.0}"#],
            &[r#"{"doubleValue":-0.0}"#, r#"{"doubleValue":-0}"#],
            &[r#"{"doubleValue":"NaN"}"#],
            &[r#"{"doubleValue":"Infinity"}"#],
            &[r#"{"doubleValue":"-Infinity"}"#],
            &[r#"{"doubleValue":1e999}"#],
            &[r#"{"doubleValue":5e-324}"#],
            &[r#"{"integerValue":"9007199254740993"}"#, r#"{"integerValue":9007199254740993}"#],
            &[r#"{"integerValue":"9007199254740992"}"#],
            &[r#"{"integerValue":"9223372036854775808"}"#],
            &[
                r#"{"timestampValue":"2026-01-02T12:00:00.123456Z"}"#,
                r#"{"timestampValue":"2026-01-02T13:00:00.123456789+01:00"}"#,
            ],
            &[r#"{"timestampValue":"2026-01-02T12:00:00.123457Z"}"#],
            &[
                r#"{"timestampValue":"2026-01-02T12:00:00.000Z"}"#,
                r#"{"timestampValue":"2026-01-02T12:00:00Z"}"#,
            ],
            &[r#"{"stringValue":"2026-01-02T12:00:00Z"}"#],
            &[r#"{"stringValue":"2026-01-02T12:00:00.000Z"}"#],
            &[r#"{"mapValue":{"fields":{"timestampValue":{"stringValue":"2026-01-02T12:00:00Z"}}}}"#],
            &[
                r#"{"mapValue":{"fields":{"seconds":{"integerValue":"1"},"nanos":{"integerValue":"0"}}}}"#,
                r#"{"mapValue":{"fields":{"nanos":{"integerValue":0},"seconds":{"integerValue":1}}}}"#,
            ],
            &[r#"{"arrayValue":{}}"#, r#"{"arrayValue":{"values":[]}}"#],
            &[r#"{"mapValue":{}}"#, r#"{"mapValue":{"fields":{}}}"#],
            &[
                r#"{"arrayValue":{"values":[{"arrayValue":{}},{"doubleValue":2}]}}"#,
                r#"{"arrayValue":{"values":[{"arrayValue":{"values":[]}},{"doubleValue":2.0}]}}"#,
            ],
            &[r#"{"geoPointValue":{}}"#, r#"{"geoPointValue":{"longitude":0,"latitude":0.0}}"#],
            &[r#"{"geoPointValue":{"latitude":1}}"#, r#"{"geoPointValue":{"longitude":0,"latitude":1.0}}"#],
            &[r#"{"geoPointValue":{"longitude":1}}"#],
            &[r#"{"geoPointValue":{"longitude":1,"altitude":2}}"#],
            &[r#"{"nullValue":null}"#, r#"{"nullValue":"NULL_VALUE"}"#],
            &[r#"{"stringValue":""}"#],
            &[r#"{"bytesValue":"AP8+Pw=="}"#, r#"{"bytesValue":"AP8-Pw"}"#],
            &[r#"{"referenceValue":"projects/p/databases/d/documents/a/b"}"#],
            &[r#"{"referenceValue":"projects/q/databases/d/documents/a/b"}"#],
            &["{}"],
        ],
    );
}

#[test]
fn cosmosdb_compares_numbers_as_decimals() {
    assert_eq!(
        form(
            CosmosDb,
            r#"{"b":1.0,"_ts":1,"_etag":"x","_rid":"","_self":"","_attachments":"","a":{"_ts":10e-1,"Z":[]}}"#
        ),
        r#"{"a":{"Z":[],"_ts":1},"b":1}"#
    );
    check_groups(
        CosmosDb,
        &[
            &["1", "1.0", "1e0", "10e-1"],
            &["9007199254740992", "9007199254740992.0", "9.007199254740992e15"],
            &["9007199254740993"],
            &["638676324052177536", "6.38676324052177536e17"],
            &["638676324052177537"],
            &["18446744073709551615"],
            &["9223372036854775807"],
            &["-9223372036854775808"],
            &["0", "0.0", "0e5"],
            &["-0", "-0.0"],
            &["1e999999999", "10e999999998"],
            &["1e-999999999"],
            &["1e99999999999999999999999999999999999999999"],
            &["333333333.3333333", "333333333.33333330"],
            &["333333333.33333329"],
            &["\"1\""],
            &["null"],
            &[
                r#"{"9007199254740993":1,"9007199254740992":2}"#,
                r#"{"9007199254740992":2,"9007199254740993":1.0}"#,
            ],
            &[r#"{"9007199254740993":2,"9007199254740992":1}"#],
            &["[1,2]", " [ 1.0 , 2 ] "],
            &["[2,1]"],
            &[r#"{"é":1,"z":2,"\ud83d\ude00":3}"#, r#"{"😀":3,"z":2,"\u00e9":1}"#],
        ],
    );
}

#[test]
fn an_escape_record_stands_for_itself() {
    let record = r#"{"$rawBson":"BQAAAAA="}"#;
    assert_eq!(form(MongoDb, record), record);
}

#[test]
fn fields_are_left_out_by_decoded_name() {
    assert_eq!(
        form_without(MongoDb, r#"{"a":null,"\u0062":null,"c":null}"#, &["b", "x"]),
        r#"{"a":null,"c":null}"#
    );
    assert_eq!(
        form_without(DynamoDb, r#"{"Item":{"pk":{"S":"a"},"b":{"S":"c"}}}"#, &["pk"]),
        r#"{"Item":{"b":{"S":"c"}}}"#
    );
    assert_eq!(form_without(CosmosDb, r#"{"id":"a","b":{"id":"c"}}"#, &["id"]), r#"{"b":{"id":"c"}}"#);
}

#[test]
fn differing_fields_are_named() {
    let differing = |kind, a: &str, b: &str| differing_fields(kind, a.as_bytes(), b.as_bytes());
    assert_eq!(
        differing(CosmosDb, r#"{"a":1,"b":2,"_ts":1}"#, r#"{"b":2.0,"c":null,"a":2,"_ts":9}"#),
        ["a", "c"]
    );
    assert_eq!(
        differing(MongoDb, r#"{"a":null,"b":null}"#, r#"{"b":null,"a":null}"#),
        ["(the order of the fields)"]
    );
    assert_eq!(
        differing(DynamoDb, r#"{"Item":{"a":{"N":"1"},"b":{"S":""}}}"#, r#"{"Item":{"a":{"N":"1.0"}}}"#),
        ["b"]
    );
    assert_eq!(
        differing(Firestore, r#"{"name":"x/a","fields":{}}"#, r#"{"name":"y/a","fields":{}}"#),
        [""; 0]
    );
    assert_eq!(
        differing(Firestore, r#"{"name":"x/a","fields":{}}"#, r#"{"name":"x/b","fields":{}}"#),
        ["@id"]
    );
    assert_eq!(differing(MongoDb, "{}", "{"), ["(not a document)"]);
}

#[test]
fn a_digest_is_written_in_hexadecimal() {
    let text = DocumentDigest(Sha256::digest(b"{}").into()).to_string();
    assert_eq!(text, "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
}
