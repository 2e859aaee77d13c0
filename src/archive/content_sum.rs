//! A digest of many documents that does not depend on their order.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

const LIMBS: usize = 4;

/// The sum of 32-byte digests, each a big-endian number, modulo 2^256.
///
/// Equal sets of documents have equal sums in whatever order and on however many threads they were added.
/// It finds every accident; against somebody who may choose the documents it is weaker than a hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContentSum {
    /// The lowest 64 bits first.
    limbs: [u64; LIMBS],
}

impl ContentSum {
    /// The sum of no documents.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one document's digest.
    pub fn add(&mut self, digest: &[u8; 32]) {
        let (chunks, _) = digest.as_chunks::<8>();
        let mut limbs = [0; LIMBS];
        for (limb, chunk) in limbs.iter_mut().rev().zip(chunks) {
            *limb = u64::from_be_bytes(*chunk);
        }
        self.merge(&Self { limbs });
    }

    /// Adds everything that another sum holds.
    pub fn merge(&mut self, other: &Self) {
        let mut carry = false;
        for (limb, addend) in self.limbs.iter_mut().zip(other.limbs) {
            let (sum, over) = limb.overflowing_add(addend);
            let (sum, over_again) = sum.overflowing_add(u64::from(carry));
            (*limb, carry) = (sum, over || over_again);
        }
    }
}

impl fmt::Display for ContentSum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.limbs.iter().rev().try_for_each(|limb| write!(f, "{limb:016x}"))
    }
}

impl FromStr for ContentSum {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes)
            .map_err(|error| format!("a content digest is 64 hex digits, not {text:?} ({error})"))?;
        let mut sum = Self::new();
        sum.add(&bytes);
        Ok(sum)
    }
}

impl Serialize for ContentSum {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ContentSum {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum(digests: &[[u8; 32]]) -> ContentSum {
        let mut sum = ContentSum::new();
        for digest in digests {
            sum.add(digest);
        }
        sum
    }

    #[test]
    fn carries_run_through_and_fall_off_the_top() {
        let mut one = [0; 32];
        one[31] = 1;
        assert_eq!(sum(&[[0xff; 32], one]), ContentSum::new());
        assert_eq!(sum(&[one, one]).to_string(), format!("{:064x}", 2));
    }

    proptest! {
        #[test]
        fn order_and_grouping_do_not_matter(digests in prop::collection::vec(any::<[u8; 32]>(), 0..20), cut in 0usize..20) {
            let (left, right) = digests.split_at(cut.min(digests.len()));
            let mut merged = sum(right);
            merged.merge(&sum(left));
            prop_assert_eq!(merged, sum(&digests));
            prop_assert_eq!(merged.to_string().parse::<ContentSum>(), Ok(merged));
        }
    }

    #[test]
    fn other_text_is_no_sum() {
        assert!("12".parse::<ContentSum>().is_err());
        assert!("z".repeat(64).parse::<ContentSum>().is_err());
    }
}
