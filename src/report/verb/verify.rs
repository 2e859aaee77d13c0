use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

/// The result of `verify`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// What it comes to.
    pub verdict: Verdict,
    /// How closely it was looked at.
    pub level: Level,
    /// The layout's full name.
    pub layout: String,
    /// `raw`, `escaped` or `unneeded`.
    pub escaping: String,
    /// The counts over all tenants.
    pub totals: Totals,
    /// The counts of each tenant, in the tenants' order.
    pub tenants: Vec<TenantVerdict>,
    /// Streams that were read the way the framework reads them.
    pub streams_probed: u64,
}

/// Whether the store holds what the archive says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It does.
    Match,
    /// It does not.
    Mismatch,
}

impl Verdict {
    /// The word of the JSON result.
    pub fn word(self) -> &'static str {
        match self {
            Self::Match => "match",
            Self::Mismatch => "mismatch",
        }
    }
}

/// How closely a store was compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Every document with its twin in the archive.
    Content,
    /// Counts, versions and digests per tenant.
    Counts,
}

/// The counts over all tenants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Documents that must be there.
    pub expected: u64,
    /// Rekeyed documents that are there.
    pub found: u64,
    /// Expected and not there.
    pub missing: u64,
    /// There and not expected.
    pub unexpected: u64,
    /// There with other content.
    pub different: u64,
    /// Legacy documents that are still there.
    pub legacy: u64,
    /// Documents outside the layout.
    pub foreign: u64,
    /// Of those, the ones that the framework's probe would trip over.
    pub blocking: u64,
    /// Events or sagas found under two rekeyed keys.
    pub doubled: u64,
    /// Expected, and not there because their own time to live has passed.
    pub expired: u64,
}

/// What the documents of a tenant are, which names the members of the JSON result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Events in streams.
    Events,
    /// Sagas, each its own stream.
    Sagas,
    /// Documents of any other kind.
    Items,
}

/// The counts of one tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantVerdict {
    /// What is counted.
    pub counted: Counted,
    /// The tenant.
    pub tenant: String,
    /// Streams expected; not part of the result for sagas and items.
    pub streams: u64,
    /// Documents expected.
    pub expected: u64,
    /// Documents found.
    pub found: u64,
    /// Streams whose last version differs, or sagas whose version does.
    pub versions_differ: u64,
    /// What it comes to for this tenant.
    pub verdict: Verdict,
}

impl Serialize for TenantVerdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (expected, found) = match self.counted {
            Counted::Events => ("events_expected", "events_found"),
            Counted::Sagas => ("sagas_expected", "sagas_found"),
            Counted::Items => ("items_expected", "items_found"),
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("tenant", &self.tenant)?;
        if self.counted == Counted::Events {
            map.serialize_entry("streams", &self.streams)?;
        }
        map.serialize_entry(expected, &self.expected)?;
        map.serialize_entry(found, &self.found)?;
        if self.counted != Counted::Items {
            map.serialize_entry("versions_differ", &self.versions_differ)?;
        }
        map.serialize_entry("verdict", &self.verdict)?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tenant(counted: Counted) -> TenantVerdict {
        TenantVerdict {
            counted,
            tenant: "acme".into(),
            streams: 2,
            expected: 3,
            found: 3,
            versions_differ: 0,
            verdict: Verdict::Match,
        }
    }

    #[test]
    fn the_members_are_named_for_what_is_counted() {
        let json = |counted| serde_json::to_string(&tenant(counted)).unwrap();
        assert_eq!(
            json(Counted::Events),
            r#"{"tenant":"acme","streams":2,"events_expected":3,"events_found":3,"versions_differ":0,"verdict":"match"}"#
        );
        assert_eq!(
            json(Counted::Sagas),
            r#"{"tenant":"acme","sagas_expected":3,"sagas_found":3,"versions_differ":0,"verdict":"match"}"#
        );
        assert_eq!(
            json(Counted::Items),
            r#"{"tenant":"acme","items_expected":3,"items_found":3,"verdict":"match"}"#
        );
    }

    #[test]
    fn every_verdict_has_the_word_of_its_json() {
        for verdict in [Verdict::Match, Verdict::Mismatch] {
            assert_eq!(serde_json::to_string(&verdict).unwrap(), format!("{:?}", verdict.word()));
        }
    }
}
