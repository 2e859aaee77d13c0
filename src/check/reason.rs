use serde::{Deserialize, Serialize};

macro_rules! reasons {
    ($($(#[$doc:meta])* $variant:ident = $code:literal, $advice:literal;)*) => {
        /// Why a document is refused: a stable code for scripts, and what to do about it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Reason { $($(#[$doc])* $variant,)* }

        impl Reason {
            /// Every reason, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The stable code.
            pub fn code(self) -> &'static str {
                match self { $(Self::$variant => $code,)* }
            }

            /// What an operator does about it, one sentence.
            pub fn advice(self) -> &'static str {
                match self { $(Self::$variant => $advice,)* }
            }
        }
    };
}

reasons! {
    /// The line is not one strict JSON document (grammar, UTF-8, lone surrogate, depth).
    Malformed = "malformed", "Repair the line or export it again with a tool that writes strict JSON.";
    /// A member stands twice in an object that the layout reads.
    DuplicateName = "duplicate-name", "Decide which of the two values is meant and remove the other.";
    /// The line is not the store's lossless form (a bare number in Extended JSON, no `Item`, no `fields`).
    NotLossless = "not-lossless", "Export again in the lossless form: mongoexport --jsonFormat=canonical, DynamoDB JSON, Firestore REST documents.";
    /// The document is an escape record that holds no readable document.
    EscapeRecord = "escape-record", "Export the collection with this tool's own export, which can carry the document.";
    /// The document does not belong to the layout (another item type in a shared table).
    Foreign = "foreign", "Choose the layout of this document, or leave it out of the archive.";
    /// A field that the layout reads is missing.
    FieldMissing = "field-missing", "Look at the document: the framework always writes this field.";
    /// A field that the layout reads has another type.
    FieldType = "field-type", "Look at the document: the framework always writes this field with the type named.";
    /// The stored key is neither the legacy nor the rekeyed key of the document's own fields.
    KeyMismatch = "key-mismatch", "Find out which of the two is right; the framework could not have written this document.";
    /// The document already carries a tenant in its key.
    AlreadyRekeyed = "already-rekeyed", "Pass --already-rekeyed keep to carry such documents over unchanged.";
    /// Two documents would get one new key.
    KeyCollision = "key-collision", "Give the two streams different tenants, or find out why both exist.";
    /// A version is repeated within a stream.
    VersionRepeat = "version-repeat", "Find out which of the two events is the real one.";
    /// Versions do not begin at the first one or have holes.
    VersionGap = "version-gap", "Pass --allow-gaps if older events were moved away on purpose.";
    /// No rule gives the stream a tenant.
    TenantMissing = "tenant-missing", "Add a row for the stream to the tenant map.";
    /// Documents of one stream name different tenants.
    TenantDisagrees = "tenant-disagrees", "Decide whose stream it is and state it with a tenant map.";
    /// Two rows of the tenant map with one rank name different tenants.
    TenantAmbiguous = "tenant-ambiguous", "Remove one of the two rows of the tenant map.";
    /// The tenant is blank, too long or otherwise not a tenant id.
    TenantInvalid = "tenant-invalid", "Correct the tenant: 1 to 64 UTF-16 units, not blank.";
    /// The tenant looks like a mistyped constant.
    TenantSuspicious = "tenant-suspicious", "Correct the spelling, or list the tenant in --known-tenants if it is really meant.";
    /// The tenant is not in the list of known tenants.
    TenantUnknown = "tenant-unknown", "Correct the tenant, or add it to the file given with --known-tenants.";
    /// A term holds `:` or `%` and the escaping was not stated.
    EscapingNeeded = "escaping-needed", "State --escaping raw or --escaping escaped, as the target release of the framework joins keys.";
    /// The owner stored in a saga is another one than the tenant assigned.
    OwnerMismatch = "owner-mismatch", "Correct the tenant rule, or pass --stored-owner replace if the stored owner is wrong.";
    /// The new key is longer than the store allows.
    KeyTooLong = "key-too-long", "Shorten the tenant id; the key cannot be stored otherwise.";
    /// The new key holds what the store forbids.
    KeyForbidden = "key-forbidden", "Choose a tenant id without these characters; a key that holds them already needs a decision in the application.";
    /// The document is larger than the store allows once it carries the new key.
    DocumentTooLarge = "document-too-large", "Shorten the tenant id, or move part of the document elsewhere.";
    /// One tenant's rendered prefix begins another's, so keys could be read two ways.
    PrefixTenants = "prefix-tenants", "Rename one of the tenants, or pass --allow-prefix-tenants.";
    /// The target refuses the document by a rule of its own (hash, unique key).
    TargetRule = "target-rule", "Change the target's definition, or move the document elsewhere.";
    /// Another document of the same stream was refused.
    StreamRefused = "stream-refused", "Resolve the refusal of the other document; streams move whole or not at all.";
}

impl Serialize for Reason {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

impl<'de> Deserialize<'de> for Reason {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Self::ALL
            .iter()
            .copied()
            .find(|reason| reason.code() == code)
            .ok_or_else(|| serde::de::Error::custom(format!("unknown reason {code:?}")))
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.code())
    }
}

/// One refusal: the reason and what exactly is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}: {detail}")]
pub struct Refusal {
    /// The reason.
    pub reason: Reason,
    /// One sentence with the names and numbers of this case; no document content besides keys.
    pub detail: String,
}

impl Refusal {
    /// Makes a refusal.
    pub fn new(reason: Reason, detail: impl Into<String>) -> Self {
        Self { reason, detail: detail.into() }
    }
}
