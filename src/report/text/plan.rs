use super::{SHOWN_KEY, SHOWN_TENANTS};
use crate::error::Result;
use crate::plan::{Basis, StorePlan};
use crate::report::PlanReport;
use crate::ui::format::{bytes, count, duration, number, shortened};
use crate::ui::{Align, Table, Ui};

/// How many samples of old and new keys of a tenant the screen shows; the plan has more.
const SAMPLES: usize = 1;

/// Shows what will happen to each store.
pub(super) fn plan(report: &PlanReport, ui: &Ui) -> Result<()> {
    let plan = &report.plan;
    plan.stores.iter().try_for_each(|it| store(it, ui))?;
    let from = match plan.basis {
        Basis::Archives => "from archives: it binds exactly these documents".to_owned(),
        Basis::Stores => format!("from stores: they may grow by {} %", plan.max_growth),
    };
    let file = report.file.display().to_string();
    ui.facts(&[("plan", file.clone()), ("made", from), ("digest", plan.digest.clone())])?;
    ui.line("")?;
    ui.heading("next")?;
    ui.line(&format!("  rekey apply {file}"))
}

fn store(it: &StorePlan, ui: &Ui) -> Result<()> {
    ui.heading(&it.store)?;
    tenants(it, ui)?;
    samples(it, ui)?;
    ui.line("")?;
    let mut facts = vec![(
        "documents",
        format!("{} in {}, {}", number(it.documents), count(it.streams, "stream"), bytes(it.bytes)),
    )];
    if it.refused > 0 {
        let reasons: Vec<_> =
            it.reasons.iter().map(|(reason, count)| format!("{reason} ×{}", number(*count))).collect();
        facts.push(("refused", format!("{} ({})", number(it.refused), reasons.join(", "))));
    }
    let limit =
        it.key_limit.map_or_else(|| "no limit".to_owned(), |limit| format!("limit {}", number(limit)));
    facts.push(("longest key", format!("{} bytes, {limit}", number(it.longest_key))));
    facts.push(("import", forecast(it)));
    ui.facts(&facts)?;
    it.notices.iter().try_for_each(|it| ui.line(&format!("  notice: {} ({})", it.message, it.code)))?;
    it.stops.iter().try_for_each(|it| ui.line(&format!("  would stop: {it}")))?;
    ui.line("")
}

fn tenants(it: &StorePlan, ui: &Ui) -> Result<()> {
    let columns = [
        ("tenant", Align::Left),
        ("documents", Align::Right),
        ("streams", Align::Right),
        ("size", Align::Right),
        ("longest key", Align::Right),
    ];
    let mut table = Table::new(columns);
    for (tenant, owned) in it.tenants.iter().take(SHOWN_TENANTS) {
        table.row([
            tenant.as_str(),
            &number(owned.documents),
            &number(owned.streams),
            &bytes(owned.bytes),
            &number(owned.longest_key),
        ]);
    }
    ui.table(&table)?;
    match it.tenants.len().saturating_sub(SHOWN_TENANTS) {
        0 => Ok(()),
        more => ui.line(&format!("{} more are in the plan.", count(more as u64, "tenant"))),
    }
}

fn samples(it: &StorePlan, ui: &Ui) -> Result<()> {
    let mut table = Table::new([("old key", Align::Left), ("new key", Align::Left)]);
    for tenant in it.tenants.keys().take(SHOWN_TENANTS) {
        for sample in it.samples.iter().filter(|sample| sample.tenant == *tenant).take(SAMPLES) {
            table.row([shortened(&sample.old_key, SHOWN_KEY), shortened(&sample.new_key, SHOWN_KEY)]);
        }
    }
    if table.is_empty() {
        return Ok(());
    }
    ui.line("")?;
    ui.table(&table)
}

fn forecast(it: &StorePlan) -> String {
    let import = &it.import;
    let parts = super::parts(&[
        (import.write, "to write"),
        (import.identical, "there already"),
        (import.conflict, "in conflict"),
        (import.expired, "expired"),
    ]);
    match import.seconds {
        Some(seconds) => {
            format!("{parts}; at least {} at the cap", duration(std::time::Duration::from_secs(seconds)))
        }
        None => parts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Forecast, Plan, PlannedTenant, Remark, Sample};

    #[test]
    fn a_plan_says_per_tenant_what_will_happen() {
        let (ui, screen) = Ui::recording();
        let tenant = PlannedTenant { documents: 1_200, streams: 7, bytes: 34_000, longest_key: 41 };
        let store = StorePlan {
            store: "orders".into(),
            documents: 1_200,
            streams: 7,
            bytes: 34_000,
            tenants: [("acme".to_owned(), tenant)].into(),
            samples: vec![Sample {
                tenant: "acme".into(),
                old_key: "A-1".into(),
                new_key: "t:acme:A-1".into(),
            }],
            refused: 2,
            reasons: [("gap".to_owned(), 2)].into(),
            longest_key: 41,
            import: Forecast { write: 1_200, seconds: Some(120), ..Forecast::default() },
            notices: vec![Remark { code: "time-to-live".into(), message: "It restarts.".into() }],
            stops: vec!["rekey will refuse 2 documents (gap)".into()],
            ..StorePlan::default()
        };
        let plan = Plan::new(Basis::Stores, "rekey.toml".into(), 10, vec![store]).unwrap();
        let digest = plan.digest.clone();
        super::plan(&PlanReport { plan, file: "plan.json".into() }, &ui).unwrap();
        assert_eq!(
            screen.text(),
            format!(
                "orders\n\
                 tenant  documents  streams     size  longest key\n\
                 acme        1,200        7  34.0 kB           41\n\n\
                 old key  new key\n\
                 A-1      t:acme:A-1\n\n  \
                 documents    1,200 in 7 streams, 34.0 kB\n  \
                 refused      2 (gap ×2)\n  \
                 longest key  41 bytes, no limit\n  \
                 import       1,200 to write; at least 2 min 0 s at the cap\n  \
                 notice: It restarts. (time-to-live)\n  \
                 would stop: rekey will refuse 2 documents (gap)\n\n  \
                 plan    plan.json\n  \
                 made    from stores: they may grow by 10 %\n  \
                 digest  {digest}\n\n\
                 next\n  rekey apply plan.json\n"
            )
        );
    }

    #[test]
    fn on_no_terminal_is_a_line_of_a_table_wider_than_it() {
        let long = "Order:".repeat(40);
        let store = StorePlan {
            store: "orders".into(),
            tenants: [("a-tenant-with-quite-a-long-name".to_owned(), PlannedTenant::default())].into(),
            samples: vec![Sample {
                tenant: "a-tenant-with-quite-a-long-name".into(),
                old_key: long.clone(),
                new_key: format!("t:a-tenant-with-quite-a-long-name:{long}"),
            }],
            ..StorePlan::default()
        };
        for columns in [60, 80, 200] {
            let (ui, screen) = Ui::recording_on(columns);
            tenants(&store, &ui).unwrap();
            samples(&store, &ui).unwrap();
            let shown = screen.text();
            let widest = shown.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(columns.into()), "{columns}: {shown}");
        }
    }
}
