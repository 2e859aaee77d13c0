//! What Firestore allows as the id of a document.

use crate::check::{Reason, Refusal};

/// The most bytes of an id.
const MAX_BYTES: usize = 1500;

/// Refuses an id that Firestore does not take.
///
/// [Constraints on document ids](https://firebase.google.com/docs/firestore/quotas#collections_documents_and_fields):
/// at most 1,500 bytes, no `/`, not `.` or `..`, not `__.*__`. Of these last only the ids that Datastore's numeric
/// keys become (`__id7__`) exist.
pub(super) fn check(id: &str) -> Result<(), Refusal> {
    if id.is_empty() || id == "." || id == ".." || id.contains('/') || is_reserved(id) {
        let detail = format!("Firestore does not allow the document id {id:?}.");
        return Err(Refusal::new(Reason::KeyForbidden, detail));
    }
    if id.len() > MAX_BYTES {
        let detail = format!("The document id has {} bytes; Firestore allows {MAX_BYTES}.", id.len());
        return Err(Refusal::new(Reason::KeyTooLong, detail));
    }
    Ok(())
}

fn is_reserved(id: &str) -> bool {
    let number = id.strip_prefix("__id").and_then(|rest| rest.strip_suffix("__"));
    let is_numeric =
        number.is_some_and(|digits| digits.parse::<i64>().is_ok_and(|value| value.to_string() == digits));
    id.len() >= 4 && id.starts_with("__") && id.ends_with("__") && !is_numeric
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_at_the_limit_pass_and_what_the_service_forbids_is_refused() {
        let reason = |id: &str| check(id).err().map(|refusal| refusal.reason);
        for id in ["", ".", "..", "a/b", "__x__", "____", "__id007__", "__id__"] {
            assert_eq!(reason(id), Some(Reason::KeyForbidden), "{id:?}");
        }
        for id in ["__id7__", "___", "__a", "a__", "...", "t:__default__:x", "%2F", "\u{0}", " "] {
            assert_eq!(reason(id), None, "{id:?}");
        }
        assert_eq!(reason(&"é".repeat(750)), None);
        assert_eq!(reason(&"é".repeat(751)), Some(Reason::KeyTooLong));
    }
}
