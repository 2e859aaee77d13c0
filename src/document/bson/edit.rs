//! Changes of a document's own fields, with every other byte as it was.

use super::element::{ElementType, Elements, NotBson};

/// Appends the document with one field set to a text: in its place, or after the last field.
pub fn with_text(bson: &[u8], name: &str, text: &str, out: &mut Vec<u8>) -> Result<(), NotBson> {
    let start = out.len();
    let mut set = false;
    out.extend_from_slice(&[0; 4]);
    for element in Elements::of(bson)? {
        let element = element?;
        if element.name == name.as_bytes() && !set {
            set = true;
            push_text(name, text, out)?;
        } else {
            out.extend_from_slice(element.whole);
        }
    }
    if !set {
        push_text(name, text, out)?;
    }
    finish(start, out)
}

/// Appends the document without its fields of these names.
pub fn without(bson: &[u8], names: &[impl AsRef<str>], out: &mut Vec<u8>) -> Result<(), NotBson> {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    for element in Elements::of(bson)? {
        let element = element?;
        if !names.iter().any(|name| name.as_ref().as_bytes() == element.name) {
            out.extend_from_slice(element.whole);
        }
    }
    finish(start, out)
}

fn push_text(name: &str, text: &str, out: &mut Vec<u8>) -> Result<(), NotBson> {
    let length = i32::try_from(text.len() + 1).map_err(|_| NotBson)?;
    out.push(ElementType::String as u8);
    out.extend_from_slice(name.as_bytes());
    out.push(0);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(text.as_bytes());
    out.push(0);
    Ok(())
}

/// Ends the document and writes its length where it begins.
fn finish(start: usize, out: &mut Vec<u8>) -> Result<(), NotBson> {
    out.push(0);
    let length = i32::try_from(out.len() - start).map_err(|_| NotBson)?;
    let place = out.get_mut(start..start + 4).ok_or(NotBson)?;
    place.copy_from_slice(&length.to_le_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::bson::{Parser, write_line};

    fn bson(line: &str) -> Vec<u8> {
        let mut out = Vec::new();
        Parser::default().document(line.as_bytes(), &mut out).unwrap();
        out
    }

    fn line(bson: &[u8]) -> String {
        let mut out = Vec::new();
        write_line(bson, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_field_is_set_in_its_place_or_added_last() {
        for (before, after) in [
            (r#"{"s":"x","a":null}"#, r#"{"s":"t:é","a":null}"#),
            (r#"{"a":null,"s":{"$numberInt":"1"}}"#, r#"{"a":null,"s":"t:é"}"#),
            (r#"{"a":null}"#, r#"{"a":null,"s":"t:é"}"#),
            ("{}", r#"{"s":"t:é"}"#),
        ] {
            let mut out = Vec::new();
            with_text(&bson(before), "s", "t:é", &mut out).unwrap();
            assert_eq!(line(&out), after);
        }
    }

    #[test]
    fn fields_are_left_out() {
        let mut out = Vec::new();
        without(&bson(r#"{"s":"x","a":null,"b":true}"#), &["a", "s"], &mut out).unwrap();
        assert_eq!(line(&out), r#"{"b":true}"#);
        assert!(without(b"\x05\0\0\0", &[""; 0], &mut Vec::new()).is_err());
    }
}
