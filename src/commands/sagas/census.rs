use std::collections::BTreeMap;

use crate::check::{Reason, Refusal};
use crate::document::json::Tape;
use crate::document::{Lines, StoreKind, boolean_field, time_field};
use crate::key::Escaping;
use crate::layout::{Identity, Inspector, KeyState, Layout};
use crate::report::{SagaAges, SagaGroup, SagasReport};
use crate::scan::PageConsumer;

/// The fields of a saga that say how far it is, named alike on every store.
const COMPLETED: &str = "isCompleted";
const CREATED: &str = "createdUtc";
const UPDATED: &str = "updatedUtc";

/// Counts sagas by type, tenant and kind of key. Memory grows with those alone, not with the sagas.
pub(super) struct Census {
    store: StoreKind,
    /// Seconds since 1970.
    now: i64,
    tape: Tape,
    /// By what is known of the escaping, which is nothing, and by either one for keys that can then be read two ways.
    inspectors: [Inspector; 3],
    identity: Identity,
    groups: BTreeMap<GroupKey, Group>,
    unclear: u64,
    foreign: u64,
    unreadable: BTreeMap<Reason, u64>,
    watch: Box<dyn Fn(u64, u64) + Send>,
}

/// Type, tenant, and whether the key is a legacy one.
type GroupKey = (String, Option<String>, bool);

#[derive(Default)]
struct Group {
    running: u64,
    completed: u64,
    oldest: Option<i64>,
    last_change: Option<i64>,
    ages: SagaAges,
}

impl Census {
    pub fn new(layout: &Layout, now: i64, watch: Box<dyn Fn(u64, u64) + Send>) -> Self {
        Self {
            store: layout.store,
            now,
            tape: Tape::new(),
            inspectors: [None, Some(Escaping::Escaped), Some(Escaping::Raw)]
                .map(|escaping| Inspector::new(layout, escaping)),
            identity: Identity::default(),
            groups: BTreeMap::new(),
            unclear: 0,
            foreign: 0,
            unreadable: BTreeMap::new(),
            watch,
        }
    }

    /// Takes some lines.
    pub fn add<'a>(&mut self, lines: impl Iterator<Item = &'a [u8]>) {
        let (mut documents, mut bytes) = (0, 0);
        for line in lines {
            self.line(line);
            documents += 1;
            bytes += line.len() as u64;
        }
        (self.watch)(documents, bytes);
    }

    fn line(&mut self, line: &[u8]) {
        let read = match self.tape.read(line) {
            Ok(()) => self.inspect(line),
            Err(error) => Err(Refusal::new(Reason::Malformed, error.to_string())),
        };
        match read {
            Ok(()) => self.saga(line),
            Err(refusal) if refusal.reason == Reason::Foreign => self.foreign += 1,
            Err(refusal) => *self.unreadable.entry(refusal.reason).or_default() += 1,
        }
    }

    /// Reads what a document is. Whose it is its stored owner says, so that either reading of its key will do.
    fn inspect(&mut self, line: &[u8]) -> Result<(), Refusal> {
        let mut first = None;
        for inspector in &mut self.inspectors {
            match inspector.inspect(&self.tape, line, &mut self.identity) {
                Ok(()) => return Ok(()),
                Err(refusal) => first = first.or(Some(refusal)),
            }
        }
        first.map_or(Ok(()), Err)
    }

    fn saga(&mut self, line: &[u8]) {
        let Identity { state, type_name, stored_owner, .. } = &self.identity;
        // The stored owner is the tenant as it is; in the key it may be escaped.
        let owner = stored_owner.first().cloned();
        let (tenant, legacy) = match state {
            KeyState::Rekeyed { tenant } => (owner.or_else(|| Some(tenant.clone())), false),
            KeyState::Legacy => (owner, true),
        };
        let group = self.groups.entry((type_name.clone(), tenant, legacy)).or_default();
        let completed = boolean_field(self.store, &self.tape, line, COMPLETED);
        if completed == Some(true) {
            group.completed += 1;
            return;
        }
        // One that does not say it is taken for running: that is the side on which to err.
        self.unclear += u64::from(completed.is_none());
        group.running += 1;
        let created = time_field(self.store, &self.tape, line, CREATED);
        let updated = time_field(self.store, &self.tape, line, UPDATED).or(created);
        group.ages.add(created.map(|created| self.now.saturating_sub(created)));
        group.oldest = group.oldest.into_iter().chain(created).min();
        group.last_change = group.last_change.max(updated);
    }

    /// What was counted.
    pub fn into_report(self, layout: &Layout, source: String) -> SagasReport {
        let mut report = SagasReport {
            layout: layout.name.clone(),
            source,
            read_at: shown(self.now),
            unclear: self.unclear,
            foreign: self.foreign,
            unreadable: self.unreadable,
            ..SagasReport::default()
        };
        let (mut oldest, mut last_change) = (None::<i64>, None::<i64>);
        for ((type_name, tenant, legacy), group) in self.groups {
            report.running += group.running;
            report.completed += group.completed;
            report.ages.merge(group.ages);
            oldest = oldest.into_iter().chain(group.oldest).min();
            last_change = last_change.max(group.last_change);
            report.groups.push(SagaGroup {
                type_name,
                tenant,
                legacy,
                running: group.running,
                completed: group.completed,
                oldest_running: group.oldest.map(shown),
                last_change: group.last_change.map(shown),
                ages: group.ages,
            });
        }
        report.sagas = report.running + report.completed;
        report.oldest_running = oldest.map(shown);
        report.last_change = last_change.map(shown);
        report
    }
}

impl PageConsumer for Census {
    fn take(&mut self, lines: &Lines) -> crate::Result<()> {
        self.add(lines.iter());
        Ok(())
    }
}

/// A time as results have it; one that no calendar has, as its number of seconds.
fn shown(seconds: i64) -> String {
    jiff::Timestamp::from_second(seconds).map_or_else(|_| seconds.to_string(), |time| time.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_767_400_000; // 2026-01-03T00:26:40Z

    fn census(lines: &[&str]) -> SagasReport {
        let layout = Layout::builtin("cosmosdb-sagas").unwrap();
        let mut census = Census::new(&layout, NOW, Box::new(|_, _| {}));
        census.add(lines.iter().map(|line| line.as_bytes()));
        census.into_report(&layout, "a".into())
    }

    #[test]
    fn sagas_are_counted_by_type_tenant_and_kind_of_key() {
        let report = census(&[
            r#"{"id":"1","sagaId":"1","sagaType":"A","tenantId":null,"stateJson":"{}","isCompleted":false,"createdUtc":"2026-01-02T03:04:05.678+00:00","updatedUtc":"2026-01-03T00:00:00+00:00"}"#,
            r#"{"id":"2","sagaId":"2","sagaType":"A","tenantId":null,"stateJson":"{\"tenantId\":\"acme\"}","isCompleted":false,"createdUtc":"2025-01-01T00:00:00Z"}"#,
            r#"{"id":"3","sagaId":"3","sagaType":"A","stateJson":"{}","isCompleted":true,"createdUtc":"2024-01-01T00:00:00Z"}"#,
            r#"{"id":"t:acme:4","sagaId":"4","sagaType":"A","tenantId":"acme","stateJson":"{}"}"#,
            r#"{"id":"nobody","sagaId":"5","sagaType":"A","stateJson":"{}","isCompleted":false}"#,
            r#"{"id""#,
        ]);
        let group = |it: &SagaGroup| (it.tenant.clone(), it.legacy, it.running, it.completed);
        assert_eq!(
            report.groups.iter().map(group).collect::<Vec<_>>(),
            [(None, true, 1, 1), (Some("acme".into()), false, 1, 0), (Some("acme".into()), true, 1, 0)]
        );
        assert_eq!((report.sagas, report.running, report.completed, report.unclear), (4, 3, 1, 1));
        assert_eq!(report.unreadable, [(Reason::Malformed, 1), (Reason::KeyMismatch, 1)].into());
        assert_eq!(report.oldest_running.as_deref(), Some("2025-01-01T00:00:00Z"));
        assert_eq!(report.last_change.as_deref(), Some("2026-01-03T00:00:00Z"));
        assert_eq!(report.ages.parts().map(|(count, _)| count), [0, 1, 0, 0, 1, 1]);
        assert_eq!(report.read_at, "2026-01-03T00:26:40Z");
    }

    #[test]
    fn what_shares_the_table_is_no_saga() {
        let layout = Layout::builtin("dynamodb-sagas").unwrap();
        let mut census = Census::new(&layout, NOW, Box::new(|_, _| {}));
        census.add([&br#"{"Item":{"PK":{"S":"SNAPSHOT#1"},"SK":{"S":"A"}}}"#[..]].into_iter());
        let report = census.into_report(&layout, "a".into());
        assert_eq!((report.foreign, report.sagas, report.unreadable.len()), (1, 0, 0));
    }
}
