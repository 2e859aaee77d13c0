use std::collections::BTreeMap;

use super::framework::StreamSample;
use super::{Record, TenantNames};
use crate::Result;
use crate::archive::TenantAccount;
use crate::sort::{Sorted, Sorter};
use crate::stores::Expiry;

/// The counts of one tenant on both sides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TenantComparison {
    /// What must be there.
    pub expected: TenantAccount,
    /// What is there.
    pub found: TenantAccount,
    /// Expected and not there.
    pub missing: u64,
    /// There and not expected.
    pub unexpected: u64,
    /// There with another content.
    pub different: u64,
    /// Expected, and gone because their own time to live has passed.
    pub expired: u64,
    /// Streams whose last version differs, or sagas whose version does.
    pub versions_differ: u64,
    /// Expected more than once under one key.
    pub doubled: u64,
}

/// How a document differs from what is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// It is not there.
    Missing,
    /// It is there and not expected.
    Unexpected,
    /// It is there with another content.
    Different,
    /// The last version of its stream, or its own, is another one.
    Version,
    /// It is expected twice under one key.
    Doubled,
}

/// What a comparison came to.
#[derive(Debug, Default)]
pub struct Comparison {
    /// Tenant number → counts.
    pub tenants: BTreeMap<u32, TenantComparison>,
}

/// Takes a difference, the record that has it, and the other one where two are meant.
pub type OnDifference<'a> = dyn FnMut(Difference, &Record<'_>, Option<&Record<'_>>) -> Result<()> + 'a;

/// Receives what the join finds.
pub struct Receivers<'a> {
    /// Told of each difference with the record of the side that has it (the expected one if both have); of what
    /// is expected twice with both records.
    pub difference: &'a mut OnDifference<'a>,
    /// Takes a row for each document that is there: what identifies it whatever its key, and its archive.
    pub events: &'a mut Sorter,
    /// Chooses streams to read the framework's way.
    pub sample: &'a mut StreamSample,
    /// Tells whether a tenant is looked at.
    pub in_scope: &'a dyn Fn(u32) -> bool,
    /// Tells what the store has deleted by itself.
    pub expiry: Expiry,
}

/// One side of the join: the next row, copied, and the one before.
struct Side {
    rows: Sorted,
    key: Vec<u8>,
    row: Vec<u8>,
    last_key: Vec<u8>,
    last_row: Vec<u8>,
    ended: bool,
}

impl Side {
    fn new(rows: Sorted) -> Result<Self> {
        let [key, row, last_key, last_row] = [const { Vec::new() }; 4];
        let mut side = Self { rows, key, row, last_key, last_row, ended: false };
        side.advance()?;
        Ok(side)
    }

    fn advance(&mut self) -> Result<()> {
        std::mem::swap(&mut self.key, &mut self.last_key);
        std::mem::swap(&mut self.row, &mut self.last_row);
        self.key.clear();
        self.row.clear();
        match self.rows.next()? {
            Some((key, row)) => {
                self.key.extend_from_slice(key);
                self.row.extend_from_slice(row);
            }
            None => self.ended = true,
        }
        Ok(())
    }
}

/// The last document of a stream on one side, if there is any.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Last {
    any: bool,
    version: Option<i64>,
}

impl Last {
    fn of(record: &Record<'_>) -> Self {
        Self { any: true, version: record.version }
    }

    fn number(self) -> i128 {
        i128::from(self.version.unwrap_or_default())
    }
}

/// The last version of a stream on both sides.
#[derive(Default)]
struct OpenStream {
    stream: Vec<u8>,
    tenant: u32,
    expected: Last,
    found: Last,
    last: Option<Record<'static>>,
}

/// Joins both sides by key.
pub fn compare(expected: Sorted, found: Sorted, receivers: &mut Receivers<'_>) -> Result<Comparison> {
    let (mut expected, mut found) = (Side::new(expected)?, Side::new(found)?);
    let mut comparison = Comparison::default();
    let mut open = OpenStream::default();
    while !(expected.ended && found.ended) {
        let take_expected = !expected.ended && (found.ended || expected.key <= found.key);
        let take_found = !found.ended && (expected.ended || found.key <= expected.key);
        let wanted = if take_expected { Some(Record::read(&expected.row)?) } else { None };
        let there = if take_found { Some(Record::read(&found.row)?) } else { None };
        let key = if take_expected { &expected.key } else { &found.key };
        comparison.pair(wanted.as_ref(), there.as_ref(), key, &mut open, receivers)?;
        if take_expected {
            expected.advance()?;
            while !expected.ended && expected.key == expected.last_key {
                comparison.doubled(&expected, receivers)?;
                expected.advance()?;
            }
        }
        if take_found {
            found.advance()?;
        }
    }
    comparison.close(&mut open, receivers)?;
    Ok(comparison)
}

impl Comparison {
    fn pair(
        &mut self,
        wanted: Option<&Record<'_>>,
        there: Option<&Record<'_>>,
        key: &[u8],
        open: &mut OpenStream,
        receivers: &mut Receivers<'_>,
    ) -> Result<()> {
        let Some(any) = wanted.or(there) else { return Ok(()) };
        let stream = key.get(..usize::try_from(any.stream_len).unwrap_or(usize::MAX)).unwrap_or(key);
        let is_open = open.stream == stream && open.last.is_some();
        // A stream is one tenant's; what the archive says of it counts where its key can be read in two ways.
        let number = if wanted.is_none() && is_open { open.tenant } else { any.tenant };
        if !(receivers.in_scope)(number) {
            return Ok(());
        }
        if !is_open || open.tenant != number {
            self.close(open, receivers)?;
            *open = OpenStream { stream: stream.to_vec(), tenant: number, ..OpenStream::default() };
        }
        let tenant = self.tenants.entry(number).or_default();
        if let Some(wanted) = wanted {
            add(&mut tenant.expected, wanted, !open.expected.any);
            open.expected = Last::of(wanted);
            // What has expired and is gone, the framework does not find either.
            if there.is_some() || !receivers.expiry.has_passed(wanted.expires_at) {
                receivers.sample.take(stream, wanted);
            }
        }
        if let Some(there) = there {
            add(&mut tenant.found, there, !open.found.any);
            open.found = Last::of(there);
            let archive = wanted.map_or(0, |wanted| wanted.archive);
            receivers.events.push(&there.event, &event_row(there, archive))?;
        }
        open.last = Some(any.clone().into_owned());
        match (wanted, there) {
            (Some(wanted), Some(there)) if wanted.whole != there.whole => {
                tenant.different += 1;
                (receivers.difference)(Difference::Different, wanted, None)
            }
            (Some(wanted), None) if receivers.expiry.has_passed(wanted.expires_at) => {
                tenant.expired += 1;
                if !open.found.any {
                    open.found = Last::of(wanted);
                }
                Ok(())
            }
            (Some(wanted), None) => {
                tenant.missing += 1;
                (receivers.difference)(Difference::Missing, wanted, None)
            }
            (None, Some(there)) => {
                tenant.unexpected += 1;
                let there = Record { tenant: number, ..there.clone() };
                (receivers.difference)(Difference::Unexpected, &there, None)
            }
            _ => Ok(()),
        }
    }

    /// Counts the next document of a side, which stands under the key of the one before.
    fn doubled(&mut self, side: &Side, receivers: &mut Receivers<'_>) -> Result<()> {
        let (first, second) = (Record::read(&side.last_row)?, Record::read(&side.row)?);
        if !(receivers.in_scope)(second.tenant) {
            return Ok(());
        }
        self.tenants.entry(second.tenant).or_default().doubled += 1;
        (receivers.difference)(Difference::Doubled, &second, Some(&first))
    }

    /// Ends a stream: its last version must be the same on both sides.
    fn close(&mut self, open: &mut OpenStream, receivers: &mut Receivers<'_>) -> Result<()> {
        let Some(last) = open.last.take() else { return Ok(()) };
        let tenant = self.tenants.entry(open.tenant).or_default();
        tenant.expected.last_versions_sum += open.expected.number();
        tenant.found.last_versions_sum += open.found.number();
        // What has no versions may be missing; its version does not differ.
        let has_version = open.expected.version.or(open.found.version).is_some();
        if open.expected.any && has_version && open.expected != open.found {
            tenant.versions_differ += 1;
            (receivers.difference)(Difference::Version, &last, None)?;
        }
        Ok(())
    }
}

/// Adds a document to an account, and its stream if it is the first of it.
fn add(account: &mut TenantAccount, record: &Record<'_>, is_first: bool) {
    account.documents += 1;
    account.streams += u64::from(is_first);
    account.content.add(&record.content);
}

/// What the search for doubled documents needs of one.
fn event_row(record: &Record<'_>, archive: u32) -> Vec<u8> {
    let mut row = Vec::new();
    Record { archive, ..record.clone() }.write(&mut row);
    row
}

/// The accounts of a store by itself, to be held against those of manifests.
pub fn compare_counts(
    expected: &BTreeMap<u32, TenantAccount>,
    found: Sorted,
    receivers: &mut Receivers<'_>,
) -> Result<Comparison> {
    let mut found = Side::new(found)?;
    let mut comparison = Comparison::default();
    let mut open = OpenStream::default();
    while !found.ended {
        let there = Record::read(&found.row)?;
        if (receivers.in_scope)(there.tenant) {
            let stream = found
                .key
                .get(..usize::try_from(there.stream_len).unwrap_or(usize::MAX))
                .unwrap_or(&found.key);
            let tenant = comparison.tenants.entry(there.tenant).or_default();
            if open.stream != stream || open.last.is_none() {
                tenant.found.streams += 1;
                let last = open.last.take().and_then(|last| last.version).unwrap_or_default();
                comparison.tenants.entry(open.tenant).or_default().found.last_versions_sum +=
                    i128::from(last);
                open = OpenStream { stream: stream.to_vec(), tenant: there.tenant, ..OpenStream::default() };
            }
            let tenant = comparison.tenants.entry(there.tenant).or_default();
            tenant.found.documents += 1;
            tenant.found.content.add(&there.content);
            receivers.sample.take(stream, &there);
            receivers.events.push(&there.event, &event_row(&there, 0))?;
            open.last = Some(there.into_owned());
        }
        found.advance()?;
    }
    if let Some(last) = open.last {
        let tenant = comparison.tenants.entry(open.tenant).or_default();
        tenant.found.last_versions_sum += i128::from(last.version.unwrap_or_default());
    }
    comparison.tenants.retain(|_, tenant| tenant.found.documents > 0);
    for (number, account) in expected.iter().filter(|(number, _)| (receivers.in_scope)(**number)) {
        let tenant = comparison.tenants.entry(*number).or_default();
        tenant.expected = account.clone();
        tenant.missing = account.documents.saturating_sub(tenant.found.documents);
        tenant.unexpected = tenant.found.documents.saturating_sub(account.documents);
        let same_versions = tenant.found.last_versions_sum == account.last_versions_sum;
        tenant.versions_differ = u64::from(!same_versions);
    }
    for (number, tenant) in &mut comparison.tenants {
        if !expected.contains_key(number) {
            tenant.unexpected = tenant.found.documents;
        }
    }
    Ok(comparison)
}

impl TenantComparison {
    /// Whether the tenant is as it must be.
    pub fn matches(&self) -> bool {
        self.missing == 0
            && self.unexpected == 0
            && self.different == 0
            && self.versions_differ == 0
            && self.doubled == 0
            && self.expected.streams
                == self.found.streams
                    + u64::from(self.expired > 0)
                        * (self.expected.streams - self.found.streams.min(self.expected.streams))
    }

    /// Whether the contents are the same as the manifests say; only of meaning where nothing has expired.
    pub fn same_content(&self) -> bool {
        self.expected.content == self.found.content
    }
}

/// The tenants by name, for a result.
pub fn by_name(comparison: Comparison, names: &TenantNames) -> BTreeMap<String, TenantComparison> {
    comparison.tenants.into_iter().map(|(number, it)| (names.name(number).to_owned(), it)).collect()
}
