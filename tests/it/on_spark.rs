//! The rewrite on an Apache Spark cluster of local processes, one of which is killed, against the rewrite by itself.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rekey::document::StoreKind;
use serde_json::Value;

use crate::generated::Generated;
use crate::scene::{Scene, size};

const SHARDS: usize = 5;

/// Where Spark is; without it no test here means anything, so each fails.
fn python() -> PathBuf {
    let name = "REKEY_TEST_SPARK_PYTHON";
    std::env::var_os(name).map_or_else(
        || panic!("{name} is not set: run scripts/test.sh, or scripts/servers/spark.sh install and start"),
        PathBuf::from,
    )
}

/// Legacy events with the map of their tenants.
fn scene(generated: &Generated, more: &[&str]) -> Scene {
    let scene = Scene::new(StoreKind::DynamoDb);
    let lines: Vec<&str> = generated.lines.iter().map(String::as_str).chain(more.iter().copied()).collect();
    // In several files, one of them with the line ends of another system.
    fs::create_dir(scene.path("legacy")).unwrap();
    for (at, part) in lines.chunks(lines.len().div_ceil(3)).enumerate() {
        let end = if at == 1 { "\r\n" } else { "\n" };
        scene.write(&format!("legacy/{at}.ndjson"), part.join(end) + end);
    }
    scene.write("map.csv", &generated.map);
    scene
}

/// A binary that says where it runs and then becomes the tool, slowly enough to be killed while it works.
fn slow_binary(scene: &Scene) {
    let tool = assert_cmd::cargo::cargo_bin!("rekey");
    let started = scene.path("started");
    scene.write(
        "rekey",
        format!(
            "#!/bin/sh\necho \"$1 $$\" >>{started:?}\n[ \"$1\" = shard ] || sleep 1\nexec {tool:?} \"$@\"\n"
        ),
    );
    fs::set_permissions(scene.path("rekey"), fs::Permissions::from_mode(0o700)).unwrap();
}

/// The job, on `master`.
fn job(scene: &Scene, master: &str, more: &[&str]) -> Command {
    let python = python();
    let job = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/spark/rekey_job.py");
    let mut command = Command::new(python.with_file_name("spark-submit"));
    let _ = command
        .args(["--master", master, "--conf", "spark.ui.enabled=false"])
        .args(["--conf", "spark.driver.memory=512m", "--conf", "spark.executor.memory=512m"])
        .arg(job)
        .args(["--rekey", "rekey", "--input", "legacy", "--output", "rekeyed", "--layout", "dynamodb-events"])
        .args(["--tenant-map", "map.csv", "--shards", &SHARDS.to_string()])
        .args(more)
        .args(["--", "--escaping", "escaped"])
        .current_dir(scene.folder())
        .env("SPARK_LOCAL_IP", "127.0.0.1")
        .env("PYSPARK_PYTHON", &python)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(fs::File::create(scene.path("spark.log")).unwrap());
    command
}

/// Checks how the job ended; gives what it said, which Spark takes to standard output however it was said.
fn ended(scene: &Scene, output: &Output, code: i32) -> String {
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(code), "{said}{}", scene.text("spark.log"));
    said
}

/// The process that a process is a part of, if its command line holds `word`.
fn ancestor(of: u32, word: &str) -> Option<u32> {
    let mut process = of;
    while process > 1 {
        let command = fs::read(format!("/proc/{process}/cmdline")).ok()?;
        if String::from_utf8_lossy(&command).contains(word) {
            return Some(process);
        }
        let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
        process = status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()?;
    }
    None
}

/// Kills the worker that rewrites the first shard, as a machine that is lost would be.
fn kill_a_worker(scene: &Scene) {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_mins(30) {
        let started = fs::read_to_string(scene.path("started")).unwrap_or_default();
        let rewrites = started.lines().filter_map(|line| line.strip_prefix("rekey ")?.parse().ok());
        for process in rewrites {
            if let Some(worker) = ancestor(process, "CoarseGrainedExecutorBackend") {
                let killed = Command::new("kill").args(["-9", &worker.to_string()]).status().unwrap();
                assert!(killed.success());
                return;
            }
        }
        sleep(Duration::from_millis(20));
    }
    panic!("no worker began to rewrite: {}", scene.text("spark.log"));
}

/// The lines of all files of the output with this ending, in the order of their bytes.
fn sorted(scene: &Scene, ending: &str) -> Vec<String> {
    let names = fs::read_dir(scene.path("rekeyed")).unwrap().map(|it| it.unwrap().file_name().into_string());
    let wanted =
        |name: &String| name.split_once('.').is_some_and(|(part, rest)| !part.is_empty() && rest == ending);
    let mut lines: Vec<_> = names
        .map(Result::unwrap)
        .filter(wanted)
        .flat_map(|name| scene.lines(&format!("rekeyed/{name}")))
        .collect();
    lines.sort();
    lines
}

#[test]
fn a_cluster_that_loses_a_worker_leaves_what_one_machine_does() {
    let generated = Generated::events(StoreKind::DynamoDb, size("REKEY_SPARK_STREAMS", 60));
    let scene = scene(&generated, &[]);
    slow_binary(&scene);
    let documents = generated.lines.len().to_string();
    let job = job(&scene, "local-cluster[3,1,512]", &["--expect-documents", &documents]).spawn().unwrap();
    kill_a_worker(&scene);
    let _ = ended(&scene, &job.wait_with_output().unwrap(), 0);
    let rewrites = scene.lines("started").iter().filter(|line| line.starts_with("rekey ")).count();
    assert!(rewrites > SHARDS, "the shard of the lost worker is rewritten again: {rewrites}");

    let alone = ["rekey", "legacy", "--layout", "dynamodb-events", "--expect-documents", &documents];
    let how = ["--out", "alone.ndjson", "--tenant-map", "map.csv", "--escaping", "escaped"];
    let _ = scene.done(&[&alone[..], &how].concat());
    for (of_job, of_one) in [("ndjson", "alone.ndjson"), ("ndjson.keys.ndjson", "alone.ndjson.keys.ndjson")] {
        let mut expected = scene.lines(of_one);
        expected.sort();
        assert_eq!(sorted(&scene, of_job), expected, "{of_job}");
    }

    let modes = ["rekeyed", "rekeyed/part-00001.ndjson", "rekeyed/part-00001.ndjson.manifest.json"]
        .map(|name| fs::metadata(scene.path(name)).unwrap().permissions().mode() & 0o777);
    assert_eq!(modes, [0o700, 0o600, 0o600], "for the owner's eyes alone");

    // The folder is an archive: what it says is in a store is there.
    let _ = scene.done(&[
        "import",
        "rekeyed",
        "--to",
        &scene.address("new.db"),
        "--table",
        "Events",
        "--create-target",
    ]);
    let verified = ["verify", "alone.ndjson", "--against", &scene.address("new.db"), "--table", "Events"];
    assert_eq!(scene.done(&verified)["verdict"], "match");
}

#[test]
fn one_refused_document_fails_the_job_and_is_named() {
    let generated = Generated::events(StoreKind::DynamoDb, 4);
    for (broken, reason) in
        [(r#"{"Item":{"pk":{"S":"#, "malformed"), (r#"{"Item":{"x":{"S":"1"}}}"#, "field-missing")]
    {
        let scene = scene(&generated, &[broken]);
        let tool = assert_cmd::cargo::cargo_bin!("rekey");
        let _ = fs::copy(tool, scene.path("rekey")).unwrap();
        let output = job(&scene, "local[2]", &["--on-refused", "set-aside"]).output().unwrap();
        let said = ended(&scene, &output, 5);
        assert!(said.contains("Lines that are no documents of the layout"), "{said}");
        let names: Vec<_> =
            fs::read_dir(scene.path("rekeyed")).unwrap().map(|it| it.unwrap().file_name()).collect();
        assert_eq!(names, ["_refused"], "no archive was left");
        let refused: Value =
            serde_json::from_str(&scene.text("rekeyed/_refused/part-00000.ndjson.refused.ndjson")).unwrap();
        assert_eq!(refused["reason"], reason);
    }
}
