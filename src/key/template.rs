use std::fmt;
use std::mem::take;

use serde::{Deserialize, Serialize};

use super::{Escaping, needs_escaping};

/// One term a template names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// `{tenant}`: the tenant term.
    Tenant,
    /// `{type}`: the aggregate or saga type.
    Type,
    /// `{id}`: the aggregate or saga id.
    Id,
    /// `{version}`: the version in decimal.
    Version,
    /// Any other name: a field that the layout defines itself.
    Other(String),
}

impl Term {
    fn named(name: &str) -> Self {
        match name {
            "tenant" => Self::Tenant,
            "type" => Self::Type,
            "id" => Self::Id,
            "version" => Self::Version,
            other => Self::Other(other.to_owned()),
        }
    }

    /// The name between the braces.
    pub fn name(&self) -> &str {
        match self {
            Self::Tenant => "tenant",
            Self::Type => "type",
            Self::Id => "id",
            Self::Version => "version",
            Self::Other(name) => name,
        }
    }
}

/// The value of a term that a layout defines besides type, id and version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OtherTerm {
    /// The term's name.
    pub name: String,
    /// Its value in this document.
    pub value: String,
}

/// The values a template is rendered with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Terms<'a> {
    /// The tenant term.
    pub tenant: &'a str,
    /// The aggregate or saga type.
    pub type_name: &'a str,
    /// The aggregate or saga id.
    pub id: &'a str,
    /// The version, where the document has one.
    pub version: Option<i64>,
    /// Terms of the layout's own.
    pub others: &'a [OtherTerm],
}

impl<'a> Terms<'a> {
    /// The text of a term; `None` for the version, which is no text.
    pub fn text(&self, term: &Term) -> Option<&'a str> {
        match term {
            Term::Tenant => Some(self.tenant),
            Term::Type => Some(self.type_name),
            Term::Id => Some(self.id),
            Term::Version => None,
            Term::Other(name) => {
                Some(self.others.iter().find(|other| other.name == *name).map_or("", |other| &other.value))
            }
        }
    }
}

/// One part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Text that stands as it is.
    Literal(String),
    /// A term, escaped or not where the target release escapes terms.
    Term {
        /// The term.
        term: Term,
        /// Whether it carries `|e`.
        escaped: bool,
    },
}

/// A key as literal text and terms: `t:{tenant|e}:{type|e}:{id|e}`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Template {
    text: String,
    parts: Vec<Part>,
}

impl Template {
    /// The parts in order; no two literals stand side by side.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The terms in order.
    pub fn terms(&self) -> impl Iterator<Item = &Term> {
        self.parts.iter().filter_map(|part| match part {
            Part::Term { term, .. } => Some(term),
            Part::Literal(_) => None,
        })
    }

    /// Whether the template names `term`.
    pub fn names(&self, term: &Term) -> bool {
        self.terms().any(|named| named == term)
    }

    /// Appends the key that the terms give.
    pub fn render(&self, terms: &Terms<'_>, escaping: Escaping, out: &mut String) {
        for part in &self.parts {
            part.render(terms, escaping, out);
        }
    }

    /// Whether the two escapings give different keys for these terms.
    pub fn escaping_matters(&self, terms: &Terms<'_>) -> bool {
        self.parts.iter().any(|part| match part {
            Part::Term { term, escaped: true } => terms.text(term).is_some_and(needs_escaping),
            _ => false,
        })
    }
}

impl Part {
    /// Appends the part's text.
    pub fn render(&self, terms: &Terms<'_>, escaping: Escaping, out: &mut String) {
        match self {
            Self::Literal(text) => out.push_str(text),
            Self::Term { term: Term::Version, .. } => {
                if let Some(version) = terms.version {
                    out.push_str(itoa::Buffer::new().format(version));
                }
            }
            Self::Term { term, escaped } => {
                let text = terms.text(term).unwrap_or_default();
                if *escaped { escaping.write(text, out) } else { out.push_str(text) }
            }
        }
    }
}

impl std::str::FromStr for Template {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::try_from(text.to_owned())
    }
}

impl TryFrom<String> for Template {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text.as_str();
        while let Some(at) = rest.find(['{', '}']) {
            literal.push_str(&rest[..at]);
            let (inside, after) = rest[at..]
                .strip_prefix('{')
                .and_then(|inside| inside.split_once('}'))
                .ok_or_else(|| format!("the braces of {text:?} do not match"))?;
            if !literal.is_empty() {
                parts.push(Part::Literal(take(&mut literal)));
            }
            parts.push(term(inside).map_err(|what| format!("{what} in {text:?}"))?);
            rest = after;
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            parts.push(Part::Literal(literal));
        }
        Ok(Self { text, parts })
    }
}

/// Reads what stands between two braces.
fn term(inside: &str) -> Result<Part, String> {
    let (name, escaped) = match inside.split_once('|') {
        None => (inside, false),
        Some((name, "e")) => (name, true),
        Some((_, filter)) => return Err(format!("the filter {filter:?}, where only |e is known,")),
    };
    let plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !plain {
        return Err(format!("{name:?}, which is no name of a term,"));
    }
    Ok(Part::Term { term: Term::named(name), escaped })
}

impl From<Template> for String {
    fn from(template: Template) -> Self {
        template.text
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(template: &str, terms: &Terms<'_>, escaping: Escaping) -> String {
        let mut out = String::new();
        template.parse::<Template>().unwrap().render(terms, escaping, &mut out);
        out
    }

    #[test]
    fn the_framework_s_own_vectors_are_rendered() {
        let events = "t:{tenant|e}:{type|e}:{id|e}:{version}";
        let bare = "t:{tenant|e}:{id|e}";
        let order = Terms { tenant: "acme", type_name: "Order", id: "42", version: Some(10), others: &[] };
        assert_eq!(rendered(events, &order, Escaping::Raw), "t:acme:Order:42:10");
        for (tenant, id, raw, escaped) in [
            ("acme", "order-42", "t:acme:order-42", "t:acme:order-42"),
            ("tenant-1", "Order/2026/42", "t:tenant-1:Order/2026/42", "t:tenant-1:Order/2026/42"),
            ("a:b", "order-42", "t:a:b:order-42", "t:a%3Ab:order-42"),
            ("acme", "eu:order-42", "t:acme:eu:order-42", "t:acme:eu%3Aorder-42"),
            ("100%", "x", "t:100%:x", "t:100%25:x"),
            ("a%3Ab", "x", "t:a%3Ab:x", "t:a%253Ab:x"),
        ] {
            let terms = Terms { tenant, id, ..Terms::default() };
            assert_eq!(rendered(bare, &terms, Escaping::Raw), raw);
            assert_eq!(rendered(bare, &terms, Escaping::Escaped), escaped);
            let matters = bare.parse::<Template>().unwrap().escaping_matters(&terms);
            assert_eq!(matters, raw != escaped);
        }
    }

    #[test]
    fn terms_of_the_layout_s_own_are_rendered() {
        let others = [OtherTerm { name: "customer".into(), value: "c-1".into() }];
        let terms = Terms { tenant: "acme", others: &others, ..Terms::default() };
        assert_eq!(rendered("{tenant}__{customer}", &terms, Escaping::Escaped), "acme__c-1");
    }

    #[test]
    fn malformed_templates_are_refused_with_the_reason() {
        for (text, what) in [
            ("{id", "braces"),
            ("id}", "braces"),
            ("{id|x}", "filter \"x\""),
            ("{}", "no name of a term"),
            ("{a b}", "no name of a term"),
        ] {
            let error = text.parse::<Template>().unwrap_err();
            assert!(error.contains(what), "{text}: {error}");
        }
    }
}
