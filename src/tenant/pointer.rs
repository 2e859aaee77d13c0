//! JSON pointers (RFC 6901) into the JSON that a field holds.

use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// The reference tokens of a pointer, unescaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pointer(Vec<Box<str>>);

/// What a pointer leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Pointed {
    /// Nothing, or `null`.
    Nothing,
    /// A string.
    Text(String),
    /// A value of another type, in words.
    Other(&'static str),
}

impl Pointer {
    /// Reads a pointer, which begins with `/`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let tokens = text
            .strip_prefix('/')
            .ok_or_else(|| format!("the JSON pointer {text:?} does not begin with `/`"))?;
        tokens.split('/').map(unescape).collect::<Result<_, _>>().map(Self)
    }

    /// Looks the value up in `json`, which is read to its end; of a repeated member the last one counts, as it
    /// does for the serializers of .NET.
    pub fn look_up(&self, json: &[u8]) -> serde_json::Result<Pointed> {
        let mut deserializer = serde_json::Deserializer::from_slice(json);
        let found = Seek { tokens: &self.0 }.deserialize(&mut deserializer)?;
        deserializer.end().map(|()| found)
    }
}

fn unescape(token: &str) -> Result<Box<str>, String> {
    let stray = token.split('~').skip(1).any(|rest| !rest.starts_with(['0', '1']));
    if stray {
        return Err(format!(
            "in the JSON pointer, `~` of {token:?} is written `~0` (and `/` is written `~1`)"
        ));
    }
    Ok(token.replace("~1", "/").replace("~0", "~").into())
}

/// Walks along the tokens and builds nothing of what lies beside the way.
struct Seek<'p> {
    tokens: &'p [Box<str>],
}

impl Seek<'_> {
    fn end(&self, value: Pointed) -> Pointed {
        if self.tokens.is_empty() { value } else { Pointed::Nothing }
    }
}

impl<'de> DeserializeSeed<'de> for Seek<'_> {
    type Value = Pointed;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Pointed, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seek<'_> {
    type Value = Pointed;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Pointed, E> {
        Ok(Pointed::Nothing)
    }

    fn visit_str<E>(self, text: &str) -> Result<Pointed, E> {
        Ok(self.end(Pointed::Text(text.to_owned())))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Pointed, E> {
        Ok(self.end(Pointed::Other("true or false")))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Pointed, E> {
        Ok(self.end(Pointed::Other("a number")))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Pointed, E> {
        Ok(self.end(Pointed::Other("a number")))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Pointed, E> {
        Ok(self.end(Pointed::Other("a number")))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pointed, A::Error> {
        let mut found = self.end(Pointed::Other("an object"));
        let Some((name, tokens)) = self.tokens.split_first() else {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return Ok(found);
        };
        while let Some(is_next) = map.next_key_seed(IsName(name))? {
            if is_next {
                found = map.next_value_seed(Seek { tokens })?;
            } else {
                let IgnoredAny = map.next_value()?;
            }
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Pointed, A::Error> {
        let mut found = self.end(Pointed::Other("an array"));
        if let Some((index, tokens)) =
            self.tokens.split_first().and_then(|(token, rest)| Some((index(token)?, rest)))
        {
            for _ in 0..index {
                if elements.next_element::<IgnoredAny>()?.is_none() {
                    return Ok(found);
                }
            }
            found = elements.next_element_seed(Seek { tokens })?.unwrap_or(found);
        }
        while elements.next_element::<IgnoredAny>()?.is_some() {}
        Ok(found)
    }
}

/// An array index has no leading zeros (RFC 6901, section 4).
fn index(token: &str) -> Option<usize> {
    let digits = token.bytes().all(|byte| byte.is_ascii_digit());
    (digits && (token == "0" || !token.starts_with('0'))).then(|| token.parse().ok()).flatten()
}

/// Compares a member's name without keeping it.
struct IsName<'p>(&'p str);

impl<'de> DeserializeSeed<'de> for IsName<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for IsName<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member name")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<bool, E> {
        Ok(name == self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn look_up(pointer: &str, json: &str) -> Pointed {
        Pointer::parse(pointer).unwrap().look_up(json.as_bytes()).unwrap()
    }

    fn text(text: &str) -> Pointed {
        Pointed::Text(text.into())
    }

    #[test]
    fn members_elements_and_escaped_names_are_found() {
        let json = r#"{"a/b":{"m~n":["x",{"":"deep"}]},"n\u0061me":"plain","big":1e999}"#;
        assert_eq!(look_up("/a~1b/m~0n/0", json), text("x"));
        assert_eq!(look_up("/a~1b/m~0n/1/", json), text("deep"));
        assert_eq!(look_up("/name", json), text("plain"));
        assert_eq!(look_up("/a", r#"{"a":"1","a":"2"}"#), text("2"));
    }

    #[test]
    fn what_is_absent_or_null_is_nothing() {
        let json = r#"{"a":null,"b":["x"],"c":"text"}"#;
        for pointer in ["/a", "/z", "/b/1", "/b/00", "/b/-", "/c/0", "/a/b"] {
            assert_eq!(look_up(pointer, json), Pointed::Nothing, "{pointer}");
        }
        assert_eq!(look_up("/a", "[1,2]"), Pointed::Nothing);
        assert_eq!(look_up("/a", "null"), Pointed::Nothing);
    }

    #[test]
    fn other_types_are_named() {
        let json = r#"{"a":7,"b":true,"c":{"x":1},"d":[1]}"#;
        let names = [("/a", "a number"), ("/b", "true or false"), ("/c", "an object"), ("/d", "an array")];
        for (pointer, name) in names {
            assert_eq!(look_up(pointer, json), Pointed::Other(name));
        }
    }

    #[test]
    fn bytes_that_are_not_json_and_cut_off_json_are_errors() {
        let pointer = Pointer::parse("/a").unwrap();
        for json in [&b"\x01\x02"[..], b"", b"{\"a\":\"x\"", b"{\"a\":\"x\"}}", b"{\"a\":\"\xff\"}"] {
            assert!(pointer.look_up(json).is_err());
        }
    }

    #[test]
    fn deep_nesting_beside_the_way_does_not_matter() {
        let json = format!(r#"{{"deep":{}{},"a":"x"}}"#, "[".repeat(10_000), "]".repeat(10_000));
        assert_eq!(look_up("/a", &json), text("x"));
    }

    #[test]
    fn pointers_that_are_not_rfc_6901_are_refused() {
        for pointer in ["", "a", "/a~", "/a~2b"] {
            assert!(Pointer::parse(pointer).is_err(), "{pointer}");
        }
    }

    proptest! {
        #[test]
        fn any_two_names_lead_to_their_value(outer in ".{0,8}", inner in ".{0,8}", value in ".{0,8}") {
            let escape = |name: &str| name.replace('~', "~0").replace('/', "~1");
            let json = serde_json::json!({ "beside": [1, {"x": null}], &outer: { &inner: value } }).to_string();
            prop_assert_eq!(look_up(&format!("/{}/{}", escape(&outer), escape(&inner)), &json), text(&value));
        }
    }
}
