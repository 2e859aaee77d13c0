use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::task::{Display, State, Task};
use super::{Progress, ProgressTask};

/// What a bar looks like; it fits into 80 columns with the phrase of a million documents.
const KNOWN: &str = "{prefix} [{bar:16}] {percent:>3}% {wide_msg}";

/// What stands in place of a bar where the total is not known.
const UNKNOWN: &str = "{prefix} {spinner} {wide_msg}";

/// Bars on a terminal, drawn over. Clones share one set.
#[derive(Clone, Debug, Default)]
pub(in crate::ui) struct Bars(MultiProgress);

impl Bars {
    /// Writes something while no bar is drawn.
    pub(in crate::ui) fn suspend<R>(&self, write: impl FnOnce() -> R) -> R {
        self.0.suspend(write)
    }
}

impl Progress for Bars {
    fn start(&self, what: &str, total: Option<u64>) -> Box<dyn ProgressTask> {
        Box::new(Task::start(what, total, Bar { bars: self.0.clone(), bar: None }))
    }
}

/// One bar; there is none until the task has lasted long enough to be worth it.
struct Bar {
    bars: MultiProgress,
    bar: Option<ProgressBar>,
}

impl Display for Bar {
    fn delay(&self) -> Duration {
        Duration::from_millis(300)
    }

    fn interval(&self) -> Duration {
        Duration::from_millis(100)
    }

    fn show(&mut self, state: &State) {
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(state.total, ProgressDrawTarget::hidden());
            let bar = self.bars.add(bar.with_style(style(state.total.is_some())));
            bar.set_prefix(state.what.clone());
            bar
        });
        bar.set_position(state.documents);
        bar.set_message(state.short_phrase());
        bar.tick();
    }

    fn end(&mut self, _state: &State, _shown: bool) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
            self.bars.remove(&bar);
        }
    }
}

fn style(total_known: bool) -> ProgressStyle {
    let template = if total_known { KNOWN } else { UNKNOWN };
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_templates_are_understood() {
        for template in [KNOWN, UNKNOWN] {
            assert!(ProgressStyle::with_template(template).is_ok());
        }
    }

    #[test]
    fn text_can_be_written_while_a_bar_is_there() {
        let bars = Bars::default();
        let task = bars.start("writing", Some(10));
        task.add(5, 100);
        assert_eq!(bars.suspend(|| 7), 7);
        task.finish();
    }
}
