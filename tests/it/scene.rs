//! A folder of its own in which a test runs the program as an operator would: store files, archives, results.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rekey::document::StoreKind;
use serde_json::Value;
use tempfile::TempDir;

use crate::generated::Generated;

/// The databases that embedded storage stands for.
pub const STORES: [StoreKind; 4] =
    [StoreKind::MongoDb, StoreKind::DynamoDb, StoreKind::Firestore, StoreKind::CosmosDb];

/// One folder, one kind of store.
pub struct Scene {
    pub store: StoreKind,
    folder: TempDir,
    temporary: TempDir,
    server: Option<Server>,
}

/// A real server in place of store files: each file of a scene is then some collections on it.
#[derive(Clone, Debug)]
#[cfg_attr(
    not(any(feature = "mongodb", feature = "dynamodb", feature = "firestore", feature = "cosmosdb")),
    allow(dead_code)
)]
pub struct Server {
    /// The address as `--from` and `--to` take it.
    pub address: String,
    /// What the program's environment must hold to use it.
    pub environment: Vec<(&'static str, String)>,
    /// What the names of the scene's collections begin with, so that no other scene has them.
    pub prefix: String,
    /// What every command that creates documents on it must be told.
    pub writing: &'static [&'static str],
}

/// What a run of the program came to.
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
    arguments: String,
}

/// The arguments that export the events of one collection.
#[cfg(feature = "mongodb")]
pub fn export_events<'a>(from: &'a str, collection: &'a str, out: &'a str) -> [&'a str; 9] {
    ["export", "--from", from, "--collection", collection, "--layout", "events", "--out", out]
}

impl Scene {
    pub fn new(store: StoreKind) -> Self {
        let folder = || tempfile::tempdir().unwrap();
        Self { store, folder: folder(), temporary: folder(), server: None }
    }

    /// A scene whose collections are on a server.
    #[cfg_attr(
        not(any(feature = "mongodb", feature = "dynamodb", feature = "firestore", feature = "cosmosdb")),
        allow(dead_code)
    )]
    pub fn on(store: StoreKind, server: Server) -> Self {
        Self { server: Some(server), ..Self::new(store) }
    }

    /// Reaches the server by another address from now on.
    #[cfg(feature = "dynamodb")]
    pub fn lead_to(&mut self, address: String) {
        if let Some(server) = &mut self.server {
            server.address = address;
        }
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    pub fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&self.read(name)).unwrap()
    }

    pub fn lines(&self, name: &str) -> Vec<String> {
        self.text(name).lines().map(str::to_owned).collect()
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    pub fn copy(&self, from: &str, to: &str) {
        let _ = fs::copy(self.path(from), self.path(to)).unwrap();
    }

    /// Puts an archive with its companions under another name.
    pub fn copy_archive(&self, from: &str, to: &str) {
        for suffix in ["", ".manifest.json", ".keys.ndjson"] {
            if self.path(&format!("{from}{suffix}")).exists() {
                self.copy(&format!("{from}{suffix}"), &format!("{to}{suffix}"));
            }
        }
    }

    /// Puts all files of the folder into another scene.
    pub fn copy_into(&self, other: &Self) {
        for (name, bytes) in listing(self.folder()) {
            let path = other.folder().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
    }

    /// The address of a store file in the folder, or of the server.
    pub fn address(&self, file: &str) -> String {
        match &self.server {
            Some(server) => server.address.clone(),
            None => format!("embedded:{file}?as={}", self.store),
        }
    }

    /// The name of a collection in a store file, or of what stands for it on the server.
    pub fn collection(&self, file: &str, name: &str) -> String {
        match &self.server {
            Some(server) => format!("{}-{}-{name}", server.prefix, file.trim_end_matches(".db")),
            None => name.to_owned(),
        }
    }

    /// The full name of the layout of `kind`, which is `events` or `sagas`.
    pub fn layout(&self, kind: &str) -> String {
        format!("{}-{kind}", self.store)
    }

    /// The program with its arguments, in the folder, with nothing of the caller's environment.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("rekey"));
        let _ = command.env_clear().env("TMPDIR", self.temporary.path()).current_dir(self.folder());
        let environment = self.server.iter().flat_map(|server| &server.environment);
        let _ = command.envs(environment.map(|(name, value)| (name, value)));
        let _ = command.stdin(Stdio::null()).args(arguments).args(["--progress", "none"]);
        command
    }

    /// Runs the program as it is.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(&mut self.command(arguments))
    }

    #[cfg(feature = "faults")] // Which fault, the environment says.
    /// Runs the program for its JSON result, with more in its environment.
    pub fn result_with(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Ran {
        Ran::of(self.command(arguments).args(["--output", "json"]).envs(environment.iter().copied()))
    }

    /// Runs the program for its JSON result; no run may leave a temporary file, whatever it came to.
    pub fn result(&self, arguments: &[&str]) -> Ran {
        let ran = Ran::of(self.command(arguments).args(["--output", "json"]));
        let left: Vec<_> = listing(self.temporary.path()).into_keys().collect();
        assert!(left.is_empty(), "{arguments:?} left {left:?} in the folder for temporary files");
        ran
    }

    /// Runs the program for its JSON result, with more in its environment; other servers have a say in it.
    #[cfg(all(feature = "mongodb", feature = "dynamodb", feature = "firestore", feature = "cosmosdb"))]
    pub fn result_in(&self, arguments: &[&str], environment: &[(&'static str, String)]) -> Ran {
        let mut command = self.command(arguments);
        let _ =
            command.args(["--output", "json"]).envs(environment.iter().map(|(name, value)| (name, value)));
        Ran::of(&mut command)
    }

    /// What the environment of the program must hold to use the server.
    #[cfg(all(feature = "mongodb", feature = "dynamodb", feature = "firestore", feature = "cosmosdb"))]
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        self.server.iter().flat_map(|server| server.environment.clone()).collect()
    }

    /// The JSON result of a run that must end with exit 0.
    pub fn done(&self, arguments: &[&str]) -> Value {
        self.result(arguments).ended(0)
    }

    /// Puts generated documents into a collection, as an old release would have left them.
    pub fn seed(&self, generated: &Generated, file: &str, collection: &str) {
        self.write("map.csv", &generated.map);
        self.put(&generated.lines, generated.kind, file, collection);
    }

    /// Puts documents into a collection as they are; makes it if it is not there.
    pub fn put(&self, lines: &[String], kind: &str, file: &str, collection: &str) {
        self.write("seed.ndjson", lines.join("\n") + "\n");
        let (to, count) = (self.address(file), lines.len().to_string());
        let (layout, collection) = (self.layout(kind), self.collection(file, collection));
        let restore = [
            "restore",
            "seed.ndjson",
            "--layout",
            &layout,
            "--expect-documents",
            &count,
            "--to",
            &to,
            "--collection",
            &collection,
            "--create-target",
        ];
        let result = self.done(&[&restore, self.writing()].concat());
        assert_eq!(result["written"], lines.len());
        for used in ["seed.ndjson", "seed.ndjson.restore.journal"] {
            let _ = fs::remove_file(self.path(used));
        }
    }

    pub fn export(&self, file: &str, collection: &str, kind: &str, out: &str) -> Value {
        let (from, collection) = (self.address(file), self.collection(file, collection));
        self.done(&["export", "--from", &from, "--collection", &collection, "--layout", kind, "--out", out])
    }

    /// Rewrites an archive by the tenant map.
    pub fn rekey(&self, archive: &str, out: &str, more: &[&str]) -> Value {
        let by_map = ["rekey", archive, "--out", out, "--tenant-map", "map.csv", "--escaping", "escaped"];
        self.done(&[&by_map, more].concat())
    }

    pub fn import(&self, archive: &str, file: &str, collection: &str, more: &[&str]) -> Value {
        let (to, collection) = (self.address(file), self.collection(file, collection));
        let import = ["import", archive, "--to", &to, "--collection", &collection];
        self.done(&[&import, self.writing(), more].concat())
    }

    /// What every command that creates documents must be told.
    pub fn writing(&self) -> &'static [&'static str] {
        self.server.as_ref().map_or(&[], |server| server.writing)
    }

    pub fn verify(&self, archives: &[&str], file: &str, collection: &str, more: &[&str]) -> Ran {
        let (against, collection) = (self.address(file), self.collection(file, collection));
        let where_to = ["--against", &against, "--collection", &collection];
        self.result(&[&["verify"], archives, &where_to, more].concat())
    }

    /// Prunes `legacy.ndjson` from a collection that holds `rekeyed.ndjson`.
    pub fn prune(&self, file: &str, collection: &str) -> Ran {
        self.pruned(file, collection, &[])
    }

    /// Prunes as [`Self::prune`] with more arguments.
    pub fn pruned(&self, file: &str, collection: &str, more: &[&str]) -> Ran {
        let (from, collection) = (self.address(file), self.collection(file, collection));
        let archives = ["prune", "legacy.ndjson", "--rekeyed", "rekeyed.ndjson"];
        self.result(&[&archives[..], &["--from", &from, "--collection", &collection], more].concat())
    }

    /// Seeds, exports to `legacy.ndjson`, rewrites to `rekeyed.ndjson`, imports into `moved` of `moved.db`.
    pub fn moved(&self, generated: &Generated) {
        self.seed(generated, "shop.db", "shop");
        let _ = self.export("shop.db", "shop", generated.kind, "legacy.ndjson");
        let _ = self.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
        let _ = self.import("rekeyed.ndjson", "moved.db", "moved", &["--create-target"]);
    }
}

impl Ran {
    fn of(command: &mut Command) -> Self {
        let arguments = format!("{:?}", command.get_args().collect::<Vec<_>>());
        let output = command.output().unwrap();
        Self {
            code: output.status.code(),
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            arguments,
        }
    }

    /// The JSON result of a run that must have ended with `code`.
    pub fn ended(&self, code: i32) -> Value {
        self.ended_with(code);
        serde_json::from_slice(&self.stdout).unwrap_or_else(|error| panic!("{}: {error}", self.arguments))
    }

    /// A run that must have ended with `code`, with or without a result.
    pub fn ended_with(&self, code: i32) {
        let stdout = String::from_utf8_lossy(&self.stdout);
        assert_eq!(self.code, Some(code), "{}\n{}\n{stdout}", self.arguments, self.stderr);
    }
}

/// Every file of a folder and its subfolders, by its path in the folder.
pub fn listing(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = PathBuf::from(path.file_name().unwrap());
        if path.is_dir() {
            found.extend(listing(&path).into_iter().map(|(inner, bytes)| (name.join(inner), bytes)));
        } else {
            let _ = found.insert(name, fs::read(&path).unwrap());
        }
    }
    found
}

/// Documents without what a store sets by itself, so that those of two collections can be compared.
pub fn without_system_fields(lines: &[String]) -> Vec<Value> {
    lines.iter().map(|line| stripped(line)).collect()
}

fn stripped(line: &str) -> Value {
    let mut value: Value = serde_json::from_str(line).unwrap();
    let members = value.as_object_mut().unwrap();
    for name in ["_rid", "_self", "_etag", "_attachments", "_ts", "createTime", "updateTime"] {
        let _ = members.remove(name);
    }
    if let Some(Value::String(name)) = members.get_mut("name") {
        *name = name.rsplit('/').next().unwrap().to_owned();
    }
    value
}

/// Every document of a run came to one of these outcomes.
pub fn sums_up<const N: usize>(result: &Value, outcomes: [&str; N], count: usize) {
    let sum: u64 = outcomes.iter().map(|name| result[*name].as_u64().unwrap()).sum();
    assert_eq!(sum, count as u64, "{result}");
}

/// A number from the environment, so that one specification runs at any size.
pub fn size(name: &str, otherwise: usize) -> usize {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap())
}
