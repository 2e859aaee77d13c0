use super::{Identity, KeyPlace, Layout};
use crate::key::{Escaping, Part, Term, Terms};
use crate::stores::{CollectionSpec, FrameworkQuery, Index, KeyField, LegacyProbe};

impl Layout {
    /// What a collection that is to hold these documents must have.
    pub fn collection_spec(&self) -> CollectionSpec {
        let key = self.collection.key.iter();
        let indexes = self.collection.indexes.iter();
        CollectionSpec {
            key_fields: key.map(|it| KeyField { name: it.name.clone(), kind: it.kind.clone() }).collect(),
            indexes: indexes
                .map(|it| Index { name: it.name.clone(), fields: it.fields.clone(), unique: it.unique })
                .collect(),
        }
    }

    /// The framework's own question whether a collection still holds legacy keys, where it asks one.
    pub fn probe(&self) -> Option<LegacyProbe> {
        self.probe.as_ref().map(|rule| LegacyProbe {
            field: rule.field.clone(),
            within: rule.within.clone(),
            rekeyed_prefix: rule.rekeyed_prefix.clone(),
        })
    }

    /// Whether a rekeyed document has its tenant, and a term beside it, nowhere but in its key: with raw terms
    /// such a key can be read in more than one way.
    pub fn has_tenant_in_key_alone(&self) -> bool {
        self.fields.iter().any(|(_, field)| field.bare.is_some() && field.at.is_none())
    }

    /// How every new key of a tenant begins: the first place's key up to the separator after the tenant.
    pub fn tenant_prefix(&self, tenant: &str, escaping: Escaping) -> String {
        let mut prefix = String::new();
        let Some((_, rekeyed)) = self.keys.iter().find_map(KeyPlace::change) else { return prefix };
        let terms = Terms { tenant, ..Terms::default() };
        let mut past_tenant = false;
        for part in rekeyed.parts() {
            let is_literal = matches!(part, Part::Literal(_));
            if past_tenant && !is_literal {
                break;
            }
            part.render(&terms, escaping, &mut prefix);
            past_tenant |= matches!(part, Part::Term { term: Term::Tenant, .. });
        }
        prefix
    }

    /// The framework's own read of the stream of a document once it is `tenant`'s, where it has one.
    pub fn framework_query(
        &self,
        identity: &Identity,
        tenant: &str,
        escaping: Escaping,
    ) -> Option<FrameworkQuery> {
        let rule = self.query.as_ref()?;
        let terms = identity.terms(tenant);
        let value = |field: &str| {
            let mut value = String::new();
            if let Some(template) = self.rekeyed_template(field) {
                template.render(&terms, escaping, &mut value);
            } else if let Some(text) =
                self.term_at(field).filter(|it| *it != Term::Version).and_then(|it| terms.text(&it))
            {
                value.push_str(text);
            }
            value
        };
        Some(FrameworkQuery {
            equals: rule.equals.iter().map(|field| (field.clone(), value(field))).collect(),
            order_by: rule.order_by.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::KeyState;

    fn query(name: &str) -> (Vec<(String, String)>, Option<String>) {
        let identity = Identity {
            state: KeyState::Legacy,
            type_name: "Order".into(),
            id: "a:1".into(),
            version: Some(3),
            ..Identity::default()
        };
        let query =
            Layout::builtin(name).unwrap().framework_query(&identity, "b:c", Escaping::Escaped).unwrap();
        (query.equals, query.order_by)
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(field, value)| ((*field).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn streams_and_sagas_are_read_as_the_framework_reads_them() {
        let moved = "t:b%3Ac:Order:a%3A1";
        for (name, equals, order_by) in [
            (
                "mongodb-events",
                &[("streamId", "t:b%3Ac:a%3A1"), ("aggregateType", "Order")][..],
                Some("version"),
            ),
            ("dynamodb-events", &[("pk", moved)], Some("sk")),
            ("firestore-events", &[("streamId", moved)], Some("version")),
            ("cosmosdb-events", &[("streamId", moved)], Some("version")),
            ("mongodb-sagas", &[("_id", "t:b%3Ac:a%3A1"), ("tenantId", "b:c"), ("sagaType", "Order")], None),
            ("dynamodb-sagas", &[("PK", "SAGA#t:b%3Ac:a%3A1"), ("SK", "Order"), ("tenantId", "b:c")], None),
            ("firestore-sagas", &[("@id", "t:b%3Ac:a%3A1_Order"), ("tenantId", "b:c")], None),
            ("cosmosdb-sagas", &[("id", "t:b%3Ac:a%3A1"), ("sagaType", "Order"), ("tenantId", "b:c")], None),
        ] {
            assert_eq!(query(name), (pairs(equals), order_by.map(str::to_owned)), "{name}");
        }
    }

    #[test]
    fn probes_look_at_the_key_and_leave_neighbours_alone() {
        for name in Layout::NAMES {
            let layout = Layout::builtin(name).unwrap();
            let Some(probe) = layout.probe() else {
                assert_eq!(*name, "cosmosdb-hierarchical", "only the framework asks");
                continue;
            };
            let saga = probe.within == "SAGA#";
            assert_eq!(saga, *name == "dynamodb-sagas");
            assert_eq!(probe.rekeyed_prefix, format!("{}t:", probe.within));
            assert!(layout.touched_fields().contains(&probe.field.as_str()), "{name}");
        }
    }

    #[test]
    fn collections_get_the_framework_s_keys_and_indexes() {
        let spec = |name| Layout::builtin(name).unwrap().collection_spec();
        let events = spec("mongodb-events");
        let unique: Vec<_> =
            events.indexes.iter().filter(|index| index.unique).map(|index| &*index.name).collect();
        assert_eq!((unique, events.indexes.len()), (vec!["ix_stream_version_unique"], 3));
        let key = spec("dynamodb-events").key_fields;
        let key: Vec<_> = key.iter().map(|it| (it.name.as_str(), it.kind.as_deref())).collect();
        assert_eq!(key, [("pk", Some("S")), ("sk", Some("N"))]);
        assert!(spec("firestore-events").key_fields.is_empty());
    }

    #[test]
    fn only_mongodb_events_keep_their_store_key() {
        let keep: Vec<_> =
            Layout::NAMES.iter().filter(|name| Layout::builtin(name).unwrap().keeps_store_key()).collect();
        assert_eq!(keep, [&"mongodb-events"]);
    }
}
