use std::collections::BTreeMap;

use super::{Plan, StorePlan};
use crate::migration::Inputs;
use crate::report::FindingCode;
use crate::ui::format::number;

/// Something that is not as it was planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The stable code.
    pub code: FindingCode,
    /// One sentence.
    pub message: String,
    /// The tenant it is about.
    pub tenant: Option<String>,
}

impl Difference {
    /// Makes one that is about no tenant.
    pub fn new(code: FindingCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), tenant: None }
    }
}

/// What differs between the settings of a plan and those of now, setting by setting.
pub fn of_settings(planned: &Inputs, now: &Inputs) -> Vec<Difference> {
    let names: std::collections::BTreeSet<&String> = planned.keys().chain(now.keys()).collect();
    let differs = names.into_iter().filter(|name| planned.get(*name) != now.get(*name));
    let value = |settings: &Inputs, name: &String| match settings.get(name) {
        Some(value) => value.split(' ').map(without_digits).collect::<Vec<_>>().join(" "),
        None => "not there".to_owned(),
    };
    differs
        .map(|name| {
            let message =
                format!("{name} was planned as {} and is {}.", value(planned, name), value(now, name));
            Difference::new(code_of(name), message)
        })
        .collect()
}

/// A digest by its beginning; any other word as it is.
fn without_digits(word: &str) -> &str {
    let is_digest = word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_digest { word.get(..12).unwrap_or(word) } else { word }
}

/// The code of a setting that differs.
fn code_of(setting: &str) -> FindingCode {
    match setting {
        "tenant-rule" | "tenant-map" | "known-tenants" | "only-tenants" => FindingCode::PlanTenantRule,
        "layout" => FindingCode::PlanLayout,
        "source" => FindingCode::PlanSource,
        "target" => FindingCode::PlanTarget,
        "rules" => FindingCode::PlanRules,
        limit if limit.starts_with("max-") => FindingCode::PlanLimits,
        _ => FindingCode::PlanOptions,
    }
}

/// What differs between the documents that were planned from a store and those that are about to be written.
///
/// `tenants` are theirs with their numbers, `reasons` those for which documents were refused.
pub fn of_content(
    plan: &Plan,
    store: &StorePlan,
    documents: u64,
    tenants: &BTreeMap<String, u64>,
    reasons: &BTreeMap<String, u64>,
) -> Vec<Difference> {
    let new_tenants = tenants.iter().filter(|(tenant, _)| !store.tenants.contains_key(*tenant));
    let new_tenants = new_tenants.map(|(tenant, documents)| Difference {
        tenant: Some(tenant.clone()),
        ..Difference::new(
            FindingCode::PlanNewTenant,
            format!("The tenant {tenant:?} with {} documents was not planned.", number(*documents)),
        )
    });
    let new_reasons = reasons.iter().filter(|(reason, _)| !store.reasons.contains_key(*reason));
    let new_reasons = new_reasons.map(|(reason, documents)| {
        let documents = number(*documents);
        let message = format!("Refusals for {reason} were not planned: {documents} documents.");
        Difference::new(FindingCode::PlanNewReason, message)
    });
    let mut differences: Vec<_> = new_tenants.chain(new_reasons).collect();
    if grown_beyond(store.documents, documents, plan.max_growth) {
        let (planned, documents) = (number(store.documents), number(documents));
        let message = format!(
            "{planned} documents were planned and {documents} are there: more than {} % of growth.",
            plan.max_growth
        );
        differences.push(Difference::new(FindingCode::PlanGrowth, message));
    }
    differences
}

/// Whether a number has grown by more than so many percent.
pub fn grown_beyond(planned: u64, now: u64, percent: u32) -> bool {
    u128::from(now) * 100 > u128::from(planned) * (100 + u128::from(percent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Basis, PlannedTenant};

    fn codes(differences: &[Difference]) -> Vec<FindingCode> {
        differences.iter().map(|it| it.code).collect()
    }

    #[test]
    fn every_setting_has_its_own_reason() {
        for (setting, code) in [
            ("tenant-map", FindingCode::PlanTenantRule),
            ("layout", FindingCode::PlanLayout),
            ("source", FindingCode::PlanSource),
            ("target", FindingCode::PlanTarget),
            ("rules", FindingCode::PlanRules),
            ("max-wcu", FindingCode::PlanLimits),
            ("in-place", FindingCode::PlanOptions),
        ] {
            let planned: Inputs = [(setting.to_owned(), "a".to_owned())].into();
            let now: Inputs = [(setting.to_owned(), "b".to_owned())].into();
            assert_eq!(codes(&of_settings(&planned, &now)), [code], "{setting}");
            assert_eq!(codes(&of_settings(&planned, &Inputs::new())), [code], "{setting}");
            assert!(of_settings(&planned, &planned).is_empty());
        }
    }

    #[test]
    fn growth_is_taken_within_its_bound_and_nothing_new_is() {
        assert!(!grown_beyond(100, 110, 10) && grown_beyond(100, 111, 10));
        assert!(!grown_beyond(0, 0, 0) && grown_beyond(0, 1, 50));
        assert!(!grown_beyond(100, 50, 0), "fewer documents are no growth");
        let store = StorePlan {
            documents: 100,
            tenants: [("acme".to_owned(), PlannedTenant::default())].into(),
            reasons: [("gap".to_owned(), 1)].into(),
            ..StorePlan::default()
        };
        let plan = Plan::new(Basis::Stores, "rekey.toml".into(), 10, vec![store.clone()]).unwrap();
        let map = |name: &str| BTreeMap::from([(name.to_owned(), 5)]);
        assert!(of_content(&plan, &store, 110, &map("acme"), &map("gap")).is_empty());
        assert_eq!(
            codes(&of_content(&plan, &store, 200, &map("globex"), &map("malformed"))),
            [FindingCode::PlanNewTenant, FindingCode::PlanNewReason, FindingCode::PlanGrowth]
        );
    }
}
