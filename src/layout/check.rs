//! What a layout's sections must say for each other.

use super::{DocumentKind, Field, FieldType, KeyPlace, Layout};
use crate::document::{DOCUMENT_ID, StoreKind};
use crate::key::{Part, Template, Term};

/// The most fields one layout reads; a document's are looked up in one pass into a table of this size.
pub(super) const MAX_FIELDS: usize = 32;

/// What is wrong, beginning with the key in the file.
type Wrong = String;

impl Layout {
    /// Brings names into the form that documents have: Cosmos DB paths lose their slash.
    pub(super) fn tidy(&mut self) -> Result<(), Wrong> {
        if self.store != StoreKind::CosmosDb {
            return Ok(());
        }
        let in_fields = self.fields.iter_mut().flat_map(|field| field.at.iter_mut().chain(&mut field.bare));
        let in_keys = self.keys.iter_mut().map(|key| &mut key.at);
        for name in in_fields.chain(in_keys).chain(&mut self.stream.key) {
            without_slash(name);
        }
        let in_limits = self.limits.iter_mut().flat_map(|limit| &mut limit.at);
        for name in self.collection.key.iter_mut().map(|field| &mut field.name).chain(in_limits) {
            without_slash(name);
            if name.contains('/') {
                return Err(format!("the path /{name}: only fields at the top level of an item can be keys"));
            }
        }
        Ok(())
    }

    /// Checks that the sections fit together.
    pub(super) fn check(&self) -> Result<(), Wrong> {
        self.check_fields()?;
        self.check_keys()?;
        self.check_sets()?;
        self.check_collection()?;
        self.check_query()?;
        self.check_template("tenant_map.key", &self.tenant_map.key, false)?;
        if self.stream.key.is_empty() {
            return Err("stream.key: names no field".into());
        }
        let names = self.read_fields();
        if names.len() > MAX_FIELDS {
            return Err(format!("it reads {} fields, more than {MAX_FIELDS}", names.len()));
        }
        if self.store != StoreKind::Firestore && names.contains(&DOCUMENT_ID) {
            return Err(format!("{DOCUMENT_ID}: only a Firestore document has an id besides its fields"));
        }
        // On Firestore and DynamoDB what the server writes stands beside the fields, under names of its own.
        let among_fields = matches!(self.store, StoreKind::MongoDb | StoreKind::CosmosDb);
        match self.document.drop.iter().find(|name| among_fields && names.contains(&name.as_str())) {
            Some(name) => Err(format!("document.drop: {name:?} is read or set elsewhere")),
            None => Ok(()),
        }
    }

    /// Every field that is read from a document, once each.
    pub(super) fn read_fields(&self) -> Vec<&str> {
        let conditions = self.conditions.iter().map(|condition| &condition.at);
        let fields = self.fields.iter().filter_map(|(_, field)| field.at.as_ref());
        let keys = self.keys.iter().map(|key| &key.at);
        let sets = self.sets.iter().map(|set| &set.at);
        let limits = self.limits.iter().flat_map(|limit| &limit.at);
        let singles = self.stream.event_id.iter().chain(&self.document.expires);
        let owned = conditions.chain(fields).chain(keys).chain(sets).chain(limits).chain(singles);
        let mut names: Vec<&str> = owned
            .chain(&self.stream.key)
            .map(String::as_str)
            .chain(self.owner.at.iter().map(super::FieldPath::field))
            .chain(self.store_key_fields())
            .chain(self.counter.iter().map(|counter| counter.counts.as_str()))
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    fn check_fields(&self) -> Result<(), Wrong> {
        if self.kind != DocumentKind::Items && self.fields.type_name.is_none() {
            return Err(format!("fields.type: missing, which {} have", self.kind.name()));
        }
        if self.kind == DocumentKind::Events && self.fields.version.is_none() {
            return Err("fields.version: missing, which events have".into());
        }
        for (term, field) in self.fields.iter() {
            self.check_field(&term, field).map_err(|what| format!("fields.{}: {what}", term.name()))?;
        }
        match self.fields.iter().filter(|(_, field)| field.bare.is_some()).count() {
            0 | 1 => Ok(()),
            _ => Err("fields: only one of them can be the bare term of a key".into()),
        }
    }

    fn check_field(&self, term: &Term, field: &Field) -> Result<(), Wrong> {
        let integer = field.is == FieldType::Integer;
        if integer != (*term == Term::Version) {
            return Err("the version is an integer and everything else a string".into());
        }
        if field.optional && !integer {
            return Err("only the version can be optional".into());
        }
        let named = |template: &Template| template.names(term);
        let used = self.keys.iter().flat_map(KeyPlace::templates).any(named) || named(&self.tenant_map.key);
        if matches!(term, Term::Other(_)) && !used {
            return Err("unknown: fields are type, id, version and what a template names".into());
        }
        match (&field.at, &field.bare) {
            (None, None) => Err("neither `at` nor `bare` says where it is".into()),
            (_, Some(_)) if integer => Err("a version cannot be the bare term of a key".into()),
            (_, Some(at)) => self.check_bare(term, at),
            _ => Ok(()),
        }
    }

    /// A bare term can be read out of its key: alone with literal text before, between tenant and text after.
    fn check_bare(&self, term: &Term, at: &str) -> Result<(), Wrong> {
        let place = self.keys.iter().find(|key| key.at == at);
        let (legacy, rekeyed) = place
            .and_then(KeyPlace::change)
            .ok_or_else(|| format!("bare: there is no [[key]] with `legacy` and `rekeyed` at {at:?}"))?;
        let terms: Vec<_> = rekeyed.terms().collect();
        let separated = rekeyed.parts().windows(3).any(|parts| {
            matches!(parts, [Part::Term { term: Term::Tenant, .. }, Part::Literal(_),
                Part::Term { term: bare, .. }] if bare == term)
        });
        if legacy.terms().ne([term]) || terms != [&Term::Tenant, term] || !separated {
            return Err(format!(
                "bare: the key at {at:?} must be this term alone, and the tenant, some text and this term"
            ));
        }
        Ok(())
    }

    fn check_keys(&self) -> Result<(), Wrong> {
        for (number, key) in self.keys.iter().enumerate() {
            let wrong = |what: &str| Err(format!("key[{number}] ({}): {what}", key.at));
            match (&key.legacy, &key.rekeyed, &key.stays) {
                (Some(_), Some(_), None) | (None, None, Some(_)) => {}
                _ => return wrong("has either `legacy` and `rekeyed`, or `stays`"),
            }
            if key.is == FieldType::Integer
                && key.stays.as_ref().is_none_or(|it| it.to_string() != "{version}")
            {
                return wrong("an integer can only stay \"{version}\"");
            }
            for (name, template) in
                [("legacy", &key.legacy), ("rekeyed", &key.rekeyed), ("stays", &key.stays)]
            {
                let Some(template) = template else { continue };
                self.check_template(&format!("key[{number}].{name}"), template, name == "rekeyed")?;
                if name == "rekeyed" && template.terms().filter(|term| **term == Term::Tenant).count() != 1 {
                    return wrong("`rekeyed` names {tenant} once");
                }
            }
        }
        if self.keys.first().is_none_or(|key| key.change().is_none()) {
            return Err("key[0]: the first place is the one shown to people, so it changes".into());
        }
        Ok(())
    }

    fn check_sets(&self) -> Result<(), Wrong> {
        for (number, set) in self.sets.iter().enumerate() {
            self.check_template(&format!("set[{number}].value"), &set.value, true)?;
            if self.keys.iter().any(|key| key.at == set.at) || set.at == DOCUMENT_ID {
                return Err(format!("set[{number}]: {:?} is a key", set.at));
            }
        }
        Ok(())
    }

    /// A template names only what documents give, and a version only where every document has one.
    fn check_template(&self, key: &str, template: &Template, tenant: bool) -> Result<(), Wrong> {
        let escaped = |part: &Part| matches!(part, Part::Term { escaped: true, .. });
        if template.parts().iter().any(escaped) && !key.ends_with(".rekeyed") {
            return Err(format!("{key}: only a rekeyed key has escaped terms"));
        }
        for term in template.terms() {
            let field = self.fields.iter().find(|(known, _)| known == term).map(|(_, field)| field);
            match (term, field) {
                (Term::Tenant, _) if tenant => {}
                (Term::Tenant, _) => return Err(format!("{key}: a tenant is not known there")),
                (_, None) => return Err(format!("{key}: {{{}}} is none of [fields]", term.name())),
                (_, Some(field)) if field.optional => {
                    return Err(format!("{key}: {{{}}} is optional", term.name()));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn check_collection(&self) -> Result<(), Wrong> {
        let key = &self.collection.key;
        let typed = key.iter().all(|field| matches!(field.kind.as_deref(), Some("S" | "N" | "B")));
        let untyped = key.iter().all(|field| field.kind.is_none());
        match self.store {
            StoreKind::MongoDb | StoreKind::Firestore if !key.is_empty() => {
                Err(format!("collection.key: {} has none to choose", self.store.title()))
            }
            StoreKind::DynamoDb if !typed || !(1..=2).contains(&key.len()) => {
                Err("collection.key: one or two attributes, each of type S, N or B".into())
            }
            StoreKind::CosmosDb if !untyped || !(1..=3).contains(&key.len()) => {
                let names: Vec<_> = key.iter().map(|field| field.name.as_str()).collect();
                Err(format!("collection.key: one to three paths without a type, not {:?}", names.join(", ")))
            }
            _ => Ok(()),
        }
    }

    /// The framework's query can be asked when a rekeyed document's values are known for every field.
    fn check_query(&self) -> Result<(), Wrong> {
        for field in self.query.iter().flat_map(|query| &query.equals) {
            if self.rekeyed_template(field).is_none() && self.term_at(field).is_none() {
                return Err(format!("query.equals: {field:?} is neither a key, nor set, nor read"));
            }
        }
        Ok(())
    }

    /// The template of what a rekeyed document holds in `field`, and whether terms are escaped in it.
    pub(super) fn rekeyed_template(&self, field: &str) -> Option<&Template> {
        let place = self.keys.iter().find(|key| key.at == field);
        place
            .and_then(|key| key.rekeyed.as_ref().or(key.stays.as_ref()))
            .or_else(|| self.sets.iter().find(|set| set.at == field).map(|set| &set.value))
    }

    /// The term that is read from `field`.
    pub(super) fn term_at(&self, field: &str) -> Option<Term> {
        self.fields.iter().find(|(_, it)| it.at.as_deref() == Some(field)).map(|(term, _)| term)
    }
}

fn without_slash(name: &mut String) {
    if let Some(path) = name.strip_prefix('/') {
        *name = path.to_owned();
    }
}

impl KeyPlace {
    fn templates(&self) -> impl Iterator<Item = &Template> {
        self.legacy.iter().chain(&self.rekeyed).chain(&self.stays)
    }
}
