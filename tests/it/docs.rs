//! The documentation says what the program does: codes, advice, links and layouts are checked against it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rekey::check::Reason;
use rekey::document::StoreKind;
use rekey::report::{FindingCode, NoticeCode};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The README and every page under `docs`.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md")];
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages
}

/// The cells of every row under a heading whose table's first column is code.
fn table<'a>(page: &'a str, heading: &str) -> Vec<Vec<&'a str>> {
    page.lines()
        .skip_while(|line| *line != heading)
        .skip(1)
        .take_while(|line| !line.starts_with("## "))
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect()
}

fn codes<'a>(rows: &[Vec<&'a str>]) -> Vec<&'a str> {
    rows.iter().map(|row| row[0].trim_matches('`')).collect()
}

#[test]
fn the_help_and_the_page_list_the_same_exit_codes_in_the_same_order() {
    let page = read("docs/exit-codes.md");
    let documented = table(&page, "## Exit codes");
    let output = std::process::Command::new(assert_cmd::cargo::cargo_bin!("rekey")).arg("--help").output();
    let help = String::from_utf8(output.unwrap().stdout).unwrap();
    let (_, codes_of_help) = help.split_once("Exit codes:").unwrap();
    for code in codes(&documented) {
        let is_named = codes_of_help.split(|it: char| !it.is_ascii_digit()).any(|word| word == code);
        assert!(is_named, "rekey --help does not name {code}");
    }
    let order = |text: &str| {
        let (_, order) = text.rsplit_once(": 70, ").unwrap();
        order.lines().next().unwrap().replace("then ", "")
    };
    assert_eq!(order(codes_of_help), order(page.split("## Reasons").next().unwrap()));
}

#[test]
fn every_reason_is_documented_with_the_programs_own_advice() {
    let page = read("docs/exit-codes.md");
    let rows = table(&page, "## Reasons: why a document is refused");
    let expected: Vec<_> = Reason::ALL.iter().map(|reason| reason.code()).collect();
    assert_eq!(codes(&rows), expected);
    for (row, reason) in rows.iter().zip(Reason::ALL) {
        assert_eq!(row[2], reason.advice(), "{reason}");
    }
}

#[test]
fn every_finding_and_notice_is_documented() {
    let page = read("docs/exit-codes.md");
    let findings = table(&page, "## Findings: what changes the exit code");
    assert_eq!(codes(&findings), FindingCode::ALL.iter().map(|code| code.code()).collect::<Vec<_>>());
    let notices = table(&page, "## Notices: what is worth knowing");
    assert_eq!(codes(&notices), NoticeCode::ALL.iter().map(|code| code.code()).collect::<Vec<_>>());
}

#[test]
fn every_layout_is_on_the_page_of_its_store() {
    let overview = read("docs/layouts.md");
    for file in std::fs::read_dir(root().join("src/layouts")).unwrap() {
        let file = file.unwrap().path();
        let name = file.file_stem().unwrap().to_str().unwrap();
        let store = name.split('-').next().unwrap();
        assert!(StoreKind::ALL.iter().any(|kind| kind.name() == store), "{name}");
        assert!(overview.contains(&format!("`{name}`")), "docs/layouts.md does not name {name}");
        let page = read(format!("docs/layouts/{store}.md"));
        assert!(page.contains(&format!("`{name}`")), "docs/layouts/{store}.md does not name {name}");
    }
}

/// The target of every Markdown link of a page.
fn links(page: &str) -> impl Iterator<Item = &str> {
    page.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

/// The anchors that a page's headings make.
fn anchors(page: &str) -> BTreeSet<String> {
    page.lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            kept.map(|c| if c == ' ' { '-' } else { c }).collect()
        })
        .collect()
}

#[test]
fn every_link_leads_somewhere() {
    for path in pages() {
        let page = std::fs::read_to_string(&path).unwrap();
        for link in links(&page).filter(|link| !link.starts_with("https://")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            assert!(target.exists(), "{}: {link}", path.display());
            if !anchor.is_empty() {
                let found = anchors(&std::fs::read_to_string(&target).unwrap());
                assert!(found.contains(anchor), "{}: {link}", path.display());
            }
        }
    }
}

/// The commands of a page's shell blocks that call the program, with their continuation lines joined.
fn commands(page: &str) -> Vec<String> {
    let blocks = page.split("\n```sh\n").skip(1).filter_map(|rest| rest.split("\n```").next());
    blocks
        .flat_map(|block| block.replace("\\\n", " ").lines().map(str::to_owned).collect::<Vec<_>>())
        .map(|line| line.trim().to_owned())
        .filter(|line| line.starts_with("rekey "))
        .collect()
}

/// The words of a command line: blanks part them, quotes hold them together.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut quote) = (vec![String::new()], None);
    for c in command.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c == ' ' => words.push(String::new()),
            _ => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn every_command_shown_is_one_that_the_program_takes() {
    let mut shown = 0;
    for path in pages() {
        for command in commands(&std::fs::read_to_string(&path).unwrap()) {
            // Everything before --help is read, and nothing is done.
            let run = std::process::Command::new(env!("CARGO_BIN_EXE_rekey"))
                .args(&words(&command)[1..])
                .arg("--help")
                .output()
                .unwrap();
            let message = String::from_utf8_lossy(&run.stderr);
            assert!(run.status.success(), "{}: {command}\n{message}", path.display());
            shown += 1;
        }
    }
    assert!(shown > 10, "the commands were not found");
}

/// The lines of a section's JSON blocks.
fn json_blocks(section: &str) -> Vec<&str> {
    section.split("\n```json\n").skip(1).filter_map(|rest| rest.split("\n```").next()).collect()
}

#[test]
fn every_document_shown_before_becomes_the_one_shown_after() {
    let mut layouts = BTreeSet::new();
    for store in StoreKind::ALL {
        let page = read(format!("docs/layouts/{store}.md"));
        for section in page.split("\n## ").skip(1) {
            let heading = section.lines().next().unwrap_or_default();
            let Some((_, layout)) = heading.trim_end_matches('`').split_once('`') else { continue };
            let [before, after] = json_blocks(section)[..] else {
                panic!("{layout}: expected a document before and one after")
            };
            let run = assert_cmd::Command::new(env!("CARGO_BIN_EXE_rekey"))
                .args(["rekey", "-", "--out", "-", "--layout", layout, "--tenant", "acme", "--quiet"])
                .write_stdin(before)
                .output()
                .unwrap();
            let message = String::from_utf8_lossy(&run.stderr);
            assert!(run.status.success(), "{layout}: {message}");
            assert_eq!(String::from_utf8_lossy(&run.stdout).trim_end(), after, "{layout}");
            assert!(layouts.insert(layout.to_owned()), "{layout} stands twice");
        }
    }
    assert_eq!(layouts.len(), std::fs::read_dir(root().join("src/layouts")).unwrap().count());
}
