use std::path::{Path, PathBuf};

use super::Practice;
use crate::document::StoreKind;
use crate::error::without_secrets;
use crate::options::DoctorOptions;
use crate::report::{FindingCode, MachineHealth, NoticeCode};
use crate::ui::format::{bytes, number};
use crate::{Error, Result};

/// A merge of spill files has 64 of them open; then there are connections, archives and key maps.
const OPEN_FILES: u64 = 256;

/// Variables that lead every address of a kind of store somewhere else.
const DIVERSIONS: [(&str, StoreKind); 3] = [
    ("AWS_ENDPOINT_URL", StoreKind::DynamoDb),
    ("AWS_ENDPOINT_URL_DYNAMODB", StoreKind::DynamoDb),
    ("FIRESTORE_EMULATOR_HOST", StoreKind::Firestore),
];

/// Looks at the disk, the limits and the environment.
pub(super) fn examine(
    options: &DoctorOptions,
    needed: Option<u64>,
    practice: &mut Practice<'_>,
) -> Result<MachineHealth> {
    let folder = options.state_dir.clone().unwrap_or_else(|| PathBuf::from("."));
    let folder = folder.canonicalize().map_err(|source| Error::io("look at the folder", &folder, source))?;
    let free = free_bytes(&folder)?;
    if let (Some(free), Some(needed)) = (free, needed) {
        tell_room(&folder, free, needed, practice)?;
    }
    let open_files = open_files();
    if let Some(open_files) = open_files.filter(|most| *most < OPEN_FILES) {
        let what = format!("This process may have {} files open.", number(open_files));
        practice.blocking(
            FindingCode::OpenFilesLow,
            &what,
            &format!("Raise it: ulimit -n {OPEN_FILES}, or more."),
        )?;
    }
    Ok(MachineHealth {
        folder: Some(folder),
        free_bytes: free,
        needed_bytes: needed,
        open_files,
        variables: diversions(options, practice),
    })
}

fn tell_room(folder: &Path, free: u64, needed: u64, practice: &mut Practice<'_>) -> Result<()> {
    if free >= needed {
        return Ok(());
    }
    let what = format!(
        "The disk of {} has {} free, and archives and spill files will need about {}.",
        folder.display(),
        bytes(free),
        bytes(needed)
    );
    practice.blocking(
        FindingCode::DiskTooSmall,
        &what,
        "Make room, or name a folder on a larger disk with --state-dir; archives that end in .zst take less.",
    )
}

/// How many bytes the disk of a folder has free for us; `None` where the system does not tell.
fn free_bytes(folder: &Path) -> Result<Option<u64>> {
    #[cfg(feature = "faults")]
    if let Some(free) = std::env::var("REKEY_FAULTS_FREE_BYTES").ok().and_then(|text| text.parse().ok()) {
        return Ok(Some(free));
    }
    #[cfg(unix)]
    {
        let disk = rustix::fs::statvfs(folder)
            .map_err(|source| Error::io("ask for the free room of", folder, source.into()))?;
        Ok(Some(disk.f_bavail.saturating_mul(disk.f_frsize)))
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        Ok(None)
    }
}

#[cfg(unix)]
fn open_files() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current
}

#[cfg(not(unix))]
fn open_files() -> Option<u64> {
    None
}

/// The variables in force that lead one of the stores to an emulator; each is told.
fn diversions(options: &DoctorOptions, practice: &Practice<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for (name, kind) in DIVERSIONS {
        let Some(value) = std::env::var(name).ok().filter(|value| !value.is_empty()) else { continue };
        let concerned = |it: &crate::options::ExaminedStore| {
            it.store.address.kind() == kind && !it.store.address.is_embedded()
        };
        if options.stores.iter().any(concerned) {
            let what = format!("{name} leads every {} address to {}.", kind.title(), without_secrets(&value));
            practice.notice(NoticeCode::Emulator, &what, "Unset it if the service itself is meant.");
            found.push(name.to_owned());
        }
    }
    found
}
