use std::collections::BTreeSet;
use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Error, Result};

/// Some of the shards of a store: `2/4` is the second of four, `1,3/4` are two of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shards {
    numbers: BTreeSet<u32>,
    of: NonZeroU32,
}

impl Shards {
    /// How many shards there are.
    pub fn of(&self) -> NonZeroU32 {
        self.of
    }

    /// Their numbers, in order.
    pub fn numbers(&self) -> impl Iterator<Item = u32> {
        self.numbers.iter().copied()
    }

    /// Whether a shard is among them.
    pub fn contains(&self, number: u32) -> bool {
        self.numbers.contains(&number)
    }

    /// Whether all of these are among the others.
    pub fn are_among(&self, others: &Self) -> bool {
        self.of == others.of && self.numbers.is_subset(&others.numbers)
    }

    /// The shards that several parts are together; `None` where they are everything, since one of them is no part or
    /// none is missing.
    ///
    /// # Errors
    /// Usage: they are parts of different divisions.
    pub fn together<'a>(parts: impl IntoIterator<Item = Option<&'a Self>>) -> Result<Option<Self>> {
        let mut together: Option<Self> = None;
        for part in parts {
            let Some(part) = part else { return Ok(None) };
            match &mut together {
                None => together = Some(part.clone()),
                Some(all) if all.of == part.of => all.numbers.extend(&part.numbers),
                Some(all) => {
                    return Err(Error::usage(format!(
                        "The archives are parts of different divisions, {all} and {part}; nothing was done"
                    ))
                    .hint("Pass the parts of one division."));
                }
            }
        }
        Ok(together.filter(|all| all.missing().next().is_some()))
    }

    /// The shards that are not among them, in order.
    pub fn missing(&self) -> impl Iterator<Item = u32> {
        (1..=self.of.get()).filter(|number| !self.numbers.contains(number))
    }

    /// The word for file names of which each shard has its own: `shard-2-of-4`.
    pub fn file_word(&self) -> String {
        format!("shard-{}-of-{}", join(&self.numbers, "-"), self.of)
    }
}

fn join(numbers: &BTreeSet<u32>, with: &str) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(with)
}

impl fmt::Display for Shards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", join(&self.numbers, ","), self.of)
    }
}

impl FromStr for Shards {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = || format!("{text:?} names no shard: the second of four is 2/4");
        let (numbers, of) = text.split_once('/').ok_or_else(form)?;
        let of: NonZeroU32 = of.parse().map_err(|_| form())?;
        let numbers: BTreeSet<u32> =
            numbers.split(',').map(|number| number.parse().map_err(|_| form())).collect::<Result<_, _>>()?;
        match numbers.iter().find(|number| !(1..=of.get()).contains(*number)) {
            Some(number) => Err(format!("there is no shard {number} of {of}: they are 1 to {of}")),
            None => Ok(Self { numbers, of }),
        }
    }
}

impl Serialize for Shards {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Shards {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shards(text: &str) -> Shards {
        text.parse().unwrap()
    }

    #[test]
    fn shards_are_written_as_they_are_read() {
        for text in ["1/1", "2/4", "1,3/4"] {
            assert_eq!(shards(text).to_string(), text);
            assert_eq!(serde_json::from_str::<Shards>(&format!("{text:?}")).unwrap(), shards(text));
        }
        assert_eq!(shards("3,1/4").file_word(), "shard-1-3-of-4");
        for wrong in ["", "2", "0/4", "5/4", "1/0", "a/4", "1,/4", "-1/4", "1/4/4"] {
            assert!(wrong.parse::<Shards>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn parts_are_everything_where_none_is_missing_or_one_is_no_part() {
        let together = |parts: &[&str]| {
            let parts: Vec<_> = parts.iter().map(|text| shards(text)).collect();
            Shards::together(parts.iter().map(Some)).unwrap()
        };
        assert_eq!(together(&["1/3", "3/3"]), Some(shards("1,3/3")));
        assert_eq!(together(&["1/3", "3/3", "2/3"]), None);
        assert_eq!(Shards::together([Some(&shards("1/3")), None]).unwrap(), None);
        assert_eq!(Shards::together([]).unwrap(), None);
        assert!(Shards::together([Some(&shards("1/3")), Some(&shards("1/2"))]).is_err());
        assert!(shards("2/3").are_among(&shards("1,2/3")) && !shards("2/3").are_among(&shards("2/4")));
    }
}
