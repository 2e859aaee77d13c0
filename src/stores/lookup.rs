//! Looking for a collection, and an error that says what there is instead.

use super::{CollectionReader, Description, StoreErrorKind, StoreResult, collection_noun};
use crate::{Error, Result};

/// The most names an error lists.
const LISTED: usize = 10;

/// Describes a collection.
///
/// Errors: if there is none, a usage error that names what was looked for and where, the closest name that
/// there is, or all of them if they are few.
pub async fn describe(reader: &dyn CollectionReader) -> Result<Description> {
    match reader.describe().await {
        Ok(description) => Ok(description),
        Err(error) if error.kind == StoreErrorKind::NotFound => {
            let error = Error::from(error).context(format!("Cannot find {}", reader.location()));
            // The names are a help only: without them the error stands as it is.
            let names = reader.collections().await.unwrap_or_default();
            Ok(Err(match hint(reader, &names) {
                Some(hint) => error.hint(hint),
                None => error,
            })?)
        }
        Err(error) => Err(Error::from(error).context(format!("Cannot describe {}", reader.location()))),
    }
}

/// Whether a collection holds no document at all. One that is not there is empty.
pub async fn is_empty(reader: &dyn CollectionReader) -> StoreResult<bool> {
    let parts = match reader.parts(1).await {
        Err(error) if error.kind == StoreErrorKind::NotFound => return Ok(true),
        parts => parts?,
    };
    for part in parts {
        let mut from = None;
        loop {
            let page = reader.page(&part, from.as_ref(), 1, None).await?;
            if !page.lines.is_empty() {
                return Ok(false);
            }
            from = match page.next {
                Some(next) => Some(next),
                None => break,
            };
        }
    }
    Ok(true)
}

fn hint(reader: &dyn CollectionReader, names: &[String]) -> Option<String> {
    let noun = collection_noun(reader.kind());
    let distance = |name: &&String| strsim::osa_distance(name, reader.name());
    let closest = names.iter().min_by_key(distance)?;
    if distance(&closest) <= reader.name().len() / 3 {
        return Some(format!("Use {closest:?}, the {noun} with the closest name, if that is meant."));
    }
    let listed: Vec<String> = names.iter().take(LISTED).map(|name| format!("{name:?}")).collect();
    let more = names.len() - listed.len();
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    Some(format!("Choose one of what is there: {}{more}.", listed.join(", ")))
}
