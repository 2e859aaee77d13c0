use serde_json::Value;

use super::confirm::Confirmation;
use super::lock::FolderLock;
use super::{bound, result, source, step};
use crate::exit::ExitStatus;
use crate::migration::{Archives, Evidence, State, Status, inputs_of};
use crate::options::{RunOptions, StoreRun};
use crate::report::dossier::{FindingList, Section, Throughput};
use crate::report::{Envelope, Finding, NoticeCode, Outcome, StateReport, StoreReport, show};
use crate::signal::StopSignal;
use crate::ui::Ui;
use crate::{Error, ErrorKind, Result};

/// Exit codes of a command that has written nothing.
const REFUSED: u8 = 5;
const USAGE: u8 = 2;

/// One store on its way.
pub(super) struct StoreMigration<'a> {
    store: &'a StoreRun,
    options: &'a RunOptions,
    confirmation: &'a Confirmation,
    ui: &'a Ui,
    stop: &'a StopSignal,
    states: Vec<StateReport>,
    differences: Vec<Finding>,
    /// What a report says about the store, as far as its commands have said it.
    section: Section,
    exit: ExitStatus,
}

/// The states that a run of these options leads through.
fn states(options: &RunOptions) -> impl Iterator<Item = State> {
    let last = if options.prune { State::Pruned } else { State::Verified };
    State::ALL.into_iter().filter(move |state| *state <= last)
}

/// The states that are not reached yet, by the evidence in the store's folder.
pub(super) fn pending(store: &StoreRun, options: &RunOptions) -> Result<Vec<State>> {
    let archives = Archives::of(store)?;
    let mut pending = Vec::new();
    for state in states(options) {
        let is_kept = || -> Result<bool> {
            Ok(bound::stands_for(state, options).is_some() || kept(state, store, &archives)?.is_some())
        };
        if options.anew || !pending.is_empty() || !is_kept()? {
            pending.push(state);
        }
    }
    Ok(pending)
}

/// The evidence of a state that is reached: complete, and resting on what is there now.
pub(in crate::commands) fn kept(
    state: State,
    store: &StoreRun,
    archives: &Archives,
) -> Result<Option<Evidence>> {
    let Some(evidence) = Evidence::read(&store.folder, state)? else { return Ok(None) };
    let outputs = archives.outputs(state);
    let is_there = outputs.iter().all(|(name, digest)| evidence.outputs.get(name) == Some(digest));
    let writes_archive = matches!(state, State::Exported | State::Rekeyed);
    let holds = is_there && (!writes_archive || !outputs.is_empty());
    // Inputs that cannot be told now are not the same; going into the state says what is wrong with them.
    Ok(Some(evidence)
        .filter(|_| holds)
        .filter(|it| inputs_of(state, store, archives).is_ok_and(|now| it.holds(&now))))
}

impl<'a> StoreMigration<'a> {
    pub fn new(
        store: &'a StoreRun,
        options: &'a RunOptions,
        confirmation: &'a Confirmation,
        ui: &'a Ui,
        stop: &'a StopSignal,
    ) -> Self {
        Self {
            store,
            options,
            confirmation,
            ui,
            stop,
            states: Vec::new(),
            differences: Vec::new(),
            section: Section::new(&store.name),
            exit: ExitStatus::Done,
        }
    }

    /// Goes through the states until one is not reached.
    pub async fn run(&mut self) -> Result<()> {
        self.stop.check("Interrupted; nothing was done.")?;
        let _lock = FolderLock::take(&self.store.folder)?;
        let mut anew = self.options.anew;
        for state in states(self.options) {
            let archives = Archives::of(self.store)?;
            if state == State::Imported {
                self.hold_to_the_plan(&archives)?;
            }
            if !anew && self.keep(state, &archives).await? {
                continue;
            }
            anew = true;
            if !self.go_into(state, &archives).await? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Refuses documents that were not planned.
    fn hold_to_the_plan(&mut self, archives: &Archives) -> Result<()> {
        self.differences = bound::before_the_import(self.store, self.options, archives, &self.states)?;
        match self.differences.len() {
            0 => Ok(()),
            differences => Err(bound::refusal(differences, "nothing was written")),
        }
    }

    /// Keeps a state that is reached; tells whether it is.
    async fn keep(&mut self, state: State, archives: &Archives) -> Result<bool> {
        if bound::stands_for(state, self.options).is_some() && kept(state, self.store, archives)?.is_none() {
            self.take_as_exported(archives)?;
        }
        let Some(evidence) = kept(state, self.store, archives)? else { return Ok(false) };
        if state == State::Exported && self.source_matters()? {
            let differences = source::differences(self.store, &evidence, self.stop).await?;
            if !differences.is_empty() {
                let message = format!("The source is exported again: {}.", differences.join(", "));
                self.ui.notice(NoticeCode::SourceChanged, message);
                return Ok(false);
            }
        }
        let ended = evidence.ended.clone().unwrap_or_default();
        self.ui.status(&format!("{} already, {ended}", state.name()));
        self.states.push(StateReport::of(evidence, true));
        Ok(true)
    }

    /// Notes that the archive which a plan binds is the export, whoever made it.
    fn take_as_exported(&self, archives: &Archives) -> Result<()> {
        let inputs = inputs_of(State::Exported, self.store, archives)?;
        let mut evidence = Evidence::begin(&self.store.name, State::Exported, inputs);
        evidence.outputs = archives.outputs(State::Exported);
        evidence.end(Status::Done, 0);
        evidence.write(&self.store.folder)
    }

    /// Whether it matters that the source is still as it was exported.
    ///
    /// It does until the store is verified; then only `prune` is left, which proves by itself what may go. A source that
    /// is the target, too, has changed by the import itself; what else was written there, `verify` finds.
    fn source_matters(&self) -> Result<bool> {
        let is_planned = bound::stands_for(State::Exported, self.options).is_some();
        let is_verified = pending(self.store, self.options)?.iter().all(|state| *state == State::Pruned);
        let (from, to) = (&self.store.export.from, &self.store.import.to);
        let is_target = from.address.identity() == to.address.identity() && from.collection == to.collection;
        Ok(!(is_planned || is_verified || is_target && self.may_have_written()?))
    }

    /// Whether an import may have written: one that was refused has not.
    fn may_have_written(&self) -> Result<bool> {
        let imported = Evidence::read(&self.store.folder, State::Imported)?;
        let was_refused =
            |it: &Evidence| it.status == Status::Stopped && matches!(it.exit_code, Some(REFUSED | USAGE));
        Ok(imported.is_some_and(|it| !was_refused(&it)))
    }

    /// Goes into a state; tells whether it was reached.
    async fn go_into(&mut self, state: State, archives: &Archives) -> Result<bool> {
        let documents = self.states.iter().rev().find_map(|it| it.number("documents"));
        self.confirmation.ask(state, self.store, documents, self.ui, self.stop).await?;
        let mut evidence = Evidence::begin(&self.store.name, state, inputs_of(state, self.store, archives)?);
        evidence.write(&self.store.folder)?;
        self.ui.status(&format!("{} …", state.verb()));
        if state == State::Exported {
            // Before the documents are read. A source that cannot be looked at, the export itself complains of.
            evidence.outputs = source::marks(self.store, self.stop).await.unwrap_or_default();
        }
        // The notices of a command are its own: the manifests count them.
        let part = self.ui.with_own_notices();
        match step::take(state, self.store, &part, self.stop).await {
            Ok(outcome) => {
                self.note(&mut evidence, &outcome, &part)?;
                self.tell(evidence, outcome)
            }
            Err(error) => {
                evidence.error = Some(error.messages().join(": "));
                evidence.end(Status::Stopped, error.kind().exit_code());
                evidence.write(&self.store.folder)?;
                self.states.push(StateReport::of(evidence, false));
                Err(error)
            }
        }
    }

    /// Notes as evidence what a command came to.
    fn note(&self, evidence: &mut Evidence, outcome: &Outcome, ui: &Ui) -> Result<()> {
        let state = evidence.state;
        evidence.result = Some(json(state, outcome, ui)?);
        evidence.error = outcome.error.as_ref().map(|error| error.messages().join(": "));
        evidence.outputs.extend(Archives::of(self.store)?.outputs(state));
        let plan = self.options.plan.as_ref().map(|(_, plan)| ("plan".to_owned(), plan.digest.clone()));
        evidence.outputs.extend(plan);
        let reached = state.is_reached_with(outcome.exit.code());
        evidence.end(if reached { Status::Done } else { Status::Stopped }, outcome.exit.code());
        evidence.write(&self.store.folder)
    }

    /// Tells what a command came to, all of it where that stops the store; tells whether the state was reached.
    fn tell(&mut self, evidence: Evidence, mut outcome: Outcome) -> Result<bool> {
        let report = StateReport::of(evidence, false);
        let reached = report.is_reached();
        self.ui.status(&result::phrase(&report));
        self.take_section(report.state, &mut outcome);
        self.exit = self.exit.worst(outcome.exit);
        self.states.push(report);
        if reached {
            return Ok(true);
        }
        show(&outcome, self.ui)?;
        outcome.error.take().map_or(Ok(false), Err)
    }

    /// Notes what a report will say of a command.
    fn take_section(&mut self, state: State, outcome: &mut Outcome) {
        let throughput = self.ui.take_throughput().into_iter();
        let named = |it: Throughput| Throughput { what: format!("{}: {}", state.verb(), it.what), ..it };
        self.section.throughput.extend(throughput.map(named));
        if let Some(verified) = outcome.dossier.take().and_then(|it| it.sections.into_iter().next()) {
            let earlier = std::mem::take(&mut self.section.throughput);
            self.section =
                Section { throughput: [earlier, verified.throughput.clone()].concat(), ..verified };
        }
        if outcome.findings.total > 0 {
            self.section.findings = FindingList::of(&outcome.findings);
        }
    }

    /// What became of the store.
    pub fn conclude(self, ended: Result<()>) -> (StoreReport, Section) {
        let error = ended.err();
        // Stores that were not begun when the run was stopped have nothing to say.
        let is_left_out = self.stop.is_set() && self.states.is_empty();
        if let Some(error) = error.as_ref().filter(|_| !is_left_out) {
            self.ui.error(error);
        }
        let exit = error.as_ref().map_or(self.exit, |error| self.exit.worst(ExitStatus::from(error)));
        let state = self.states.iter().rev().find(|it| it.is_reached()).map(|it| it.state);
        let report = StoreReport {
            next: result::next_of(self.options, &self.store.name, state),
            store: self.store.name.clone(),
            state,
            exit,
            error: error.map(|error: Error| error.messages().join(": ")),
            notices: self.ui.notices(),
            differences: self.differences,
            states: self.states,
        };
        (report, self.section)
    }
}

/// The JSON result of a command, as it would have printed it.
fn json(state: State, outcome: &Outcome, ui: &Ui) -> Result<Value> {
    let notices = ui.notices();
    let envelope = Envelope::new(state.verb(), outcome.exit, Some(outcome), outcome.error.as_ref(), &notices);
    serde_json::from_str(&envelope.json()?)
        .map_err(|error| Error::caused(ErrorKind::Bug, "The result is no JSON", error))
}
