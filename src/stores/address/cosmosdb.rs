//! `cosmosdb://HOST/DATABASE`, and `cosmosdb+http://HOST:PORT/DATABASE` for an emulator.

use std::fmt;

use super::query::percent_decode;
use super::wrong;
use crate::Result;

pub(super) const EXAMPLE: &str = "cosmosdb://account.documents.azure.com/excalibur";

/// A Cosmos DB database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CosmosDbAddress {
    /// Whether the account is reached by https; http is for emulators.
    pub tls: bool,
    /// The account's host.
    pub host: String,
    /// The port, if it is not the usual one.
    pub port: Option<u16>,
    /// The database.
    pub database: String,
}

pub(super) fn parse(text: &str) -> Result<CosmosDbAddress> {
    let (tls, rest) = match text.split_once("://") {
        Some(("cosmosdb+http", rest)) => (false, rest),
        Some((_, rest)) => (true, rest),
        None => return Err(wrong("The Cosmos DB address lacks its two slashes", EXAMPLE)),
    };
    if rest.contains(['@', '?', ';']) {
        let what = "The Cosmos DB address holds no key and no options; the key comes from COSMOS_KEY or COSMOS_CONNECTION_STRING";
        return Err(wrong(what, EXAMPLE));
    }
    let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
    if authority.is_empty() || database.is_empty() {
        return Err(wrong("The Cosmos DB address lacks the account's host or the database", EXAMPLE));
    }
    if database.contains('/') {
        let what = "The Cosmos DB address holds more than host and database; the container is given with --container";
        return Err(wrong(what, EXAMPLE));
    }
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && !port.ends_with(']') => {
            let Ok(port) = port.parse() else {
                return Err(wrong("The port of the Cosmos DB address is no number up to 65535", EXAMPLE));
            };
            (host, Some(port))
        }
        _ => (authority, None),
    };
    let port = port.filter(|port| *port != usual_port(tls));
    Ok(CosmosDbAddress { tls, host: host.to_ascii_lowercase(), port, database: percent_decode(database) })
}

fn usual_port(tls: bool) -> u16 {
    if tls { 443 } else { 80 }
}

impl CosmosDbAddress {
    /// The account's endpoint as the service knows it.
    pub fn endpoint(&self) -> String {
        let scheme = if self.tls { "https" } else { "http" };
        format!("{scheme}://{}:{}/", self.host, self.port.unwrap_or(usual_port(self.tls)))
    }

    pub(super) fn identity(&self) -> String {
        format!("cosmosdb:{}{}", self.endpoint(), self.database)
    }
}

impl fmt::Display for CosmosDbAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", if self.tls { "cosmosdb" } else { "cosmosdb+http" }, self.host)?;
        if let Some(port) = self.port {
            write!(f, ":{port}")?;
        }
        write!(f, "/{}", self.database)
    }
}
