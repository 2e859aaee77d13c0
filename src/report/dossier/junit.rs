use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};

use super::{Check, Section, Sheet, Standing};
use crate::error::{Error, Result};
use crate::ui::format::visible;

/// Lays a report out as JUnit: a suite for each store, a case for each tenant and check.
///
/// A run that came to nothing is a suite with one case that has an error, so that CI cannot take it for passed.
pub(super) fn render(sheet: &Sheet) -> Result<String> {
    let mut report = Report::new(shown(&sheet.dossier.title));
    for section in &sheet.dossier.sections {
        let _ = report.add_test_suite(suite(sheet, section));
    }
    if let Some(trouble) = &sheet.trouble {
        let mut suite = TestSuite::new("run");
        let mut text = trouble.causes.clone();
        text.extend(trouble.hints.iter().map(|hint| format!("hint: {hint}")));
        let status = status(NonSuccessKind::Error, "error", &trouble.message, &text.join("\n"));
        let mut case = TestCase::new("came to its end", status);
        let _ = case.set_classname(format!("rekey.{}", sheet.run.command));
        add_properties(&mut suite, sheet);
        let _ = suite.add_test_case(case);
        let _ = report.add_test_suite(suite);
    }
    report.to_string().map_err(|error| Error::bug(format!("The report has no XML form: {error}.")))
}

fn suite(sheet: &Sheet, section: &Section) -> TestSuite {
    let mut suite = TestSuite::new(shown(&section.title));
    add_properties(&mut suite, sheet);
    for fact in &section.facts {
        let _ = suite.add_property(Property::new(shown(&fact.label), shown(&fact.value)));
    }
    let _ = suite.add_test_cases(section.checks.iter().map(|check| case(sheet, check)));
    suite
}

fn add_properties(suite: &mut TestSuite, sheet: &Sheet) {
    let run = &sheet.run;
    let _ = suite.extra.insert("hostname".into(), shown(&run.host).into());
    // The attribute has no zone, and is understood as UTC.
    let _ = suite.extra.insert("timestamp".into(), run.started.trim_end_matches('Z').into());
    for (name, value) in [("tool", &run.tool), ("user", &run.user), ("folder", &run.folder)] {
        let _ = suite.add_property(Property::new(name, shown(value)));
    }
}

fn case(sheet: &Sheet, check: &Check) -> TestCase {
    let status = match check.standing {
        Standing::Passed => TestCaseStatus::success(),
        Standing::Failed => status(NonSuccessKind::Failure, &check.name, &check.detail, &check.how),
        Standing::Skipped => {
            let mut status = TestCaseStatus::skipped();
            let _ = status.set_message(shown(&check.detail));
            status
        }
    };
    // Viewers group by the class: command, then tenant.
    let whose = check.tenant.as_deref().unwrap_or("(store)");
    let mut case = TestCase::new(shown(&check.name), status);
    let _ = case.set_classname(format!("rekey.{}.{}", sheet.run.command, shown(whose)));
    case
}

fn status(kind: NonSuccessKind, word: &str, message: &str, text: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    let _ = status.set_type(shown(word)).set_message(shown(message)).set_description(shown(text));
    status
}

/// XML cannot hold every character that a key can.
fn shown(text: &str) -> String {
    visible(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::tests::sheet;
    use super::*;

    #[test]
    fn there_is_one_case_for_each_tenant_and_check() {
        let sheet = sheet();
        let xml = render(&sheet).unwrap();
        let document = roxmltree::Document::parse(&xml).unwrap();
        let cases: Vec<_> = document.descendants().filter(|it| it.has_tag_name("testcase")).collect();
        assert_eq!(cases.len(), sheet.dossier.sections[0].checks.len(), "{xml}");
        let failed: Vec<_> =
            cases.iter().filter(|it| it.children().any(|it| it.has_tag_name("failure"))).collect();
        assert_eq!(failed.len(), 1, "{xml}");
        assert_eq!(failed[0].attribute("classname"), Some("rekey.verify.<b>globex</b>"));
        let suites = document.root_element();
        assert_eq!((suites.tag_name().name(), suites.attribute("failures")), ("testsuites", Some("1")));
    }

    #[test]
    fn what_xml_cannot_hold_is_spelled_out() {
        let mut sheet = sheet();
        sheet.dossier.sections[0].checks[0].tenant = Some("a\u{0}\u{ffff}\u{1b}[2J".into());
        let xml = render(&sheet).unwrap();
        assert!(xml.contains(r"a\u{0}\u{ffff}\u{1b}[2J"), "{xml}");
    }
}
