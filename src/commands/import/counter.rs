//! The counter of an import's target.

use super::{Job, Plan, What};
use crate::Result;
use crate::archive::CounterAccount;
use crate::commands::counter::{beside, finding, key, read_from};
use crate::report::Finding;
use crate::signal::StopSignal;
use crate::stores::connect;
use crate::stores::{CollectionSpec, StoreErrorKind};
use crate::ui::Ui;

/// Brings the counter of an import's target up to what the archive needs, and never down.
///
/// In the database that the documents come from the counter is the framework's own: it is only looked at.
pub(super) async fn carry_over(
    job: &Job,
    plan: &Plan,
    highest: Option<i64>,
    ui: &Ui,
    stop: &StopSignal,
) -> Result<Option<Finding>> {
    let Some(rule) = &plan.layout.counter else { return Ok(None) };
    let exported = plan.counter();
    let Some(least) = highest.max(exported.map(|counter| counter.value)) else { return Ok(None) };
    let store = beside(&job.to, rule);
    if job.dry_run {
        // Where there is nothing yet, an import would make it.
        let Ok(reader) = connect::open_reader(&store, stop).await else { return Ok(None) };
        let counter = read_from(&*reader, rule).await?;
        let own = is_own(job, exported, counter.as_ref());
        return Ok(if own { finding(rule, counter.as_ref(), least) } else { None });
    }
    let collection = connect::open(&store, false, stop).await?;
    let counter = read_from(&*collection, rule).await?;
    if is_own(job, exported, counter.as_ref()) {
        return Ok(finding(rule, counter.as_ref(), least));
    }
    if let Err(error) = collection.describe().await {
        if error.kind != StoreErrorKind::NotFound {
            return Err(error.into());
        }
        if !job.create_target {
            return Ok(finding(rule, None, least));
        }
        collection.create_collection(&CollectionSpec::default()).await?;
    }
    let before = collection.raise(&key(rule), &rule.value, least).await?;
    if before.is_none_or(|before| before < least) {
        let was = before.map_or_else(|| "absent".to_owned(), |before| before.to_string());
        ui.status(&format!("The counter in {} was {was} and is now {least}.", collection.location()));
    }
    Ok(None)
}

/// Whether the target's counter is the one of the database that the documents were exported from.
fn is_own(job: &Job, exported: Option<&CounterAccount>, counter: Option<&CounterAccount>) -> bool {
    let identity = |counter: Option<&CounterAccount>| counter.and_then(|it| it.identity.clone());
    job.what == What::InPlace || (identity(exported).is_some() && identity(exported) == identity(counter))
}
