//! `mongodb://…/DATABASE` and `mongodb+srv://…/DATABASE`: MongoDB's own connection strings.

use std::fmt;

use super::query::percent_decode;
use super::wrong;
use crate::Result;

pub(super) const EXAMPLE: &str = "mongodb://localhost:27017/excalibur";

/// Options that are shown; every other one might hold a secret.
const HARMLESS: [&str; 11] = [
    "replicaset",
    "authsource",
    "tls",
    "ssl",
    "directconnection",
    "loadbalanced",
    "readpreference",
    "readconcernlevel",
    "retrywrites",
    "retryreads",
    "w",
];

/// A MongoDB database: a connection string with the database in its path.
#[derive(Clone, PartialEq, Eq)]
pub struct MongoDbAddress {
    connection_string: String,
    scheme: &'static str,
    hosts: Vec<String>,
    database: String,
    harmless_options: String,
}

pub(super) fn parse(text: &str) -> Result<MongoDbAddress> {
    let (scheme, rest) = match text.split_once("://") {
        Some(("mongodb+srv", rest)) => ("mongodb+srv", rest),
        Some((_, rest)) => ("mongodb", rest),
        None => return Err(wrong("The MongoDB address lacks its two slashes", EXAMPLE)),
    };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let (user, hosts) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    // A raw `/`, `?` or `@` in a password cuts the string in the wrong place: what follows is no host.
    if user.contains('@') || path.contains('@') || (user.is_empty() && query.contains('@')) {
        let what =
            "User name and password in a MongoDB address must be percent-encoded (`@` as %40, `/` as %2F)";
        return Err(wrong(what, "mongodb://USER:PASSWORD@localhost:27017/excalibur"));
    }
    let database = percent_decode(path.strip_prefix('/').unwrap_or(path));
    if database.is_empty() || database.contains(['/', '\\', ' ', '"', '$', '.']) {
        return Err(wrong("The MongoDB address names no database in its path", EXAMPLE));
    }
    let hosts: Vec<String> = hosts.split(',').map(str::to_ascii_lowercase).collect();
    if hosts.iter().any(String::is_empty) {
        return Err(wrong("The MongoDB address names no host", EXAMPLE));
    }
    if scheme == "mongodb+srv" && (hosts.len() > 1 || hosts.iter().any(|host| host.contains(':'))) {
        let what = "A mongodb+srv address names exactly one host, without a port";
        return Err(wrong(what, "mongodb+srv://cluster0.example.net/excalibur"));
    }
    let harmless_options = harmless(query);
    Ok(MongoDbAddress { connection_string: text.to_owned(), scheme, hosts, database, harmless_options })
}

fn harmless(query: &str) -> String {
    let is_harmless = |option: &&str| {
        let name = option.split('=').next().unwrap_or_default().to_ascii_lowercase();
        HARMLESS.contains(&name.as_str())
    };
    query.split('&').filter(is_harmless).collect::<Vec<_>>().join("&")
}

impl MongoDbAddress {
    /// The connection string as typed; it may hold a password and is for the driver alone.
    pub fn connection_string(&self) -> &str {
        &self.connection_string
    }

    /// The database.
    pub fn database(&self) -> &str {
        &self.database
    }

    pub(super) fn identity(&self) -> String {
        let with_port = |host: &String| {
            // An address in brackets holds colons of its own.
            let name = host.rsplit(']').next().unwrap_or(host);
            if self.scheme == "mongodb+srv" || name.contains(':') {
                host.clone()
            } else {
                format!("{host}:27017")
            }
        };
        let mut hosts: Vec<String> = self.hosts.iter().map(with_port).collect();
        hosts.sort();
        format!("{}://{}/{}", self.scheme, hosts.join(","), self.database)
    }
}

impl fmt::Display for MongoDbAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}/{}", self.scheme, self.hosts.join(","), self.database)?;
        if self.harmless_options.is_empty() { Ok(()) } else { write!(f, "?{}", self.harmless_options) }
    }
}

impl fmt::Debug for MongoDbAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MongoDbAddress({self})")
    }
}
