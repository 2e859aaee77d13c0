//! Cosmos DB for the tests of this repository: the driver crate's in-memory engine behind a socket.
//!
//! Over what the engine does it checks the account's key, and each container can be told to turn requests down,
//! lose answers, cut connections, fail, split a partition and tell sizes (see [`faults`]).
//!
//! ```text
//! usage: cosmosdb_host --key BASE64 [--port PORT]      prints READY and its address on standard output
//! ```

mod faults;
mod host;
mod signature;

use std::fmt::Display;
use std::sync::Arc;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

use host::Host;

/// What went wrong, in words.
#[derive(Debug)]
pub(crate) struct Failure(pub(crate) String);

impl<E: Display> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

const USAGE: &str = "usage: cosmosdb_host --key BASE64 [--port PORT]";

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let (port, key) = options(std::env::args().skip(1))?;
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let address = format!("http://127.0.0.1:{}/", listener.local_addr()?.port());
    let host = Arc::new(Host::new(&address, &key)?);
    println!("READY {address}");
    loop {
        let (stream, _) = listener.accept().await?;
        drop(tokio::spawn(serve(host.clone(), stream)));
    }
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<(u16, String), Failure> {
    let (mut port, mut key) = (0, None);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or(USAGE)?;
        match name.as_str() {
            "--port" => port = value.parse()?,
            "--key" => key = Some(value),
            _ => return Err(USAGE.into()),
        }
    }
    Ok((port, key.ok_or(USAGE)?))
}

/// Answers one connection, by HTTP/2 without TLS or HTTP/1.1, until either side ends it.
async fn serve(host: Arc<Host>, stream: TcpStream) {
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let cut = Arc::new(Notify::new());
    let answering = {
        let cut = cut.clone();
        service_fn(move |request| {
            let (host, cut) = (host.clone(), cut.clone());
            async move { host.answer(request, &cut).await.map_err(|failure| failure.0) }
        })
    };
    let builder = Builder::new(TokioExecutor::new());
    // A connection that breaks is what a network does.
    tokio::select! {
        _ = builder.serve_connection(TokioIo::new(stream), answering) => {}
        () = cut.notified() => {}
    }
}
