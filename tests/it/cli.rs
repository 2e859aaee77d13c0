//! The command line as users meet it: help, usage errors, streams, exit codes.

use std::io::pipe;
use std::process::{Command, Output};

/// Every command.
pub(crate) const VERBS: [&str; 21] = [
    "export",
    "rekey",
    "import",
    "verify",
    "prune",
    "restore",
    "undo",
    "plan",
    "apply",
    "run",
    "rehearse",
    "init",
    "shard",
    "combine",
    "sagas",
    "status",
    "doctor",
    "demo",
    "explain",
    "completions",
    "man",
];

/// The program in a world of its own: a wide terminal, no settings of the user's.
fn rekey(arguments: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("rekey"));
    let _ = command.args(arguments).env_clear().env("COLUMNS", "100");
    command
}

fn output(arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = rekey(arguments).output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

#[test]
fn the_help_of_every_command_is_what_was_reviewed() {
    let mut all = String::new();
    let helps = [vec!["--help"], vec!["-h"]].into_iter().chain(VERBS.map(|verb| vec![verb, "--help"]));
    for arguments in helps {
        let (code, help, errors) = output(&arguments);
        assert_eq!((code, errors.as_str()), (Some(0), ""), "{arguments:?}");
        all.extend(["$ rekey ", &arguments.join(" "), "\n", &help, "\n"]);
    }
    insta::assert_snapshot!(all);
}

#[test]
fn every_help_has_examples_and_exit_codes() {
    for verb in VERBS {
        let (_, help, _) = output(&[verb, "--help"]);
        assert!(help.contains("Examples:\n  rekey ") && help.contains("Exit codes:"), "{verb}");
    }
}

#[test]
fn the_help_of_rekey_sends_the_operator_to_their_own_host() {
    let (_, help, _) = output(&["rekey", "--help"]);
    let text = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for phrase in [
        "resolves __default__ in the framework's code",
        "migration page tells such hosts to use __untenanted__",
        "read the value from your own host",
        "GetRequiredService<ITenantContext>()",
    ] {
        assert!(text.contains(phrase), "{phrase}");
    }
}

/// Every usage error: what is typed, and a phrase that must be said.
const WRONG: &[(&[&str], &str)] = &[
    (&["exprt"], "Try `"),
    (&["export", "--form", "dynamodb://"], "Try `--from`"),
    (&["export", "--from", "dynamodb://", "--table", "t", "--layout", "events"], "--out"),
    (
        &["export", "--from", "postgres://h/d", "--table", "t", "--layout", "events", "--out", "a"],
        "no kind of store",
    ),
    (&["export", "--from", "dynamodb://", "--table", " ", "--layout", "events", "--out", "a"], "empty"),
    (&["export", "--from", "dynamodb://", "--table", "t", "--layout", "events", "--out", "a.part"], ".part"),
    (
        &["export", "--from", "dynamodb://", "--table", "t", "--layout", "e", "--out", "a", "--max-ru", "5"],
        "--max-ru",
    ),
    (
        &["export", "--from", "dynamodb://", "--table", "t", "--layout", "e", "--out", "a", "--max-rcu", "0"],
        "'0'",
    ),
    (
        &["export", "--from", "dynamodb://", "--table", "t", "--layout", "e", "--out", "a", "--set", "x"],
        "NAME=VALUE",
    ),
    (
        &[
            "export",
            "--from",
            "dynamodb://",
            "--table",
            "t",
            "--layout",
            "e",
            "--out",
            "a",
            "--manifest",
            "m",
        ],
        "--out -",
    ),
    (&["explain", "key-to-long"], "Try `rekey explain key-too-long`"),
    (&["explain", "zebra"], "list of all"),
    (&["completions", "tcsh"], "tcsh"),
    (&["man", "exprt"], "Try `rekey man export`"),
    (&["man", "zebra"], "The commands are export"),
    (&["rekey", "a", "--out", "b"], "--single-tenant"),
    (&["rekey", "a", "--out", "b", "--single-tenant", "--untenanted"], "cannot be used with"),
    (&["rekey", "a", "--single-tenant"], "--out"),
    (&["rekey", "a", "--out", "a", "--single-tenant"], "same file"),
    (&["rekey", "a", "--out", "b", "--result", "b", "--single-tenant"], "same file"),
    (&["rekey", "a", "--out", "m.csv", "--tenant-map", "./m.csv"], "same file"),
    (&["rekey", "a", "-", "--out", "b", "--single-tenant"], "Standard input"),
    (&["rekey", "a", "--out", "b", "--single-tenant", "--escaping", "escape"], "Try `escaped`"),
    (&["rekey", "a", "--out", "b", "--single-tenant", "--only-tenants", "x,,y"], "without a name"),
    (&["rekey", "a", "--out", "b", "--single-tenant", "--preview", "-"], "--preview"),
    (&["rekey", "a", "--out", "b", "--single-tenant", "--result", "-"], "--result"),
    (&["rekey", "a", "--out", "-", "--single-tenant", "--output", "json"], "--result FILE"),
    (
        &[
            "export",
            "--from",
            "dynamodb://",
            "--table",
            "t",
            "--layout",
            "e",
            "--out",
            "-",
            "--output",
            "json",
        ],
        "--out -",
    ),
    (
        &["verify", "a", "--against", "dynamodb://", "--table", "t", "--probe-streams", "most"],
        "`all` or a number",
    ),
    (&["prune", "a", "--from", "dynamodb://", "--table", "t"], "--rekeyed"),
    (
        &[
            "prune",
            "a",
            "--rekeyed",
            "b",
            "--from",
            "dynamodb://",
            "--table",
            "t",
            "--twins-in",
            "dynamodb://",
        ],
        "--twins-collection",
    ),
    (&["prune", "-", "--rekeyed", "-", "--from", "dynamodb://", "--table", "t"], "standard input"),
    (&["import", "a", "--to", "dynamodb://", "--collection", "t", "--table", "t"], "--collection"),
    (&["demo", "mongodb://ops:S3CRET@h/d"], "mongodb://…@h/d"),
];

#[test]
fn every_usage_error_exits_2_with_a_hint_and_an_empty_standard_output() {
    for (arguments, phrase) in WRONG {
        let (code, out, errors) = output(arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {errors}");
        assert_eq!(out, "", "{arguments:?}");
        assert!(errors.starts_with("error: ") && errors.contains("\nhint: "), "{arguments:?}: {errors}");
        assert!(errors.contains(phrase), "{arguments:?}: {errors}");
        assert!(!errors.contains("S3CRET"), "{errors}");
    }
}

#[test]
fn without_arguments_the_help_is_shown_and_the_exit_is_2() {
    let (code, out, help) = output(&[]);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(VERBS.iter().all(|verb| help.contains(verb)));
}

#[test]
fn a_reader_that_went_away_is_exit_141_without_a_word() {
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    let Output { status, stderr, .. } = rekey(&["--help"]).stdout(writer).output().unwrap();
    assert_eq!((status.code(), stderr), (Some(141), Vec::new()));
}

/// Whether a process has handlers for SIGINT and SIGTERM.
#[cfg(target_os = "linux")]
fn listens_for_signals(process: u32) -> bool {
    const BOTH: u64 = (1 << 1) | (1 << 14);
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    (u64::from_str_radix(caught.trim(), 16).unwrap() & BOTH) == BOTH
}

#[cfg(target_os = "linux")]
#[test]
fn a_second_signal_ends_a_run_at_once_with_the_code_of_the_signal() {
    let pause = || std::thread::sleep(std::time::Duration::from_millis(20));
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        // It waits for its input, which never ends.
        let mut child = rekey(&["rekey", "-", "--layout", "mongodb-events", "--single-tenant", "--out", "-"])
            .stdin(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        while !listens_for_signals(child.id()) {
            pause();
        }
        while child.try_wait().unwrap().is_none() {
            let _ = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
            pause();
        }
        assert_eq!(child.wait().unwrap().code(), Some(code));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_first_signal_ends_a_wait_for_input_that_does_not_come() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    for input in ["-", fifo.to_str().unwrap()] {
        let how = ["--layout", "mongodb-events", "--expect-documents", "1", "--single-tenant", "--out", "-"];
        let mut child = rekey(&[&["rekey", input], &how[..]].concat())
            .stdin(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        while !listens_for_signals(child.id()) {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        std::thread::sleep(std::time::Duration::from_millis(200));
        let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        let stdin = child.stdin.take();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{input}");
        drop(stdin);
    }
}

/// `ulimit -f`: a write beyond it fails instead of ending the process.
#[cfg(target_os = "linux")]
#[test]
fn a_file_beyond_the_limit_is_an_error_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let archive = "fixtures/cosmosdb-events.ndjson";
    let lines = std::fs::read_to_string(archive).unwrap().lines().count();
    let tool = assert_cmd::cargo::cargo_bin!("rekey");
    let out = folder.path().join("out");
    let script = format!(
        "ulimit -f 8; exec {tool:?} restore {archive} --layout cosmosdb-events --expect-documents {lines} --to 'embedded:{}?as=cosmosdb' --container events --create-target --state-dir {:?}",
        out.display(),
        folder.path()
    );
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(74), "{said}");
    assert!(said.contains("File too large"), "{said}");
}

#[test]
fn colour_can_be_asked_for_and_is_left_out_by_default() {
    let wrong = ["export", "--from", "x", "--table", "t", "--layout", "events", "--out", "a"];
    let (_, _, plain) = output(&wrong);
    assert!(!plain.contains('\x1b'), "{plain}");
    let (_, _, colored) = output(&[&wrong[..], &["--color", "always"]].concat());
    assert!(colored.starts_with("\x1b[1;31merror:\x1b[0m "), "{colored}");
}

#[test]
fn a_code_is_explained_with_what_to_do_about_it() {
    let (code, text, errors) = output(&["explain", "key-too-long"]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert!(
        text.contains("longer than the store allows") && text.contains("Shorten the tenant id"),
        "{text}"
    );
    let (_, json, _) = output(&["explain", "foreign", "--output", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["explanations"].as_array().unwrap().len(), 2, "a reason and a notice");
}

#[test]
fn completions_are_a_script_that_the_shell_reads() {
    for shell in ["bash", "zsh", "fish"] {
        let (code, script, errors) = output(&["completions", shell]);
        assert_eq!((code, errors.as_str()), (Some(0), ""), "{shell}");
        assert!(VERBS.iter().all(|verb| script.contains(verb)), "{shell}");
    }
    let (_, script, _) = output(&["completions", "bash"]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rekey.bash");
    std::fs::write(&file, script).unwrap();
    let list =
        "source \"$1\"; COMP_WORDS=(rekey imp); COMP_CWORD=1; _rekey rekey imp rekey; echo ${COMPREPLY[@]}";
    let completed = Command::new("bash").args(["-c", list, "bash"]).arg(&file).output().unwrap();
    assert_eq!(String::from_utf8(completed.stdout).unwrap().trim(), "import");
}

#[test]
fn every_command_has_a_manual_page() {
    for verb in VERBS {
        let (code, page, errors) = output(&["man", verb]);
        assert_eq!((code, errors.as_str()), (Some(0), ""), "{verb}");
        assert!(page.contains(&format!(".TH rekey-{verb} 1")), "{page}");
        assert!(page.contains("\n.SH EXAMPLES\n.nf\n") && page.contains("\n.SH \"EXIT STATUS\"\n"), "{verb}");
        assert!(!page.contains("EXTRA"), "{verb}");
    }
    let (_, page, _) = output(&["man"]);
    assert!(page.contains(".TH rekey 1") && page.contains("\n.SH \"EXIT STATUS\"\n.nf\n"), "{page}");
    // The page of the tool names the pages there are.
    for verb in VERBS {
        assert!(page.contains(&format!("\nrekey\\-{verb}(1)\n")), "{verb}");
    }
}
