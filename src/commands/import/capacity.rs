//! What a dry run says about the capacity that an import will take, on a store that counts it.

use std::fmt::Write as _;
use std::time::Duration;

use super::Job;
use super::target::Target;
use crate::document::json::Tape;
use crate::document::size::stored_size;
use crate::document::{Lines, StoreKind};
use crate::report::NoticeCode;
use crate::ui::{Ui, format};

/// The units that a store counts writes in, on one that does.
///
/// DynamoDB: one for each KB of an item that is begun, also where the item is there already. Cosmos DB: five for the
/// first KB and half a one for each further KB, and then some for each indexed property, which nobody can tell before.
/// Where the target is looked at first, both count one more for a document that is not there.
#[derive(Default)]
pub(super) struct WriteUnits {
    tape: Tape,
    documents: u64,
    /// In halves.
    halves: u64,
}

impl WriteUnits {
    /// Adds documents that would be sent.
    pub fn add(&mut self, store: StoreKind, lines: &Lines) {
        if !matches!(store, StoreKind::DynamoDb | StoreKind::CosmosDb) {
            return;
        }
        self.documents += lines.len() as u64;
        for line in lines.iter() {
            if self.tape.read(line).is_ok() {
                let kilobytes = stored_size(store, &self.tape, line).div_ceil(1024).max(1);
                self.halves += if store == StoreKind::CosmosDb { 9 + kilobytes } else { 2 * kilobytes };
            }
        }
    }

    /// Says how many units the run will take, and how long that lasts at the cap; `looks` where it looks first.
    pub fn notice(&self, job: &Job, target: &Target, looks: bool, ui: &Ui) {
        let mut units = self.halves.div_ceil(2);
        if units == 0 {
            return;
        }
        let counts_in_one = job.to.address.kind() == StoreKind::CosmosDb;
        if counts_in_one && looks {
            units += self.documents;
        }
        let rates = &job.to.rates;
        let (about, unit, flag, cap) = match job.to.address.kind() {
            StoreKind::CosmosDb => ("at least", "request unit", "--max-ru", rates.max_ru),
            _ => ("about", "write capacity unit", "--max-wcu", rates.max_wcu),
        };
        let mut message = format!("Writing takes {about} {}", format::count(units, unit));
        if let Some(cap) = cap {
            let time = format::duration(Duration::from_secs(units.div_ceil(cap.get().into())));
            let _infallible = write!(message, ", at least {time} at {flag} {cap}");
        }
        if counts_in_one {
            message.push_str("; every indexed property of a document adds to that");
        } else {
            if looks {
                let reads = format::count(self.documents, "read capacity unit");
                let _infallible = write!(message, ", and {reads} to look at what is there");
            }
            let indexes = target.description.indexes.len();
            if indexes > 0 {
                let indexes = format::count(indexes as u64, "index entry");
                let _infallible =
                    write!(message, "; each document may have {indexes}, which cost as much again");
            }
        }
        message.push('.');
        ui.notice(NoticeCode::Capacity, message);
    }
}
