use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::fixtures::Fixture;
use crate::commands::{export, import, rekey, verify};
use crate::exit::ExitStatus;
use crate::key::Escaping;
use crate::options::{
    ArchiveOptions, Destination, ExportOptions, ImportOptions, LayoutOptions, OnRefused, ProbeStreams, Rates,
    RekeyOptions, RestoreOptions, StoreOptions, TenantRuleChoice, VerifyOptions,
};
use crate::report::{Finding, KeySample, Outcome, Report, Verdict};
use crate::signal::StopSignal;
use crate::stores::StoreAddress;
use crate::ui::{Align, Table, Ui, format};
use crate::{Error, Result};

/// The whole road for one kind of documents.
pub(super) struct Walk<'a> {
    fixture: &'a Fixture,
    folder: PathBuf,
    stop: &'a StopSignal,
    silent: Ui,
}

/// What the road came to.
pub(super) struct Walked {
    pub documents: u64,
    pub tenants: BTreeMap<String, u64>,
    pub verdict: Verdict,
}

/// What `verify` found.
pub(super) struct Verified {
    pub verdict: Verdict,
    pub exit: ExitStatus,
    pub findings: Vec<Finding>,
}

impl<'a> Walk<'a> {
    /// Prepares the road in a folder of its own.
    pub fn new(fixture: &'a Fixture, folder: &Path, stop: &'a StopSignal) -> Result<Self> {
        let folder = folder.join(fixture.layout);
        std::fs::create_dir_all(&folder).map_err(|e| Error::io("create the folder", &folder, e))?;
        Ok(Self { fixture, folder, stop, silent: Ui::silent() })
    }

    /// Walks from end to end, showing each step on `ui`.
    pub async fn all(&self, ui: Option<&Ui>) -> Result<Walked> {
        self.seed().await?;
        let source = self.shown_store("shop");
        show(
            ui,
            &format!("$ rekey export --from {source} --layout {} --out legacy.ndjson", self.fixture.layout),
        )?;
        let exported = self.export().await?;
        show(ui, &format!("  {exported} in version order, with a manifest that makes the file whole"))?;

        show(ui, "$ rekey rekey legacy.ndjson --tenant-map tenants.csv --escaping escaped --dry-run")?;
        let (samples, tenants) = self.rekey(true)?;
        show_samples(ui, &samples, &tenants)?;
        show(
            ui,
            "$ rekey rekey legacy.ndjson --tenant-map tenants.csv --escaping escaped --out rekeyed.ndjson",
        )?;
        let _ = self.rekey(false)?;
        show(
            ui,
            "  the same, written: the rekeyed archive, and a key map from every old key to its new one",
        )?;

        let target = self.shown_store("moved");
        show(ui, &format!("$ rekey import rekeyed.ndjson --to {target} --create-target"))?;
        let documents = self.import().await?;
        show(
            ui,
            &format!("  {} written; a second run would write none", format::count(documents, "document")),
        )?;

        show(ui, &self.shown_verify())?;
        let verified = self.verify().await?;
        show(ui, &format!("  verdict: {} (exit {})", verified.verdict.word(), verified.exit.code()))?;
        Ok(Walked { documents, tenants, verdict: verified.verdict })
    }

    /// The command that verifies, as it is shown.
    pub fn shown_verify(&self) -> String {
        format!(
            "$ rekey verify rekeyed.ndjson --against {} --legacy legacy.ndjson",
            self.shown_store("moved")
        )
    }

    /// The collection that documents are moved to.
    pub fn target(&self) -> Result<StoreOptions> {
        self.store("moved")
    }

    /// Puts the legacy documents into a store, as an old release would have left them.
    async fn seed(&self) -> Result<()> {
        let documents = self.file("fixture.ndjson");
        write(&documents, self.fixture.documents)?;
        write(&self.file("tenants.csv"), self.fixture.tenants)?;
        let options = RestoreOptions {
            archive: ArchiveOptions {
                expect_documents: Some(self.fixture.documents.lines().count() as u64),
                layout: LayoutOptions {
                    layout: Some(self.fixture.layout.to_owned()),
                    parameters: Vec::new(),
                },
                ..archive(documents)
            },
            to: self.store("shop")?,
            create_target: true,
            subscribers_handled: true,
            dry_run: false,
            findings: None,
            state_dir: None,
        };
        import::restore(options, &self.silent, self.stop).await.and_then(must_be_done).map(drop)
    }

    async fn export(&self) -> Result<String> {
        let options = ExportOptions {
            shard: None,
            from: self.store("shop")?,
            layout: LayoutOptions { layout: Some(self.fixture.layout.to_owned()), parameters: Vec::new() },
            out: Destination::File(self.file("legacy.ndjson")),
            manifest: None,
            no_snapshot: false,
            allow_empty: false,
            state_dir: None,
        };
        match export::run(options, &self.silent, self.stop).await.and_then(must_be_done)? {
            Report::Export(report) => Ok(format!(
                "{} of {}",
                format::count(report.documents, "document"),
                format::count(report.streams, "stream")
            )),
            _ => Err(wrong_report()),
        }
    }

    fn rekey(&self, dry_run: bool) -> Result<(Vec<KeySample>, BTreeMap<String, u64>)> {
        let options = RekeyOptions {
            archive: archive(self.file("legacy.ndjson")),
            out: (!dry_run).then(|| Destination::File(self.file("rekeyed.ndjson"))),
            manifest: None,
            tenant: TenantRuleChoice::Map(self.file("tenants.csv")),
            known_tenants: None,
            only_tenants: Vec::new(),
            escaping: Some(Escaping::Escaped),
            allow_gaps: false,
            allow_prefix_tenants: false,
            stored_owner: crate::layout::StoredOwner::Refuse,
            already_rekeyed: crate::options::AlreadyRekeyed::Refuse,
            on_refused: OnRefused::Stop,
            dry_run,
            preview: None,
            findings: None,
            state_dir: None,
        };
        match rekey::run(&options, &self.silent, self.stop).and_then(must_be_done)? {
            Report::Rekey(report) => Ok((report.samples, report.tenants)),
            _ => Err(wrong_report()),
        }
    }

    async fn import(&self) -> Result<u64> {
        let options = ImportOptions {
            archive: archive(self.file("rekeyed.ndjson")),
            to: self.store("moved")?,
            create_target: true,
            in_place: false,
            moves: false,
            subscribers_handled: true,
            on_refused: OnRefused::Stop,
            dry_run: false,
            findings: None,
            state_dir: None,
        };
        match import::run(options, &self.silent, self.stop).await.and_then(must_be_done)? {
            Report::Import(report) => Ok(report.written),
            _ => Err(wrong_report()),
        }
    }

    /// Verifies what was moved.
    pub async fn verify(&self) -> Result<Verified> {
        let options = VerifyOptions {
            archive: archive(self.file("rekeyed.ndjson")),
            against: self.store("moved")?,
            legacy: vec![self.file("legacy.ndjson")],
            pruned: false,
            counts_only: false,
            only_tenants: Vec::new(),
            probe_streams: ProbeStreams::default(),
            findings: None,
            show_content: false,
            state_dir: None,
        };
        let Outcome { exit, report, findings, .. } = verify::run(options, &self.silent, self.stop).await?;
        match report {
            Report::Verify(report) => {
                Ok(Verified { verdict: report.verdict, exit, findings: findings.first })
            }
            _ => Err(wrong_report()),
        }
    }

    fn store(&self, collection: &str) -> Result<StoreOptions> {
        let address =
            StoreAddress::parse(&format!("embedded:{}?as={}", self.file("store.db").display(), self.kind()))?;
        Ok(StoreOptions { address, collection: self.collection(collection), rates: Rates::default() })
    }

    fn shown_store(&self, collection: &str) -> String {
        format!("'embedded:store.db?as={}' --collection {}", self.kind(), self.collection(collection))
    }

    fn kind(&self) -> &str {
        self.fixture.layout.split_once('-').map_or(self.fixture.layout, |(kind, _)| kind)
    }

    fn collection(&self, of: &str) -> String {
        let (_, documents) = self.fixture.layout.split_once('-').unwrap_or(("", self.fixture.layout));
        format!("{of}_{documents}")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

fn archive(path: PathBuf) -> ArchiveOptions {
    ArchiveOptions { paths: vec![path], ..ArchiveOptions::default() }
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).map_err(|e| Error::io("write", path, e))
}

/// Every step of the demonstration must end with exit 0.
fn must_be_done(outcome: Outcome) -> Result<Report> {
    match (outcome.exit, outcome.error) {
        (ExitStatus::Done, _) => Ok(outcome.report),
        (_, Some(error)) => Err(error),
        (exit, None) => {
            Err(Error::bug(format!("A step of the demonstration ended with exit {}", exit.code())))
        }
    }
}

fn wrong_report() -> Error {
    Error::bug("A step of the demonstration gave another command's result")
}

fn show(ui: Option<&Ui>, line: &str) -> Result<()> {
    ui.map_or(Ok(()), |ui| ui.line(line))
}

/// Old and new keys of each tenant, with the number of its documents.
fn show_samples(ui: Option<&Ui>, samples: &[KeySample], tenants: &BTreeMap<String, u64>) -> Result<()> {
    let Some(ui) = ui else { return Ok(()) };
    let columns = [
        ("tenant", Align::Left),
        ("documents", Align::Right),
        ("old key", Align::Left),
        ("new key", Align::Left),
    ];
    let mut table = Table::new(columns);
    for (tenant, documents) in tenants {
        let of_tenant = samples.iter().filter(|sample| sample.tenant == *tenant);
        for (number, sample) in of_tenant.take(2).enumerate() {
            let first = number == 0;
            let documents = if first { format::number(*documents) } else { String::new() };
            let tenant = if first { tenant.as_str() } else { "" };
            table.row([tenant, &documents, &sample.old_key, &sample.new_key]);
        }
    }
    ui.table(&table)
}
