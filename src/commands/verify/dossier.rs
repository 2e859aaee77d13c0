use super::expectation::Expectation;
use crate::options::{ArchiveOptions, VerifyOptions};
use crate::report::dossier::{
    Cell, Check, Conclusion, Digest, Dossier, FindingList, KeySample, Section, Standing, TenantRow,
    TenantTable, Throughput,
};
use crate::report::{
    Counted, FindingCode, FindingsAccount, Level, TenantVerdict, Verdict, VerifyReport, what_was_found,
};
use crate::ui::format::{count, number};
use crate::verify::{KeySamples, TenantNames};

/// What a verification looked at, for its report.
pub(super) struct Looked<'a> {
    pub options: &'a VerifyOptions,
    pub expectation: &'a Expectation,
    pub location: &'a str,
    /// Whether any legacy document is a finding.
    pub legacy_is_finding: bool,
    /// Whether the store holds numbers of the layout's global sequence.
    pub has_sequence: bool,
}

/// What the report of a verification says.
pub(super) fn dossier(
    looked: &Looked<'_>,
    report: &VerifyReport,
    findings: &FindingsAccount,
    samples: Option<KeySamples>,
    names: &TenantNames,
    throughput: Vec<Throughput>,
) -> Dossier {
    let mut section = Section::new(looked.location);
    looked.add_facts(&mut section, report);
    section.tenants = Some(tenants(report));
    section.checks = looked.checks(report, findings);
    section.samples = samples
        .into_iter()
        .flat_map(KeySamples::into_found)
        .map(|(tenant, key)| KeySample {
            tenant: names.name(tenant).to_owned(),
            old_key: key.legacy,
            new_key: key.shown,
            document: key.document,
        })
        .collect();
    section.findings = FindingList::of(findings);
    section.throughput = throughput;
    section.digests = looked.digests();
    Dossier {
        title: format!("Verification of {}", report.layout),
        conclusion: Conclusion {
            standing: standing(report.verdict),
            word: report.verdict.word().to_owned(),
            sentence: what_was_found(report),
        },
        sections: vec![section],
    }
}

fn standing(verdict: Verdict) -> Standing {
    match verdict {
        Verdict::Match => Standing::Passed,
        Verdict::Mismatch => Standing::Failed,
    }
}

fn tenants(report: &VerifyReport) -> TenantTable {
    let (mut columns, documents) = match report.tenants.first().map_or(Counted::Items, |it| it.counted) {
        Counted::Events => (vec!["streams", "events expected", "events found", "versions differ"], 1),
        Counted::Sagas => (vec!["sagas expected", "sagas found", "versions differ"], 0),
        Counted::Items => (vec!["items expected", "items found"], 0),
    };
    let row = |it: &TenantVerdict| {
        let cells = match it.counted {
            Counted::Events => vec![it.streams, it.expected, it.found, it.versions_differ],
            Counted::Sagas => vec![it.expected, it.found, it.versions_differ],
            Counted::Items => vec![it.expected, it.found],
        };
        TenantRow {
            tenant: it.tenant.clone(),
            cells: cells.into_iter().map(Cell::Count).collect(),
            standing: standing(it.verdict),
        }
    };
    TenantTable {
        columns: columns.drain(..).map(str::to_owned).collect(),
        documents: Some(documents),
        rows: report.tenants.iter().map(row).collect(),
    }
}

/// One kind of check: which findings fail it.
struct Kind {
    name: &'static str,
    how: String,
    codes: &'static [FindingCode],
    /// Why it was not done; `None` if it was.
    skipped: Option<&'static str>,
}

impl Kind {
    fn new(name: &'static str, how: impl Into<String>, codes: &'static [FindingCode]) -> Self {
        Self { name, how: how.into(), codes, skipped: None }
    }

    fn unless(mut self, skipped: bool, why: &'static str) -> Self {
        if skipped {
            self.skipped = Some(why);
        }
        self
    }

    /// The check for one tenant, or for the store; `found` says how many findings there are of a code.
    fn check(&self, tenant: Option<&str>, found: impl Fn(FindingCode) -> u64) -> Check {
        let found = self.codes.iter().map(|code| (*code, found(*code))).filter(|(_, count)| *count > 0);
        let found: Vec<_> = found.map(|(code, count)| format!("{} {code}", number(count))).collect();
        let (standing, detail) = match self.skipped {
            _ if !found.is_empty() => (Standing::Failed, found.join(", ")),
            Some(why) => (Standing::Skipped, why.to_owned()),
            None => (Standing::Passed, String::new()),
        };
        Check {
            name: self.name.to_owned(),
            how: self.how.clone(),
            tenant: tenant.map(str::to_owned),
            standing,
            detail,
        }
    }
}

impl Looked<'_> {
    fn add_facts(&self, section: &mut Section, report: &VerifyReport) {
        let manifests = || self.expectation.manifests().iter().map(|(_, manifest)| manifest);
        section.fact("store", self.location);
        section.fact("archive", shown(&self.options.archive));
        section.fact("layout", report.layout.as_str());
        section.fact("escaping", report.escaping.as_str());
        let mut rules: Vec<_> =
            manifests().filter_map(|it| Some(it.rekey.as_ref()?.rule.rule.to_string())).collect();
        rules.dedup();
        if !rules.is_empty() {
            section.fact("tenant rule", rules.join("; "));
        }
        let mut sources: Vec<_> =
            manifests().filter_map(|it| Some(it.source.as_ref()?.location.clone())).collect();
        sources.dedup();
        if !sources.is_empty() {
            section.fact("exported from", sources.join("; "));
        }
        let compared = match report.level {
            Level::Content => "every document, field by field",
            Level::Counts => "counts, versions and digests of each tenant; no single document",
        };
        section.fact("compared", compared);
        if !self.options.only_tenants.is_empty() {
            section.fact("tenants looked at", self.options.only_tenants.join(", "));
        }
    }

    fn checks(&self, report: &VerifyReport, findings: &FindingsAccount) -> Vec<Check> {
        let of_tenants = tenant_checks(report);
        let of_store = self.store_checks(report);
        let mut checks = Vec::new();
        for kind in &of_tenants {
            for tenant in &report.tenants {
                let counts = findings.by_tenant.get(&tenant.tenant);
                let found = |code| counts.and_then(|counts| counts.get(&code)).copied().unwrap_or_default();
                checks.push(kind.check(Some(&tenant.tenant), found));
            }
            // What names no tenant of the table is the store's.
            let told = |code| -> u64 {
                let tenants = report.tenants.iter().filter_map(|it| findings.by_tenant.get(&it.tenant));
                tenants.filter_map(|counts| counts.get(&code)).sum()
            };
            let of_nobody = kind.check(None, |code| of_all(findings, code).saturating_sub(told(code)));
            if of_nobody.standing == Standing::Failed || report.tenants.is_empty() {
                checks.push(of_nobody);
            }
        }
        checks.extend(of_store.iter().map(|kind| kind.check(None, |code| of_all(findings, code))));
        let known: Vec<_> = of_tenants.iter().chain(&of_store).flat_map(|kind| kind.codes).collect();
        let others: Vec<_> = findings.by_code.iter().filter(|(code, _)| !known.contains(code)).collect();
        if !others.is_empty() {
            let found = others.iter().map(|(code, count)| format!("{} {code}", number(**count)));
            checks.push(Check {
                name: "other findings".to_owned(),
                how: "Whatever else was found on the way.".to_owned(),
                tenant: None,
                standing: Standing::Failed,
                detail: found.collect::<Vec<_>>().join(", "),
            });
        }
        checks
    }

    fn store_checks(&self, report: &VerifyReport) -> Vec<Kind> {
        use FindingCode::{Blocking, ChangedBesidesKey, CounterLow, Legacy, ProbeTripped};
        let with_legacy = !self.options.legacy.is_empty();
        let legacy = if self.legacy_is_finding {
            "No legacy document may be in the store."
        } else {
            "Legacy documents that still stand beside their twins are compared with the legacy archive."
        };
        let layout = &self.expectation.layout;
        let excused = !self.legacy_is_finding && report.totals.legacy > 0;
        let mut checks = vec![
            Kind::new("legacy documents", legacy, &[Legacy])
                .unless(!self.legacy_is_finding && !with_legacy, "they may still be there; --legacy compares them"),
            Kind::new(
                "nothing but the key changed",
                "Every rekeyed document is compared with its legacy one, the key and the filled-in fields aside.",
                &[ChangedBesidesKey],
            )
            .unless(!with_legacy, "no legacy archive was given"),
            Kind::new(
                "framework's probe",
                "The framework's own question for legacy keys is put to the store, and documents outside the layout are looked at for it.",
                &[ProbeTripped, Blocking],
            )
            .unless(layout.probe().is_none(), "the layout has none")
            .unless(excused, "legacy documents are still there, as they must be before prune"),
        ];
        if layout.counter.is_some() {
            let how = "The counter of the global sequence is not below the highest number in the store.";
            let counter = Kind::new("counter", how, &[CounterLow]);
            checks.push(counter.unless(!self.has_sequence, "no document holds such a number"));
        }
        checks
    }

    fn digests(&self) -> Vec<Digest> {
        let mut digests = Vec::new();
        let mut add = |of: String, sha256: &str| digests.push(Digest { of, sha256: sha256.to_owned() });
        for (path, manifest) in self.expectation.manifests() {
            let name =
                if manifest.archive == "-" { path.display().to_string() } else { manifest.archive.clone() };
            add(format!("lines of {name}"), &manifest.totals.sha256);
            if let Some(rekey) = &manifest.rekey {
                add(format!("legacy lines that {name} was made from"), &rekey.input_sha256);
                if let Some(key_map) = &rekey.key_map_sha256 {
                    add(format!("key map of {name}"), key_map);
                }
            }
            add(format!("layout {}", manifest.layout.name), &manifest.layout.digest);
        }
        digests
    }
}

/// The checks that are made for each tenant.
fn tenant_checks(report: &VerifyReport) -> Vec<Kind> {
    use FindingCode::{
        ContentDiffers, CountsDiffer, Different, Doubled, Missing, QueryDiffers, Unexpected, VersionsDiffer,
    };
    let counts = report.level == Level::Counts;
    let documents = if counts {
        "The numbers of documents and streams in the store are compared with the manifest's."
    } else {
        "Every document of the archive is looked for in the store, and every rekeyed document of the store in the archive."
    };
    let content = if counts {
        "The digest of the tenant's documents in the store is compared with the manifest's."
    } else {
        "Every document in the store is compared with the archive's, all of its fields."
    };
    let read = format!(
        "{} read from the store with the framework's own query; the answer must be the stream's documents.",
        count(report.streams_probed, "stream")
    );
    let items = report.tenants.first().is_some_and(|it| it.counted == Counted::Items);
    vec![
        Kind::new("documents", documents, &[Missing, Unexpected, CountsDiffer]),
        Kind::new(
            "versions",
            "The last version of each stream, or of each saga, is compared.",
            &[VersionsDiffer],
        )
        .unless(items, "these documents have no version"),
        Kind::new("content", content, &[Different, ContentDiffers]),
        Kind::new(
            "one key each",
            "No event or saga stands under two rekeyed keys, or in two archives.",
            &[Doubled],
        ),
        Kind::new("framework's read", read, &[QueryDiffers])
            .unless(report.streams_probed == 0, "no stream was read so"),
    ]
}

fn of_all(findings: &FindingsAccount, code: FindingCode) -> u64 {
    findings.by_code.get(&code).copied().unwrap_or_default()
}

fn shown(archive: &ArchiveOptions) -> String {
    let paths = archive.paths.iter().map(|path| path.display().to_string());
    paths.collect::<Vec<_>>().join(", ")
}
