use crate::commands::batches::{Batch, interrupted};
use crate::failpoint::{self, Point};
use crate::journal::Tally;
use crate::signal::StopSignal;
use crate::stores::{Guarded, StoreErrorKind};
use crate::ui::Ui;
use crate::{Error, Result};

/// The guarded changes of one command, batch by batch.
pub(crate) trait Withdrawal {
    /// Documents that are changed together.
    type Batch: Batch;

    /// The next batch, and how many documents it is a step further; `None` after the last one.
    fn next(&mut self) -> Result<Option<(u64, Self::Batch)>>;

    /// Changes what of a batch may go and says what became of each document.
    async fn settle(&mut self, batch: Self::Batch, pass: &Pass<'_>) -> Result<Tally>;
}

/// One pass over everything that may go.
pub(crate) struct Pass<'a> {
    /// What the run says it is doing.
    pub doing: &'static str,
    /// How many documents there are.
    pub documents: u64,
    pub ui: &'a Ui,
    pub stop: &'a StopSignal,
}

impl Pass<'_> {
    /// Goes through all batches.
    pub async fn run(&self, withdrawal: &mut impl Withdrawal) -> Result<Tally> {
        let task = self.ui.progress().start(self.doing, Some(self.documents));
        let mut tally = Tally::default();
        while let Some((documents, batch)) = tokio::task::block_in_place(|| withdrawal.next())? {
            if self.stop.is_set() {
                return Err(interrupted(self.stop, 0));
            }
            let bytes = batch.bytes() as u64;
            failpoint::pass(Point::WithdrawalUnsent)?;
            tally.add(&withdrawal.settle(batch, self).await?);
            failpoint::pass(Point::WithdrawalSent)?;
            task.add(documents, bytes);
        }
        task.finish();
        Ok(tally)
    }

    /// The answers of a store, unless the run was asked to stop before they came.
    pub fn answered(&self, answers: Vec<Guarded>) -> Result<Vec<Guarded>> {
        if answers.iter().any(|it| it.failure() == Some(StoreErrorKind::Interrupted)) {
            return Err(interrupted(self.stop, answers.len() as u64));
        }
        Ok(answers)
    }
}

/// Says how to go on after an error.
pub(crate) fn go_on(error: Error) -> Error {
    error.hint("Run the same command again to go on where this run ended.")
}
