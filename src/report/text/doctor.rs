use crate::error::Result;
use crate::report::{DoctorReport, MachineHealth, StoreHealth};
use crate::ui::Ui;
use crate::ui::format::{bytes, number};

/// Shows what was seen; what stands in the way follows as the findings.
pub(super) fn doctor(report: &DoctorReport, ui: &Ui) -> Result<()> {
    let verdict = if report.healthy { "Nothing stands in the way." } else { "Something stands in the way." };
    ui.heading(verdict)?;
    for store in &report.stores {
        ui.line("")?;
        ui.heading(&format!("{}: {}", store.role, store.location))?;
        ui.facts(&store_facts(store))?;
    }
    ui.line("")?;
    ui.heading("this machine")?;
    ui.facts(&machine_facts(&report.machine))
}

fn store_facts(store: &StoreHealth) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if !store.reached {
        return vec![("reached", "no".to_owned())];
    }
    if store.exists == Some(false) {
        facts.push(("there", "no".to_owned()));
    }
    facts.extend(store.identity.clone().map(|it| ("who", it)));
    facts.extend(store.server.clone().map(|it| ("server", it)));
    facts.extend(store.sdk.clone().map(|it| ("library", it)));
    facts.extend(store.clock_ahead_ms.map(|it| ("clock ahead", format!("{it} ms"))));
    facts.extend(store.documents.map(|it| ("documents", number(it))));
    facts.extend(store.bytes.map(|it| ("size", bytes(it))));
    if !store.permissions.is_empty() {
        let shown = store.permissions.iter().map(|it| format!("{} {}", it.permission, it.held));
        facts.push(("may", shown.collect::<Vec<_>>().join(", ")));
    }
    facts
}

fn machine_facts(machine: &MachineHealth) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    facts.extend(machine.folder.as_ref().map(|it| ("folder", it.display().to_string())));
    facts.extend(machine.free_bytes.map(|it| ("free", bytes(it))));
    let needed = machine
        .needed_bytes
        .map_or_else(|| "not known: no source says its size".to_owned(), |it| format!("about {}", bytes(it)));
    facts.push(("needed", needed));
    facts.extend(machine.open_files.map(|it| ("open files", format!("{} at most", number(it)))));
    if !machine.variables.is_empty() {
        facts.push(("leads elsewhere", machine.variables.join(", ")));
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::PermissionHealth;

    #[test]
    fn what_was_seen_is_listed_store_by_store() {
        let (ui, screen) = Ui::recording();
        let permission = |permission: &str, held: &str| PermissionHealth {
            permission: permission.into(),
            held: held.into(),
            given_by: "the role readWrite".into(),
        };
        let report = DoctorReport {
            healthy: true,
            stores: vec![
                StoreHealth {
                    role: "source".into(),
                    location: "db/shop, collection \"events\"".into(),
                    reached: true,
                    exists: Some(true),
                    server: Some("MongoDB 6.0.5".into()),
                    documents: Some(1_200),
                    bytes: Some(3_400_000),
                    permissions: vec![permission("read", "yes"), permission("delete", "no")],
                    ..StoreHealth::default()
                },
                StoreHealth { role: "target".into(), location: "nowhere".into(), ..StoreHealth::default() },
            ],
            machine: MachineHealth { free_bytes: Some(5_000_000_000), ..MachineHealth::default() },
        };
        doctor(&report, &ui).unwrap();
        assert_eq!(
            screen.text(),
            "Nothing stands in the way.\n\
             \n\
             source: db/shop, collection \"events\"\n  \
               server     MongoDB 6.0.5\n  \
               documents  1,200\n  \
               size       3.40 MB\n  \
               may        read yes, delete no\n\
             \n\
             target: nowhere\n  \
               reached  no\n\
             \n\
             this machine\n  \
               free    5.00 GB\n  \
               needed  not known: no source says its size\n"
        );
    }
}
