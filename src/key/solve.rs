use std::borrow::Cow;

use super::{Escaping, Part, Template, Term, Terms};

/// What the unknown terms of a template must be for it to render a given text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution<'t> {
    /// The first unknown term.
    pub first: Cow<'t, str>,
    /// The second, where there are two.
    pub second: Option<Cow<'t, str>>,
}

impl Template {
    /// Finds the unknown terms that make the template render `text`; `None` if there are none.
    ///
    /// What stands before the first unknown term and after the last is known and taken off both ends. One
    /// unknown term is all that is left, so it may hold any separator. Of two, the first ends where the text
    /// between them stands first: the only guess there is, and none at all where terms are escaped.
    pub fn solve<'t>(
        &self,
        text: &'t str,
        terms: &Terms<'_>,
        escaping: Escaping,
        unknown: impl Fn(&Term) -> bool,
        scratch: &mut String,
    ) -> Option<Solution<'t>> {
        let is_unknown = |part: &Part| matches!(part, Part::Term { term, .. } if unknown(term));
        let parts = self.parts();
        let first = parts.iter().position(is_unknown)?;
        let last = parts.iter().rposition(is_unknown)?;

        render(&parts[..first], terms, escaping, scratch);
        let text = text.strip_prefix(scratch.as_str())?;
        render(&parts[last + 1..], terms, escaping, scratch);
        let text = text.strip_suffix(scratch.as_str())?;
        if first == last {
            return Some(Solution { first: read(&parts[first], escaping, text)?, second: None });
        }

        render(&parts[first + 1..last], terms, escaping, scratch);
        let (text, second) = text.split_once(scratch.as_str())?;
        Some(Solution {
            first: read(&parts[first], escaping, text)?,
            second: Some(read(&parts[last], escaping, second)?),
        })
    }
}

/// Renders some parts of a template into an emptied buffer.
fn render(parts: &[Part], terms: &Terms<'_>, escaping: Escaping, out: &mut String) {
    out.clear();
    for part in parts {
        part.render(terms, escaping, out);
    }
}

/// The term that a part renders as `text`. A tenant is never empty.
fn read<'t>(part: &Part, escaping: Escaping, text: &'t str) -> Option<Cow<'t, str>> {
    match part {
        Part::Literal(_) => None,
        Part::Term { term: Term::Tenant, .. } if text.is_empty() => None,
        Part::Term { escaped: true, .. } => escaping.read(text),
        Part::Term { escaped: false, .. } => Some(Cow::Borrowed(text)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn solved(
        template: &str,
        text: &str,
        terms: &Terms<'_>,
        escaping: Escaping,
        unknown: &[Term],
    ) -> Vec<String> {
        let template: Template = template.parse().unwrap();
        let solution =
            template.solve(text, terms, escaping, |term| unknown.contains(term), &mut String::new());
        solution
            .map_or(vec![], |it| std::iter::once(it.first).chain(it.second).map(Cow::into_owned).collect())
    }

    const EVENT: &str = "t:{tenant|e}:{type|e}:{id|e}:{version}";
    const BARE: &str = "t:{tenant|e}:{id|e}";

    #[test]
    fn a_tenant_stands_between_what_is_known_before_and_after_it() {
        let terms = Terms { type_name: "Order", id: "eu:42", version: Some(7), ..Terms::default() };
        let tenant = |text, escaping| solved(EVENT, text, &terms, escaping, &[Term::Tenant]);
        assert_eq!(tenant("t:acme:eu:Order:eu:42:7", Escaping::Raw), ["acme:eu"]);
        assert_eq!(tenant("t:acme%3Aeu:Order:eu%3A42:7", Escaping::Escaped), ["acme:eu"]);
        for (text, escaping) in [
            ("t:acme:Order:eu:42:8", Escaping::Raw),
            ("t::Order:eu:42:7", Escaping::Raw),
            ("t:Order:eu:42:7", Escaping::Raw),
            ("t:acme:eu:Order:eu%3A42:7", Escaping::Escaped),
            ("t:100%:Order:eu%3A42:7", Escaping::Escaped),
        ] {
            assert!(tenant(text, escaping).is_empty(), "{text}");
        }
    }

    #[test]
    fn with_a_bare_term_the_tenant_ends_at_the_first_separator() {
        let both =
            |text, escaping| solved(BARE, text, &Terms::default(), escaping, &[Term::Tenant, Term::Id]);
        assert_eq!(both("t:acme:eu:42", Escaping::Raw), ["acme", "eu:42"]);
        assert_eq!(both("t:acme%3Aeu:a%253A", Escaping::Escaped), ["acme:eu", "a%3A"]);
        assert!(both("t:acme:eu:42", Escaping::Escaped).is_empty());
        assert!(both("t:acme", Escaping::Raw).is_empty());
        assert!(both("t::x", Escaping::Raw).is_empty());
        assert!(both("A-1001", Escaping::Raw).is_empty());
    }

    proptest! {
        #[test]
        fn every_rendered_key_is_solved_for_its_tenant(
            tenant in "[ab:%é_]{1,6}", type_name in "[at:%]{0,4}", id in "[at:%/]{0,6}", version: i64, raw: bool,
        ) {
            let escaping = if raw { Escaping::Raw } else { Escaping::Escaped };
            let terms =
                Terms { tenant: &tenant, type_name: &type_name, id: &id, version: Some(version), others: &[] };
            let mut key = String::new();
            EVENT.parse::<Template>().unwrap().render(&terms, escaping, &mut key);
            let unknown = Terms { tenant: "", ..terms };
            prop_assert_eq!(solved(EVENT, &key, &unknown, escaping, &[Term::Tenant]), vec![tenant]);
        }

        #[test]
        fn every_escaped_key_is_solved_for_tenant_and_bare_id(tenant in "[ab:%]{1,6}", id in "[at:%/]{0,6}") {
            let terms = Terms { tenant: &tenant, id: &id, ..Terms::default() };
            let mut key = String::new();
            BARE.parse::<Template>().unwrap().render(&terms, Escaping::Escaped, &mut key);
            let both = [Term::Tenant, Term::Id];
            let found = solved(BARE, &key, &Terms::default(), Escaping::Escaped, &both);
            prop_assert_eq!(found, vec![tenant, id]);
        }
    }
}
