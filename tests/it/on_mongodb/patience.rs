//! A server that is gone is not waited for as long as one that is busy.

use super::server::{Place, Server};
use super::signals::prepare;
use crate::patience::import_loses_its_store;
use crate::wire::Wire;

#[test]
fn a_server_that_is_gone_is_given_up_sooner() {
    let place = Place::new(Server::Standalone);
    let scene = place.scene();
    let _ = prepare(&scene);
    let at = scene.address("shop.db");
    let (host, database) = at.trim_start_matches("mongodb://").split_once('/').unwrap();
    let wire = Wire::to(host);
    let to =
        format!("mongodb://{}/{database}?directConnection=true&serverSelectionTimeoutMS=300", wire.host());
    import_loses_its_store(&scene, &to, &["--create-target"], &wire);
}
