use std::num::NonZeroU32;

use crate::options::Rates;
use crate::report::NoticeCode;
use crate::stores::{CollectionReader, Description, KeyField, StoreErrorKind, lookup};
use crate::ui::Ui;
use crate::{Error, Result};

/// How many parts of a collection are read at one time, if nobody says.
const READERS: usize = 4;

/// Describes a collection and shows where it is; one that does not exist is a usage error that names others.
pub(super) async fn describe(reader: &dyn CollectionReader, role: &str, ui: &Ui) -> Result<Description> {
    ui.target(role, reader.location());
    match reader.describe().await {
        Ok(description) => {
            for remark in &description.remarks {
                ui.status(&format!("{role}: {}", remark.text));
            }
            Ok(description)
        }
        Err(error) if error.kind == StoreErrorKind::NotFound => {
            Err(missing(reader, role, error.into()).await)
        }
        Err(error) => Err(error.into()),
    }
}

/// Adds to the error of a missing collection which ones there are.
async fn missing(reader: &dyn CollectionReader, role: &str, error: Error) -> Error {
    let error = match lookup::alternatives(reader).await {
        Some(hint) => error.hint(hint),
        None => error,
    };
    if role == "target" { error.hint("Pass --create-target to make it.") } else { error }
}

/// How many parts are read at one time.
pub(super) fn reader_concurrency(rates: &Rates) -> usize {
    rates.concurrency.map_or(READERS, |number| usize::try_from(NonZeroU32::get(number)).unwrap_or(READERS))
}

/// Whether two key schemas have the same names in the same order.
pub(super) fn same_names(a: &[KeyField], b: &[KeyField]) -> bool {
    a.iter().map(|field| path_free(&field.name)).eq(b.iter().map(|field| path_free(&field.name)))
}

/// A Cosmos DB path without its first `/`.
fn path_free(name: &str) -> &str {
    name.strip_prefix('/').unwrap_or(name)
}

/// Says that a default time to live restarts, or that one is copied.
pub(super) fn notice_time_to_live(target: &Description, ui: &Ui) {
    match &target.time_to_live {
        Some(crate::stores::TimeToLive::Default(seconds)) => ui.notice(
            NoticeCode::TimeToLive,
            format!(
                "{} has a default time to live of {seconds} s, which starts anew for every document written.",
                target.location
            ),
        ),
        Some(crate::stores::TimeToLive::Field(field)) => ui.notice(
            NoticeCode::TimeToLive,
            format!(
                "{} deletes documents at the time in {field:?}, which is copied as it is.",
                target.location
            ),
        ),
        None => {}
    }
}
