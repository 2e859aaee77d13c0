//! A service before the emulator that does what no emulator does: it turns requests down, loses answers, hangs.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use firestore::gcloud_sdk::prost::bytes::Bytes;
use firestore::gcloud_sdk::tonic::Code;
use firestore::gcloud_sdk::tonic::codegen::http::{Request, Response, Uri, request};
use h2::client::SendRequest;
use h2::server::SendResponse;
use h2::{Reason, RecvStream};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is passed on.
    Pass,
    /// It is answered with this status; nothing is done.
    Status(Code, &'static str),
    /// It is passed on and done; its answer is lost.
    Lose,
    /// It is never answered; nothing is done.
    Hang,
}

/// Decides by the method, how often it was called before (from 1), and what was sent.
type Judge = dyn Fn(&str, usize, &[u8]) -> Fate + Send + Sync;

/// Listens until the process ends.
pub struct Service {
    host: String,
    shared: Arc<Shared>,
}

struct Shared {
    upstream: String,
    judge: Box<Judge>,
    is_healthy: AtomicBool,
    calls: Mutex<BTreeMap<String, usize>>,
    fates: Mutex<BTreeMap<String, usize>>,
}

impl Service {
    pub fn before(
        upstream: &str,
        judge: impl Fn(&str, usize, &[u8]) -> Fate + Send + Sync + 'static,
    ) -> Self {
        let shared = Arc::new(Shared {
            upstream: upstream.to_owned(),
            judge: Box::new(judge),
            is_healthy: AtomicBool::new(false),
            calls: Mutex::default(),
            fates: Mutex::default(),
        });
        let (tell, host) = std::sync::mpsc::channel();
        let serving = shared.clone();
        let _serving = std::thread::spawn(move || {
            Runtime::new().unwrap().block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                tell.send(listener.local_addr().unwrap().to_string()).unwrap();
                loop {
                    let (socket, _) = listener.accept().await.unwrap();
                    let _connection = tokio::spawn(serving.clone().serve(socket));
                }
            });
        });
        Self { host: host.recv().unwrap(), shared }
    }

    /// Where to connect to.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Passes everything on from now on.
    pub fn heal(&self) {
        self.shared.is_healthy.store(true, Ordering::SeqCst);
    }

    /// How often each fate but passing was met.
    pub fn fates(&self) -> BTreeMap<String, usize> {
        self.shared.fates.lock().unwrap().clone()
    }
}

type Served = Result<(), h2::Error>;

impl Shared {
    async fn serve(self: Arc<Self>, socket: TcpStream) -> Served {
        let _ = socket.set_nodelay(true);
        let mut connection = h2::server::handshake(socket).await?;
        let upstream = TcpStream::connect(&self.upstream).await.unwrap();
        let (client, driver) = h2::client::handshake(upstream).await?;
        let _driver = tokio::spawn(driver);
        while let Some(accepted) = connection.accept().await {
            let (request, respond) = accepted?;
            let _answering = tokio::spawn(self.clone().answer(client.clone(), request, respond));
        }
        Ok(())
    }

    fn fate(&self, method: &str, body: &[u8]) -> Fate {
        let number = {
            let mut calls = self.calls.lock().unwrap();
            let calls = calls.entry(method.to_owned()).or_default();
            *calls += 1;
            *calls
        };
        if self.is_healthy.load(Ordering::SeqCst) {
            return Fate::Pass;
        }
        let fate = (self.judge)(method, number, body);
        if fate != Fate::Pass {
            *self.fates.lock().unwrap().entry(format!("{method} {fate:?}")).or_default() += 1;
        }
        fate
    }

    async fn answer(
        self: Arc<Self>,
        client: SendRequest<Bytes>,
        request: Request<RecvStream>,
        mut respond: SendResponse<Bytes>,
    ) -> Served {
        let (head, mut stream) = request.into_parts();
        let mut body = Vec::new();
        while let Some(chunk) = stream.data().await {
            let chunk = chunk?;
            stream.flow_control().release_capacity(chunk.len())?;
            body.extend_from_slice(&chunk);
        }
        let method = head.uri.path().rsplit('/').next().unwrap_or_default().to_owned();
        match self.fate(&method, &body) {
            Fate::Pass => self.pass_on(client, head, body, Some(&mut respond)).await,
            Fate::Hang => std::future::pending().await,
            Fate::Lose => {
                self.pass_on(client, head, body, None).await?;
                respond.send_reset(Reason::INTERNAL_ERROR);
                Ok(())
            }
            Fate::Status(code, message) => {
                let response = Response::builder()
                    .header("content-type", "application/grpc")
                    .header("grpc-status", (code as i32).to_string())
                    .header("grpc-message", message);
                let _ = respond.send_response(response.body(()).unwrap(), true)?;
                Ok(())
            }
        }
    }

    /// Sends a request to the emulator, and its answer back if it is wanted.
    async fn pass_on(
        &self,
        client: SendRequest<Bytes>,
        mut head: request::Parts,
        body: Vec<u8>,
        respond: Option<&mut SendResponse<Bytes>>,
    ) -> Served {
        let uri = format!("http://{}{}", self.upstream, head.uri.path());
        head.uri = uri.parse::<Uri>().unwrap();
        let mut client = client.ready().await?;
        let (response, mut send) = client.send_request(Request::from_parts(head, ()), false)?;
        send.send_data(body.into(), true)?;
        let (head, mut stream) = response.await?.into_parts();
        let mut answer = match respond {
            Some(respond) => {
                Some(respond.send_response(Response::from_parts(head, ()), stream.is_end_stream())?)
            }
            None => None,
        };
        while let Some(chunk) = stream.data().await {
            let chunk = chunk?;
            stream.flow_control().release_capacity(chunk.len())?;
            if let Some(answer) = &mut answer {
                answer.send_data(chunk, false)?;
            }
        }
        if let (Some(trailers), Some(answer)) = (stream.trailers().await?, &mut answer) {
            answer.send_trailers(trailers)?;
        }
        Ok(())
    }
}
