use std::path::Path;
use std::sync::Arc;

use crate::Result;
use crate::commands::legacy_blocks::SORT_BUDGET;
use crate::layout::{Layout, StoredOwner};
use crate::options::{self, RekeyOptions, TenantRuleChoice};
use crate::rewrite::{AlreadyRekeyed, Rules, Suspicion};
use crate::tenant::{KnownTenants, TenantField, TenantMap, TenantResolver, TenantRule, WantedTenants};

/// Makes the rules of a rewrite, and who finds the tenants, from what was asked for.
pub(super) fn build(
    options: &RekeyOptions,
    layout: Layout,
    spill_folder: &Path,
) -> Result<(Rules, TenantResolver)> {
    let mut wanted = WantedTenants::new(&options.only_tenants);
    let rule = match &options.tenant {
        TenantRuleChoice::SingleTenant => TenantRule::single_tenant(),
        TenantRuleChoice::Untenanted => TenantRule::untenanted(),
        TenantRuleChoice::Tenant(tenant) => TenantRule::Constant(tenant.clone()),
        TenantRuleChoice::Map(path) => {
            let watch = |tenant: &str| wanted.observe(tenant);
            TenantRule::Map(Box::new(TenantMap::read_watched(path, spill_folder, SORT_BUDGET, watch)?))
        }
        TenantRuleChoice::Field(path) => TenantRule::Field(TenantField::parse(path)?),
    };
    let place = match &rule {
        TenantRule::Constant(tenant) => {
            wanted.observe(tenant);
            Some("the tenant rule")
        }
        TenantRule::Map(_) => Some("the tenant map"),
        TenantRule::Field(_) => None,
    };
    if let Some(error) = place.and_then(|place| wanted.unseen(place)) {
        return Err(error);
    }
    let known = options.known_tenants.as_deref().map(KnownTenants::read).transpose()?;
    let rules = Rules {
        layout,
        escaping: options.escaping,
        only_tenants: options.only_tenants.iter().cloned().collect(),
        allow_gaps: options.allow_gaps,
        stored_owner: options.stored_owner,
        already_rekeyed: match options.already_rekeyed {
            options::AlreadyRekeyed::Refuse => AlreadyRekeyed::Refuse,
            options::AlreadyRekeyed::Keep => AlreadyRekeyed::Keep,
        },
        refused_streams: std::collections::BTreeMap::new(),
        suspicion: Suspicion::default(),
        escaping_mattered: Arc::default(),
    };
    let resolver = TenantResolver::new(rule, known);
    // Of documents it is known at the end alone.
    let only_read = place.is_none() && !options.only_tenants.is_empty();
    Ok((rules, if only_read { resolver.looking_for(wanted) } else { resolver }))
}

/// The flags that allowed what would have been refused, as typed.
pub(super) fn allowances(options: &RekeyOptions) -> Vec<String> {
    [
        (options.allow_gaps, "--allow-gaps"),
        (options.allow_prefix_tenants, "--allow-prefix-tenants"),
        (options.stored_owner == StoredOwner::Replace, "--stored-owner replace"),
        (options.already_rekeyed == options::AlreadyRekeyed::Keep, "--already-rekeyed keep"),
        (options.on_refused == options::OnRefused::SetAside, "--on-refused set-aside"),
    ]
    .into_iter()
    .filter(|(given, _)| *given)
    .map(|(_, flag)| flag.to_owned())
    .collect()
}
