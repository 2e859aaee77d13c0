use std::path::PathBuf;

use crate::Result;
use crate::layout::DocumentKind;
use crate::report::{Finding, FindingCode, Findings};
use crate::verify::{Difference, Record, TenantNames};

/// Turns differences into findings.
pub(super) struct Differences<'a> {
    names: &'a TenantNames,
    kind: DocumentKind,
    /// The files of the archives, as their records number them.
    files: &'a [PathBuf],
}

impl<'a> Differences<'a> {
    pub fn new(names: &'a TenantNames, kind: DocumentKind, files: &'a [PathBuf]) -> Self {
        Self { names, kind, files }
    }

    pub fn take(
        &mut self,
        difference: Difference,
        record: &Record<'_>,
        other: Option<&Record<'_>>,
        findings: &mut Findings,
    ) -> Result<()> {
        let (code, message) = match (difference, self.kind) {
            (Difference::Doubled, _) => (FindingCode::Doubled, self.stands_twice(record, other)),
            (Difference::Missing, _) => {
                (FindingCode::Missing, "It is in the archive and not in the store.".to_owned())
            }
            (Difference::Unexpected, _) => {
                (FindingCode::Unexpected, "It is in the store and in no archive.".to_owned())
            }
            (Difference::Different, _) => {
                (FindingCode::Different, "It is not the document of the archive.".to_owned())
            }
            (Difference::Version, DocumentKind::Events) => (
                FindingCode::VersionsDiffer,
                "The last version of its stream is not the archive's.".to_owned(),
            ),
            (Difference::Version, _) => {
                (FindingCode::VersionsDiffer, "Its version is not the archive's.".to_owned())
            }
        };
        findings.push(Finding {
            key: Some(record.shown.clone().into_owned()),
            tenant: Some(self.names.name(record.tenant).to_owned()),
            // The key of an item says all of it.
            stream: (self.kind != DocumentKind::Items).then(|| match record.type_name.as_ref() {
                "" => record.id.clone().into_owned(),
                type_name => format!("{type_name}:{}", record.id),
            }),
            version: record.version,
            other_key: other.map(|other| other.shown.clone().into_owned()),
            ..Finding::new(code, message)
        })
    }

    fn stands_twice(&self, record: &Record<'_>, other: Option<&Record<'_>>) -> String {
        let [one, two] = [other, Some(record)].map(|record| {
            let place = record.and_then(|record| usize::try_from(record.archive).ok()?.checked_sub(1));
            place.and_then(|place| self.files.get(place)).map(|file| format!("{file:?}")).unwrap_or_default()
        });
        if one == two {
            format!("It stands twice in {one}.")
        } else {
            format!("It stands in {one} and in {two}: one of the two archives must not have it.")
        }
    }
}
