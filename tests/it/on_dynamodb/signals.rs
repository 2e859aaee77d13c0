//! A signal ends a run that waits for capacity, the service's or its own.

use super::proxy::{Plan, Proxy};
use super::server::{Server, scene_at};
use crate::signals::{commands, each_goes_on, each_stops, prepare};

#[test]
fn a_signal_interrupts_the_waits_for_a_service_that_turns_everything_down() {
    let proxy = Proxy::start(&Server::Dynoxide.endpoint(), Plan::default());
    let scene = scene_at(proxy.endpoint());
    let count = prepare(&scene, 20);
    let (reading, writing) = commands(&scene);
    proxy.refuse_reads(true);
    each_stops(&scene, &reading, &[]);
    proxy.refuse_reads(false);
    proxy.refuse_writes(true);
    each_stops(&scene, &writing, &[]);
    proxy.refuse_writes(false);
    each_goes_on(&scene, &writing, count);
}

#[test]
fn a_signal_interrupts_the_waits_for_the_tools_own_rates() {
    let scene = scene_at(&Server::Dynoxide.endpoint());
    let count = prepare(&scene, 20);
    let (reading, writing) = commands(&scene);
    each_stops(&scene, &reading, &["--max-rcu", "1"]);
    each_stops(&scene, &writing[..1], &["--max-wcu", "1"]);
    each_stops(&scene, &writing[..1], &["--max-writes-per-second", "1"]);
    each_stops(&scene, &writing[1..], &["--max-wcu", "1"]);
    each_goes_on(&scene, &writing, count);
}
