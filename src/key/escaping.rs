use std::borrow::Cow;

use memchr::memchr2;
use serde::{Deserialize, Serialize};

/// How the target release of the framework joins the terms of a key.
///
/// The two are the same unless a term holds `:` or `%`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Escaping {
    /// Terms stand as they are.
    Raw,
    /// `%` stands as `%25` and `:` as `%3A`; every other character as it is.
    Escaped,
}

impl Escaping {
    /// Both, for trying which one a key was made with.
    pub const ALL: [Self; 2] = [Self::Raw, Self::Escaped];

    /// The name used on the command line and in manifests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Escaped => "escaped",
        }
    }

    /// Appends a term as it stands in a key.
    pub fn write(self, term: &str, out: &mut String) {
        let mut rest = term;
        if self == Self::Escaped {
            while let Some(at) = memchr2(b':', b'%', rest.as_bytes()) {
                let (plain, special) = rest.split_at(at);
                out.push_str(plain);
                out.push_str(if special.starts_with(':') { "%3A" } else { "%25" });
                rest = &special[1..];
            }
        }
        out.push_str(rest);
    }

    /// The term that stands in a key as `text`; `None` if no term is written so.
    pub fn read(self, text: &str) -> Option<Cow<'_, str>> {
        if self == Self::Raw || !needs_escaping(text) {
            return Some(Cow::Borrowed(text));
        }
        let mut term = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = memchr2(b'%', b':', rest.as_bytes()) {
            let (plain, special) = rest.split_at(at);
            term.push_str(plain);
            rest = if let Some(rest) = special.strip_prefix("%25") {
                term.push('%');
                rest
            } else {
                let rest = special.strip_prefix("%3A")?;
                term.push(':');
                rest
            };
        }
        term.push_str(rest);
        Some(Cow::Owned(term))
    }
}

impl std::fmt::Display for Escaping {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Escaping {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|escaping| escaping.name() == name)
            .ok_or_else(|| format!("unknown escaping {name:?}: expected raw or escaped"))
    }
}

/// Whether a term is written differently by the two escapings.
pub fn needs_escaping(term: &str) -> bool {
    memchr2(b':', b'%', term.as_bytes()).is_some()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn escaped(term: &str) -> String {
        let mut out = String::new();
        Escaping::Escaped.write(term, &mut out);
        out
    }

    #[test]
    fn escaping_is_percent_first_then_colon() {
        for term in ["acme", "a:b", "a%3Ab", "100%", "%:%:%", ":", "%", "", "::%::", "été-注文"] {
            assert_eq!(escaped(term), term.replace('%', "%25").replace(':', "%3A"));
            assert_eq!(Escaping::Escaped.read(&escaped(term)).as_deref(), Some(term));
        }
    }

    #[test]
    fn texts_that_no_term_is_escaped_to_are_refused() {
        for text in ["a:b", "100%", "%3a", "%", "%2", "%41", "a%3Ab:c"] {
            assert_eq!(Escaping::Escaped.read(text), None, "{text}");
            assert_eq!(Escaping::Raw.read(text).as_deref(), Some(text));
        }
    }

    proptest! {
        #[test]
        fn the_escaped_form_is_injective(a in "[a%:3A25]{0,8}", b in "[a%:3A25]{0,8}") {
            prop_assert_eq!(escaped(&a) == escaped(&b), a == b);
            let form = escaped(&a);
            let read = Escaping::Escaped.read(&form);
            prop_assert_eq!(read.as_deref(), Some(a.as_str()));
        }

        #[test]
        fn what_can_be_read_is_what_was_written(text in "[a%:3A25]{0,8}") {
            if let Some(term) = Escaping::Escaped.read(&text) {
                prop_assert_eq!(escaped(&term), text);
            }
        }
    }
}
