use crate::plan::{Basis, Plan, PlannedTenant, StorePlan};
use crate::report::dossier::{
    Cell, Check, Conclusion, Digest, Dossier, KeySample, Section, Standing, TenantRow, TenantTable,
};
use crate::ui::format::{bytes, count, number};

/// What the report of a plan says: a section for each store.
pub(super) fn dossier(plan: &Plan) -> Dossier {
    let blocked: Vec<&str> =
        plan.stores.iter().filter(|store| !is_ready(store)).map(|store| store.store.as_str()).collect();
    let documents: u64 = plan.stores.iter().map(|store| store.documents).sum();
    let all = format!("{} in {}", count(documents, "document"), count(plan.stores.len() as u64, "store"));
    let conclusion = if blocked.is_empty() {
        Conclusion {
            standing: Standing::Passed,
            word: "ready".to_owned(),
            sentence: format!("{all} to move; nothing is in the way."),
        }
    } else {
        Conclusion {
            standing: Standing::Failed,
            word: "blocked".to_owned(),
            sentence: format!("{all} to move; something is in the way of {}.", blocked.join(", ")),
        }
    };
    let mut sections: Vec<_> = plan.stores.iter().map(|store| section(plan, store)).collect();
    if let Some(first) = sections.first_mut() {
        first.digests.insert(0, Digest { of: "the plan".to_owned(), sha256: plan.digest.clone() });
    }
    Dossier { title: "Plan of a migration".to_owned(), conclusion, sections }
}

fn is_ready(store: &StorePlan) -> bool {
    store.stops.is_empty() && store.import.conflict == 0
}

fn section(plan: &Plan, store: &StorePlan) -> Section {
    let mut section = Section::new(&store.store);
    let ready = is_ready(store);
    section.conclusion = Some(Conclusion {
        standing: if ready { Standing::Passed } else { Standing::Failed },
        word: if ready { "ready" } else { "blocked" }.to_owned(),
        sentence: store.stops.first().cloned().unwrap_or_else(|| {
            format!(
                "{} of {}, {}.",
                count(store.documents, "document"),
                count(store.streams, "stream"),
                bytes(store.bytes)
            )
        }),
    });
    section.fact(
        "made from",
        match plan.basis {
            Basis::Archives => "archives: exactly these documents".to_owned(),
            Basis::Stores => format!("stores: the documents may grow by {} %", plan.max_growth),
        },
    );
    add_settings(&mut section, store);
    let limit =
        store.key_limit.map_or_else(|| "no limit".to_owned(), |limit| format!("limit {}", number(limit)));
    section.fact("longest key", format!("{} bytes, {limit}", number(store.longest_key)));
    for notice in &store.notices {
        section.fact(&notice.code, notice.message.as_str());
    }
    section.tenants = Some(tenants(store));
    section.checks = checks(store);
    section.samples = store
        .samples
        .iter()
        .map(|it| KeySample {
            tenant: it.tenant.clone(),
            old_key: it.old_key.clone(),
            new_key: it.new_key.clone(),
            document: None,
        })
        .collect();
    let digest = |(name, sha256): (&String, &String)| Digest { of: name.clone(), sha256: sha256.clone() };
    section.digests = store.archives.iter().map(digest).collect();
    section
}

/// What the run rests on: first what every reader asks for, then what is not as it is unless somebody says so.
fn add_settings(section: &mut Section, store: &StorePlan) {
    const FIRST: [&str; 5] = ["source", "target", "layout", "tenant-rule", "escaping"];
    const USUAL: [&str; 7] = ["", "false", "none", "stop", "refuse", "1000", "not stated"];
    for name in FIRST {
        if let Some(value) = store.settings.get(name) {
            section.fact(name, value.as_str());
        }
    }
    let others = store
        .settings
        .iter()
        .filter(|(name, value)| !FIRST.contains(&name.as_str()) && !USUAL.contains(&value.as_str()));
    others.for_each(|(name, value)| section.fact(name, value.as_str()));
}

fn tenants(store: &StorePlan) -> TenantTable {
    let row = |(tenant, it): (&String, &PlannedTenant)| TenantRow {
        tenant: tenant.clone(),
        cells: vec![
            Cell::Count(it.documents),
            Cell::Count(it.streams),
            Cell::Bytes(it.bytes),
            Cell::Count(it.longest_key),
        ],
        standing: Standing::Passed,
    };
    TenantTable {
        columns: ["documents", "streams", "size", "longest key"].map(str::to_owned).into(),
        documents: Some(0),
        rows: store.tenants.iter().map(row).collect(),
    }
}

fn checks(store: &StorePlan) -> Vec<Check> {
    let check = |name: &str, how: &str, found: String| Check {
        name: name.to_owned(),
        how: how.to_owned(),
        tenant: None,
        standing: if found.is_empty() { Standing::Passed } else { Standing::Failed },
        detail: found,
    };
    let reasons: Vec<_> =
        store.reasons.iter().map(|(reason, count)| format!("{} {reason}", number(*count))).collect();
    let conflicts = match store.import.conflict {
        0 => String::new(),
        conflicts => count(conflicts, "conflict"),
    };
    vec![
        check(
            "refusals",
            "Every document of the source is rewritten by the rule, and checked.",
            reasons.join(", "),
        ),
        check("conflicts", "Every new key is looked for in the target.", conflicts),
        check("run", "The commands of the run are gone through without a write.", store.stops.join("; ")),
    ]
}
