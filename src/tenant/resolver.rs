//! Asks the rule for the tenant of one stream after another, and checks the answer.

use super::claims::{Claims, Settled};
use super::{KnownTenants, Origin, RuleDescription, TenantRule, UnusedRows, WantedTenants, check_tenant};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use crate::{
    Error, Result,
    check::{Reason, Refusal},
    document::{StoreKind, json::Tape},
};

/// Finds the tenant of each stream.
///
/// Per stream: [`start_stream`](Self::start_stream), then [`observe`](Self::observe) each of its documents if the
/// rule [reads documents](Self::reads_documents), then [`decide`](Self::decide), as often as needed.
/// Threads need no lock: each works through its streams with a clone of its own; clones share the rule.
#[derive(Clone)]
pub struct TenantResolver {
    rule: TenantRule,
    known: Option<KnownTenants>,
    carried: Claims,
    /// The tenants asked for, where only the documents tell whether there are such.
    wanted: Option<Arc<Mutex<WantedTenants>>>,
    /// The tenants that this clone has shown to `wanted`.
    shown: BTreeSet<String>,
}

impl TenantResolver {
    /// Makes a resolver for a rule and, where they are listed, the known tenants.
    pub fn new(rule: TenantRule, known: Option<KnownTenants>) -> Self {
        Self { rule, known, carried: Claims::default(), wanted: None, shown: BTreeSet::new() }
    }

    /// Looks out for tenants that were asked for.
    #[must_use]
    pub fn looking_for(self, wanted: WantedTenants) -> Self {
        Self { wanted: Some(Arc::new(Mutex::new(wanted))), ..self }
    }

    /// The usage error if one of the tenants asked for was no stream's so far, whichever clone was asked.
    pub fn unseen(&self) -> Option<Error> {
        let wanted = self.wanted.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        wanted.unseen("the archive")
    }

    /// Whether a stream's tenant stands in its documents, so that it is known only after the last of them.
    pub fn reads_documents(&self) -> bool {
        matches!(self.rule, TenantRule::Field(_))
    }

    /// Forgets what the documents of the stream before carried.
    pub fn start_stream(&mut self) {
        self.carried.clear();
    }

    /// Takes in what one document of the stream carries; `number` is the line it stands on.
    ///
    /// Refused are a value that is no string (`field-type`) and a line without the store's fields (`not-lossless`).
    pub fn observe(
        &mut self,
        store: StoreKind,
        tape: &Tape,
        line: &[u8],
        number: u64,
    ) -> Result<(), Refusal> {
        let TenantRule::Field(field) = &self.rule else { return Ok(()) };
        if let Some(tenant) = field.read(store, tape, line)? {
            self.carried.add(number, &tenant);
        }
        Ok(())
    }

    /// Decides the tenant of the stream with this type and legacy key.
    ///
    /// The inner error is the refusal that all documents of the stream share: `tenant-missing`, `-ambiguous`,
    /// `-disagrees`, `-invalid`, `-suspicious` or `-unknown`. The outer one is a temporary file that cannot be read.
    pub fn decide(&mut self, type_name: &str, key: &str) -> Result<Result<&str, Refusal>> {
        let (tenant, origin) = match &mut self.rule {
            TenantRule::Constant(tenant) => (Ok(tenant.as_str()), Origin::CommandLine),
            TenantRule::Map(map) => (map.find(type_name, key)?, Origin::Data),
            TenantRule::Field(field) => (settle(&self.carried, field.path(), key), Origin::Data),
        };
        if let (Some(wanted), Ok(tenant)) = (&self.wanted, &tenant)
            && !self.shown.contains(*tenant)
        {
            let _ = self.shown.insert((*tenant).to_owned());
            wanted.lock().unwrap_or_else(PoisonError::into_inner).observe(tenant);
        }
        let known = self.known.as_ref();
        Ok(tenant.and_then(|tenant| check_tenant(tenant, origin, known).map(|()| tenant)))
    }

    /// The rows of the tenant map that gave no stream its tenant so far; `None` for other rules.
    pub fn unused_rows(&self) -> Option<UnusedRows> {
        self.rule.unused_rows()
    }

    /// Forgets what was counted: the same documents are about to be read again.
    pub fn begin_pass(&self) {
        if let TenantRule::Field(field) = &self.rule {
            field.begin_pass();
        }
    }

    /// How many documents so far hold something else than JSON where the rule looks for the tenant.
    pub fn documents_without_json(&self) -> u64 {
        self.rule.documents_without_json()
    }

    /// Describes rule and known tenants for the manifest.
    pub fn describe(&self) -> RuleDescription {
        RuleDescription::of(&self.rule, self.known.as_ref())
    }
}

fn settle<'c>(carried: &'c Claims, path: &str, key: &str) -> Result<&'c str, Refusal> {
    match carried.settle() {
        Settled::Agreed(tenant) => Ok(tenant),
        Settled::Unclaimed => Err(Refusal::new(
            Reason::TenantMissing,
            format!("no document of {key:?} carries a tenant in {path:?}"),
        )),
        Settled::Disputed(first, other) => Err(Refusal::new(
            Reason::TenantDisagrees,
            format!(
                "{key:?} carries the tenant {:?} on line {} and {:?} on line {}",
                first.tenant, first.line, other.tenant, other.line
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tenant::TenantField;

    const STORE: StoreKind = StoreKind::DynamoDb;

    fn resolver(path: &str) -> TenantResolver {
        TenantResolver::new(TenantRule::Field(TenantField::parse(path).unwrap()), None)
    }

    fn observe(resolver: &mut TenantResolver, number: u64, item: &str) -> Result<(), Refusal> {
        let (line, mut tape) = (format!(r#"{{"Item":{item}}}"#), Tape::new());
        tape.read(line.as_bytes()).unwrap();
        resolver.observe(STORE, &tape, line.as_bytes(), number)
    }

    fn decide(resolver: &mut TenantResolver) -> Result<String, Reason> {
        let decided = resolver.decide("Order", "Order:A-1").unwrap();
        decided.map(str::to_owned).map_err(|refusal| refusal.reason)
    }

    #[test]
    fn documents_that_carry_nothing_inherit_the_tenant_of_the_others() {
        let mut resolver = resolver("tenantId");
        resolver.start_stream();
        for (number, item) in
            (1..).zip([r"{}", r#"{"tenantId":{"NULL":true}}"#, r#"{"tenantId":{"S":"acme"}}"#])
        {
            observe(&mut resolver, number, item).unwrap();
        }
        assert_eq!(decide(&mut resolver), Ok("acme".into()));
        resolver.start_stream();
        observe(&mut resolver, 4, "{}").unwrap();
        assert_eq!(decide(&mut resolver), Err(Reason::TenantMissing));
    }

    #[test]
    fn documents_that_disagree_are_refused_naming_both() {
        let mut resolver = resolver("tenantId");
        resolver.start_stream();
        observe(&mut resolver, 3, r#"{"tenantId":{"S":"acme"}}"#).unwrap();
        observe(&mut resolver, 7, r#"{"tenantId":{"S":"globex"}}"#).unwrap();
        let refusal = resolver.decide("Order", "Order:A-1").unwrap().unwrap_err();
        assert_eq!(refusal.reason, Reason::TenantDisagrees);
        assert!(refusal.detail.contains(r#""acme" on line 3 and "globex" on line 7"#), "{refusal}");
    }

    #[test]
    fn clones_decide_their_own_streams() {
        let mut one = resolver("tenantId");
        let mut other = one.clone();
        one.start_stream();
        other.start_stream();
        observe(&mut one, 1, r#"{"tenantId":{"S":"acme"}}"#).unwrap();
        observe(&mut other, 2, r#"{"tenantId":{"S":"globex"}}"#).unwrap();
        assert_eq!((decide(&mut one), decide(&mut other)), (Ok("acme".into()), Ok("globex".into())));
    }

    #[test]
    fn the_answer_is_checked_whatever_the_rule() {
        let mut typed = TenantResolver::new(TenantRule::Constant("default".into()), None);
        assert_eq!(decide(&mut typed), Err(Reason::TenantSuspicious));
        let mut known =
            TenantResolver::new(TenantRule::Constant("acme".into()), Some(KnownTenants::parse("globex")));
        assert_eq!(decide(&mut known), Err(Reason::TenantUnknown));
    }
}
