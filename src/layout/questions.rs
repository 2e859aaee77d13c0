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
