//! Small questions to any collection: what else is there, and whether it holds anything.

use super::{CollectionReader, StoreErrorKind, StoreResult, collection_noun};

/// The most names a hint lists.
const LISTED: usize = 10;

/// What to use instead of a collection that does not exist: the closest name, or all names if none is
/// close. `None` if the store does not tell.
pub async fn alternatives(reader: &dyn CollectionReader) -> Option<String> {
    let names = reader.collections().await.ok()?;
    Some(hint(reader.name(), collection_noun(reader.kind()), &names))
}

fn hint(name: &str, noun: &str, names: &[String]) -> String {
    let distance = |other: &&String| strsim::osa_distance(other, name);
    let Some(closest) = names.iter().min_by_key(distance) else {
        return format!("Check the address: there is no {noun} at all.");
    };
    if distance(&closest) <= name.len() / 3 {
        return format!("Use {closest:?} if that is meant: it has the closest name.");
    }
    let listed: Vec<String> = names.iter().take(LISTED).map(|name| format!("{name:?}")).collect();
    let more = names.len() - listed.len();
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("Choose one that is there: {}{more}.", listed.join(", "))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_name_is_offered_and_else_all_of_them() {
        let names = |count: usize| (0..count).map(|at| format!("sagas-{at}")).collect::<Vec<_>>();
        assert_eq!(
            hint("evnts", "table", &["events".to_owned(), "sagas".to_owned()]),
            "Use \"events\" if that is meant: it has the closest name."
        );
        assert_eq!(hint("events", "table", &names(2)), "Choose one that is there: \"sagas-0\", \"sagas-1\".");
        assert!(hint("events", "table", &names(14)).ends_with("\"sagas-9\" and 4 more."));
        assert_eq!(hint("events", "table", &[]), "Check the address: there is no table at all.");
    }
}
