//! The STORE argument: which database, without its collection.
//!
//! An address may hold a password (MongoDB); nothing here ever shows one: [`Display`](fmt::Display) and
//! `Debug` leave out user information and every option that is not known to be harmless, and a refused
//! address is not repeated in the error.

mod cosmosdb;
mod dynamodb;
mod embedded;
mod firestore;
mod mongodb;
mod query;

use std::fmt;

pub use cosmosdb::CosmosDbAddress;
pub use dynamodb::DynamoDbAddress;
pub use embedded::EmbeddedAddress;
pub use firestore::FirestoreAddress;
pub use mongodb::MongoDbAddress;

use crate::document::StoreKind;
use crate::{Error, Result};

/// Where a store is.
#[derive(Clone, PartialEq, Eq)]
pub enum StoreAddress {
    /// A MongoDB database.
    MongoDb(MongoDbAddress),
    /// The DynamoDB tables of an account in a region, or behind an endpoint.
    DynamoDb(DynamoDbAddress),
    /// A Firestore database.
    Firestore(FirestoreAddress),
    /// A Cosmos DB database.
    CosmosDb(CosmosDbAddress),
    /// A local file that stands for one of the four.
    Embedded(EmbeddedAddress),
}

impl StoreAddress {
    /// Reads an address as it is typed.
    ///
    /// Errors: a usage error that names what is wrong and shows a right one.
    pub fn parse(text: &str) -> Result<Self> {
        let scheme = text.split_once(':').map(|(scheme, _)| scheme);
        match scheme {
            Some("mongodb" | "mongodb+srv") => mongodb::parse(text).map(Self::MongoDb),
            Some("dynamodb") => dynamodb::parse(text).map(Self::DynamoDb),
            Some("firestore") => firestore::parse(text).map(Self::Firestore),
            Some("cosmosdb" | "cosmosdb+http") => cosmosdb::parse(text).map(Self::CosmosDb),
            Some("embedded") => embedded::parse(text).map(Self::Embedded),
            Some(other) if other.len() <= 20 => Err(unknown(&format!("{other:?} is no kind of store"))),
            _ => Err(unknown("The store address does not begin with a kind of store and a colon")),
        }
    }

    /// The database kind; for embedded storage the one it stands for.
    pub fn kind(&self) -> StoreKind {
        match self {
            Self::MongoDb(_) => StoreKind::MongoDb,
            Self::DynamoDb(_) => StoreKind::DynamoDb,
            Self::Firestore(_) => StoreKind::Firestore,
            Self::CosmosDb(_) => StoreKind::CosmosDb,
            Self::Embedded(address) => address.stands_for(),
        }
    }

    /// Whether it is a local file that stands for a database.
    pub fn is_embedded(&self) -> bool {
        matches!(self, Self::Embedded(_))
    }

    /// What is equal for two spellings of one place: names journals, and tells whether source and target
    /// are the same. Free of secrets. It knows the address alone, not what host names resolve to.
    pub fn identity(&self) -> String {
        match self {
            Self::MongoDb(address) => address.identity(),
            Self::DynamoDb(address) => address.identity(),
            Self::Firestore(address) => address.identity(),
            Self::CosmosDb(address) => address.identity(),
            Self::Embedded(address) => address.identity(),
        }
    }
}

impl fmt::Display for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MongoDb(address) => address.fmt(f),
            Self::DynamoDb(address) => address.fmt(f),
            Self::Firestore(address) => address.fmt(f),
            Self::CosmosDb(address) => address.fmt(f),
            Self::Embedded(address) => address.fmt(f),
        }
    }
}

impl fmt::Debug for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreAddress({self})")
    }
}

fn unknown(what: &str) -> Error {
    Error::usage(what).hint(format!(
        "Write one of {}, {}, {}, {} or {}.",
        mongodb::EXAMPLE,
        dynamodb::EXAMPLE,
        firestore::EXAMPLE,
        cosmosdb::EXAMPLE,
        embedded::EXAMPLE
    ))
}

/// A usage error about an address of one kind; `what` must not repeat the address.
fn wrong(what: impl Into<String>, example: &str) -> Error {
    Error::usage(what).hint(format!("Write it like {example}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        StoreAddress::parse(text).expect(text).to_string()
    }

    #[test]
    fn every_kind_is_read_and_shown() {
        for text in [
            "mongodb://localhost:27017/excalibur",
            "mongodb+srv://cluster0.example.net/excalibur",
            "dynamodb://eu-west-1",
            "dynamodb://",
            "dynamodb://eu-west-1?endpoint=http://127.0.0.1:8000&profile=ops",
            "firestore://my-project",
            "firestore://my-project/second",
            "cosmosdb://account.documents.azure.com/excalibur",
            "cosmosdb+http://127.0.0.1:8081/excalibur",
            "embedded:shop.redb?as=firestore",
        ] {
            assert_eq!(shown(text), text);
        }
    }

    #[test]
    fn no_output_holds_a_secret() {
        for text in [
            "mongodb://ops:S3CRET@db/excalibur?authSource=admin",
            "mongodb://ops:S3CRET@db/excalibur?tlsCertificateKeyFilePassword=S3CRET&w=majority",
            "mongodb://db/excalibur?authMechanismProperties=AWS_SESSION_TOKEN:S3CRET",
            "mongodb://ops:S3CRET@db",
            "mongodb://ops:S3CRET/x@db/excalibur",
            "mongodb://ops:x@S3CRET/x@db/excalibur",
            "mongodb://ops:S3CRET?x@db/excalibur",
            "mongodb://ops:S3CRET@",
            "mongo://ops:S3CRET@db/excalibur",
            "cosmosdb://key:S3CRET@host/db",
            "cosmosdb://S3CRET@host",
            "dynamodb://eu-west-1?endpoint=http://key:S3CRET@host",
            "dynamodb://eu-west-1?secret=S3CRET",
            "firestore://user:S3CRET@project",
            "AccountEndpoint=https://x/;AccountKey=S3CRET==;",
        ] {
            let (plain, debug) = match StoreAddress::parse(text) {
                Ok(address) => (format!("{address} {}", address.identity()), format!("{address:?}")),
                Err(error) => (error.to_string(), format!("{error:?}")),
            };
            assert!(!plain.contains("S3CRET"), "{plain}");
            assert!(!debug.contains("S3CRET"), "{debug}");
        }
    }

    #[test]
    fn a_wrong_address_is_a_usage_error_with_an_example() {
        for text in [
            "",
            "shop.redb",
            "postgres://db/x",
            "mongodb://localhost:27017",
            "mongodb://localhost:27017/",
            "mongodb:localhost/x",
            "mongodb:///x",
            "mongodb+srv://a,b/x",
            "mongodb+srv://a:1/x",
            "dynamodb:eu-west-1",
            "dynamodb://eu-west-1/events",
            "dynamodb://eu-west-1?endpoint=127.0.0.1:8000",
            "dynamodb://eu-west-1?region=x",
            "firestore://p/d/events",
            "cosmosdb://host",
            "cosmosdb://host/",
            "cosmosdb://host:x/db",
            "cosmosdb://host/db/container",
            "embedded:shop.redb",
            "embedded:?as=mongodb",
            "embedded:shop.redb?as=postgres",
            "embedded:shop.redb?like=mongodb",
        ] {
            let error = StoreAddress::parse(text).expect_err(text);
            assert_eq!(error.kind(), crate::ErrorKind::Usage, "{text}");
            assert!(error.hints()[0].contains(':'), "{text}: {:?}", error.hints());
        }
    }

    #[test]
    fn two_spellings_of_one_place_are_one() {
        let identity = |text| StoreAddress::parse(text).expect(text).identity();
        assert_eq!(
            identity("mongodb://a:p@DB1,db2:27018/shop?w=1"),
            identity("mongodb://db2:27018,db1:27017/shop")
        );
        assert_ne!(identity("mongodb://db1/shop"), identity("mongodb://db1/Shop"));
        assert_eq!(identity("firestore://p"), identity("firestore://p/(default)"));
        assert_eq!(identity("cosmosdb://Host/db"), identity("cosmosdb://host:443/db"));
        assert_eq!(identity("embedded:x.redb?as=mongodb"), identity("embedded:./x.redb?as=mongodb"));
        assert_ne!(identity("dynamodb://eu-west-1"), identity("dynamodb://eu-west-2"));
    }

    #[test]
    fn embedded_storage_is_of_the_kind_it_stands_for() {
        for kind in StoreKind::ALL {
            let address = StoreAddress::parse(&format!("embedded:a.redb?as={kind}")).expect("right");
            assert_eq!(address.kind(), kind);
        }
    }
}
