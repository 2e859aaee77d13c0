//! `status`: what did not come to its end, and the command that goes on with it.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use rekey::document::StoreKind;
use serde_json::{Value, json};

use crate::generated::Generated;
use crate::scene::{STORES, Scene, listing};

/// An import into `fresh.db` that has noted some of its documents and has more to do.
fn under_way(scene: &Scene, folder: &str) -> Child {
    let to = scene.address("fresh.db");
    let import = ["import", "rekeyed.ndjson", "--to", &to, "--collection", "fresh", "--create-target"];
    let slowly = ["--max-writes-per-second", "300", "--concurrency", "1", "--state-dir", folder];
    let mut command = scene.command(&[&import[..], &slowly].concat());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !has_begun(&scene.path(folder)) {
        assert_eq!(child.try_wait().unwrap(), None, "it ended too early");
        sleep(Duration::from_millis(20));
    }
    child
}

/// Whether a batch is noted as done. Other files come and go while the program works; a journal stays.
fn has_begun(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    let mut journals = entries.map(|entry| entry.unwrap().path());
    journals.any(|path| {
        path.extension().is_some_and(|it| it == "journal")
            && fs::read_to_string(path).unwrap().contains("{\"done\":")
    })
}

fn status(scene: &Scene, folder: &str) -> Value {
    scene.done(&["status", folder])
}

#[test]
fn a_run_is_named_while_it_works_and_after_it_was_killed_with_the_command_that_goes_on() {
    for store in STORES {
        let scene = Scene::new(store);
        let generated = Generated::events(store, 100);
        scene.moved(&generated);
        let mut child = under_way(&scene, "state here");
        let said = status(&scene, "state here");
        let [run] = &said["unfinished"].as_array().unwrap()[..] else { panic!("{said}") };
        assert_eq!((&run["state"], &run["process"]), (&json!("running"), &json!(child.id())));
        child.kill().unwrap();
        let _ = child.wait().unwrap();

        let said = status(&scene, "state here");
        let [run] = &said["unfinished"].as_array().unwrap()[..] else { panic!("{said}") };
        assert_eq!((&run["state"], &run["command"]), (&json!("resumable"), &json!("import")));
        assert_eq!(
            (&run["archive"], &run["documents"]),
            (&json!("rekeyed.ndjson"), &json!(generated.lines.len()))
        );
        let done = run["done"].as_u64().unwrap();
        assert!(done > 0 && done < generated.lines.len() as u64, "{run}");
        let text = scene.run(&["status", "state here"]);
        assert!(String::from_utf8_lossy(&text.stdout).contains("go on with"), "{store}");

        // Typed as it stands, it goes on where the run stopped.
        let resume = run["resume"].as_str().unwrap();
        let program = assert_cmd::cargo::cargo_bin!("rekey");
        let mut shell = Command::new("sh");
        let typed = resume.replacen("rekey import", &format!("{} import", program.display()), 1);
        let ran = shell.args(["-c", &typed]).current_dir(scene.folder()).output().unwrap();
        assert!(ran.status.success(), "{resume}\n{}", String::from_utf8_lossy(&ran.stderr));
        let said = status(&scene, "state here");
        assert_eq!((&said["unfinished"], &said["finished"]), (&json!([]), &json!(1)));
    }
}

#[test]
fn a_torn_journal_is_read_and_a_damaged_one_is_named() {
    let scene = Scene::new(StoreKind::DynamoDb);
    scene.moved(&Generated::events(StoreKind::DynamoDb, 10));
    // Beside that of the seed.
    assert_eq!(status(&scene, ".")["finished"], 2);
    let mut names = listing(scene.folder()).into_keys().map(|name| name.to_str().unwrap().to_owned());
    let is_import = |name: &String| name.starts_with("rekeyed.") && name.ends_with(".journal");
    let journal = names.find(is_import).unwrap();
    let text = scene.text(&journal);
    let unfinished = text.strip_suffix("\"finished\"\n").unwrap();
    scene.write(&journal, format!("{unfinished}{{\"done\":{{\"fr"));
    let said = status(&scene, ".");
    assert_eq!((&said["unfinished"][0]["state"], &said["finished"]), (&json!("resumable"), &json!(1)));
    scene.write(&journal, format!("rubbish\n{text}"));
    let said = status(&scene, ".");
    assert_eq!(said["unfinished"][0]["state"], "damaged");
    assert!(said["unfinished"][0]["problem"].as_str().unwrap().contains("line 1"), "{said}");
    scene.result(&["status", "nowhere"]).ended_with(74);
}

#[test]
fn other_options_are_refused_and_the_difference_is_shown() {
    let scene = Scene::new(StoreKind::Firestore);
    scene.moved(&Generated::events(StoreKind::Firestore, 100));
    let mut child = under_way(&scene, "state");
    child.kill().unwrap();
    let _ = child.wait().unwrap();
    let to = scene.address("fresh.db");
    let import = ["import", "rekeyed.ndjson", "--to", &to, "--collection", "fresh", "--state-dir", "state"];
    let refused = scene.result(&[&import[..], &["--on-refused", "set-aside"]].concat());
    refused.ended_with(2);
    assert!(refused.stderr.contains("on-refused: Stop then, SetAside now"), "{}", refused.stderr);
    let _ = scene.done(&import);
}
