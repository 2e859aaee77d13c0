//! The command that goes on with an import, for whoever finds its journal later.

use std::path::Path;

use super::{Job, What};
use crate::options::{OnRefused, Rates};

/// The words of the command; credentials are left out, as everywhere.
pub(super) fn command(job: &Job) -> Vec<String> {
    let mut words = vec!["rekey".to_owned(), job.what.command().to_owned()];
    words.extend(job.archive.paths.iter().map(|path| shown(path)));
    let mut flag = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            words.extend([name.to_owned(), value]);
        }
    };
    flag("--expect-documents", job.archive.expect_documents.map(|number| number.to_string()));
    flag("--layout", job.archive.layout.layout.clone());
    for (name, value) in &job.archive.layout.parameters {
        flag("--set", Some(format!("{name}={value}")));
    }
    flag("--shard", job.archive.shard.as_ref().map(ToString::to_string));
    flag("--manifest", job.archive.manifest.as_deref().map(shown));
    flag("--to", Some(job.to.address.to_string()));
    flag("--collection", Some(job.to.collection.clone()));
    if job.on_refused == OnRefused::SetAside {
        flag("--on-refused", Some("set-aside".to_owned()));
    }
    flag("--findings", job.findings.as_deref().map(shown));
    flag("--state-dir", job.state_dir.as_deref().map(shown));
    let Rates { max_rcu, max_wcu, max_ru, max_writes_per_second, concurrency } = job.to.rates;
    for (name, rate) in [
        ("--max-rcu", max_rcu),
        ("--max-wcu", max_wcu),
        ("--max-ru", max_ru),
        ("--max-writes-per-second", max_writes_per_second),
        ("--concurrency", concurrency),
    ] {
        flag(name, rate.map(|rate| rate.to_string()));
    }
    for (name, is_set) in [
        ("--create-target", job.create_target),
        ("--in-place", job.what == What::InPlace),
        ("--move", job.what == What::Move),
        ("--subscribers-handled", job.subscribers_handled),
    ] {
        if is_set {
            words.push(name.to_owned());
        }
    }
    words
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
