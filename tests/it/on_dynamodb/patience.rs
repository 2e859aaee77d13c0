//! A service that takes nothing is given up in time, and one that is away sooner.

use super::proxy::{Plan, Proxy};
use super::server::{Server, address, scene_at};
use crate::patience::{each_gives_up, import_loses_its_store};
use crate::signals::{commands, prepare};
use crate::wire::Wire;

#[test]
fn a_service_that_turns_everything_down_is_given_up() {
    let proxy = Proxy::start(&Server::Dynoxide.endpoint(), Plan::default());
    let scene = scene_at(proxy.endpoint());
    let _ = prepare(&scene, 20);
    let (reading, writing) = commands(&scene);
    let words = ["given up: nothing has succeeded for 2.0 s"];
    proxy.refuse_reads(true);
    each_gives_up(&scene, &reading, 2_000, &(1_500..=5_000), &words);
    proxy.refuse_reads(false);
    proxy.refuse_writes(true);
    each_gives_up(&scene, &writing, 2_000, &(1_500..=5_000), &words);
}

#[test]
fn a_service_that_is_away_is_given_up_sooner() {
    let direct = scene_at(&Server::Dynoxide.endpoint());
    let _ = prepare(&direct, 40);
    let wire = Wire::to(Server::Dynoxide.endpoint().trim_start_matches("http://"));
    let to = address(&format!("http://{}", wire.host()));
    import_loses_its_store(&direct, &to, &["--create-target"], &wire);
}
