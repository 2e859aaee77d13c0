//! `doctor`: rights that IAM does not tell are tried by writes that cannot be done.

use rekey::document::StoreKind;

use super::proxy::{Plan, Proxy};
use super::server::{Server, scene_at};
use crate::doctor::{codes, held, of_server};
use crate::generated::Generated;

#[test]
fn every_right_that_can_be_tried_is_and_no_item_is_touched() {
    for server in [Server::Dynoxide, Server::Dynalite] {
        let mut scene = scene_at(&server.endpoint());
        scene.seed(&Generated::events(StoreKind::DynamoDb, 4), "shop.db", "shop");
        let result = of_server(&scene, &["--for", "prune"], 0);
        assert_eq!(held(&result), ["yes", "yes", "unknown", "yes", "unknown"], "{server:?}");
        let store = &result["stores"][0];
        assert!(store["sdk"].as_str().unwrap().starts_with("aws-sdk-dynamodb 1."), "{store}");
        if let Some(ahead) = store["clock_ahead_ms"].as_i64() {
            assert!(ahead.abs() < 2_000, "{store}");
        }
        for (operation, expected, finding) in [
            ("DeleteItem", ["yes", "yes", "unknown", "no", "unknown"], "delete from"),
            ("PutItem", ["yes", "no", "unknown", "yes", "unknown"], ""),
        ] {
            let plan = Plan { denies: Some(operation), ..Plan::default() };
            let proxy = Proxy::start(&server.endpoint(), plan);
            scene.lead_to(super::server::address(proxy.endpoint()));
            let code = i32::from(!finding.is_empty());
            let result = of_server(&scene, &["--for", "prune"], code);
            assert_eq!(held(&result), expected, "{operation}");
            if code == 1 {
                let message = result["findings"][0]["message"].as_str().unwrap();
                assert_eq!(codes(&result, "findings"), ["permission-missing"]);
                assert!(message.contains(finding) && message.contains("dynamodb:DeleteItem"), "{message}");
            }
        }
    }
}

#[test]
fn clocks_that_differ_are_a_notice_and_far_apart_a_finding() {
    let mut scene = scene_at(&Server::Dynoxide.endpoint());
    scene.seed(&Generated::events(StoreKind::DynamoDb, 4), "shop.db", "shop");
    for (ahead, code) in [(20, 0), (900, 1)] {
        let proxy = Proxy::start(&Server::Dynoxide.endpoint(), Plan { ahead, ..Plan::default() });
        scene.lead_to(super::server::address(proxy.endpoint()));
        let result = of_server(&scene, &[], code);
        let list = codes(&result, if code == 0 { "notices" } else { "findings" });
        assert!(list.contains(&"clock-skew".to_owned()), "{result}");
        let off = result["stores"][0]["clock_ahead_ms"].as_i64().unwrap() - ahead * 1_000;
        assert!(off.abs() < 2_000, "{off}");
    }
}

#[test]
fn whether_a_table_may_be_made_cannot_be_found_out() {
    let scene = scene_at(&Server::Dynoxide.endpoint());
    let result = scene.done(&["doctor", "--to", &scene.address("x"), "--table", "no-such-table"]);
    let notices = codes(&result, "notices");
    for code in ["target-missing", "permission-unknown"] {
        assert!(notices.contains(&code.to_owned()), "{result}");
    }
}

#[test]
fn a_wrong_region_is_named_whether_or_not_anything_answers_there() {
    let scene = scene_at(&Server::Dynoxide.endpoint());
    scene.seed(&Generated::events(StoreKind::DynamoDb, 4), "shop.db", "shop");
    let name = scene.collection("shop.db", "shop");
    // No such region: its host has no address.
    let nowhere = scene.result(&["doctor", "--from", "dynamodb://eu-wst-1", "--table", &name]).ended(1);
    let message = nowhere["findings"][0]["message"].as_str().unwrap();
    assert_eq!(codes(&nowhere, "findings"), ["unreachable"]);
    assert!(message.contains("eu-wst-1") && message.contains("Check region"), "{message}");
    // A region that answers and does not have the table.
    let other = scene.address("shop.db").replace("eu-", "us-");
    let missing = scene.result(&["doctor", "--from", &other, "--table", "no-such-table"]).ended(1);
    let message = missing["findings"][0]["message"].as_str().unwrap();
    assert_eq!(codes(&missing, "findings"), ["collection-missing"]);
    assert!(message.contains("region us-") && message.contains("no-such-table"), "{message}");
}
