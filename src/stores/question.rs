//! The framework's own questions to a collection.

/// The framework's own question whether a collection still holds legacy keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LegacyProbe {
    /// The field that is asked (`@id` on Firestore is the document id).
    pub field: String,
    /// Only documents whose field begins with this are looked at (`SAGA#` on DynamoDB sagas, else empty).
    pub within: String,
    /// A document is legacy unless its field begins with this (`t:`, or `SAGA#t:`).
    pub rekeyed_prefix: String,
}

impl LegacyProbe {
    /// The most values an answer lists.
    pub const ANSWERS: usize = 10;

    /// Whether a field value makes its document a legacy one. Only strings are asked: the stores compare
    /// within one type, so a document without the field, or with another type in it, is never legacy.
    pub fn offends(&self, value: &str) -> bool {
        value.starts_with(&self.within) && !value.starts_with(&self.rekeyed_prefix)
    }

    /// The least text that comes after every rekeyed one: with the prefix the two ends of their range.
    pub fn behind_rekeyed(&self) -> String {
        after_all(&self.rekeyed_prefix)
    }
}

/// The least text that comes after everything that begins with `prefix`.
fn after_all(prefix: &str) -> String {
    let mut characters: Vec<char> = prefix.chars().collect();
    while let Some(last) = characters.pop() {
        let next = (u32::from(last) + 1..=u32::from(char::MAX)).find_map(char::from_u32);
        if let Some(next) = next {
            characters.push(next);
            break;
        }
    }
    characters.into_iter().collect()
}

/// The framework's own read of one stream or saga.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameworkQuery {
    /// String fields and the values they must equal (`@id` on Firestore is the document id).
    pub equals: Vec<(String, String)>,
    /// The field the answer is ordered by, ascending as a number. Documents without it come first, or are
    /// left out, as the store does it.
    pub order_by: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_of_the_rekeyed_range_offend() {
        let events =
            LegacyProbe { field: "streamId".into(), within: String::new(), rekeyed_prefix: "t:".into() };
        for legacy in ["", "Order:1", "t", "t9", "t;", "t;x", "u", "t\u{0}"] {
            assert!(events.offends(legacy), "{legacy:?}");
        }
        assert!(!events.offends("t:") && !events.offends("t:acme:Order:1"));
        let sagas =
            LegacyProbe { field: "PK".into(), within: "SAGA#".into(), rekeyed_prefix: "SAGA#t:".into() };
        assert!(sagas.offends("SAGA#6f96") && sagas.offends("SAGA#t;"));
        assert!(!sagas.offends("SAGA#t:acme:6f96") && !sagas.offends("SNAPSHOT#1") && !sagas.offends("t:"));
    }

    #[test]
    fn the_end_of_a_prefix_is_right_behind_it() {
        assert_eq!(after_all("t:"), "t;");
        assert_eq!(after_all("a\u{d7ff}"), "a\u{e000}");
        assert_eq!(after_all("a\u{10ffff}"), "b");
    }
}
