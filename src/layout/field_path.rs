use serde::{Deserialize, Serialize};

use crate::document::json::RECORDED_DEPTH;

/// A field, or a place in the JSON that a field holds: `tenantId`, `stateJson#/tenantId`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct FieldPath {
    text: String,
    field: String,
    names: Vec<String>,
}

impl FieldPath {
    /// The document's field.
    pub fn field(&self) -> &str {
        &self.field
    }

    /// The member names from the root of the JSON in the field to the place; empty for the field itself.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

impl TryFrom<String> for FieldPath {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (field, pointer) = text.split_once('#').unwrap_or((&text, ""));
        let names = match pointer.strip_prefix('/') {
            Some(names) => names.split('/').map(|name| name.replace("~1", "/").replace("~0", "~")).collect(),
            None if field.len() == text.len() => Vec::new(),
            None => return Err(format!("the JSON pointer of {text:?} does not begin with #/")),
        };
        if names.len() > usize::from(RECORDED_DEPTH) {
            return Err(format!("the JSON pointer of {text:?} has more than {RECORDED_DEPTH} names"));
        }
        Ok(Self { field: field.to_owned(), names, text })
    }
}

impl From<FieldPath> for String {
    fn from(path: FieldPath) -> Self {
        path.text
    }
}

impl std::fmt::Display for FieldPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_field_and_the_names_within() {
        let path = |text: &str| FieldPath::try_from(text.to_owned());
        assert_eq!(path("tenantId").unwrap().names(), [""; 0]);
        let inner = path("stateJson#/a~1b/tenant~0Id").unwrap();
        assert_eq!(
            (inner.field(), inner.names()),
            ("stateJson", ["a/b".to_owned(), "tenant~Id".into()].as_slice())
        );
        assert!(path("stateJson#tenantId").is_err());
        assert!(path("stateJson#/a/b/c/d").is_err());
    }
}
