use super::{SHOWN_TENANTS, parts};
use crate::error::Result;
use crate::report::{Counted, Level, TenantVerdict, Totals, Verdict, VerifyReport};
use crate::ui::format::{count, number};
use crate::ui::{Align, Table, Ui};

pub(super) fn verify(report: &VerifyReport, ui: &Ui) -> Result<()> {
    ui.heading(&format!("{}: {}.", report.verdict.word(), headline(report)))?;
    ui.line(&totals(report.totals))?;
    tenants(&report.tenants, ui)?;
    match report.streams_probed {
        0 => Ok(()),
        probed => ui.line(&format!("{} read as the framework reads them.", count(probed, "stream"))),
    }
}

/// What the verdict means.
fn headline(report: &VerifyReport) -> &'static str {
    match (report.verdict, report.level) {
        (Verdict::Match, Level::Content) => "every document is what the archive says",
        (Verdict::Match, Level::Counts) => "counts, versions and digests are what the manifest says",
        (Verdict::Mismatch, _) => "the store is not what the archive says",
    }
}

/// The verdict in two sentences, without its word.
pub fn what_was_found(report: &VerifyReport) -> String {
    let headline = headline(report);
    let (first, rest) = headline.split_at(1);
    format!("{}{rest}. {}", first.to_uppercase(), totals(report.totals))
}

fn totals(totals: Totals) -> String {
    let found = if totals.found > totals.expected {
        let expected = number(totals.expected);
        format!("{} found where {expected} must be", count(totals.found, "document"))
    } else {
        format!("{} of {} found", number(totals.found), count(totals.expected, "document"))
    };
    let others = [
        (totals.missing, "missing"),
        (totals.unexpected, "unexpected"),
        (totals.different, "different"),
        (totals.legacy, "legacy"),
        (totals.foreign, "foreign"),
        (totals.blocking, "blocking"),
        (totals.doubled, "doubled"),
        (totals.expired, "expired"),
    ];
    if others.iter().all(|(documents, _)| *documents == 0) {
        return format!("{found}.");
    }
    format!("{found}, {}.", parts(&others))
}

/// The tenants, those that do not match first.
fn tenants(tenants: &[TenantVerdict], ui: &Ui) -> Result<()> {
    let Some(first) = tenants.first() else { return Ok(()) };
    let noun = match first.counted {
        Counted::Events => "events",
        Counted::Sagas => "sagas",
        Counted::Items => "items",
    };
    let found = format!("{noun} found");
    let expected = format!("{noun} expected");
    let mut table = Table::new([
        ("tenant", Align::Left),
        ("streams", Align::Right),
        (&*expected, Align::Right),
        (&*found, Align::Right),
        ("versions differ", Align::Right),
        ("verdict", Align::Left),
    ]);
    let mut sorted: Vec<&TenantVerdict> = tenants.iter().collect();
    sorted.sort_by_key(|tenant| tenant.verdict == Verdict::Match);
    for tenant in sorted.iter().take(SHOWN_TENANTS) {
        table.row([
            tenant.tenant.clone(),
            number(tenant.streams),
            number(tenant.expected),
            number(tenant.found),
            number(tenant.versions_differ),
            tenant.verdict.word().to_owned(),
        ]);
    }
    ui.line("")?;
    ui.table(&table)?;
    match tenants.len().saturating_sub(SHOWN_TENANTS) {
        0 => Ok(()),
        more => ui.line(&format!("and {}", count(u64::try_from(more).unwrap_or(u64::MAX), "more tenant"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_that_does_not_match_comes_first() {
        let (ui, screen) = Ui::recording();
        let tenant = |name: &str, found, verdict| TenantVerdict {
            counted: Counted::Events,
            tenant: name.into(),
            streams: 1,
            expected: 3,
            found,
            versions_differ: 0,
            verdict,
        };
        let report = VerifyReport {
            verdict: Verdict::Mismatch,
            level: Level::Content,
            layout: "mongodb-events".into(),
            escaping: "raw".into(),
            totals: Totals { expected: 6, found: 5, missing: 1, legacy: 1_000, ..Totals::default() },
            tenants: vec![tenant("acme", 3, Verdict::Match), tenant("globex", 2, Verdict::Mismatch)],
            streams_probed: 2,
        };
        verify(&report, &ui).unwrap();
        assert_eq!(
            screen.text(),
            "mismatch: the store is not what the archive says.\n\
             5 of 6 documents found, 1 missing, 1,000 legacy.\n\
             \n\
             tenant  streams  events expected  events found  versions differ  verdict\n\
             globex        1                3             2                0  mismatch\n\
             acme          1                3             3                0  match\n\
             2 streams read as the framework reads them.\n"
        );
    }
}
