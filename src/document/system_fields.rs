//! What a service writes into a document by itself, taken out of a line that goes back to it.

use std::borrow::Cow;

use super::canonical::is_system_field;
use super::json::{Member, Tape};

/// A Cosmos DB item without what the service sets by itself; nothing else is touched. `tape` has read the line.
pub fn without_system_fields<'a>(tape: &Tape, line: &'a [u8]) -> Cow<'a, [u8]> {
    let is_system = |member: &&Member| is_system_field(member, line);
    if !tape.members(None).any(|member| is_system(&member)) {
        return Cow::Borrowed(line);
    }
    let mut item = Vec::with_capacity(line.len());
    item.push(b'{');
    for member in tape.members(None).filter(|member| !is_system(member)) {
        if item.len() > 1 {
            item.push(b',');
        }
        item.extend_from_slice(member.quoted_name(line));
        item.push(b':');
        item.extend_from_slice(member.raw(line));
    }
    item.push(b'}');
    Cow::Owned(item)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(line: &str) -> String {
        let mut tape = Tape::new();
        tape.read(line.as_bytes()).unwrap();
        String::from_utf8(without_system_fields(&tape, line.as_bytes()).into_owned()).unwrap()
    }

    #[test]
    fn what_the_service_sets_is_left_out_and_nothing_else_is_touched() {
        let line = r#"{"id":"1","_rid":"r","_meta":{"_ts":1},"n":1.50,"_etag":"e","_ts":5,"__typename":"T"}"#;
        assert_eq!(sent(line), r#"{"id":"1","_meta":{"_ts":1},"n":1.50,"__typename":"T"}"#);
        let line = r#"{ "id" : "1", "e":1e3 }"#;
        assert_eq!(sent(line), line);
        assert_eq!(sent(r#"{"_ts":1}"#), "{}");
    }
}
