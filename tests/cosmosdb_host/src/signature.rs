//! Whether a request is signed with the account's key, which the engine itself never asks.
//!
//! [Access control](https://learn.microsoft.com/rest/api/cosmos-db/access-control-on-cosmosdb-resources) says how.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use hyper::Request;
use percent_encoding::percent_decode_str;
use sha2::Sha256;

use crate::Failure;

pub(crate) struct AccountKey(Vec<u8>);

impl AccountKey {
    pub(crate) fn parse(base64: &str) -> Result<Self, Failure> {
        Ok(Self(STANDARD.decode(base64)?))
    }

    /// Whether the `authorization` of a request is this key's.
    pub(crate) fn signs<B>(&self, request: &Request<B>) -> bool {
        let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
        let (Some(given), Some(date)) = (header("authorization"), header("x-ms-date")) else { return false };
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let given = decoded(given);
        let Some(signature) = given.strip_prefix("type=master&ver=1.0&sig=") else { return false };
        let path = decoded(request.uri().path());
        let (kind, link) = resource(&path);
        let verb = request.method().as_str().to_lowercase();
        let signed = format!("{verb}\n{}\n{link}\n{}\n\n", kind.to_lowercase(), date.to_lowercase());
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.0) else { return false };
        mac.update(signed.as_bytes());
        STANDARD.encode(mac.finalize().into_bytes()) == signature
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
