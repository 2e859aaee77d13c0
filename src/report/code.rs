use std::fmt;

use serde::{Serialize, Serializer};

use crate::check::Reason;

macro_rules! codes {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $code:literal,)* }
     $({ $(#[$wrapped_doc:meta])* $wrapped:ident($inner:ty) })?) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)*
            $($(#[$wrapped_doc])* $wrapped($inner),)?
        }

        impl $name {
            /// Every code of its own, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The stable code.
            pub fn code(self) -> &'static str {
                match self {
                    $(Self::$variant => $code,)*
                    $(Self::$wrapped(inner) => inner.code(),)?
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.code())
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.code())
            }
        }
    };
}

codes! {
    /// What was found, as a stable code for scripts. A finding changes the exit code.
    FindingCode {
        /// A document of the archive is not in the store.
        Missing = "missing",
        /// A rekeyed document is in the store that no archive has.
        Unexpected = "unexpected",
        /// A document differs from the archive's.
        Different = "different",
        /// More than the key and the filled-in fields changed between the legacy and the rekeyed document.
        ChangedBesidesKey = "changed-besides-key",
        /// A legacy document is still there where none may be.
        Legacy = "legacy",
        /// A document outside the layout would trip the framework's own probe.
        Blocking = "blocking",
        /// One event or saga stands under two rekeyed keys, or in two archives.
        Doubled = "doubled",
        /// The last version of a stream, or the version of a saga, differs.
        VersionsDiffer = "versions-differ",
        /// The counts of a tenant differ from the manifest's.
        CountsDiffer = "counts-differ",
        /// The digest of a tenant's documents differs from the manifest's.
        ContentDiffers = "content-differs",
        /// The framework's own probe reports a legacy key.
        ProbeTripped = "probe-tripped",
        /// The framework's own query does not give the documents of a stream.
        QueryDiffers = "query-differs",
        /// A different document stands under the key.
        Conflict = "conflict",
        /// A legacy document was kept: its stream is not proven to be moved.
        Kept = "kept",
        /// A document that an import wrote was left: its stream is not as the import left it.
        Left = "left",
        /// A unique index that the framework relies on is missing.
        UniqueIndexMissing = "unique-index-missing",
        /// The counter of global sequence numbers is below the highest one stored.
        CounterLow = "counter-low",
        /// The archive is not the one that was planned.
        PlanDocuments = "plan-documents",
        /// The tenant rule, its map or a list of tenants is not as planned.
        PlanTenantRule = "plan-tenant-rule",
        /// The layout is not as planned.
        PlanLayout = "plan-layout",
        /// The source is not the one planned.
        PlanSource = "plan-source",
        /// The target is not the one planned.
        PlanTarget = "plan-target",
        /// An option is not as planned.
        PlanOptions = "plan-options",
        /// A limit is not as planned.
        PlanLimits = "plan-limits",
        /// The tool makes keys, or refuses documents, by other rules than when it was planned.
        PlanRules = "plan-rules",
        /// A tenant has documents that was not planned.
        PlanNewTenant = "plan-new-tenant",
        /// Documents are refused for a reason that was not planned.
        PlanNewReason = "plan-new-reason",
        /// There are more documents than the plan allows.
        PlanGrowth = "plan-growth",
        /// Sagas are running that must not be.
        SagasRunning = "sagas-running",
        /// A store could not be reached, or refused the credentials.
        Unreachable = "unreachable",
        /// A collection that documents come from is not there.
        CollectionMissing = "collection-missing",
        /// A right is missing that is needed.
        PermissionMissing = "permission-missing",
        /// The clocks of a store and of this machine are too far apart.
        ClockSkew = "clock-skew",
        /// The disk has too little room.
        DiskTooSmall = "disk-too-small",
        /// This process may open too few files.
        OpenFilesLow = "open-files-low",
    }
    {
        /// A document was refused.
        Refused(Reason)
    }
}

codes! {
    /// What is worth knowing, as a stable code for scripts. A notice never changes the exit code.
    NoticeCode {
        /// The source holds no documents.
        EmptySource = "empty-source",
        /// The export was not read at one consistent moment.
        NotConsistent = "not-consistent",
        /// The store is an emulator that the environment names.
        Emulator = "emulator",
        /// An index that speeds the framework up is missing.
        IndexMissing = "index-missing",
        /// A number is larger than the store keeps exactly.
        LargeInteger = "large-integer",
        /// A time to live starts anew for every document copied.
        TimeToLive = "time-to-live",
        /// Documents had expired by their own time to live.
        Expired = "expired",
        /// Documents outside the layout share the collection.
        Foreign = "foreign",
        /// Documents stand in sub-collections below the collection's own, and do not move along.
        NestedDocuments = "nested-documents",
        /// A composite index that the framework needs and that the store does not show.
        IndexNeeded = "index-needed",
        /// References inside documents still name the old place.
        References = "references",
        /// Documents stand as escape records that native tools cannot read.
        EscapeRecords = "escape-records",
        /// Rows of the tenant map matched nothing.
        UnusedRows = "unused-rows",
        /// Documents hold something else than JSON where the tenant is looked for.
        NotJson = "not-json",
        /// Streams with gaps were accepted.
        Gaps = "gaps",
        /// Tenants whose prefixes overlap were accepted.
        PrefixTenants = "prefix-tenants",
        /// Stored owners were replaced.
        OwnersReplaced = "owners-replaced",
        /// Documents were outside the tenants asked for.
        OutOfScope = "out-of-scope",
        /// Subscribers see every copied document as new.
        Subscribers = "subscribers",
        /// An unfinished run was resumed.
        Resumed = "resumed",
        /// A sample of streams was read the way the framework reads them, not all.
        Sampled = "sampled",
        /// What the writes will take of the store's capacity.
        Capacity = "capacity",
        /// The collection that was made lacks something that the source has.
        NotCopied = "not-copied",
        /// The collection that documents go to is not there yet.
        TargetMissing = "target-missing",
        /// A right is missing that a later step needs.
        PermissionMissing = "permission-missing",
        /// Whether a right is there cannot be found out.
        PermissionUnknown = "permission-unknown",
        /// The clocks of a store and of this machine differ.
        ClockSkew = "clock-skew",
        /// The source is not as it was when it was exported, and is exported again.
        SourceChanged = "source-changed",
    }
}

impl FindingCode {
    /// Whether such a finding only follows from another one, of the same stream.
    pub fn follows(self) -> bool {
        self == Self::Refused(Reason::StreamRefused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn assert_stable(codes: impl Iterator<Item = &'static str>) {
        let mut seen = BTreeSet::new();
        for code in codes {
            assert!(code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{code}");
            assert!(seen.insert(code), "{code} stands twice");
        }
    }

    #[test]
    fn finding_codes_are_unique_among_themselves_and_the_reasons() {
        let reasons = Reason::ALL.iter().map(|reason| FindingCode::Refused(*reason).code());
        assert_stable(FindingCode::ALL.iter().map(|code| code.code()).chain(reasons));
    }

    #[test]
    fn notice_codes_are_unique() {
        assert_stable(NoticeCode::ALL.iter().map(|code| code.code()));
    }
}
