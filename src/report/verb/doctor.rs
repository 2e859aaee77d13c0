use std::path::PathBuf;

use serde::Serialize;

/// The result of `doctor`: what was seen. What stands in the way of a migration is a finding, what may later is a notice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DoctorReport {
    /// Whether nothing stands in the way.
    pub healthy: bool,
    /// The stores, in the order typed.
    pub stores: Vec<StoreHealth>,
    /// This machine.
    pub machine: MachineHealth,
}

/// What was seen of one store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StoreHealth {
    /// `source` or `target`.
    pub role: String,
    /// Where it is.
    pub location: String,
    /// Whether it answered.
    pub reached: bool,
    /// Whether the collection is there; `None` if the store was not reached.
    pub exists: Option<bool>,
    /// Who we are there.
    pub identity: Option<String>,
    /// The server with its version.
    pub server: Option<String>,
    /// The library that spoke to it, with its version.
    pub sdk: Option<String>,
    /// How far its clock is ahead of ours, in milliseconds.
    pub clock_ahead_ms: Option<i64>,
    /// How many documents the collection holds, if that is cheap to know.
    pub documents: Option<u64>,
    /// How many bytes it takes.
    pub bytes: Option<u64>,
    /// What we may do.
    pub permissions: Vec<PermissionHealth>,
}

/// One right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PermissionHealth {
    /// `read`, `create`, `update`, `delete` or `make-collection`.
    pub permission: String,
    /// `yes`, `no` or `unknown`.
    pub held: String,
    /// What gives it.
    pub given_by: String,
}

/// What was seen of this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MachineHealth {
    /// The folder where archives and spill files will go.
    #[serde(serialize_with = "super::path")]
    pub folder: Option<PathBuf>,
    /// How many bytes its disk has free for us.
    pub free_bytes: Option<u64>,
    /// How many bytes the migration will need there; `None` if no source says its size.
    pub needed_bytes: Option<u64>,
    /// How many files and connections this process may have open.
    pub open_files: Option<u64>,
    /// The variables of the environment that lead a store's address somewhere else: their names.
    pub variables: Vec<String>,
}
