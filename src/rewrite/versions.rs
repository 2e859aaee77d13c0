use crate::check::{Reason, Refusal};

/// The versions of one stream as they come by, in order.
#[derive(Clone, Debug, Default)]
pub struct VersionRun {
    last: Option<i64>,
    documents: u64,
    holes: u64,
}

impl VersionRun {
    /// Takes the next document's version; `first` is the version a whole stream begins with.
    ///
    /// # Errors
    /// `version-repeat`, and `version-gap` unless `allow_gaps`.
    pub fn push(&mut self, version: i64, first: i64, allow_gaps: bool) -> Result<(), Refusal> {
        let expected = self.last.map_or(first, |last| last.saturating_add(1));
        let earlier = self.last.replace(version);
        self.documents += 1;
        if earlier.is_some_and(|earlier| version <= earlier) {
            return Err(Refusal::new(
                Reason::VersionRepeat,
                format!("version {version} stands twice in the stream"),
            ));
        }
        if version == expected {
            return Ok(());
        }
        self.holes += 1;
        if allow_gaps {
            return Ok(());
        }
        let after =
            earlier.map_or_else(|| "at the beginning".to_owned(), |last| format!("after version {last}"));
        Err(Refusal::new(
            Reason::VersionGap,
            format!("version {expected} is missing {after}; found {version}"),
        ))
    }

    /// The last version, if the stream had one.
    pub fn last(&self) -> Option<i64> {
        self.last
    }

    /// How many places lack one or more versions.
    pub fn holes(&self) -> u64 {
        self.holes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reasons(versions: &[i64], allow_gaps: bool) -> Vec<Option<Reason>> {
        let mut run = VersionRun::default();
        versions.iter().map(|v| run.push(*v, 0, allow_gaps).err().map(|r| r.reason)).collect()
    }

    #[test]
    fn a_stream_begins_at_the_first_version_and_has_no_holes() {
        assert_eq!(reasons(&[0, 1, 2], false), [None, None, None]);
        assert_eq!(reasons(&[1, 2], false), [Some(Reason::VersionGap), None]);
        assert_eq!(reasons(&[0, 2], false), [None, Some(Reason::VersionGap)]);
        assert_eq!(reasons(&[3, 9], true), [None, None]);
    }

    #[test]
    fn a_repeat_is_refused_even_where_gaps_are_allowed() {
        assert_eq!(reasons(&[0, 0], true), [None, Some(Reason::VersionRepeat)]);
        assert_eq!(reasons(&[i64::MAX, i64::MAX], true), [None, Some(Reason::VersionRepeat)]);
    }
}
