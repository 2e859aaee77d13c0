use crate::document::json::Member;
use crate::layout::check::MAX_FIELDS;

/// Longer names share the last bucket.
const LENGTHS: usize = 48;

/// A set of field names, each at its slot, in which members are looked up with hardly a comparison in vain.
#[derive(Clone, Debug)]
pub(super) struct Names {
    names: Vec<String>,
    /// By length in bytes: the slots of the names that long, as bits.
    by_length: [u32; LENGTHS],
}

// A slot is a bit.
const _: () = assert!(MAX_FIELDS <= u32::BITS as usize);

impl Names {
    pub fn new(names: Vec<String>) -> Self {
        let mut by_length = [0; LENGTHS];
        for (slot, name) in names.iter().enumerate().take(MAX_FIELDS) {
            by_length[bucket(name.len())] |= 1 << slot;
        }
        Self { names, by_length }
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The names, by slot.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The slot of a name.
    pub fn slot(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// The name at a slot.
    pub fn get(&self, slot: usize) -> &str {
        self.names.get(slot).map_or("", String::as_str)
    }

    /// The slot of a member's name.
    pub fn find(&self, member: &Member, line: &[u8]) -> Option<usize> {
        let Some(name) = member.plain_name_bytes(line) else { return self.slot(&member.name(line)) };
        let mut slots = self.by_length[bucket(name.len())];
        while slots != 0 {
            let slot = slots.trailing_zeros() as usize;
            if self.names.get(slot).is_some_and(|known| known.as_bytes() == name) {
                return Some(slot);
            }
            slots &= slots - 1;
        }
        None
    }
}

fn bucket(length: usize) -> usize {
    length.min(LENGTHS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::json::Tape;

    #[test]
    fn members_are_found_by_their_decoded_names() {
        let long = "n".repeat(60);
        let names = Names::new(["id", "pk", "", &long].map(str::to_owned).to_vec());
        let line = format!(r#"{{"pk":1,"\u0069d":2,"":3,"{long}":4,"{long}n":5,"ix":6,"p":7}}"#);
        let mut tape = Tape::new();
        tape.read(line.as_bytes()).unwrap();
        let found: Vec<_> = tape.members(None).map(|member| names.find(member, line.as_bytes())).collect();
        assert_eq!(found, [Some(1), Some(0), Some(2), Some(3), None, None, None]);
    }
}
