//! The AWS keys and the session's token are nowhere.

use super::server::{Server, address, environment, scene_at};
use crate::secrets::Watch;

#[test]
fn no_key_and_no_token_is_said_or_written() {
    const SECRETS: [(&str, &str); 2] = [
        ("AWS_SECRET_ACCESS_KEY", "M4rkOfTheSecretAccessKey"),
        ("AWS_SESSION_TOKEN", "M4rkOfTheSessionToken"),
    ];
    let scene = scene_at(&Server::Dynoxide.endpoint());
    let secrets = SECRETS.map(|(name, value)| (name, value.to_owned()));
    let marks = SECRETS.map(|(_, value)| value);
    let mut watch = Watch::new(&scene, [environment(), secrets.to_vec()].concat(), &marks);
    watch.road(&scene.address("shop.db"));
    watch.nowhere(&address("http://127.0.0.1:1"), &[4]);
    watch.nowhere(&address(&format!("http://user:{}@127.0.0.1:1", marks[0])), &[2, 4]);
    watch.nowhere(&format!("dynamodb://eu-west-1?secret={}", marks[0]), &[2]);
}
