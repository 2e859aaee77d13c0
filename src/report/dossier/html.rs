use askama::Template;

use super::chart::{Bars, Curve, bars, curve};
use super::{CheckSummary, Circumstances, Digest, Fact, KeySample, Section, Sheet, Standing, Trouble};
use crate::error::{Error, Result};
use crate::report::text::document;
use crate::report::{Finding, Notice};
use crate::ui::format::{number, visible};

/// How many tenants the table lists; JSON and JUnit have all of them.
const SHOWN_TENANTS: usize = 1_000;

/// Lays a report out as one HTML file that needs nothing besides itself, and is well-formed XML, too.
pub(super) fn render(sheet: &Sheet) -> Result<String> {
    let dossier = &sheet.dossier;
    // A lone store needs no heading: the title says what was worked on.
    let several = dossier.sections.len() > 1;
    let page = Page {
        title: &dossier.title,
        standing: dossier.conclusion.standing.word(),
        word: &dossier.conclusion.word,
        sentence: &dossier.conclusion.sentence,
        trouble: sheet.trouble.as_ref(),
        sections: dossier.sections.iter().map(|section| SectionView::of(section, several)).collect(),
        notices: &sheet.notices,
        run: &sheet.run,
    };
    let text = page.render().map_err(|error| Error::bug(format!("The report has no HTML form: {error}.")))?;
    // What keys may hold and a page may not is spelled out; what is left is text that the template has escaped.
    Ok(visible(&text).into_owned())
}

/// The page: words and figures, ready to be shown.
#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    title: &'a str,
    standing: &'static str,
    word: &'a str,
    sentence: &'a str,
    trouble: Option<&'a Trouble>,
    sections: Vec<SectionView<'a>>,
    notices: &'a [Notice],
    run: &'a Circumstances,
}

struct SectionView<'a> {
    title: &'a str,
    /// Of the headings of its parts: below its own heading, if it has one.
    level: u8,
    standing: &'static str,
    word: &'a str,
    sentence: &'a str,
    facts: &'a [Fact],
    steps: Vec<StepView<'a>>,
    columns: Vec<Column<'a>>,
    rows: Vec<Row<'a>>,
    more_rows: String,
    bars: Option<Bars>,
    findings: Vec<Group<'a>>,
    findings_file: String,
    checks: Vec<CheckView<'a>>,
    samples: &'a [KeySample],
    documents: Vec<DocumentView<'a>>,
    curves: Vec<Curve>,
    digests: &'a [Digest],
}

struct StepView<'a> {
    name: &'a str,
    standing: &'static str,
    started: &'a str,
    ended: &'a str,
    documents: String,
    note: &'a str,
}

struct Column<'a> {
    name: &'a str,
    class: &'static str,
}

struct Row<'a> {
    cells: Vec<CellView<'a>>,
    standing: &'static str,
}

struct CellView<'a> {
    label: &'a str,
    class: &'static str,
    text: String,
}

struct Group<'a> {
    code: &'static str,
    count: String,
    meaning: &'a str,
    remedy: &'a str,
    examples: Vec<Example<'a>>,
}

struct Example<'a> {
    document: String,
    message: &'a str,
}

struct CheckView<'a> {
    name: &'a str,
    standing: &'static str,
    result: String,
    how: &'a str,
}

struct DocumentView<'a> {
    new_key: &'a str,
    document: &'a str,
}

impl<'a> SectionView<'a> {
    fn of(section: &'a Section, several: bool) -> Self {
        let conclusion = section.conclusion.as_ref();
        let (columns, rows, more_rows) = tenants(section);
        let file = section.findings.file.as_ref();
        let document = |it: &'a KeySample| {
            let document = it.document.as_deref()?;
            Some(DocumentView { new_key: &it.new_key, document })
        };
        Self {
            title: if several { &section.title } else { "" },
            level: if several { 3 } else { 2 },
            standing: conclusion.map_or(Standing::Skipped, |it| it.standing).word(),
            word: conclusion.map_or("", |it| &it.word),
            sentence: conclusion.map_or("", |it| &it.sentence),
            facts: &section.facts,
            steps: steps(section),
            columns,
            rows,
            more_rows,
            bars: section.tenants.as_ref().and_then(bars),
            findings: findings(section),
            findings_file: file.map_or_else(String::new, |file| file.display().to_string()),
            checks: section.check_summaries().into_iter().map(CheckView::of).collect(),
            samples: &section.samples,
            documents: section.samples.iter().filter_map(document).collect(),
            curves: section.throughput.iter().map(curve).collect(),
            digests: &section.digests,
        }
    }
}

impl<'a> CheckView<'a> {
    fn of(it: CheckSummary<'a>) -> Self {
        Self { name: it.name, standing: it.standing.word(), result: it.result, how: it.how }
    }
}

fn steps(section: &Section) -> Vec<StepView<'_>> {
    let views = section.steps.iter().map(|step| StepView {
        name: &step.name,
        standing: step.standing.word(),
        started: step.started.as_deref().unwrap_or_default(),
        ended: step.ended.as_deref().unwrap_or_default(),
        documents: step.documents.map(number).unwrap_or_default(),
        note: &step.note,
    });
    views.collect()
}

/// The table of tenants: its columns, its rows, and how many are left out.
fn tenants(section: &Section) -> (Vec<Column<'_>>, Vec<Row<'_>>, String) {
    let Some(table) = &section.tenants else { return Default::default() };
    let class = |is_number| if is_number { "number" } else { "" };
    let is_number = |column: usize| {
        table.rows.iter().any(|row| row.cells.get(column).is_some_and(super::Cell::is_number))
    };
    let mut columns = vec![Column { name: "tenant", class: "" }];
    let named = table.columns.iter().enumerate();
    columns.extend(named.map(|(column, name)| Column { name, class: class(is_number(column)) }));
    columns.push(Column { name: "result", class: "" });
    let all = table.by_standing();
    let rows = all.iter().take(SHOWN_TENANTS).map(|row| {
        let tenant = CellView { label: "tenant", class: "", text: row.tenant.clone() };
        let cells = row.cells.iter().zip(&table.columns).map(|(cell, label)| CellView {
            label,
            class: class(cell.is_number()),
            text: cell.text(),
        });
        Row { cells: [tenant].into_iter().chain(cells).collect(), standing: row.standing.word() }
    });
    let more = match all.len().saturating_sub(SHOWN_TENANTS) {
        0 => String::new(),
        more => format!("and {} more tenants; the JSON report has all of them", number(more as u64)),
    };
    (columns, rows.collect(), more)
}

fn findings(section: &Section) -> Vec<Group<'_>> {
    let groups = section.findings.groups.iter().map(|group| Group {
        code: group.code.code(),
        count: number(group.count),
        meaning: &group.meaning,
        remedy: &group.remedy,
        examples: group.examples.iter().map(example).collect(),
    });
    groups.collect()
}

fn example(finding: &Finding) -> Example<'_> {
    Example { document: document(finding), message: &finding.message }
}

#[cfg(test)]
mod tests {
    use super::super::tests::sheet;
    use super::*;

    fn parsed(html: &str) -> roxmltree::Document<'_> {
        let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
        roxmltree::Document::parse_with_options(html, options)
            .unwrap_or_else(|error| panic!("{error}\n{html}"))
    }

    #[test]
    fn the_page_is_well_formed_and_begins_with_the_verdict() {
        let html = render(&sheet()).unwrap();
        let page = parsed(&html);
        let body = page.descendants().find(|it| it.has_tag_name("main")).unwrap();
        let first: Vec<_> = body.children().filter(roxmltree::Node::is_element).take(2).collect();
        assert!(
            first[0].has_tag_name("h1") && first[1].attribute("class") == Some("verdict failed"),
            "{html}"
        );
    }

    #[test]
    fn what_a_key_holds_is_never_markup() {
        let html = render(&sheet()).unwrap();
        assert!(html.contains("&#60;b&#62;globex") || html.contains("&lt;b&gt;globex"), "{html}");
        assert!(!html.contains("<b>globex"), "{html}");
        assert!(html.contains(r"\u{1b}[2J") && !html.contains('\u{1b}'), "{html}");
    }

    #[test]
    fn nothing_is_fetched_and_nothing_runs() {
        let html = render(&sheet()).unwrap();
        let page = parsed(&html);
        for element in page.descendants().filter(roxmltree::Node::is_element) {
            let name = element.tag_name().name();
            assert!(!["script", "link", "img", "iframe", "object", "embed"].contains(&name), "{name}");
            for attribute in element.attributes() {
                let is_handler = attribute.name().starts_with("on");
                assert!(
                    !is_handler && !["src", "href", "style"].contains(&attribute.name()),
                    "{attribute:?}"
                );
            }
        }
        assert!(!html.contains("url(") && !html.contains("@import"), "a style sheet fetches something");
    }
}
