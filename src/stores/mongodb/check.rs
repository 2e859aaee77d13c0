//! What a server would refuse or change of a document, told without writing.

use super::MAX_DOCUMENT;
use super::connect::Deployment;
use crate::check::{Reason, Refusal};
use crate::document::bson::{Element, ElementType, Elements, Parser};

/// The deepest nesting that a server stores.
const MAX_DEPTH: u16 = 180;
/// The last release that is known to take binary values of the column subtype unchecked.
const UNCHECKED_COLUMNS: [i32; 3] = [6, 0, 5];
/// The subtype of compressed columns.
const COLUMN: u8 = 7;

/// Refuses a line whose document the server would refuse, or store otherwise than it is.
pub(super) fn check(deployment: &Deployment, line: &[u8]) -> Result<(), Refusal> {
    let mut bson = Vec::with_capacity(line.len());
    Parser::default().document(line, &mut bson)?;
    if bson.len() > MAX_DOCUMENT {
        return Err(refused(format!("The document has {} bytes; MongoDB takes {MAX_DOCUMENT}.", bson.len())));
    }
    let columns_are_checked = deployment.version.as_slice() > UNCHECKED_COLUMNS.as_slice();
    check_top(&bson)?;
    check_inside(&bson, 1, columns_are_checked)
}

fn check_top(bson: &[u8]) -> Result<(), Refusal> {
    for (at, element) in elements(bson)?.into_iter().enumerate() {
        let is_id = element.name == b"_id";
        if at == 0 && !is_id {
            return Err(refused(
                "Its `_id` is missing or not its first field, where MongoDB would put it.".into(),
            ));
        }
        if at > 0 && is_id {
            return Err(refused("It has two fields `_id`.".into()));
        }
        if element.kind == ElementType::Timestamp && element.value == [0; 8] && !is_id {
            return Err(refused(format!(
                "The field {:?} is a timestamp of zero, which MongoDB would replace by the time.",
                shown(&element)
            )));
        }
    }
    let first = elements(bson)?.into_iter().next();
    first.map_or_else(|| Err(refused("It has no `_id`.".into())), |id| check_id(&id))
}

fn check_id(id: &Element<'_>) -> Result<(), Refusal> {
    use ElementType::{Array, Document, RegularExpression, Undefined};
    if matches!(id.kind, Array | RegularExpression | Undefined) {
        return Err(refused("Its `_id` is an array, a regular expression or undefined.".into()));
    }
    let dollar = |element: &Element<'_>| element.name.first() == Some(&b'$');
    if id.kind == Document && elements(id.value)?.iter().any(dollar) {
        return Err(refused("A field name within its `_id` begins with `$`.".into()));
    }
    Ok(())
}

fn check_inside(bson: &[u8], depth: u16, columns_are_checked: bool) -> Result<(), Refusal> {
    if depth > MAX_DEPTH {
        return Err(refused(format!("It is nested more than {MAX_DEPTH} levels deep.")));
    }
    for element in elements(bson)? {
        match element.kind {
            ElementType::Document | ElementType::Array => {
                check_inside(element.value, depth + 1, columns_are_checked)?;
            }
            ElementType::Boolean if !matches!(element.value, [0 | 1]) => {
                return Err(refused(format!(
                    "The field {:?} holds a boolean that is neither.",
                    shown(&element)
                )));
            }
            ElementType::Binary if columns_are_checked && element.value.get(4) == Some(&COLUMN) => {
                return Err(refused(format!(
                    "The field {:?} holds a binary of subtype 7, which this server may refuse.",
                    shown(&element)
                )));
            }
            _ => {}
        }
    }
    Ok(())
}

fn elements(bson: &[u8]) -> Result<Vec<Element<'_>>, Refusal> {
    let elements = Elements::of(bson).and_then(Iterator::collect);
    elements.map_err(|_| refused("It is no valid BSON.".into()))
}

fn shown(element: &Element<'_>) -> String {
    String::from_utf8_lossy(element.name).into_owned()
}

fn refused(detail: String) -> Refusal {
    Refusal::new(Reason::TargetRule, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_on(version: &[i32], line: &str) -> Result<(), String> {
        let deployment = Deployment {
            replicated: false,
            snapshots: false,
            version: version.to_vec(),
            preference: None,
            write_concern: None,
            majority: false,
        };
        check(&deployment, line.as_bytes()).map_err(|refusal| refusal.detail)
    }

    #[test]
    fn what_the_server_would_refuse_or_change_is_told() {
        let deep = (0..185).fold("null".to_owned(), |inner, _| format!("{{\"a\":{inner}}}"));
        let deep = format!("{{\"_id\":\"1\",\"a\":{deep}}}");
        for (line, words) in [
            ("{}", "no `_id`"),
            (r#"{"a":null,"_id":"1"}"#, "not its first"),
            (r#"{"_id":["1"]}"#, "array"),
            (r#"{"_id":{"$undefined":true}}"#, "undefined"),
            (r#"{"_id":{"$ref":"x"}}"#, "begins with `$`"),
            (r#"{"_id":"1","t":{"$timestamp":{"t":0,"i":0}}}"#, "\"t\""),
            (r#"{"_id":"1","a":1}"#, "\"a\""),
            (&deep, "180"),
        ] {
            let detail = check_on(&[6, 0, 5], line).unwrap_err();
            assert!(detail.contains(words), "{line}: {detail}");
        }
        for line in [
            r#"{"_id":{"$maxKey":1},"a":{"t":{"$timestamp":{"t":0,"i":0}}}}"#,
            r#"{"_id":null,"$oid":"x","a.b":[{"$set":{}}]}"#,
        ] {
            assert_eq!(check_on(&[6, 0, 5], line), Ok(()), "{line}");
        }
    }

    #[test]
    fn a_column_is_refused_where_a_server_may_check_it() {
        let line = r#"{"_id":"1","c":{"$binary":{"base64":"AA==","subType":"07"}}}"#;
        assert_eq!(check_on(&[6, 0, 5], line), Ok(()));
        assert!(check_on(&[6, 0, 27], line).is_err() && check_on(&[8, 0, 0], line).is_err());
    }
}
