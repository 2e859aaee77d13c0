//! MongoDB on genuine servers, which `scripts/servers/mongodb.sh` starts.

mod access;
mod cases;
mod conformance;
mod failures;
mod patience;
mod road;
mod secrets;
mod server;
mod signals;
mod targets;
mod undo;
