//! The loops that every document goes through, over the documents of `fixtures/`.

use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::sync::Arc;

use rekey::archive::KeyMapRow;
use rekey::document::StoreKind;
use rekey::document::canonical::{Scratch, digest};
use rekey::document::json::Tape;
use rekey::key::Escaping;
use rekey::layout::Layout;
use rekey::rewrite::{DocumentRewriter, Output, Reading, Rules};
use rekey::sort::Sorter;

/// The layouts that have fixtures.
const LAYOUTS: &[&str] = &[
    "mongodb-events",
    "mongodb-sagas",
    "dynamodb-events",
    "dynamodb-sagas",
    "firestore-events",
    "firestore-sagas",
    "cosmosdb-events",
    "cosmosdb-sagas",
];
const SORTED_ROWS: u32 = 10_000;
/// A budget that all rows of a sort fit into, and one that makes about ten runs of them.
const SORT_BUDGETS: [(&str, usize); 2] = [("sort", 16 << 20), ("sort-spilling", 256 << 10)];

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// One loop, ready to be run.
pub struct Loop {
    /// What it is called in the committed counts.
    pub name: String,
    /// How many documents one run goes over.
    pub documents: u64,
    /// Runs it once.
    pub run: Box<dyn FnMut() -> rekey::Result<()>>,
}

/// Makes every loop. The first run of each grows its buffers.
pub fn all() -> Result<Vec<Loop>> {
    let mut loops = Vec::new();
    for name in LAYOUTS {
        let rules = Rules::for_reading(
            Layout::builtin(name).ok_or_else(|| format!("{name} is no layout"))?,
            Some(Escaping::Escaped),
        );
        let lines = rewritable(name, &rules)?;
        if name.ends_with("-events") {
            loops.push(scan(rules.layout.store, &lines));
            loops.push(digests(&rules.layout, &lines)?);
        }
        loops.push(rewrite(name, rules, lines));
    }
    loops.push(key_map_write()?);
    loops.push(key_map_read()?);
    loops.extend(SORT_BUDGETS.map(|(name, budget)| sort(name, budget)));
    Ok(loops)
}

/// The fixture's lines that a rewrite to one tenant takes.
fn rewritable(layout: &str, rules: &Rules) -> Result<Vec<Vec<u8>>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(format!("{layout}.ndjson"));
    let mut rewriter = DocumentRewriter::new(&Arc::new(rules.clone()));
    let mut out = Output::default();
    let mut lines = Vec::new();
    for line in BufReader::new(File::open(path)?).split(b'\n') {
        let line = line?;
        if matches!(rewriter.read(&line), Reading::Ready) && rewriter.write(&line, "acme", &mut out).is_ok() {
            lines.push(line);
        }
    }
    if lines.is_empty() {
        Err(format!("{layout} has no fixture that can be rewritten").into())
    } else {
        Ok(lines)
    }
}

fn scan(store: StoreKind, lines: &[Vec<u8>]) -> Loop {
    let lines = lines.to_vec();
    let mut tape = Tape::new();
    Loop {
        name: format!("scan-{store}"),
        documents: lines.len() as u64,
        run: Box::new(move || {
            for line in &lines {
                let _ = black_box(tape.read(black_box(line)));
            }
            Ok(())
        }),
    }
}

fn digests(layout: &Layout, lines: &[Vec<u8>]) -> Result<Loop> {
    let store = layout.store;
    let touched: Vec<_> = layout.touched_fields().into_iter().map(str::to_owned).collect();
    let mut scanned = Vec::new();
    for line in lines {
        let mut tape = Tape::new();
        tape.read(line)?;
        scanned.push((tape, line.clone()));
    }
    let mut scratch = Scratch::default();
    Ok(Loop {
        name: format!("digest-{store}"),
        documents: lines.len() as u64,
        run: Box::new(move || {
            for (tape, line) in &scanned {
                let _ = black_box(digest(store, tape, black_box(line), &touched, &mut scratch));
            }
            Ok(())
        }),
    })
}

/// Everything of a line: scan, checks, new key, digest, key map line.
fn rewrite(layout: &str, rules: Rules, lines: Vec<Vec<u8>>) -> Loop {
    let mut rewriter = DocumentRewriter::new(&Arc::new(rules));
    let mut out = Output::default();
    Loop {
        name: format!("rewrite-{layout}"),
        documents: lines.len() as u64,
        run: Box::new(move || {
            out.clear();
            for line in &lines {
                let _ = black_box(rewriter.read(black_box(line)));
                let _ = black_box(rewriter.write(line, "acme", &mut out));
            }
            Ok(())
        }),
    }
}

/// The key map lines of the MongoDB events.
fn key_lines() -> Result<(Vec<u8>, u64)> {
    let layout = Layout::builtin("mongodb-events").ok_or("mongodb-events is no layout")?;
    let rules = Rules::for_reading(layout, Some(Escaping::Escaped));
    let lines = rewritable("mongodb-events", &rules)?;
    let mut rewriter = DocumentRewriter::new(&Arc::new(rules));
    let mut out = Output::default();
    for line in &lines {
        let _ = rewriter.read(line);
        rewriter.write(line, "acme", &mut out).map_err(|refusal| format!("{refusal:?}"))?;
    }
    Ok((out.key_lines, lines.len() as u64))
}

fn key_map_read() -> Result<Loop> {
    let (lines, documents) = key_lines()?;
    Ok(Loop {
        name: "key-map-read".to_owned(),
        documents,
        run: Box::new(move || {
            for line in lines.split_inclusive(|byte| *byte == b'\n') {
                let _ = black_box(KeyMapRow::parse(black_box(line)));
            }
            Ok(())
        }),
    })
}

fn key_map_write() -> Result<Loop> {
    let (lines, documents) = key_lines()?;
    let lines: &'static [u8] = lines.leak();
    let rows: Vec<_> = lines.split_inclusive(|byte| *byte == b'\n').filter_map(KeyMapRow::parse).collect();
    let mut block = Vec::new();
    Ok(Loop {
        name: "key-map-write".to_owned(),
        documents,
        run: Box::new(move || {
            block.clear();
            for row in &rows {
                black_box(row).append_to(&mut block);
            }
            let _ = black_box(&block);
            Ok(())
        }),
    })
}

/// Rows in, in the order of a store that spreads its keys; rows out, in theirs.
fn sort(name: &str, budget: usize) -> Loop {
    Loop {
        name: name.to_owned(),
        documents: u64::from(SORTED_ROWS),
        run: Box::new(move || {
            let mut sorter = Sorter::new(&std::env::temp_dir(), budget);
            for row in 0..SORTED_ROWS {
                let key = format!("t:acme:Order:{:08x}\u{0}{:08}", row.wrapping_mul(2_654_435_761), row % 12);
                sorter.push(key.as_bytes(), &[b'x'; 256])?;
            }
            let mut rows = sorter.finish()?;
            while let Some(row) = rows.next()? {
                let _ = black_box(row);
            }
            Ok(())
        }),
    }
}
