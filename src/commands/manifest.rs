//! What the manifests of all commands say alike.

use std::collections::BTreeMap;
use std::path::Path;

use crate::archive::LayoutAccount;
use crate::key::Escaping;
use crate::layout::Layout;
use crate::tenant::{PrefixConflict, PrefixSet};
use crate::ui::Ui;

/// The tool, as manifests name it.
pub(super) const TOOL: &str = concat!("rekey ", env!("CARGO_PKG_VERSION"));

/// A layout as manifests record it.
pub(super) fn layout_account(layout: &Layout) -> LayoutAccount {
    LayoutAccount {
        name: layout.name.clone(),
        digest: layout.digest(),
        parameters: layout.parameter_values(),
    }
}

/// The name that a manifest gives its archive.
pub(super) fn file_name(path: Option<&Path>) -> String {
    let name = path.and_then(Path::file_name);
    name.map_or_else(|| "-".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Tenants whose keys could be read two ways.
pub(super) fn prefix_conflicts<'a>(
    layout: &Layout,
    escaping: Option<Escaping>,
    tenants: impl IntoIterator<Item = &'a String>,
) -> Vec<PrefixConflict> {
    let mut prefixes = PrefixSet::new();
    for tenant in tenants {
        let prefix = layout.tenant_prefix(tenant, escaping.unwrap_or(Escaping::Raw));
        prefixes.insert(tenant, prefix.as_bytes());
    }
    prefixes.conflicts()
}

/// The notices so far, as a manifest records them.
pub(super) fn count_notices(ui: &Ui) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for notice in ui.notices() {
        *counts.entry(notice.code.code().to_owned()).or_default() += 1;
    }
    counts
}
