use super::expectation::Expectation;
use crate::Result;
use crate::exit::ExitStatus;
use crate::layout::DocumentKind;
use crate::report::{
    Counted, Finding, FindingCode, Findings, Level, Outcome, Report, TenantVerdict, Totals, Verdict,
    VerifyReport,
};
use crate::ui::format::count;
use crate::verify::{Comparison, TenantComparison, TenantNames, by_name};

/// Adds the findings of a comparison of counts: what differs is known per tenant alone.
pub(super) fn count_findings(
    comparison: &Comparison,
    names: &TenantNames,
    findings: &mut Findings,
) -> Result<()> {
    for (number, tenant) in &comparison.tenants {
        let name = names.name(*number).to_owned();
        let (expected, found) = (&tenant.expected, &tenant.found);
        if expected.documents != found.documents || expected.streams != found.streams {
            let message = format!(
                "{} in {} {} there, {} in {} must be.",
                count(found.documents, "document"),
                count(found.streams, "stream"),
                if found.documents == 1 { "is" } else { "are" },
                expected.documents,
                expected.streams
            );
            findings
                .push(Finding { tenant: Some(name), ..Finding::new(FindingCode::CountsDiffer, message) })?;
        } else if expected.last_versions_sum != found.last_versions_sum {
            let message = "The last versions of its streams are others.";
            findings
                .push(Finding { tenant: Some(name), ..Finding::new(FindingCode::VersionsDiffer, message) })?;
        } else if !tenant.same_content() {
            let message =
                "The counts agree, the contents do not; verify with the archive names the document.";
            findings
                .push(Finding { tenant: Some(name), ..Finding::new(FindingCode::ContentDiffers, message) })?;
        }
    }
    Ok(())
}

/// The verdict: a match is what nothing was found in.
pub(super) fn finish(
    expectation: &Expectation,
    comparison: Comparison,
    names: &TenantNames,
    totals: Totals,
    probed: u64,
    findings: Findings,
) -> Result<(Outcome, VerifyReport)> {
    let account = findings.finish()?;
    let level = expectation.level();
    let counted = match expectation.layout.kind {
        DocumentKind::Events => Counted::Events,
        DocumentKind::Sagas => Counted::Sagas,
        DocumentKind::Items => Counted::Items,
    };
    let tenants = by_name(comparison, names).into_iter().map(|(tenant, it)| TenantVerdict {
        counted,
        streams: it.expected.streams,
        expected: it.expected.documents,
        found: it.found.documents,
        versions_differ: it.versions_differ,
        verdict: tenant_verdict(&it, level),
        tenant,
    });
    let tenants: Vec<_> = tenants.collect();
    let verdict = if account.total == 0 { Verdict::Match } else { Verdict::Mismatch };
    let report = VerifyReport {
        verdict,
        level,
        layout: expectation.layout.name.clone(),
        escaping: expectation.escaping_name().to_owned(),
        totals,
        tenants,
        streams_probed: probed,
    };
    let exit = if verdict == Verdict::Match { ExitStatus::Done } else { ExitStatus::Finding };
    let outcome = Outcome::done(Report::Verify(report.clone())).of_shards(expectation.shards.clone());
    Ok((outcome.with_findings(account).and(exit), report))
}

fn tenant_verdict(tenant: &TenantComparison, level: Level) -> Verdict {
    let same = tenant.matches() && (level == Level::Content || tenant.same_content());
    if same { Verdict::Match } else { Verdict::Mismatch }
}
