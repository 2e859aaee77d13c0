//! The password of a connection string, and the environment's, are nowhere.

use mongodb::bson::doc;

use super::server::{Place, Server, wait};
use crate::secrets::Watch;

#[test]
fn no_password_is_said_or_written() {
    const PASSWORD: &str = "M4rkOfThePassw0rd";
    let place = Place::new(Server::Auth);
    let roles = doc! { "role": "readWrite", "db": &place.database };
    let _ = wait(place.run(doc! { "createUser": "marked", "pwd": PASSWORD, "roles": [roles] }));
    let scene = place.scene();
    let at = place.as_user("marked", PASSWORD);
    let mut watch = Watch::new(&scene, Vec::new(), &[PASSWORD]);
    watch.road(&at);
    watch.nowhere(&at.replace(PASSWORD, &format!("not{PASSWORD}")), &[4]);
    watch.nowhere(&format!("mongodb://marked:{PASSWORD}@127.0.0.1:1/x?serverSelectionTimeoutMS=200"), &[4]);
    watch.nowhere(&format!("mongodb://marked:{PASSWORD}@127.0.0.1:1/x?authMechanism={PASSWORD}"), &[2]);
    watch.nowhere(&format!("mongodb://marked:{PASSWORD}@127.0.0.1:x/d"), &[2]);
    let of_the_environment =
        vec![("MONGODB_USERNAME", "marked".to_owned()), ("MONGODB_PASSWORD", PASSWORD.to_owned())];
    let mut watch = Watch::new(&scene, of_the_environment, &[PASSWORD]);
    watch.nowhere("mongodb://127.0.0.1:1/x?serverSelectionTimeoutMS=200", &[4]);
}
