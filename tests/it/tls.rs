//! Every database SDK begins TLS without a panic while the others are in the same process.
//!
//! rustls has one default crypto provider in a process, or none if two of them are compiled in, and then
//! the first client that asks for it panics. No emulator shows this: most of them speak plain HTTP. So
//! nothing is installed by hand here, as the strictest case, and every client is built twice: once against
//! a port where nobody listens, and once against a listener that sees whether a handshake began.

use std::error::Error;
use std::io::Read;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

type Attempt = Result<(), Box<dyn Error + Send + Sync>>;

/// Nobody listens on this port, so a connection is refused at once.
const REFUSED: &str = "127.0.0.1:1";

/// How long one attempt may take, the SDK's own retries included.
const PATIENCE: Duration = Duration::from_mins(1);

/// Listens, reads the first byte of each connection and hangs up.
struct Listener {
    address: SocketAddr,
    greeted: Arc<AtomicBool>,
}

impl Listener {
    /// The type of a TLS record that carries a handshake (RFC 8446, section 5.1).
    const HANDSHAKE: u8 = 22;

    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let greeted = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&greeted);
        // Ends with the process.
        let _ = std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut first = [0];
                if stream.read_exact(&mut first).is_ok() && first[0] == Self::HANDSHAKE {
                    flag.store(true, Ordering::SeqCst);
                }
            }
        });
        Self { address, greeted }
    }
}

/// Expects `attempt` to fail against a closed port and against a listener that it greets with TLS.
async fn fails_to_connect(attempt: impl AsyncFn(String) -> Attempt) {
    let refused = tokio::time::timeout(PATIENCE, attempt(REFUSED.to_owned())).await;
    assert!(refused.expect("the attempt ends").is_err(), "nobody listens there");

    let listener = Listener::start();
    let hung_up = tokio::time::timeout(PATIENCE, attempt(listener.address.to_string())).await;
    assert!(hung_up.expect("the attempt ends").is_err(), "the listener speaks no TLS");
    assert!(listener.greeted.load(Ordering::SeqCst), "no TLS handshake was begun");
}

#[tokio::test]
async fn mongodb_reports_a_connection_error() {
    fails_to_connect(async |host| {
        let address = format!("mongodb://{host}/?tls=true&serverSelectionTimeoutMS=500");
        let client = mongodb::Client::with_uri_str(address).await?;
        let _ = client.database("admin").run_command(bson::doc! { "ping": 1 }).await?;
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn dynamodb_reports_a_connection_error() {
    use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region, retry::RetryConfig};
    fails_to_connect(async |host| {
        let config = aws_sdk_dynamodb::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("eu-central-1"))
            .endpoint_url(format!("https://{host}"))
            .credentials_provider(Credentials::for_tests())
            .retry_config(RetryConfig::disabled())
            .build();
        let _ = aws_sdk_dynamodb::Client::from_conf(config).list_tables().send().await?;
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn firestore_reports_a_connection_error() {
    use firestore::gcloud_sdk::google_cloud_auth::credentials::anonymous;
    use firestore::{FirestoreDb, FirestoreDbOptions};
    fails_to_connect(async |host| {
        let options = FirestoreDbOptions::new("project".to_owned())
            .with_firebase_api_url(format!("https://{host}"))
            .with_max_retries(0);
        let database = FirestoreDb::with_options_auth(options, anonymous::Builder::new().build()).await?;
        database.ping().await?;
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn cosmosdb_reports_a_connection_error() {
    use azure_data_cosmos::{AccountEndpoint, AccountReference, CosmosClient, RoutingStrategy};
    fails_to_connect(async |host| {
        let endpoint: AccountEndpoint = format!("https://{host}/").parse()?;
        let account = AccountReference::with_authentication_key(
            endpoint,
            azure_core::credentials::Secret::from("a2V5"),
        );
        let client =
            CosmosClient::builder().build(account, RoutingStrategy::PreferredRegions(Vec::new())).await?;
        let _ = client.database_client("database").read(None).await?;
        Ok(())
    })
    .await;
}
