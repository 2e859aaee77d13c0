//! What holds a run to a plan.

use std::collections::BTreeMap;
use std::path::Path;

use crate::archive::{Companions, LineReader, Manifest};
use crate::migration::{Archives, State};
use crate::options::{Destination, RunOptions, StoreRun};
use crate::plan::{Basis, Difference, Plan, StorePlan, of_content, of_settings, settings_of};
use crate::report::{Finding, FindingCode, StateReport};
use crate::{Error, Result};

/// What is not as it was planned, of what can be known before anything is done.
pub(super) fn before_the_run(store: &StoreRun, options: &RunOptions) -> Result<Vec<Finding>> {
    let Some((plan, planned)) = plan_of(store, options) else { return Ok(Vec::new()) };
    let mut differences = of_settings(&planned.settings, &settings_of(store)?);
    if plan.basis == Basis::Archives {
        differences.extend(of_the_archive(store, planned)?);
    }
    Ok(findings(store, differences))
}

/// The lines themselves are read: a manifest says what they were.
fn of_the_archive(store: &StoreRun, planned: &StorePlan) -> Result<Option<Difference>> {
    let differs = |what: String| Some(Difference::new(FindingCode::PlanDocuments, what));
    let Some(legacy) = store.export.out.file().filter(|path| path.is_file()) else {
        return Ok(differs("The legacy archive that was planned is not there.".to_owned()));
    };
    let read = tokio::task::block_in_place(|| LineReader::open_file(legacy, None).finish())?;
    Ok(match planned.archives.get("legacy") {
        Some(digest) if *digest == read.sha256 => None,
        _ => differs(format!(
            "The legacy archive was planned with {} documents and another digest; it has {}.",
            planned.documents, read.documents
        )),
    })
}

/// What is not as it was planned, of the documents that are about to be written.
pub(super) fn before_the_import(
    store: &StoreRun,
    options: &RunOptions,
    archives: &Archives,
    states: &[StateReport],
) -> Result<Vec<Finding>> {
    let Some((plan, planned)) = plan_of(store, options) else { return Ok(Vec::new()) };
    if plan.basis == Basis::Archives {
        let is_planned = planned.archives.get("rekeyed") == archives.rekeyed.as_ref();
        let message = "The rekeyed archive is another one than was planned.";
        let other = (!is_planned).then(|| Difference::new(FindingCode::PlanDocuments, message));
        return Ok(findings(store, other.into_iter().collect()));
    }
    let rekeyed = store.rekey.out.as_ref().and_then(Destination::file).unwrap_or(Path::new(""));
    let manifest = Manifest::read(&Companions::of(rekeyed).manifest)?;
    let account = manifest.rekey.ok_or_else(|| Error::bug("A rekeyed archive has no account"))?;
    let tenants = account.tenants.into_iter().map(|(tenant, owned)| (tenant, owned.documents)).collect();
    let differences = of_content(plan, planned, manifest.totals.documents, &tenants, &reasons(states));
    Ok(findings(store, differences))
}

/// Why the rewrite refused documents, by its result.
fn reasons(states: &[StateReport]) -> BTreeMap<String, u64> {
    let rekeyed = states.iter().find(|it| it.state == State::Rekeyed);
    let reasons = rekeyed.and_then(|it| it.result.as_ref()?.get("reasons")?.as_object());
    let counted = |(reason, count): (&String, &serde_json::Value)| Some((reason.clone(), count.as_u64()?));
    reasons.into_iter().flatten().filter_map(counted).collect()
}

fn plan_of<'a>(store: &StoreRun, options: &'a RunOptions) -> Option<(&'a Plan, &'a StorePlan)> {
    let (_, plan) = options.plan.as_ref()?;
    Some((plan, plan.store(&store.name)?))
}

/// Whether a plan has taken the place of the evidence of a state: the archives that it binds are exported.
pub(super) fn stands_for(state: State, options: &RunOptions) -> Option<&Plan> {
    let (_, plan) = options.plan.as_ref()?;
    (state == State::Exported && plan.basis == Basis::Archives).then_some(plan)
}

fn findings(store: &StoreRun, differences: Vec<Difference>) -> Vec<Finding> {
    let finding = |difference: Difference| Finding {
        tenant: difference.tenant,
        stream: None,
        ..Finding::new(difference.code, format!("{}: {}", store.name, difference.message))
    };
    differences.into_iter().map(finding).collect()
}

/// The error of a run that is not as it was planned.
pub(super) fn refusal(differences: usize, nothing: &str) -> Error {
    let differ = if differences == 1 { "1 thing is" } else { &format!("{differences} things are") };
    Error::refused(format!("{differ} not as planned; {nothing}"))
        .hint("Put it back as it was planned, or make a new plan and have it approved: `rekey plan`.")
        .hint("Read what each difference means with `rekey explain CODE`.")
}
