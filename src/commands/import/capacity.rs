//! What a dry run says about the capacity that the writes will take, on a store that counts it.

use std::fmt::Write as _;
use std::time::Duration;

use super::Job;
use super::target::Target;
use crate::document::json::Tape;
use crate::document::size::stored_size;
use crate::document::{Lines, StoreKind};
use crate::report::NoticeCode;
use crate::ui::{Ui, format};

/// DynamoDB's write capacity units: one for each KB of an item that is begun, also where the item is there already.
#[derive(Default)]
pub(super) struct WriteUnits {
    tape: Tape,
    units: u64,
}

impl WriteUnits {
    /// Adds documents that would be sent.
    pub fn add(&mut self, store: StoreKind, lines: &Lines) {
        if store != StoreKind::DynamoDb {
            return;
        }
        for line in lines.iter() {
            if self.tape.read(line).is_ok() {
                self.units += stored_size(store, &self.tape, line).div_ceil(1024).max(1);
            }
        }
    }

    /// Says how many units the run will take, and how long that lasts at the cap.
    pub fn notice(&self, job: &Job, target: &Target, ui: &Ui) {
        if self.units == 0 {
            return;
        }
        let mut message = format!("Writing takes about {}", format::count(self.units, "write capacity unit"));
        if let Some(cap) = job.to.rates.max_wcu {
            let time = format::duration(Duration::from_secs(self.units.div_ceil(cap.get().into())));
            let _infallible = write!(message, ", at least {time} at --max-wcu {cap}");
        }
        let indexes = target.description.indexes.len();
        if indexes > 0 {
            let indexes = format::count(indexes as u64, "index entry");
            let _infallible = write!(message, "; each document may have {indexes}, which cost as much again");
        }
        message.push('.');
        ui.notice(NoticeCode::Capacity, message);
    }
}
