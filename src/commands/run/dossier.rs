use serde_json::Value;

use super::result::account_of;
use crate::exit::ExitStatus;
use crate::migration::{Evidence, State};
use crate::options::StoreRun;
use crate::report::dossier::{
    Cell, Check, Conclusion, Digest, Dossier, FindingList, Section, Standing, Step, TenantRow, TenantTable,
};
use crate::report::{StateReport, StoreReport};
use crate::ui::format::{count, number};

/// What the report of a run says: a section for each store.
///
/// `sections` holds what the verification of a store said in its own report, where one was made in this run.
pub(in crate::commands) fn dossier(
    title: &str,
    stores: &[StoreReport],
    runs: &[StoreRun],
    sections: Vec<Section>,
) -> Dossier {
    let sections = stores.iter().zip(sections).map(|(store, section)| {
        let run = runs.iter().find(|run| run.name == store.store);
        section_of(store, run, section)
    });
    let sections: Vec<_> = sections.collect();
    let stopped: Vec<&str> =
        stores.iter().filter(|store| !is_well(store)).map(|store| store.store.as_str()).collect();
    let documents: u64 = stores.iter().filter_map(documents).sum();
    let all = count(stores.len() as u64, "store");
    let conclusion = if stopped.is_empty() {
        Conclusion {
            standing: Standing::Passed,
            word: word(stores.iter().filter_map(|store| store.state).min()),
            sentence: format!("{all} with {}.", count(documents, "document")),
        }
    } else {
        Conclusion {
            standing: Standing::Failed,
            word: "stopped".to_owned(),
            sentence: format!("{} of {all} stopped: {}.", number(stopped.len() as u64), stopped.join(", ")),
        }
    };
    Dossier { title: title.to_owned(), conclusion, sections }
}

/// Whether a store came to its end.
fn is_well(store: &StoreReport) -> bool {
    matches!(store.exit, ExitStatus::Done | ExitStatus::Partial) && store.error.is_none()
}

fn word(state: Option<State>) -> String {
    state.map_or("not begun", State::name).to_owned()
}

fn documents(store: &StoreReport) -> Option<u64> {
    store.states.iter().rev().find_map(|it| it.number("documents"))
}

fn section_of(store: &StoreReport, run: Option<&StoreRun>, mut section: Section) -> Section {
    section.title.clone_from(&store.store);
    let sentence = match &store.error {
        Some(error) => error.clone(),
        None => documents(store).map_or_else(String::new, |it| format!("{}.", count(it, "document"))),
    };
    section.conclusion = Some(Conclusion {
        standing: if is_well(store) { Standing::Passed } else { Standing::Failed },
        word: word(store.state),
        sentence,
    });
    if let Some(run) = run {
        add_places(&mut section, run);
        section.steps = State::ALL.iter().map(|state| step(*state, store, run)).collect();
    }
    if section.tenants.is_none() {
        section.tenants = store.states.iter().find(|it| it.state == State::Verified).and_then(tenants);
    }
    let reached: Vec<Check> = store.states.iter().map(check).collect();
    section.checks.splice(0..0, reached).for_each(drop);
    if !store.differences.is_empty() {
        section.findings = FindingList::of(&account_of(store.differences.iter()));
        section.checks.push(Check {
            name: "as planned".to_owned(),
            how: "The run is held to its plan: settings before anything is done, documents before the first write.".to_owned(),
            tenant: None,
            standing: Standing::Failed,
            detail: store.differences.iter().map(|it| it.code.code()).collect::<Vec<_>>().join(", "),
        });
    }
    if section.digests.is_empty() {
        section.digests = digests(run);
    }
    section
}

fn add_places(section: &mut Section, run: &StoreRun) {
    let (from, to) = (&run.export.from, &run.import.to);
    let layout = run.export.layout.layout.as_deref().unwrap_or_default();
    // What the verification says of the same things is said more closely.
    let is_said = |section: &Section, label: &str| section.facts.iter().any(|fact| fact.label == label);
    for (label, value) in [
        ("source", format!("{} {}", from.address, from.collection)),
        ("target", format!("{} {}", to.address, to.collection)),
        ("layout", layout.to_owned()),
        ("folder", run.folder.display().to_string()),
    ] {
        if !is_said(section, label) {
            section.fact(label, value);
        }
    }
}

fn step(state: State, store: &StoreReport, run: &StoreRun) -> Step {
    let Some(report) = store.states.iter().find(|it| it.state == state) else {
        let note = if state == State::Pruned && is_well(store) { "It was not asked for." } else { "" };
        return Step {
            name: state.name().to_owned(),
            standing: Standing::Skipped,
            started: None,
            ended: None,
            documents: None,
            note: note.to_owned(),
        };
    };
    let evidence = Evidence::path(&run.folder, state);
    let kept = if report.kept { "Kept from an earlier run; " } else { "" };
    Step {
        name: state.name().to_owned(),
        standing: standing(report),
        started: Some(report.started.clone()),
        ended: report.ended.clone(),
        documents: report.number("documents"),
        note: format!("{kept}evidence in {}.", evidence.display()),
    }
}

fn standing(report: &StateReport) -> Standing {
    if report.is_reached() { Standing::Passed } else { Standing::Failed }
}

/// A state as a check, so that CI counts it.
fn check(report: &StateReport) -> Check {
    let message = report.result.as_ref().and_then(|it| it.get("error")?.get("message")?.as_str());
    let detail = match (report.is_reached(), message) {
        (true, _) => String::new(),
        (false, Some(message)) => message.to_owned(),
        (false, None) => format!("exit {}", report.exit_code),
    };
    Check {
        name: report.state.name().to_owned(),
        how: format!("The command {} led to it, by its own rules.", report.state.verb()),
        tenant: None,
        standing: standing(report),
        detail,
    }
}

/// The figures of each tenant from the JSON result of an earlier verification.
fn tenants(verified: &StateReport) -> Option<TenantTable> {
    let tenants = verified.result.as_ref()?.get("tenants")?.as_array()?;
    let figures = |tenant: &Value| -> Vec<(String, u64)> {
        let members = tenant.as_object().into_iter().flatten();
        members.filter_map(|(name, value)| Some((name.replace('_', " "), value.as_u64()?))).collect()
    };
    let columns: Vec<String> = figures(tenants.first()?).into_iter().map(|(name, _)| name).collect();
    let rows = tenants.iter().filter_map(|tenant| {
        let matches = tenant.get("verdict")?.as_str()? == "match";
        Some(TenantRow {
            tenant: tenant.get("tenant")?.as_str()?.to_owned(),
            cells: figures(tenant).into_iter().map(|(_, figure)| Cell::Count(figure)).collect(),
            standing: if matches { Standing::Passed } else { Standing::Failed },
        })
    });
    let rows = rows.collect();
    let documents = columns.iter().position(|name| name.ends_with(" expected"));
    Some(TenantTable { columns, documents, rows })
}

/// The digests of the archives, from the evidence.
fn digests(run: Option<&StoreRun>) -> Vec<Digest> {
    let Some(run) = run else { return Vec::new() };
    let evidence = [State::Exported, State::Rekeyed].into_iter().filter_map(|state| {
        // A report is no reason to fail; damaged evidence has failed the run before.
        Evidence::read(&run.folder, state).ok().flatten()
    });
    let outputs = evidence.flat_map(|it| it.outputs).filter(|(_, digest)| digest.len() == 64);
    outputs
        .map(|(name, sha256)| Digest {
            of: format!("{name} archive").replace("key-map archive", "key map"),
            sha256,
        })
        .collect()
}
