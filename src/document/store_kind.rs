use serde::{Deserialize, Serialize};

/// The database whose documents a layout describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StoreKind {
    /// Documents are canonical Extended JSON v2; fields stand at the top level, in a kept order.
    MongoDb,
    /// Documents are `{"Item":{…}}` in DynamoDB JSON; attributes have no order.
    DynamoDb,
    /// Documents are the REST `Document` JSON; fields stand under `fields` and have no order.
    Firestore,
    /// Documents are the item's JSON; fields stand at the top level.
    CosmosDb,
}

impl StoreKind {
    /// Every kind, in the order of the documentation.
    pub const ALL: [Self; 4] = [Self::MongoDb, Self::DynamoDb, Self::Firestore, Self::CosmosDb];

    /// The name used in addresses, layouts and manifests.
    pub fn name(self) -> &'static str {
        match self {
            Self::MongoDb => "mongodb",
            Self::DynamoDb => "dynamodb",
            Self::Firestore => "firestore",
            Self::CosmosDb => "cosmosdb",
        }
    }

    /// The name as its maker writes it.
    pub fn title(self) -> &'static str {
        match self {
            Self::MongoDb => "MongoDB",
            Self::DynamoDb => "DynamoDB",
            Self::Firestore => "Firestore",
            Self::CosmosDb => "Cosmos DB",
        }
    }
}

impl std::fmt::Display for StoreKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for StoreKind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
            format!("unknown store {name:?}: expected mongodb, dynamodb, firestore or cosmosdb")
        })
    }
}
