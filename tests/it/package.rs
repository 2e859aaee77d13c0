//! The packages: made of the program under test, installed into a folder that stands for a system, and used there.
//!
//! What a machine has no tool for is said and left out; `scripts/test.sh` says it, too.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::cli::VERBS;

/// Makes the packages in a folder, for their paths: the tarball and, where there is `dpkg-deb`, the Debian package.
fn packages(out: &Path) -> (PathBuf, Option<PathBuf>) {
    let mut script = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/package.sh"));
    let _ = script.arg("--binary").arg(assert_cmd::cargo::cargo_bin!("rekey")).arg("--out").arg(out);
    let made = succeeded(script.env("SOURCE_DATE_EPOCH", "1700000000"));
    let mut paths = made.lines().map(PathBuf::from);
    let tarball = paths.next().unwrap();
    let debian = paths.next();
    assert_eq!(debian.is_some(), has("dpkg-deb"), "{made}");
    (tarball, debian)
}

/// Runs a command that must succeed, for its standard output.
fn succeeded(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    assert!(status.success(), "{command:?}\n{}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap()
}

/// Whether the machine has a tool; says so if it has not.
fn has(tool: &str) -> bool {
    let found = std::env::split_paths(&std::env::var_os("PATH").unwrap()).any(|it| it.join(tool).is_file());
    if !found {
        eprintln!("!!! {tool} is not installed: what it does with the packages is not tested");
    }
    found
}

/// Installs a Debian package into a folder, whose only package it is.
fn installed(package: &Path, root: &Path) {
    for folder in ["info", "updates"] {
        std::fs::create_dir_all(root.join("var/lib/dpkg").join(folder)).unwrap();
    }
    std::fs::write(root.join("var/lib/dpkg/status"), "").unwrap();
    let dpkg = |arguments: &[&str]| {
        let mut command = Command::new("dpkg");
        let _ = command.arg(format!("--root={}", root.display())).arg("--log=/dev/null");
        succeeded(command.args(["--force-not-root", "--force-depends"]).args(arguments))
    };
    let _ = dpkg(&["--install", package.to_str().unwrap()]);
    assert_eq!(dpkg(&["--verify", "rekey"]), "", "a file is not as the package says");
}

#[test]
fn the_tarball_holds_a_program_that_runs_and_all_that_belongs_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let (tarball, _) = packages(folder.path());
    let _ = succeeded(Command::new("tar").arg("-xzf").arg(&tarball).arg("-C").arg(folder.path()));
    let name = tarball.file_name().unwrap().to_str().unwrap().trim_end_matches(".tar.gz");
    let top = folder.path().join(name);
    is_whole(&top);
    assert!(top.join("LICENSE").exists());
    // The same program makes the same bytes.
    let again = tempfile::tempdir().unwrap();
    let (second, _) = packages(again.path());
    assert!(std::fs::read(tarball).unwrap() == std::fs::read(second).unwrap(), "another tarball");
}

#[test]
fn the_debian_package_installs_and_what_it_installs_works() {
    let folder = tempfile::tempdir().unwrap();
    let (_, Some(package)) = packages(folder.path()) else { return };
    if !has("dpkg") {
        return;
    }
    let root = folder.path().join("root");
    installed(&package, &root);
    let top = root.join("usr");
    is_whole(&top);
    assert!(top.join("share/doc/rekey/copyright").exists());
    pages_are_readable(&top.join("share/man/man1"));
    completions_complete(&top.join("share"));
}

/// The program runs a whole migration, and every command has its page.
fn is_whole(top: &Path) {
    let program = top.join("bin/rekey");
    let version = succeeded(Command::new(&program).arg("--version"));
    assert!(version.contains(env!("CARGO_PKG_VERSION")), "{version}");
    let shown = succeeded(Command::new(&program).arg("demo"));
    assert!(shown.contains("verdict: match"), "{shown}");
    for verb in VERBS {
        assert!(top.join(format!("share/man/man1/rekey-{verb}.1.gz")).exists(), "{verb}");
    }
    for file in ["README.md", "docs/runbook.md", "docs/layouts/mongodb.md", "docs/rekey.schema.json"] {
        assert!(top.join("share/doc/rekey").join(file).exists(), "{file}");
    }
}

/// `man` renders every page without a warning, with its examples and on 80 columns.
fn pages_are_readable(folder: &Path) {
    if !has("man") {
        return;
    }
    for verb in VERBS {
        let mut man = Command::new("man");
        let page = folder.join(format!("rekey-{verb}.1.gz"));
        let _ = man.env("MANWIDTH", "80").env("LC_ALL", "C.UTF-8").args(["--warnings", "-l"]).arg(page);
        let Output { status, stdout, stderr } = man.output().unwrap();
        let (shown, warnings) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        assert!(status.success() && warnings.is_empty(), "{verb}: {warnings}");
        for heading in ["NAME", "SYNOPSIS", "OPTIONS", "EXAMPLES", "EXIT STATUS"] {
            assert!(shown.lines().any(|line| line == heading), "{verb} has no {heading}:\n{shown}");
        }
    }
}

/// Every shell that is there offers both commands that begin so.
fn completions_complete(share: &Path) {
    let offers = |shell: &str, arguments: &[&str], script: String| {
        if has(shell) {
            let offered = succeeded(Command::new(shell).args(arguments).arg("-c").arg(script));
            let is_offered = |verb| offered.split_whitespace().any(|word| word == verb);
            assert!(is_offered("export") && is_offered("explain"), "{shell}: {offered}");
        }
    };
    let bash = share.join("bash-completion/completions/rekey");
    let bash = format!(
        ". '{}'; COMP_WORDS=(rekey exp); COMP_CWORD=1; _rekey rekey exp rekey; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        bash.display()
    );
    offers("bash", &["--norc"], bash);
    let fish = share.join("fish/vendor_completions.d/rekey.fish");
    let fish = format!("source '{}'; complete -C 'rekey exp'", fish.display());
    offers("fish", &["--no-config"], fish);
    // zsh completes in its line editor alone: here what would be shown there is printed.
    let zsh = share.join("zsh/vendor-completions");
    let zsh = format!(
        "fpath=('{0}' $fpath); autoload -Uz compinit; compinit -D -u; [[ $_comps[rekey] == _rekey ]] || exit 1; \
         . '{0}/_rekey'; _describe() {{ print -l -- ${{commands%%:*}} }}; _rekey_commands",
        zsh.display()
    );
    offers("zsh", &["-f"], zsh);
}
