//! The tutorial, followed literally: every command of it is run, and what it shows is what is printed.

use std::path::Path;
use std::process::Command;

/// A block of commands, or of what they are said to print.
enum Block<'a> {
    Commands(&'a str),
    Printed(&'a str),
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    for part in page.split("\n```").skip(1).step_by(2) {
        match part.split_once('\n') {
            Some(("sh", text)) => blocks.push(Block::Commands(text)),
            Some(("text", text)) => blocks.push(Block::Printed(text)),
            _ => {}
        }
    }
    blocks
}

#[test]
fn the_tutorial_followed_literally_ends_in_a_verified_migration() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(root.join("fixtures"), folder.path().join("fixtures")).unwrap();
    let program = assert_cmd::cargo::cargo_bin!("rekey");
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let page = std::fs::read_to_string(root.join("docs/tutorial.md")).unwrap();
    let (mut said, mut run, mut shown) = (String::new(), 0, 0);
    for block in blocks(&page) {
        match block {
            Block::Commands(commands) => {
                let mut shell = Command::new("sh");
                let _ = shell.args(["-e", "-c", commands]).current_dir(folder.path());
                let output = shell.env_clear().env("PATH", &path).output().unwrap();
                let errors = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{commands}\n{errors}");
                said = String::from_utf8(output.stdout).unwrap();
                run += 1;
            }
            Block::Printed(lines) => {
                for line in lines.lines() {
                    assert!(said.contains(line), "{line:?} is not in\n{said}");
                    shown += 1;
                }
            }
        }
    }
    assert!(run >= 9 && shown >= 9, "{run} blocks of commands, {shown} lines");
    // What was written is in its folders, and the repository's files are as they were.
    assert!(folder.path().join("orders/pruned.json").exists());
}
