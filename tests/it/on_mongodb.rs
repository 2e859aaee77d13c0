//! MongoDB on genuine servers, which `scripts/servers/mongodb.sh` starts.

mod conformance;
mod server;
