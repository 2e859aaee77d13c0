//! No secret is in anything that a command says or writes.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD_NO_PAD;

use crate::generated::Generated;
use crate::scene::{Scene, listing};

/// Takes documents along the whole road and back, and asks for what cannot be had; whatever is said and written must
/// not hold any of `marks`, which the environment and the addresses are full of.
pub struct Watch<'a> {
    scene: &'a Scene,
    environment: Vec<(&'static str, String)>,
    marks: Vec<String>,
    runs: usize,
}

impl<'a> Watch<'a> {
    pub fn new(scene: &'a Scene, environment: Vec<(&'static str, String)>, marks: &[&str]) -> Self {
        let mut watched: Vec<String> = marks.iter().map(|&mark| mark.to_owned()).collect();
        // In another dress it is as good a secret.
        watched.extend(marks.iter().map(|mark| BASE64_STANDARD_NO_PAD.encode(mark)));
        Self { scene, environment, marks: watched, runs: 0 }
    }

    /// Runs a command in every way in which it can be talkative.
    pub fn run(&mut self, arguments: &[&str], codes: &[i32]) {
        let all = [arguments, &["--log-level", "trace", "--output", "json", "--result", "r.json"]].concat();
        for arguments in [arguments, &all] {
            let mut command = self.scene.command(arguments);
            let output = command.envs(self.environment.iter().map(|(name, value)| (name, value))).output();
            let output = output.unwrap();
            let said = String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned();
            // Run twice, it may find that it is done.
            let code = output.status.code().unwrap();
            assert!(codes.contains(&code), "{:?} ended with {code}: {said}", arguments[0]);
            self.assert_none(arguments[0], said.as_bytes());
            self.runs += 1;
        }
        for (name, bytes) in listing(self.scene.folder()) {
            self.assert_none(&format!("{name:?} after {}", arguments[0]), &bytes);
        }
    }

    fn assert_none(&self, place: &str, bytes: &[u8]) {
        for mark in &self.marks {
            let found = bytes.windows(mark.len()).any(|window| window == mark.as_bytes());
            assert!(!found, "{place} holds {mark}: {}", String::from_utf8_lossy(bytes));
        }
    }

    /// Every command against a store that is there.
    pub fn road(&mut self, at: &str) {
        let scene = self.scene;
        let generated = Generated::events(scene.store, 20);
        scene.write("map.csv", &generated.map);
        scene.write("seed.ndjson", generated.lines.join("\n") + "\n");
        let count = generated.lines.len().to_string();
        let (shop, moved) = (scene.collection("shop.db", "shop"), scene.collection("moved.db", "moved"));
        let (shop, moved) = (shop.as_str(), moved.as_str());
        let layout = scene.layout("events");
        let new = [&["--create-target"], scene.writing()].concat();
        let seed = ["restore", "seed.ndjson", "--layout", &layout, "--expect-documents", &count, "--to", at];
        self.run(&[&seed[..], &["--collection", shop], &new].concat(), &[0]);
        let export = ["export", "--from", at, "--collection", shop, "--layout", "events", "--out"];
        self.run(&[&export[..], &["legacy.ndjson"]].concat(), &[0]);
        let by = ["--tenant-map", "map.csv", "--escaping", "escaped", "--out", "rekeyed.ndjson"];
        self.run(&[&["rekey", "legacy.ndjson"], &by[..]].concat(), &[0]);
        let import = ["import", "rekeyed.ndjson", "--to", at, "--collection", moved];
        self.run(&[&import[..], &new, &["--dry-run"]].concat(), &[0]);
        self.run(&[&import[..], &new].concat(), &[0]);
        let verify =
            ["verify", "rekeyed.ndjson", "--legacy", "legacy.ndjson", "--against", at, "--collection"];
        self.run(&[&verify[..], &[moved]].concat(), &[0]);
        self.run(&[&verify[..], &[shop]].concat(), &[1]);
        let prune =
            ["prune", "legacy.ndjson", "--rekeyed", "rekeyed.ndjson", "--from", at, "--collection", shop];
        let twins = ["--twins-in", at, "--twins-collection", moved];
        self.run(&[&prune[..], &twins, &["--dry-run"]].concat(), &[0]);
        self.run(&[&prune[..], &twins].concat(), &[0]);
        let restore = ["restore", "legacy.ndjson", "--to", at, "--collection", shop];
        self.run(&[&restore[..], scene.writing()].concat(), &[0]);
        let undo = ["undo", "rekeyed.ndjson", "--from", at, "--collection", moved];
        self.run(&[&undo[..], &["--legacy-in", at, "--legacy-collection", shop]].concat(), &[0, 3]);
        self.run(&["status"], &[0, 3]);
        self.project(at, shop, moved);
    }

    /// The same by a project, whose address comes from a variable.
    fn project(&mut self, at: &str, shop: &str, moved: &str) {
        let store = format!(
            "source = {{ env = \"MARKED_SOURCE\" }}\ncollection = {shop:?}\ntarget-collection = {moved:?}\n\
             layout = \"events\"\ntenant-map = \"map.csv\"\nescaping = \"escaped\"\nsubscribers-handled = true\n"
        );
        self.scene.write("rekey.toml", format!("[stores.marked]\n{store}"));
        self.environment.push(("MARKED_SOURCE", at.to_owned()));
        self.run(&["plan"], &[0]);
        self.run(&["apply", "plan.json", "--yes"], &[0]);
        self.run(&["rehearse", "--export"], &[0]);
        self.run(&["status", "--project", "rekey.toml"], &[0]);
        // The errors say which flags the project gave.
        self.scene.write("rekey.toml", format!("[stores.marked]\n{store}move = true\nin-place = true\n"));
        self.run(&["import", "--project", "rekey.toml"], &[2]);
        self.run(&["run", "--yes"], &[2]);
        let _ = self.environment.pop();
    }

    /// Every command that uses a store, against one that cannot be had.
    pub fn nowhere(&mut self, at: &str, codes: &[i32]) {
        let none = ["--collection", "nothing-there"];
        self.run(
            &[&["export", "--from", at, "--layout", "events", "--out", "x.ndjson"], &none[..]].concat(),
            codes,
        );
        self.run(
            &[&["import", "rekeyed.ndjson", "--to", at, "--subscribers-handled"], &none[..]].concat(),
            codes,
        );
        self.run(
            &[&["restore", "legacy.ndjson", "--to", at, "--subscribers-handled"], &none[..]].concat(),
            codes,
        );
        self.run(&[&["verify", "rekeyed.ndjson", "--against", at], &none[..]].concat(), codes);
        let prune = ["prune", "legacy.ndjson", "--rekeyed", "rekeyed.ndjson", "--from", at];
        self.run(&[&prune[..], &none].concat(), codes);
        println!("{} runs", self.runs);
    }
}
