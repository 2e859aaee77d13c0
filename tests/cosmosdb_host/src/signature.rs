//! Who signed a request: the account's key or an identity of Entra ID, which the engine itself never asks.
//!
//! [Access control](https://learn.microsoft.com/rest/api/cosmos-db/access-control-on-cosmosdb-resources) says how.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use hyper::Request;
use percent_encoding::percent_decode_str;
use sha2::Sha256;

use crate::Failure;

/// The token of the one identity there is.
const TOKEN: &str = "a-token-for-tests";

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signer {
    /// May do everything.
    Key,
    /// Reads and writes items, and makes no container.
    Identity,
}

pub(crate) struct AccountKey(Vec<u8>);

impl AccountKey {
    pub(crate) fn parse(base64: &str) -> Result<Self, Failure> {
        Ok(Self(STANDARD.decode(base64)?))
    }

    /// Whose the `authorization` of a request is; nobody's that counts if `None`.
    pub(crate) fn signer<B>(&self, request: &Request<B>) -> Option<Signer> {
        let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let given = decoded(header("authorization")?);
        if given.strip_prefix("type=aad&ver=1.0&sig=") == Some(TOKEN) {
            return Some(Signer::Identity);
        }
        let signature = given.strip_prefix("type=master&ver=1.0&sig=")?;
        let path = decoded(request.uri().path());
        let (kind, link) = resource(&path);
        let (verb, date) = (request.method().as_str().to_lowercase(), header("x-ms-date")?.to_lowercase());
        let signed = format!("{verb}\n{}\n{link}\n{date}\n\n", kind.to_lowercase());
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        mac.update(signed.as_bytes());
        (STANDARD.encode(mac.finalize().into_bytes()) == signature).then_some(Signer::Key)
    }
}

/// Whether an identity may send a request: it reads and writes items, and what leads to them.
pub(crate) fn is_data<B>(request: &Request<B>) -> bool {
    let path: Vec<&str> = request.uri().path().trim_matches('/').split('/').collect();
    match path[..] {
        ["dbs", _, "colls", _, "docs", ..] => true,
        [""] | ["dbs", _, "colls", _] | ["dbs", _, "colls", _, "pkranges"] => {
            request.method() == hyper::Method::GET
        }
        _ => false,
    }
}

/// The kind of resource that a path leads to, and the link that is signed: the resource's own, or of a feed its parent's.
fn resource(path: &str) -> (&str, &str) {
    let path = path.trim_matches('/');
    let (parent, last) = path.rsplit_once('/').unwrap_or(("", path));
    if path.is_empty() || path.split('/').count() % 2 == 1 {
        return (last, parent);
    }
    (parent.rsplit_once('/').map_or(parent, |(_, kind)| kind), path)
}
