//! Region, credentials and endpoint: what is missing or wrong is said at once, and no secret with it.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use rekey::document::StoreKind;

use super::server::{Server, environment};
use crate::scene::Scene;

const SECRET: &str = "S3CRETS3CRETS3CRET";

/// Exports with an environment of its own: exit code, standard error, time.
fn export(address: &str, table: &str, variables: &[(&str, &str)]) -> (Option<i32>, String, Duration) {
    let scene = Scene::new(StoreKind::DynamoDb);
    let arguments =
        ["export", "--from", address, "--collection", table, "--layout", "events", "--out", "x.ndjson"];
    let started = Instant::now();
    let output = scene.command(&arguments).envs(variables.iter().copied()).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned(), started.elapsed())
}

/// Nothing that this machine may have configured.
const NOTHING: [(&str, &str); 3] = [
    ("AWS_CONFIG_FILE", "/dev/null"),
    ("AWS_SHARED_CREDENTIALS_FILE", "/dev/null"),
    ("AWS_EC2_METADATA_DISABLED", "true"),
];

#[test]
fn without_a_region_or_credentials_it_is_a_usage_error_at_once() {
    let endpoint = Server::Dynoxide.endpoint();
    let with = |more: &[(&'static str, &'static str)]| [&NOTHING[..], more].concat();
    let key = ("AWS_SECRET_ACCESS_KEY", SECRET);
    for (address, variables, lacks) in [
        (format!("dynamodb://?endpoint={endpoint}"), with(&[("AWS_ACCESS_KEY_ID", "x"), key]), "region"),
        (format!("dynamodb://eu-west-1?endpoint={endpoint}"), with(&[]), "credentials"),
        (format!("dynamodb://eu-west-1?endpoint={endpoint}"), with(&[key]), "credentials"),
        (format!("dynamodb://eu-west-1?endpoint={endpoint}&profile=nobody"), with(&[]), "credentials"),
        (format!("dynamodb://?endpoint={endpoint}&profile=nobody"), with(&[]), "region"),
        // A profile that was named is not replaced by what the environment holds.
        (
            format!("dynamodb://eu-west-1?endpoint={endpoint}&profile=nobody"),
            with(&[("AWS_ACCESS_KEY_ID", "x"), key]),
            "credentials",
        ),
    ] {
        let (code, said, time) = export(&address, "Events", &variables);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(&format!("No AWS {lacks}")) && said.contains("hint: "), "{said}");
        assert!(!said.contains(SECRET), "{said}");
        assert!(time < Duration::from_secs(1), "{time:?}");
    }
}

/// A metadata service that answers everything with this status; an empty one is never answered.
fn metadata_service(status: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap();
    let _serving = std::thread::spawn(move || {
        let mut open = Vec::new();
        for mut client in listener.incoming().flatten() {
            let _ = client.read(&mut [0; 4096]);
            if !status.is_empty() {
                let _ = write!(client, "HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
            }
            open.push(client);
        }
    });
    format!("http://{host}")
}

#[test]
fn a_metadata_service_that_gives_no_credentials_is_a_usage_error_soon() {
    let endpoint = Server::Dynoxide.endpoint();
    let address = format!("dynamodb://eu-west-1?endpoint={endpoint}");
    for status in ["403 Forbidden", "404 Not Found", "500 Internal Server Error", ""] {
        let metadata = metadata_service(status);
        let variables = [NOTHING[0], NOTHING[1], ("AWS_EC2_METADATA_SERVICE_ENDPOINT", metadata.as_str())];
        let (code, said, time) = export(&address, "Events", &variables);
        assert_eq!(code, Some(2), "{status}: {said}");
        assert!(said.contains("No AWS credentials are configured"), "{status}: {said}");
        assert!(time < Duration::from_secs(3), "{status}: {time:?}");
    }
}

#[test]
fn the_usual_settings_are_honoured_and_shown() {
    let endpoint = Server::Dynoxide.endpoint();
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config");
    let text = format!(
        "[profile ops]\nregion = ap-south-1\naws_access_key_id = x\naws_secret_access_key = {SECRET}\nservices = local\n[services local]\ndynamodb =\n  endpoint_url = {endpoint}\n"
    );
    std::fs::write(&config, text).unwrap();
    let config = config.to_str().unwrap();
    let profile = [("AWS_CONFIG_FILE", config), NOTHING[1], NOTHING[2]];
    let variables = [
        [&environment_of(&endpoint)[..], &[("AWS_REGION".to_owned(), "ap-south-1".to_owned())]].concat(),
        profile.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
    ];
    for (address, variables) in ["dynamodb://", "dynamodb://?profile=ops"].into_iter().zip(variables) {
        let variables: Vec<_> =
            variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let (code, said, _) = export(address, "no-such-table", &variables);
        assert_eq!(code, Some(2), "{said}");
        assert!(
            said.contains(&endpoint) && said.contains("ap-south-1") && said.contains("\"no-such-table\""),
            "{said}"
        );
        assert!(!said.contains(SECRET), "{said}");
    }
}

fn environment_of(endpoint: &str) -> Vec<(String, String)> {
    let mut variables: Vec<_> =
        environment().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    variables.push(("AWS_ENDPOINT_URL_DYNAMODB".to_owned(), endpoint.to_owned()));
    variables
}

#[test]
fn a_service_that_cannot_be_reached_is_said_at_once() {
    let variables = environment();
    let variables: Vec<_> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let (code, said, time) = export("dynamodb://eu-west-1?endpoint=http://127.0.0.1:1", "Events", &variables);
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("could not be reached") && said.contains("127.0.0.1:1"), "{said}");
    assert!(time < Duration::from_secs(2), "{time:?}");
}

#[test]
fn an_impossible_name_is_a_usage_error() {
    let (code, said, _) = export("dynamodb://eu-west-1", "no/table", &NOTHING);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("no valid name"), "{said}");
}
