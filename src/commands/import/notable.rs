use crate::document::json::Tape;
use crate::document::{StoreKind, has_large_integer, has_reference};
use crate::report::NoticeCode;
use crate::ui::Ui;
use crate::ui::format::subject;

/// Counts documents that are written as they are although somebody should know of what they hold.
#[derive(Default)]
pub(super) struct Notable {
    large_integers: u64,
    references: u64,
}

impl Notable {
    /// Looks at a document that the tape has read.
    pub fn look(&mut self, store: StoreKind, tape: &Tape, line: &[u8]) {
        match store {
            StoreKind::CosmosDb => self.large_integers += u64::from(has_large_integer(tape, line)),
            StoreKind::Firestore => self.references += u64::from(has_reference(line)),
            StoreKind::MongoDb | StoreKind::DynamoDb => {}
        }
    }

    /// Says what was found.
    pub fn tell(&self, ui: &Ui) {
        let Self { large_integers, references } = self;
        if *large_integers > 0 {
            let message = format!(
                "{} integers beyond ±2^53, which Cosmos DB and whoever reads it as a double may round.",
                subject(*large_integers, "document", ["holds", "hold"])
            );
            ui.notice(NoticeCode::LargeInteger, message);
        }
        if *references > 0 {
            let message = format!(
                "{} to documents by their full path, which stays as it is.",
                subject(*references, "document", ["refers", "refer"])
            );
            ui.notice(NoticeCode::References, message);
        }
    }
}
