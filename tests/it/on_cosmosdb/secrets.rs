//! The account's key, also in a connection string, and the secret of a service principal are nowhere.

use super::server::{Place, address, endpoint, key};
use crate::secrets::Watch;

#[test]
fn no_key_and_no_secret_is_said_or_written() {
    const WRONG: &str = "TTRya09mVGhlV3JvbmdLZXk=";
    let place = Place::new();
    let scene = &place.scene;
    let key = key();
    let mut watch = Watch::new(scene, Vec::new(), &[&key]);
    watch.road(&scene.address("shop.db"));
    watch.nowhere("cosmosdb+http://127.0.0.1:1/d", &[4]);
    watch.nowhere(&format!("cosmosdb://shop.documents.azure.com/d;AccountKey={key}"), &[2]);
    let with = |name, value: &str| vec![(name, value.to_owned())];
    let at = address("d");
    Watch::new(scene, with("COSMOS_KEY", WRONG), &[WRONG, &key]).nowhere(&at, &[4]);
    Watch::new(scene, with("COSMOS_KEY", "M4rk!OfNoKey"), &["M4rk!OfNoKey"]).nowhere(&at, &[2]);
    for (string, code) in [
        (format!("AccountEndpoint={}/;AccountKey={WRONG};", endpoint()), 4),
        (format!("AccountEndpoint=https://other.example/;AccountKey={WRONG};"), 2),
        (format!("AccountEndpoint={WRONG};AccountKey={WRONG};"), 2),
        (format!("AccountKey={WRONG}"), 2),
    ] {
        let environment = [with("COSMOS_KEY", ""), with("COSMOS_CONNECTION_STRING", &string)].concat();
        Watch::new(scene, environment, &[WRONG]).nowhere(&at, &[code]);
    }
}
