//! A proxy before a server that does what no emulator does: it turns requests down, leaves half of a batch for
//! later, loses answers after the write, fails, and counts the capacity that the server says was consumed.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use serde_json::{Value, json};

/// What goes wrong, each in so many requests; 0 is never.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plan {
    /// Turned down for the rate, nothing done.
    pub throttle_every: usize,
    /// Of these writes the answer is lost after they were done.
    pub lose_every: usize,
    /// Answered with a 500 of which nobody knows whether anything was done.
    pub fail_every: usize,
    /// Whether half of each batch is left for later.
    pub halve_batches: bool,
    /// By how many seconds the service's clock is ahead.
    pub ahead: i64,
    /// The operation that the credentials do not suffice for.
    pub denies: Option<&'static str>,
}

/// Listens until the process ends; every connection has a thread of its own.
pub struct Proxy {
    endpoint: String,
    shared: Arc<Shared>,
}

struct Shared {
    upstream: String,
    plan: Plan,
    requests: AtomicUsize,
    writes: AtomicUsize,
    refuses_writes: AtomicBool,
    refuses_reads: AtomicBool,
    tally: Mutex<Tally>,
}

/// What was seen.
#[derive(Default)]
pub struct Tally {
    pub throttled: usize,
    pub lost: usize,
    pub failed: usize,
    pub halved: usize,
    /// Read and write capacity units as the server reported them, with the moment of the answer.
    pub consumed: Vec<(Instant, f64)>,
    pub written: Vec<(Instant, f64)>,
}

struct Message {
    head: Vec<String>,
    body: Vec<u8>,
}

impl Proxy {
    pub fn start(endpoint: &str, plan: Plan) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let shared = Arc::new(Shared {
            upstream: endpoint.trim_start_matches("http://").to_owned(),
            plan,
            requests: AtomicUsize::new(0),
            writes: AtomicUsize::new(0),
            refuses_writes: AtomicBool::new(false),
            refuses_reads: AtomicBool::new(false),
            tally: Mutex::default(),
        });
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let serving = shared.clone();
        let _serving = thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let shared = serving.clone();
                let _connection = thread::spawn(move || shared.serve(&client));
            }
        });
        Self { endpoint, shared }
    }

    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// Turns every write down from now on, or no longer.
    pub fn refuse_writes(&self, refuse: bool) {
        self.shared.refuses_writes.store(refuse, Ordering::SeqCst);
    }

    /// Turns every read of items down from now on, or no longer.
    pub fn refuse_reads(&self, refuse: bool) {
        self.shared.refuses_reads.store(refuse, Ordering::SeqCst);
    }

    pub fn tally(&self) -> std::sync::MutexGuard<'_, Tally> {
        self.shared.tally.lock().unwrap()
    }
}

/// Whether the one with this number is the last of so many.
fn is_due(every: usize, number: usize) -> bool {
    every > 0 && number.is_multiple_of(every)
}

fn next(counter: &AtomicUsize) -> usize {
    counter.fetch_add(1, Ordering::SeqCst) + 1
}

impl Shared {
    /// Answers the requests of one connection; whatever breaks ends it, as a network would.
    fn serve(&self, client: &TcpStream) -> Option<()> {
        let _ = client.set_nodelay(true);
        let mut from_client = BufReader::new(client.try_clone().ok()?);
        let mut upstream: Option<BufReader<TcpStream>> = None;
        loop {
            let mut request = Message::read(&mut from_client)?;
            let operation = request.operation();
            let is_write = matches!(&*operation, "PutItem" | "DeleteItem" | "BatchWriteItem");
            let is_read = matches!(&*operation, "Scan" | "Query" | "GetItem" | "BatchGetItem");
            if is_write && self.refuses_writes.load(Ordering::SeqCst)
                || is_read && self.refuses_reads.load(Ordering::SeqCst)
                || is_due(self.plan.throttle_every, next(&self.requests))
            {
                self.tally.lock().unwrap().throttled += 1;
                refusal(400, "ProvisionedThroughputExceededException").write(client)?;
                continue;
            }
            if self.plan.denies == Some(&*operation) {
                refusal(400, "AccessDeniedException").write(client)?;
                continue;
            }
            let left = if self.plan.halve_batches { request.halve(&operation) } else { None };
            let mut server = if let Some(server) = upstream.take() {
                server
            } else {
                let server = TcpStream::connect(&self.upstream).ok()?;
                let _ = server.set_nodelay(true);
                BufReader::new(server)
            };
            request.write(server.get_ref())?;
            let mut answer = Message::read(&mut server)?;
            upstream = Some(server);
            self.count(&answer, is_write);
            if let Some(left) = left {
                self.tally.lock().unwrap().halved += 1;
                answer.add(left);
            }
            let number = if is_write { next(&self.writes) } else { 0 };
            if is_write && is_due(self.plan.lose_every, number) {
                self.tally.lock().unwrap().lost += 1;
                let _ = client.shutdown(Shutdown::Both);
                return None;
            }
            if is_write && is_due(self.plan.fail_every, number) {
                self.tally.lock().unwrap().failed += 1;
                refusal(500, "InternalServerError").write(client)?;
                continue;
            }
            if self.plan.ahead != 0 {
                answer.set_clock(self.plan.ahead);
            }
            answer.write(client)?;
        }
    }

    fn count(&self, answer: &Message, is_write: bool) {
        let Ok(body) = serde_json::from_slice::<Value>(&answer.body) else { return };
        let units = |consumed: &Value| consumed["CapacityUnits"].as_f64();
        let sum = match &body["ConsumedCapacity"] {
            Value::Array(tables) => tables.iter().filter_map(units).sum(),
            consumed => units(consumed).unwrap_or_default(),
        };
        let mut tally = self.tally.lock().unwrap();
        let units = if is_write { &mut tally.written } else { &mut tally.consumed };
        units.push((Instant::now(), sum));
    }
}

fn refusal(status: u16, code: &str) -> Message {
    let body =
        json!({ "__type": format!("com.amazonaws.dynamodb.v20120810#{code}"), "message": "on purpose" });
    let head = vec![format!("HTTP/1.1 {status} X"), "content-type: application/x-amz-json-1.0".to_owned()];
    Message { head, body: body.to_string().into_bytes() }
}

impl Message {
    fn read(from: &mut BufReader<TcpStream>) -> Option<Self> {
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            if from.read_line(&mut line).ok()? == 0 {
                return None;
            }
            match line.trim_end() {
                "" if head.is_empty() => {}
                "" => break,
                line => head.push(line.to_owned()),
            }
        }
        let length = head.iter().find_map(|line| field(line, "content-length"));
        let mut body = vec![0; length.and_then(|length| length.parse().ok()).unwrap_or_default()];
        from.read_exact(&mut body).ok()?;
        Some(Self { head, body })
    }

    fn write(&self, mut to: &TcpStream) -> Option<()> {
        let mut bytes = Vec::with_capacity(self.body.len() + 512);
        for line in &self.head {
            // The checksum is of the body as it was.
            if field(line, "content-length").is_none() && field(line, "x-amz-crc32").is_none() {
                bytes.extend_from_slice(line.as_bytes());
                bytes.extend_from_slice(b"\r\n");
            }
        }
        bytes.extend_from_slice(format!("content-length: {}\r\n\r\n", self.body.len()).as_bytes());
        bytes.extend_from_slice(&self.body);
        to.write_all(&bytes).ok()
    }

    fn operation(&self) -> String {
        let target = self.head.iter().find_map(|line| field(line, "x-amz-target")).unwrap_or_default();
        target.rsplit('.').next().unwrap_or_default().to_owned()
    }

    /// Takes the second half of a batch away; what is left for later, as the answer must name it.
    fn halve(&mut self, operation: &str) -> Option<(&'static str, Value)> {
        let name = match operation {
            "BatchWriteItem" => "UnprocessedItems",
            "BatchGetItem" => "UnprocessedKeys",
            _ => return None,
        };
        let mut body: Value = serde_json::from_slice(&self.body).ok()?;
        let mut left = body["RequestItems"].clone();
        let pairs =
            body["RequestItems"].as_object_mut()?.values_mut().zip(left.as_object_mut()?.values_mut());
        for (now, later) in pairs {
            let (now, later) = if name == "UnprocessedKeys" {
                (now["Keys"].as_array_mut()?, later["Keys"].as_array_mut()?)
            } else {
                (now.as_array_mut()?, later.as_array_mut()?)
            };
            let half = now.len().div_ceil(2);
            if half == now.len() {
                return None;
            }
            now.truncate(half);
            drop(later.drain(..half));
        }
        self.body = body.to_string().into_bytes();
        Some((name, left))
    }

    /// Lets the answer say that it is so many seconds later.
    fn set_clock(&mut self, seconds: i64) {
        let time = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(seconds);
        let printer = jiff::fmt::rfc2822::DateTimePrinter::new();
        self.head.retain(|line| field(line, "date").is_none());
        self.head.push(format!("date: {}", printer.timestamp_to_rfc9110_string(&time).unwrap()));
    }

    fn add(&mut self, (name, left): (&str, Value)) {
        if let Ok(mut body) = serde_json::from_slice::<Value>(&self.body) {
            body[name] = left;
            self.body = body.to_string().into_bytes();
        }
    }
}

/// The value of a header line, if it is the one called `name`.
fn field<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    let (found, value) = line.split_once(':')?;
    found.eq_ignore_ascii_case(name).then(|| value.trim())
}
