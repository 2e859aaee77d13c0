use std::fmt::Write as _;

use super::{Section, Sheet};
use crate::report::text::document;
use crate::ui::format::{bytes, duration, number, shortened, visible};

/// How many tenants a table lists; the other formats have all of them.
const SHOWN_TENANTS: usize = 100;
/// How many key samples are listed.
const SHOWN_SAMPLES: usize = 20;
/// The most characters of a key.
const SHOWN_KEY: usize = 100;

/// Lays a report out as Markdown whose tables can be read as they are, too.
pub(super) fn render(sheet: &Sheet) -> String {
    let mut page = Page(String::new());
    let (dossier, run) = (&sheet.dossier, &sheet.run);
    page.line(&format!("# {}", inline(&dossier.title)));
    page.line(&format!(
        "**{}**: {}",
        inline(&dossier.conclusion.word.to_uppercase()),
        inline(&dossier.conclusion.sentence)
    ));
    if let Some(trouble) = &sheet.trouble {
        page.line("## Why it did not come to its end");
        page.line(&inline(&trouble.message));
        page.list(trouble.causes.iter().map(|cause| format!("caused by: {}", inline(cause))));
        page.list(trouble.hints.iter().map(|hint| format!("hint: {}", inline(hint))));
    }
    let several = dossier.sections.len() > 1;
    for section in &dossier.sections {
        page.section(section, several);
    }
    if !sheet.notices.is_empty() {
        page.line("## Notices");
        let notice = |it: &crate::report::Notice| format!("`{}`: {}", it.code, inline(&it.message));
        page.list(sheet.notices.iter().map(notice));
    }
    page.line("## Who, when, where");
    page.table(
        &["", ""],
        &[false, false],
        [
            ("command", format!("rekey {}", run.command)),
            ("tool", run.tool.clone()),
            ("user", run.user.clone()),
            ("host", run.host.clone()),
            ("folder", run.folder.clone()),
            ("started", run.started.clone()),
            ("ended", run.ended.clone()),
            ("exit code", run.exit_code.to_string()),
        ]
        .map(|(label, value)| vec![label.to_owned(), cell(&value)]),
    );
    page.0
}

struct Page(String);

impl Page {
    fn line(&mut self, text: &str) {
        self.0.push_str(text);
        self.0.push_str("\n\n");
    }

    fn list(&mut self, lines: impl Iterator<Item = String>) {
        let before = self.0.len();
        for line in lines {
            // Writing to a string cannot fail.
            let _infallible = writeln!(self.0, "- {line}");
        }
        if self.0.len() > before {
            self.0.push('\n');
        }
    }

    fn section(&mut self, section: &Section, several: bool) {
        if several {
            self.line(&format!("## {}", inline(&section.title)));
        }
        if let Some(it) = &section.conclusion {
            self.line(&format!("**{}**: {}", inline(&it.word.to_uppercase()), inline(&it.sentence)));
        }
        if !section.facts.is_empty() {
            let rows = section.facts.iter().map(|it| vec![inline(&it.label), cell(&it.value)]);
            self.table(&["", ""], &[false, false], rows);
        }
        self.steps(section);
        self.tenants(section);
        self.findings(section);
        self.checks(section);
        self.samples(section);
        self.throughput(section);
        self.digests(section);
    }

    fn steps(&mut self, section: &Section) {
        if section.steps.is_empty() {
            return;
        }
        self.line("### Steps");
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let rows = section.steps.iter().map(|it| {
            let documents = it.documents.map(number).unwrap_or_default();
            vec![
                cell(&it.name),
                it.standing.word().to_owned(),
                text(&it.started),
                text(&it.ended),
                documents,
                cell(&it.note),
            ]
        });
        let columns = ["step", "result", "started", "ended", "documents", ""];
        self.table(&columns, &[false, false, false, false, true, false], rows);
    }

    fn tenants(&mut self, section: &Section) {
        let Some(table) = &section.tenants else { return };
        self.line("### Tenants");
        let columns: Vec<_> = ["tenant"]
            .into_iter()
            .chain(table.columns.iter().map(String::as_str))
            .chain(["result"])
            .collect();
        let numbers: Vec<bool> = (0..columns.len())
            .map(|column| {
                let cell =
                    |row: &super::TenantRow| column.checked_sub(1).and_then(|it| row.cells.get(it).cloned());
                table.rows.iter().filter_map(cell).any(|cell| cell.is_number())
            })
            .collect();
        let rows = table.by_standing();
        let shown = rows.iter().take(SHOWN_TENANTS).map(|row| {
            let cells = row.cells.iter().map(|it| cell(&it.text()));
            [cell(&row.tenant)].into_iter().chain(cells).chain([row.standing.word().to_owned()]).collect()
        });
        self.table(&columns, &numbers, shown);
        if rows.len() > SHOWN_TENANTS {
            self.line(&format!("and {} more tenants.", number((rows.len() - SHOWN_TENANTS) as u64)));
        }
    }

    fn findings(&mut self, section: &Section) {
        if section.findings.total == 0 {
            return;
        }
        self.line("### Findings");
        for group in &section.findings.groups {
            self.line(&format!("**`{}`**, {}: {}", group.code, number(group.count), inline(&group.meaning)));
            self.line(&format!("What to do: {}", inline(&group.remedy)));
            self.list(group.examples.iter().map(|it| {
                let name = document(it);
                let name = if name.is_empty() { name } else { format!("{}: ", code(&name)) };
                format!("{name}{}", inline(&it.message))
            }));
        }
        if let Some(file) = &section.findings.file {
            self.line(&format!("All of them are in {}.", code(&file.display().to_string())));
        }
    }

    fn checks(&mut self, section: &Section) {
        let checks = section.check_summaries();
        if checks.is_empty() {
            return;
        }
        self.line("### What was checked, and how");
        let rows = checks.iter().map(|it| vec![cell(it.name), cell(&it.result), cell(it.how)]);
        self.table(&["check", "result", "how"], &[false; 3], rows);
    }

    fn samples(&mut self, section: &Section) {
        if section.samples.is_empty() {
            return;
        }
        self.line("### Keys");
        let rows = section.samples.iter().take(SHOWN_SAMPLES);
        let rows = rows.map(|it| vec![cell(&it.tenant), code(&it.old_key), code(&it.new_key)]);
        self.table(&["tenant", "old key", "new key"], &[false; 3], rows);
        for sample in section.samples.iter().take(SHOWN_SAMPLES) {
            if let Some(document) = &sample.document {
                self.line(&format!(
                    "{}\n\n    {}",
                    code(&sample.new_key),
                    visible(document).replace('\n', " ")
                ));
            }
        }
    }

    fn throughput(&mut self, section: &Section) {
        if section.throughput.is_empty() {
            return;
        }
        self.line("### Throughput");
        let rows = section.throughput.iter().map(|it| {
            let seconds = std::time::Duration::from_millis(it.milliseconds);
            vec![
                cell(&it.what),
                number(it.documents),
                bytes(it.bytes),
                duration(seconds),
                super::chart::rate(it).map_or_else(String::new, |rate| format!("{}/s", number(rate))),
            ]
        });
        let columns = ["work", "documents", "size", "time", "documents a second"];
        self.table(&columns, &[false, true, true, true, true], rows);
    }

    fn digests(&mut self, section: &Section) {
        if section.digests.is_empty() {
            return;
        }
        self.line("### Digests (SHA-256)");
        let rows = section.digests.iter().map(|it| vec![cell(&it.of), code(&it.sha256)]);
        self.table(&["of", "digest"], &[false, false], rows);
    }

    /// A table whose columns line up in a terminal, too; `numbers` says which stand to the right.
    fn table(&mut self, columns: &[&str], numbers: &[bool], rows: impl IntoIterator<Item = Vec<String>>) {
        let rows: Vec<Vec<String>> = rows.into_iter().collect();
        let width = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column)).map(String::as_str);
            let widths = cells.chain(columns.get(column).copied()).map(|cell| cell.chars().count());
            widths.max().unwrap_or_default().max(3)
        };
        let widths: Vec<usize> = (0..columns.len()).map(width).collect();
        let right = |column: usize| numbers.get(column).copied().unwrap_or_default();
        let mut line = |cells: &[String]| {
            self.0.push('|');
            for (column, width) in widths.iter().enumerate() {
                let text = cells.get(column).map_or("", String::as_str);
                let blanks = " ".repeat(width.saturating_sub(text.chars().count()));
                let (before, after) =
                    if right(column) { (blanks, String::new()) } else { (String::new(), blanks) };
                // Writing to a string cannot fail.
                let _infallible = write!(self.0, " {before}{text}{after} |");
            }
            self.0.push('\n');
        };
        line(&columns.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
        let rule = |(column, width): (usize, &usize)| {
            if right(column) { format!("{}:", "-".repeat(width - 1)) } else { "-".repeat(*width) }
        };
        line(&widths.iter().enumerate().map(rule).collect::<Vec<_>>());
        for row in &rows {
            line(row);
        }
        self.0.push('\n');
    }
}

/// Text in which nothing is markup.
fn inline(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in visible(text).replace('\n', " ").chars() {
        if matches!(character, '\\' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '|' | '#' | '~') {
            shown.push('\\');
        }
        shown.push(character);
    }
    shown
}

/// Text in a cell.
fn cell(text: &str) -> String {
    inline(text)
}

/// A key as code. More backquotes than the key itself holds stand around it.
fn code(text: &str) -> String {
    let text = visible(&shortened(text, SHOWN_KEY)).replace('\n', " ").replace('|', "\\|");
    let longest = text.split(|it| it != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    if longest > 0 { format!("{fence} {text} {fence}") } else { format!("{fence}{text}{fence}") }
}

#[cfg(test)]
mod tests {
    use super::super::tests::sheet;
    use super::*;

    #[test]
    fn tables_line_up_in_a_terminal() {
        let text = render(&sheet());
        let table: Vec<_> = text.lines().skip_while(|it| *it != "### Tenants").skip(2).take(4).collect();
        assert_eq!(table[0], "| tenant            | events expected | events found | result |");
        assert_eq!(table[1], "| ----------------- | --------------: | -----------: | ------ |");
        assert!(table[2].starts_with(r"| \<b\>globex\</b\> "), "{table:?}");
        assert!(table.iter().all(|line| line.chars().count() == table[0].chars().count()), "{table:?}");
    }

    #[test]
    fn a_key_cannot_pass_for_markup() {
        assert_eq!(code("a|b`c``d"), "``` a\\|b`c``d ```");
        assert_eq!(code("t:acme"), "`t:acme`");
        assert_eq!(inline("<b>*x*</b>\nnext"), r"\<b\>\*x\*\</b\> next");
    }
}
