//! From an address to a connection: options, credentials, and what kind of deployment answers.

use std::sync::Arc;
use std::time::Duration;

use mongodb::bson::{Bson, Document, doc};
use mongodb::options::{Acknowledgment, ClientOptions, SelectionCriteria};
use mongodb::{Client, error::ErrorKind};

use super::MongoDbCollection;
use super::failure::Action;
use crate::stores::address::MongoDbAddress;
use crate::stores::{StoreErrorKind, Subscribers};
use crate::{Error, Result};

/// How long a server is looked for, unless the connection string says it.
const SELECTION_TIMEOUT: Duration = Duration::from_secs(10);
/// The wire version of MongoDB 5.0, which reads at a snapshot outside transactions.
const WIRE_VERSION_5_0: i32 = 13;

/// What the road has to know of a deployment.
#[derive(Clone, Debug)]
pub(super) struct Deployment {
    /// Whether it is a replica set or a sharded cluster: it has an oplog, and so change streams.
    pub replicated: bool,
    /// Whether it reads at a snapshot.
    pub snapshots: bool,
    /// The version, major first.
    pub version: Vec<i32>,
    /// The servers that the connection string prefers for reading.
    pub preference: Option<SelectionCriteria>,
    /// The write concern to state, if any.
    pub write_concern: Option<Document>,
    /// Whether written documents are read back as the majority holds them.
    pub majority: bool,
}

impl Deployment {
    /// Whether somebody may read the changes of a collection. A change stream may be resumed later, so that an
    /// open one is no proof, and that there is none is none either.
    pub fn subscribers(&self) -> Subscribers {
        if self.replicated { Subscribers::Unknown } else { Subscribers::None }
    }
}

impl MongoDbCollection {
    /// Connects to a database and names a collection in it, which need not be there.
    ///
    /// Errors: a usage error for an option that the driver does not know or that would lose answers; a store
    /// error if no server answers in time or the credentials are refused.
    pub async fn open(address: &MongoDbAddress, collection: &str) -> Result<Self> {
        let options = client_options(address).await?;
        let (concern, preference) = (options.write_concern.clone(), options.selection_criteria.clone());
        if concern.as_ref().is_some_and(|it| it.w == Some(Acknowledgment::Nodes(0))) {
            return Err(Error::usage(format!(
                "{address} asks for w=0, and unanswered writes cannot be counted"
            ))
            .hint("Leave w out, or pass w=majority."));
        }
        let client = Client::with_options(options).map_err(|error| wrong_address(address, &error))?;
        let deployment = Deployment {
            replicated: false,
            snapshots: false,
            version: Vec::new(),
            preference,
            write_concern: None,
            majority: false,
        };
        let mut opened = Self {
            database: client.database(address.database()),
            name: collection.to_owned(),
            location: format!("{address}, collection {collection:?}"),
            deployment,
            written: Arc::default(),
        };
        let hello = opened.hello(doc! { "hello": 1 }).await?;
        let build = opened.hello(doc! { "buildInfo": 1 }).await?;
        let wire_version = hello.get_i32("maxWireVersion").unwrap_or_default();
        let version = build.get_array("versionArray").ok();
        let deployment = &mut opened.deployment;
        deployment.replicated =
            hello.contains_key("setName") || hello.get_str("msg").is_ok_and(|it| it == "isdbgrid");
        deployment.snapshots = deployment.replicated && wire_version >= WIRE_VERSION_5_0;
        deployment.version = version.into_iter().flatten().filter_map(Bson::as_i32).collect();
        deployment.majority = deployment.replicated
            && concern.as_ref().is_none_or(|it| it.w.is_none() || it.w == Some(Acknowledgment::Majority));
        deployment.write_concern = match concern {
            Some(concern) => mongodb::bson::serialize_to_document(&concern).ok(),
            // Servers before 5.0 would be content with the primary alone.
            None => deployment.replicated.then(|| doc! { "w": "majority" }),
        };
        Ok(opened)
    }

    /// Asks the server about itself; the first question also connects.
    async fn hello(&self, question: Document) -> Result<Document> {
        self.database.run_command(question).await.map_err(|error| {
            let unreachable = matches!(
                &*error.kind,
                ErrorKind::ServerSelection { .. } | ErrorKind::Io(_) | ErrorKind::ConnectionPoolCleared { .. }
            );
            let error = self.failed(error, Action::READ);
            let denied = error.kind == StoreErrorKind::Denied;
            let error = Error::from(error);
            if unreachable {
                error.hint("Check host, port, TLS options and replica set name; a single member behind another address needs directConnection=true.")
            } else if denied {
                error.hint("Check user, password and authSource (the database that holds the user, often admin).")
            } else {
                error
            }
        })
    }
}

async fn client_options(address: &MongoDbAddress) -> Result<ClientOptions> {
    let user = std::env::var("MONGODB_USERNAME").ok();
    let password = std::env::var("MONGODB_PASSWORD").ok();
    let text = with_credentials(address.connection_string(), user.as_deref(), password.as_deref());
    let mut options = ClientOptions::parse(&text).await.map_err(|error| match &*error.kind {
        ErrorKind::DnsResolve { .. } => Error::store(format!("The DNS records of {address} cannot be read"))
            .hint("Check the host; mongodb+srv needs SRV and TXT records."),
        _ => wrong_address(address, &error),
    })?;
    let _ = options.app_name.get_or_insert_with(|| "rekey".to_owned());
    let _ = options.server_selection_timeout.get_or_insert(SELECTION_TIMEOUT);
    Ok(options)
}

/// Puts user and password into a connection string that has none.
fn with_credentials(text: &str, user: Option<&str>, password: Option<&str>) -> String {
    let (Some(user), Some((scheme, rest))) = (user, text.split_once("://")) else { return text.to_owned() };
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    if authority.contains('@') {
        return text.to_owned();
    }
    let password = password.map(|password| format!(":{}", percent_encode(password))).unwrap_or_default();
    format!("{scheme}://{}{password}@{rest}", percent_encode(user))
}

fn percent_encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.extend(['%', hex_digit(byte >> 4), hex_digit(byte & 15)]);
        }
    }
    encoded
}

fn hex_digit(value: u8) -> char {
    char::from_digit(u32::from(value), 16).unwrap_or('0').to_ascii_uppercase()
}

/// The driver's words name the option, and no more of the string.
fn wrong_address(address: &MongoDbAddress, error: &mongodb::error::Error) -> Error {
    let words = match &*error.kind {
        ErrorKind::InvalidArgument { message, .. } | ErrorKind::InvalidTlsConfig { message, .. } => {
            message.as_str()
        }
        _ => "the driver does not understand it",
    };
    let secret = secret_of(address.connection_string());
    let words =
        if secret.is_some_and(|secret| words.contains(secret)) { "a part of it is wrong" } else { words };
    Error::usage(format!("{address} cannot be used: {words}"))
        .hint("See the connection string options of MongoDB; what is unknown is refused.")
}

/// The password as it stands in a connection string.
fn secret_of(text: &str) -> Option<&str> {
    let authority = text.split_once("://")?.1.rsplit_once('@')?.0;
    authority.split_once(':').map(|(_, password)| password).filter(|password| !password.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_of_the_environment_fill_a_string_that_has_none() {
        let with = |text| with_credentials(text, Some("ops"), Some("p@ss:/1"));
        assert_eq!(with("mongodb://db/x?tls=true"), "mongodb://ops:p%40ss%3A%2F1@db/x?tls=true");
        assert_eq!(
            with("mongodb+srv://db.example.net/x"),
            "mongodb+srv://ops:p%40ss%3A%2F1@db.example.net/x"
        );
        assert_eq!(with("mongodb://me:own@db/x"), "mongodb://me:own@db/x");
        assert_eq!(with_credentials("mongodb://db/x", None, Some("p")), "mongodb://db/x");
        assert_eq!(with_credentials("mongodb://db/x", Some("cn=ops"), None), "mongodb://cn%3Dops@db/x");
    }

    #[tokio::test]
    async fn a_wrong_option_is_a_usage_error_that_shows_no_password() {
        for text in ["mongodb://u:S3CRET@db/x?nonsense=1", "mongodb://u:S3CRET@db/x?journal=S3CRET"] {
            let crate::stores::StoreAddress::MongoDb(address) =
                crate::stores::StoreAddress::parse(text).unwrap()
            else {
                panic!("{text}")
            };
            let error = MongoDbCollection::open(&address, "events").await.unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Usage);
            assert!(!format!("{error:?} {error}").contains("S3CRET"), "{error:?}");
        }
    }
}
