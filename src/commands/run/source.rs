//! Whether a source is still as it was when it was exported, as far as it can tell without being read.

use jiff::{SignedDuration, Timestamp};

use crate::Result;
use crate::migration::{Evidence, Inputs};
use crate::options::StoreRun;
use crate::signal::StopSignal;
use crate::stores::connect;

/// How long an export is kept where the source cannot tell whether it was written since: longer than a window.
const WINDOW: SignedDuration = SignedDuration::from_hours(12);

/// The marks of a source: how many documents it holds, and its own mark of writes, where it has them.
const MARKS: [&str; 2] = ["source-documents", "source-activity"];

/// Looks at the source.
pub(super) async fn marks(store: &StoreRun, stop: &StopSignal) -> Result<Inputs> {
    let reader = connect::open_reader(&store.export.from, stop).await?;
    let values = [
        reader.count(None).await?.map(|documents| documents.to_string()),
        reader.activity().await?.map(|activity| activity.0.to_string()),
    ];
    let marks = MARKS.into_iter().zip(values);
    Ok(marks.filter_map(|(name, value)| Some((name.to_owned(), value?))).collect())
}

/// What differs between the source now and when it was exported; empty where nothing does.
pub(super) async fn differences(
    store: &StoreRun,
    exported: &Evidence,
    stop: &StopSignal,
) -> Result<Vec<String>> {
    let now = marks(store, stop).await?;
    let differs = |name: &&str| match (exported.outputs.get(*name), now.get(*name)) {
        (Some(then), Some(now)) => then != now,
        _ => false,
    };
    let told = |name: &str| match name {
        "source-documents" => {
            let number = |marks: &Inputs| marks.get(name).cloned().unwrap_or_default();
            format!("it held {} documents then and holds {} now", number(&exported.outputs), number(&now))
        }
        _ => "its count of writes is another one".to_owned(),
    };
    let mut found: Vec<String> = MARKS.into_iter().filter(|name| differs(name)).map(told).collect();
    if !now.contains_key("source-activity") && is_old(exported) {
        let ended = exported.ended.as_deref().unwrap_or("then");
        found.push(format!("it cannot tell whether it was written since {ended}"));
    }
    Ok(found)
}

/// Whether an export is older than a window lasts: the archive of a rehearsal, most likely.
fn is_old(exported: &Evidence) -> bool {
    let ended: Option<Timestamp> = exported.ended.as_ref().and_then(|ended| ended.parse().ok());
    ended.is_none_or(|ended| Timestamp::now().duration_since(ended) > WINDOW)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::migration::{State, Status};

    #[test]
    fn an_export_of_the_day_before_is_old() {
        let mut evidence = Evidence::begin("orders", State::Exported, Inputs::new());
        assert!(is_old(&evidence), "one that has not ended is none");
        evidence.end(Status::Done, 0);
        assert!(!is_old(&evidence));
        evidence.ended = Some("2020-01-01T00:00:00Z".into());
        assert!(is_old(&evidence));
    }
}
