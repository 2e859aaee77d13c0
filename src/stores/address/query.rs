//! The part of an address after `?`.

use super::wrong;
use crate::Result;

/// Splits `name=value&…` and undoes percent-encoding in the values. `known` are the names allowed.
pub(super) fn options<'a>(query: &'a str, known: &[&str], example: &str) -> Result<Vec<(&'a str, String)>> {
    query
        .split('&')
        .filter(|option| !option.is_empty())
        .map(|option| {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            if !known.contains(&name) {
                let known = known.join(", ");
                return Err(wrong(
                    format!("The store address has an unknown option; known: {known}"),
                    example,
                ));
            }
            Ok((name, percent_decode(value)))
        })
        .collect()
}

/// Undoes percent-encoding; what is no valid encoding stays as it is.
pub(super) fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let decoded = match after.split_at_checked(2) {
            Some((digits, after)) if first == b'%' => hex::decode(digits).ok().map(|byte| (byte, after)),
            _ => None,
        };
        let (byte, after) = decoded.unwrap_or_else(|| (vec![first], after));
        bytes.extend_from_slice(&byte);
        rest = after;
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_encoding_is_undone_where_it_is_valid() {
        assert_eq!(percent_decode("a%20b%2Fc"), "a b/c");
        assert_eq!(percent_decode("100%"), "100%");
        assert_eq!(percent_decode("%4"), "%4");
        assert_eq!(percent_decode("%zz%41"), "%zzA");
        assert_eq!(percent_decode("%ff"), "%ff");
    }
}
