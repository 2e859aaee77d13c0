//! How a run ended, and the exit code that says so.

use crate::error::{Error, ErrorKind};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// All of it done, nothing found: exit 0.
    Done,
    /// A finding: mismatch, conflict: exit 1.
    Finding,
    /// Documents were set aside or kept, the rest is done: exit 3.
    Partial,
    /// It failed; the kind has the code.
    Failed(ErrorKind),
}

impl ExitStatus {
    /// The process exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Finding => 1,
            Self::Partial => 3,
            Self::Failed(kind) => kind.exit_code(),
        }
    }

    /// The one to report where both apply.
    #[must_use]
    pub fn worst(self, other: Self) -> Self {
        if other.precedence() > self.precedence() { other } else { self }
    }

    /// Tells whether a JSON result is printed for it: the run came to a result, even if it is a refusal.
    pub fn has_result(self) -> bool {
        matches!(self, Self::Done | Self::Finding | Self::Partial | Self::Failed(ErrorKind::Refused))
    }

    /// The rank among several: 70, 130 or 143, 141, 5, 4, 74, 2, 1, 3, 0.
    ///
    /// A closed pipe counts as a signal. A usage error ends a run before anything else can apply.
    fn precedence(self) -> u8 {
        match self {
            Self::Failed(ErrorKind::Bug) => 9,
            Self::Failed(ErrorKind::Interrupted | ErrorKind::Terminated) => 8,
            Self::Failed(ErrorKind::ClosedPipe) => 7,
            Self::Failed(ErrorKind::Refused) => 6,
            Self::Failed(ErrorKind::Store) => 5,
            Self::Failed(ErrorKind::File) => 4,
            Self::Failed(ErrorKind::Usage) => 3,
            Self::Finding => 2,
            Self::Partial => 1,
            Self::Done => 0,
        }
    }
}

impl From<&Error> for ExitStatus {
    fn from(error: &Error) -> Self {
        Self::Failed(error.kind())
    }
}

impl From<ExitStatus> for std::process::ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [(ErrorKind, u8); 8] = [
        (ErrorKind::Usage, 2),
        (ErrorKind::Store, 4),
        (ErrorKind::Refused, 5),
        (ErrorKind::Bug, 70),
        (ErrorKind::File, 74),
        (ErrorKind::Interrupted, 130),
        (ErrorKind::ClosedPipe, 141),
        (ErrorKind::Terminated, 143),
    ];

    #[test]
    fn every_status_has_its_documented_code() {
        assert_eq!(ExitStatus::Done.code(), 0);
        assert_eq!(ExitStatus::Finding.code(), 1);
        assert_eq!(ExitStatus::Partial.code(), 3);
        for (kind, code) in KINDS {
            assert_eq!(ExitStatus::Failed(kind).code(), code, "{kind:?}");
        }
    }

    #[test]
    fn the_worst_of_two_follows_the_documented_order_both_ways_round() {
        let order = [70, 130, 141, 5, 4, 74, 2, 1, 3, 0];
        let mut statuses = vec![ExitStatus::Done, ExitStatus::Finding, ExitStatus::Partial];
        statuses.extend(KINDS.map(|(kind, _)| ExitStatus::Failed(kind)));
        let rank = |status: ExitStatus| order.iter().position(|code| *code == status.code());
        for a in &statuses {
            for b in &statuses {
                let (Some(first), Some(second)) = (rank(*a), rank(*b)) else { continue };
                let expected = if first <= second { *a } else { *b };
                assert_eq!(a.worst(*b), expected, "{a:?} with {b:?}");
                assert_eq!(b.worst(*a), expected, "{b:?} with {a:?}");
            }
        }
    }

    #[test]
    fn of_two_signals_the_first_one_counts() {
        let (interrupted, terminated) =
            (ExitStatus::Failed(ErrorKind::Interrupted), ExitStatus::Failed(ErrorKind::Terminated));
        assert_eq!(interrupted.worst(terminated), interrupted);
        assert_eq!(terminated.worst(interrupted), terminated);
    }

    #[test]
    fn a_json_result_belongs_to_the_exits_0_1_3_and_5() {
        let mut statuses = vec![ExitStatus::Done, ExitStatus::Finding, ExitStatus::Partial];
        statuses.extend(KINDS.map(|(kind, _)| ExitStatus::Failed(kind)));
        let codes: Vec<u8> =
            statuses.into_iter().filter(|status| status.has_result()).map(ExitStatus::code).collect();
        assert_eq!(codes, [0, 1, 3, 5]);
    }
}
