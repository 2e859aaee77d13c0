//! Answers requests: those about the host itself, and those that the engine answers, with faults around them.

use std::fmt::Write as _;
use std::time::Duration;

use azure_core::http::{Method, Request as EngineRequest};
use azure_data_cosmos_driver::in_memory_emulator::{
    InMemoryEmulatorHttpClient, ReplicationConfig, VirtualAccountConfig, VirtualRegion,
};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::{Request, Response};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use tokio::sync::Notify;
use url::Url;

use crate::Failure;
use crate::faults::{Fate, Faults, Kind, Plan, Tally};
use crate::signature::{AccountKey, Signer, is_data};

/// The partition that a split on request divides.
const FIRST_PARTITION: u32 = 0;
/// How long a partition is locked while it is split.
const SPLIT: Duration = Duration::from_millis(20);

type Answer = Response<Full<Bytes>>;

pub(crate) struct Host {
    engine: InMemoryEmulatorHttpClient,
    base: Url,
    key: AccountKey,
    faults: Faults,
}

impl Host {
    pub(crate) fn new(address: &str, key: &str) -> Result<Self, Failure> {
        let base = Url::parse(address)?;
        let account = VirtualAccountConfig::new(vec![VirtualRegion::new("East US", base.clone())])?;
        let account = account.with_replication_config(ReplicationConfig::immediate());
        let engine = InMemoryEmulatorHttpClient::try_new(account)?;
        Ok(Self { engine, base, key: AccountKey::parse(key)?, faults: Faults::default() })
    }

    /// Answers one request. An error resets the stream: the answer is lost.
    pub(crate) async fn answer(&self, request: Request<Incoming>, cut: &Notify) -> Result<Answer, Failure> {
        if let Some(container) = request.uri().path().strip_prefix("/__test/") {
            let container = decoded(container);
            return self.answer_test(&container, request).await;
        }
        match self.key.signer(&request) {
            Some(Signer::Identity) if !is_data(&request) => {
                let mut answer =
                    refusal(403, "Forbidden", "Request blocked by Auth: metadata writes take the key.")?;
                let _ = answer.headers_mut().insert("x-ms-substatus", "5300".parse()?);
                return Ok(answer);
            }
            Some(_) => {}
            None => {
                let message = "The input authorization token can't serve the request.";
                return refusal(401, "Unauthorized", message);
            }
        }
        let path = decoded(request.uri().path());
        let Some((container, kind)) = items(&path, &request) else {
            return self.answer_by_engine(request).await;
        };
        let (fate, splits) = self.faults.decide(&container, kind);
        if splits {
            self.split(&container).await?;
        }
        if fate == Fate::TurnedDown {
            return self.turn_down(&container);
        }
        let answer = self.answer_by_engine(request).await?;
        self.count(&container, &answer);
        match fate {
            Fate::AnswerLost => Err("the answer is lost on purpose".into()),
            Fate::ConnectionCut => {
                cut.notify_one();
                Err("the connection is cut on purpose".into())
            }
            Fate::Failed => refusal(500, "InternalServerError", "on purpose"),
            Fate::Answered | Fate::TurnedDown => Ok(answer),
        }
    }

    async fn answer_test(&self, container: &str, request: Request<Incoming>) -> Result<Answer, Failure> {
        let is_put = request.method() == hyper::Method::PUT;
        let body = request.into_body().collect().await?.to_bytes();
        if is_put {
            let new: Plan = serde_json::from_slice(&body)?;
            self.faults.with(container, |plan, tally| {
                *plan = new;
                *tally = Tally::default();
            });
        }
        let tally = self.faults.with(container, |_, tally| *tally);
        reply(200, serde_json::to_vec(&tally)?)
    }

    /// Splits the first partition in the middle of its range, and waits until it is done.
    async fn split(&self, container: &str) -> Result<(), Failure> {
        let Some((database, name)) = container.split_once('/') else { return Ok(()) };
        let store = self.engine.store();
        let middle = store.midpoint_split_epk(database, name, FIRST_PARTITION)?;
        let children = store.split_partition_and_wait(database, name, FIRST_PARTITION, middle, SPLIT).await?;
        self.faults.with(container, |_, tally| tally.splits += u64::from(children.len() == 2));
        Ok(())
    }

    fn turn_down(&self, container: &str) -> Result<Answer, Failure> {
        let wait = self.faults.with(container, |plan, _| plan.retry_after_ms);
        let mut answer = refusal(429, "429", "Request rate is large, on purpose")?;
        let headers = answer.headers_mut();
        let _ = headers.insert("x-ms-retry-after-ms", wait.to_string().parse()?);
        let _ = headers.insert("x-ms-substatus", "3200".parse()?);
        Ok(answer)
    }

    fn count(&self, container: &str, answer: &Answer) {
        let charge = answer.headers().get("x-ms-request-charge").and_then(|value| value.to_str().ok());
        let charge: f64 = charge.and_then(|text| text.parse().ok()).unwrap_or_default();
        self.faults.with(container, |_, tally| tally.consumed += charge);
    }

    async fn answer_by_engine(&self, request: Request<Incoming>) -> Result<Answer, Failure> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let mut url = self.base.clone();
        url.set_path(parts.uri.path());
        url.set_query(parts.uri.query());
        let method: Method = parts.method.as_str().parse().map_err(|error| format!("{error}"))?;
        let mut asked = EngineRequest::new(url, method);
        for (name, value) in &parts.headers {
            asked.headers_mut().insert(name.as_str().to_owned(), value.to_str()?.to_owned());
        }
        if !body.is_empty() {
            asked.set_body(body.to_vec());
        }
        let answer = self.engine.execute_request(&asked).await?.try_into_raw_response().await?;
        let mut response = Response::builder().status(u16::from(answer.status()));
        for (name, value) in answer.headers().iter() {
            // The engine's tokens are JSON that may hold an id; a header that is not ASCII would be ignored.
            response = response.header(name.as_str(), escaped(value.as_str()));
        }
        let body = self.with_statistics(&parts, answer.body().as_ref());
        Ok(response.body(Full::new(body))?)
    }

    /// Adds what the engine does not know to a container's description: the sizes of its partitions.
    fn with_statistics(&self, request: &hyper::http::request::Parts, body: &[u8]) -> Bytes {
        let plain = || Bytes::copy_from_slice(body);
        if !request.headers.contains_key("x-ms-documentdb-populatepartitionstatistics") {
            return plain();
        }
        let path = decoded(request.uri.path());
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        let ["dbs", database, "colls", name] = parts[..] else { return plain() };
        let statistics = self.faults.with(&format!("{database}/{name}"), |plan, _| plan.statistics.clone());
        let (Some(statistics), Ok(mut described)) = (statistics, serde_json::from_slice::<Value>(body))
        else {
            return plain();
        };
        described["statistics"] = statistics;
        Bytes::from(described.to_string())
    }
}

/// The container whose items a request is about, and what it does to them.
fn items<B>(path: &str, request: &Request<B>) -> Option<(String, Kind)> {
    let parts: Vec<&str> = path.trim_matches('/').splitn(6, '/').collect();
    let ["dbs", database, "colls", name, "docs", ..] = parts[..] else { return None };
    let is_query = request.headers().contains_key("x-ms-documentdb-isquery")
        || request.headers().get("content-type").is_some_and(|it| it == "application/query+json");
    let kind = match request.method().as_str() {
        "POST" if is_query => Kind::Query,
        "GET" => Kind::Read,
        _ => Kind::Write,
    };
    Some((format!("{database}/{name}"), kind))
}

fn decoded(path: &str) -> String {
    percent_decode_str(path).decode_utf8_lossy().into_owned()
}

/// JSON without a character beyond ASCII.
fn escaped(json: &str) -> String {
    let mut units = [0; 2];
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        if character.is_ascii() {
            text.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut units) {
            let _infallible = write!(text, "\\u{unit:04x}");
        }
    }
    text
}

fn refusal(status: u16, code: &str, message: &str) -> Result<Answer, Failure> {
    reply(status, serde_json::to_vec(&json!({ "code": code, "message": message }))?)
}

fn reply(status: u16, body: Vec<u8>) -> Result<Answer, Failure> {
    let response = Response::builder().status(status).header("content-type", "application/json");
    Ok(response.body(Full::new(Bytes::from(body)))?)
}
