use crate::Result;
use crate::layout::DocumentKind;
use crate::report::{Finding, FindingCode, Findings};
use crate::verify::{Difference, Record, TenantNames};

/// Turns differences into findings.
pub(super) struct Differences<'a> {
    names: &'a TenantNames,
    kind: DocumentKind,
}

impl<'a> Differences<'a> {
    pub fn new(names: &'a TenantNames, kind: DocumentKind) -> Self {
        Self { names, kind }
    }

    pub fn take(
        &mut self,
        difference: Difference,
        record: &Record<'_>,
        findings: &mut Findings,
    ) -> Result<()> {
        let (code, message) = match (difference, self.kind) {
            (Difference::Missing, _) => (FindingCode::Missing, "It is in the archive and not in the store."),
            (Difference::Unexpected, _) => (FindingCode::Unexpected, "It is in the store and in no archive."),
            (Difference::Different, _) => (FindingCode::Different, "It is not the document of the archive."),
            (Difference::Version, DocumentKind::Events) => {
                (FindingCode::VersionsDiffer, "The last version of its stream is not the archive's.")
            }
            (Difference::Version, _) => (FindingCode::VersionsDiffer, "Its version is not the archive's."),
        };
        findings.push(Finding {
            key: Some(record.shown.clone().into_owned()),
            tenant: Some(self.names.name(record.tenant).to_owned()),
            stream: Some(match record.type_name.as_ref() {
                "" => record.id.clone().into_owned(),
                type_name => format!("{type_name}:{}", record.id),
            }),
            version: record.version,
            ..Finding::new(code, message)
        })
    }
}
