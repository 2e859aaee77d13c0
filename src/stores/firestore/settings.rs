//! Project and endpoint by the usual Google conventions.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::stores::Remark;
use crate::stores::address::FirestoreAddress;
use crate::{Error, Result};

/// Names an emulator: `host:port`, with or without `http://`.
const EMULATOR: &str = "FIRESTORE_EMULATOR_HOST";
/// Names a credentials file.
const CREDENTIALS: &str = "GOOGLE_APPLICATION_CREDENTIALS";
/// What names the project. `PROJECT_ID` is left out on purpose: it may well be some other program's.
const PROJECTS: [&str; 2] = ["GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT"];
/// Where the service listens.
const SERVICE: &str = "https://firestore.googleapis.com";

/// What answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// Google's service.
    Service,
    /// An emulator at this URL.
    Emulator(String),
}

/// Where an address leads.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Settings {
    /// What answers.
    pub endpoint: Endpoint,
    /// The project.
    pub project: String,
    /// What an operator should know about the way there.
    pub remarks: Vec<Remark>,
}

impl Endpoint {
    /// The URL to connect to.
    pub(super) fn url(&self) -> &str {
        match self {
            Self::Service => SERVICE,
            Self::Emulator(url) => url,
        }
    }

    /// What it is, for a person.
    pub(super) fn place(&self) -> String {
        let host = self.url().split_once("://").map_or(self.url(), |(_, host)| host);
        match self {
            Self::Service => format!("Firestore at {host}"),
            Self::Emulator(_) => format!("Firestore emulator at {host}"),
        }
    }

    fn emulator(host: &str) -> Self {
        let scheme = if host.contains("://") { "" } else { "http://" };
        Self::Emulator(format!("{scheme}{}", host.trim_end_matches('/')))
    }
}

impl Settings {
    /// Resolves an address in the process's environment.
    ///
    /// Errors: a usage error if nothing names the project.
    pub(super) fn of(address: &FirestoreAddress) -> Result<Self> {
        Self::resolve(address, |name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }

    fn resolve(address: &FirestoreAddress, variable: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let credentials = credentials_file(&variable);
        let named = address.project.clone().or_else(|| PROJECTS.into_iter().find_map(&variable));
        let project = named.or_else(|| credentials.as_deref().and_then(project_of)).ok_or_else(|| {
            Error::usage("Nothing names the Firestore project; nothing was done")
                .hint("Write it into the address (firestore://my-project), or set GOOGLE_CLOUD_PROJECT.")
        })?;
        let (endpoint, remarks) = match variable(EMULATOR) {
            None => (Endpoint::Service, Vec::new()),
            Some(host) => (Endpoint::emulator(&host), vec![emulator_remark(&host, credentials.as_deref())]),
        };
        Ok(Self { endpoint, project, remarks })
    }
}

/// Says that an emulator answers: a run that was meant for the service must not pass for one.
fn emulator_remark(host: &str, credentials: Option<&Path>) -> Remark {
    let text = match credentials {
        None => format!("{EMULATOR} leads to an emulator at {host}, not to Google's service."),
        Some(file) => format!(
            "{EMULATOR} leads to an emulator at {host}, although there are credentials for Google's service ({}): nothing of this run reaches the service.",
            file.display()
        ),
    };
    Remark { code: "emulator".to_owned(), text }
}

/// The credentials file that Google's clients use, if it is there.
fn credentials_file(variable: &impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let named = variable(CREDENTIALS).map(PathBuf::from);
    let (root, below) = if cfg!(windows) { ("APPDATA", "gcloud") } else { ("HOME", ".config/gcloud") };
    let usual = || Some(Path::new(&variable(root)?).join(below).join("application_default_credentials.json"));
    named.or_else(usual).filter(|file| file.exists())
}

/// The project that a credentials file names. One that cannot be read is reported by whoever signs in with it.
fn project_of(file: &Path) -> Option<String> {
    #[derive(Deserialize)]
    struct Credentials {
        project_id: Option<String>,
        quota_project_id: Option<String>,
    }
    let credentials: Credentials = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
    credentials.project_id.or(credentials.quota_project_id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    fn resolve(project: Option<&str>, variables: &[(&str, &str)]) -> Result<Settings> {
        let address =
            FirestoreAddress { project: project.map(ToOwned::to_owned), database: "(default)".to_owned() };
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        Settings::resolve(&address, variable)
    }

    #[test]
    fn the_project_is_the_addresss_or_that_of_the_usual_variables_and_never_a_generic_one() {
        let project = |address, variables: &[_]| resolve(address, variables).map(|it| it.project);
        let all = [
            ("PROJECT_ID", "x"),
            ("GCP_PROJECT", "y"),
            ("GCLOUD_PROJECT", "b"),
            ("GOOGLE_CLOUD_PROJECT", "a"),
        ];
        assert_eq!(project(Some("p"), &all).unwrap(), "p");
        assert_eq!(project(None, &all).unwrap(), "a");
        assert_eq!(project(None, &all[..3]).unwrap(), "b");
        assert_eq!(project(None, &all[..2]).unwrap_err().kind(), ErrorKind::Usage);
    }

    #[test]
    fn the_project_of_the_credentials_comes_last() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key.json");
        let named = [(CREDENTIALS, file.to_str().unwrap())];
        assert!(resolve(None, &named).is_err(), "a file that is not there names nothing");
        std::fs::write(&file, r#"{"type":"service_account","project_id":"c"}"#).unwrap();
        assert_eq!(resolve(None, &named).unwrap().project, "c");
        let gcloud = folder.path().join(".config/gcloud");
        std::fs::create_dir_all(&gcloud).unwrap();
        std::fs::write(gcloud.join("application_default_credentials.json"), r#"{"quota_project_id":"q"}"#)
            .unwrap();
        let home = [("HOME", folder.path().to_str().unwrap())];
        #[cfg(not(windows))]
        assert_eq!(resolve(None, &home).unwrap().project, "q");
    }

    #[test]
    fn an_emulator_is_named_and_beside_credentials_it_is_said_what_is_reached() {
        let service = resolve(Some("p"), &[]).unwrap();
        assert_eq!(
            (service.endpoint.place().as_str(), service.remarks.len()),
            ("Firestore at firestore.googleapis.com", 0)
        );
        let emulator = resolve(Some("p"), &[(EMULATOR, "127.0.0.1:8086")]).unwrap();
        assert_eq!(emulator.endpoint, Endpoint::Emulator("http://127.0.0.1:8086".to_owned()));
        assert_eq!(emulator.endpoint.place(), "Firestore emulator at 127.0.0.1:8086");
        assert!(!emulator.remarks[0].text.contains("credentials"));
        let file = tempfile::NamedTempFile::new().unwrap();
        let both = [(EMULATOR, "http://localhost:1/"), (CREDENTIALS, file.path().to_str().unwrap())];
        let both = resolve(Some("p"), &both).unwrap();
        assert_eq!(both.endpoint.url(), "http://localhost:1");
        assert!(both.remarks[0].text.contains("nothing of this run reaches the service"));
    }
}
