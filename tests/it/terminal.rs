//! What a person sees: tables fit a terminal of any width, and nothing but text goes into a pipe.

use std::process::Command;

use rekey::document::StoreKind;

use crate::generated::Generated;
use crate::scene::Scene;

/// Runs a command in a terminal of so many columns and hands over all that it shows.
const IN_TERMINAL: &str = "
import fcntl, os, pty, struct, sys, termios
columns, command = int(sys.argv[1]), sys.argv[2:]
process, terminal = pty.fork()
if process == 0:
    # The width is there before the program looks at it.
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('HHHH', 50, columns, 0, 0))
    os.execv(command[0], command)
while True:
    try:
        shown = os.read(terminal, 65536)
    except OSError:
        break
    if not shown:
        break
    os.write(1, shown)
os.waitpid(process, 0)
";

fn in_terminal(scene: &Scene, arguments: &[&str], columns: usize) -> String {
    let inner = scene.command(arguments);
    let mut python = Command::new("python3");
    let _ = python.args(["-c", IN_TERMINAL, &columns.to_string()]).arg(inner.get_program());
    let _ = python.args(inner.get_args()).current_dir(scene.folder());
    let _ = python.env_remove("NO_COLOR").env_remove("COLUMNS").env("TERM", "xterm");
    let output = python.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().replace('\r', "")
}

/// Text without the sequences that colour it.
fn plain(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| plain + part.split_once('m').expect("only colour").1)
}

/// The tables of a text: each from its heading to the next empty line.
fn tables(text: &str) -> Vec<Vec<&str>> {
    let lines: Vec<&str> = text.lines().collect();
    let rules = lines.iter().enumerate().filter(|(_, line)| line.starts_with('─'));
    let table = |(at, _): (usize, &&str)| {
        let heading = lines[..at].iter().rposition(|line| line.is_empty()).map_or(0, |blank| blank + 1);
        let end = lines[at..].iter().position(|line| line.is_empty()).map_or(lines.len(), |blank| at + blank);
        // What follows a table without a blank line is a sentence, or about the run.
        let is_row = |line: &&str| {
            let labels = ["error: ", "hint: ", "notice: "];
            !line.ends_with('.') && !labels.iter().any(|label| line.starts_with(label))
        };
        lines[heading..end].iter().copied().filter(is_row).collect()
    };
    rules.map(table).collect()
}

#[test]
fn tables_fit_the_terminal_and_a_pipe_gets_one_plain_line_a_row() {
    let scene = Scene::new(StoreKind::CosmosDb);
    let generated = Generated::events(StoreKind::CosmosDb, 40);
    scene.moved(&generated);
    let sagas = Scene::new(StoreKind::MongoDb);
    sagas.moved(&Generated::sagas(StoreKind::MongoDb, 40));
    let against = scene.address("moved.db");
    let other = scene.address("shop.db");
    let commands: [(&Scene, Vec<&str>); 6] = [
        (&scene, vec!["verify", "rekeyed.ndjson", "--against", &against, "--collection", "moved"]),
        // Everything is a finding: long keys in a table beside long sentences.
        (&scene, vec!["verify", "rekeyed.ndjson", "--against", &other, "--collection", "shop", "--pruned"]),
        (&scene, vec!["rekey", "legacy.ndjson", "--tenant-map", "map.csv", "--escaping", "raw", "--dry-run"]),
        (&scene, vec!["rekey", "legacy.ndjson", "--tenant", "default", "--dry-run"]),
        (&scene, vec!["explain"]),
        (&sagas, vec!["sagas", "legacy.ndjson"]),
    ];
    for (scene, arguments) in &commands {
        for columns in [60, 80, 200] {
            let shown = plain(&in_terminal(scene, arguments, columns));
            let tables = tables(&shown);
            assert!(!tables.is_empty(), "{arguments:?} at {columns} shows no table:\n{shown}");
            for line in tables.iter().flatten() {
                assert!(line.chars().count() <= columns, "{arguments:?} at {columns}: {line:?}\n{shown}");
            }
        }
        let mut piped = scene.command(arguments);
        let output = piped.env("COLUMNS", "60").output().unwrap();
        for (name, stream) in [("output", &output.stdout), ("errors", &output.stderr)] {
            assert!(!stream.contains(&0x1b), "{arguments:?}: an escape sequence in standard {name}");
            assert!(!stream.contains(&b'\r'), "{arguments:?}: a carriage return in standard {name}");
        }
        // Wrapped rows would begin with blanks.
        let text = String::from_utf8(output.stdout).unwrap();
        let headings = text.lines().filter(|line| line.contains("  ") && !line.starts_with(' ')).count();
        assert!(headings > 1, "{arguments:?}: no table in the pipe\n{text}");
    }
}

#[test]
fn colour_can_be_turned_off_and_on() {
    let scene = Scene::new(StoreKind::CosmosDb);
    scene.put(&Generated::events(StoreKind::CosmosDb, 4).lines, "events", "shop.db", "shop");
    let from = scene.address("shop.db");
    let arguments = ["doctor", "--from", &from, "--collection", "shop"];
    assert!(in_terminal(&scene, &arguments, 80).contains('\u{1b}'));
    let never = [&arguments[..], &["--color", "never"]].concat();
    assert!(!in_terminal(&scene, &never, 80).contains('\u{1b}'));
    let always = scene.run(&[&arguments[..], &["--color", "always"]].concat());
    assert!(always.stdout.contains(&0x1b));
}
