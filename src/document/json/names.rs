//! Finds a name that stands twice in one object, without comparing every pair of texts.

use std::borrow::Cow;

use super::Member;

/// The beginning of a member's decoded name as a number; equal names have equal keys.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameKey {
    key: u64,
    member: u32,
}

/// Up to this many names, comparing every pair of keys is faster than sorting.
const PAIRWISE: usize = 24;

/// Finds the later one of two members that have the same decoded name, in the object whose members begin at
/// `first` and end the tape. `keys` is a buffer.
pub(super) fn repeated<'t>(
    line: &[u8],
    members: &'t [Member],
    first: usize,
    keys: &mut Vec<NameKey>,
) -> Option<&'t Member> {
    if certainly_differ(line, members, first) {
        return None;
    }
    keys.clear();
    keys.extend(siblings(members, first).map(|member| NameKey::new(line, member)));
    if keys.len() <= PAIRWISE { pairwise(line, members, keys) } else { sorted(line, members, keys) }
}

fn siblings(members: &[Member], first: usize) -> impl Iterator<Item = &Member> {
    std::iter::successors(members.get(first), |member| members.get(member.next as usize))
}

/// Whether all names differ, decided at a few instructions a name; if not, they may still differ.
///
/// Every name sets a bit in each of two words, chosen by two hashes.
fn certainly_differ(line: &[u8], members: &[Member], first: usize) -> bool {
    let mut words = [0_u64; 2];
    let mut repeats = 0;
    for member in siblings(members, first) {
        let start = member.name.start as usize + 1;
        let key = key(line.get(start..).unwrap_or_default(), member.name.len().saturating_sub(2));
        let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let bits = [hash >> 58, (hash >> 52) & 63];
        repeats |= (words[0] >> bits[0]) & (words[1] >> bits[1]) | u64::from(member.escaped_name);
        words[0] |= 1 << bits[0];
        words[1] |= 1 << bits[1];
    }
    repeats & 1 == 0
}

impl NameKey {
    fn new(line: &[u8], member: &Member) -> Self {
        let name = member.name_bytes(line);
        Self { key: key(&name, name.len()), member: member.index }
    }
}

/// The first eight bytes of a name that is `length` bytes long, mixed with its length; `from` begins with it.
#[inline]
fn key(from: &[u8], length: usize) -> u64 {
    let word = match from.first_chunk::<8>() {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => short_word(from),
    };
    // In two steps, since a shift by all 64 bits is none.
    let half = (8 - length.min(8)) * 4;
    (word << half << half).wrapping_add(length as u64)
}

#[cold]
fn short_word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

fn pairwise<'t>(line: &[u8], members: &'t [Member], names: &[NameKey]) -> Option<&'t Member> {
    for (index, later) in names.iter().enumerate() {
        for earlier in &names[..index] {
            if earlier.key == later.key && text(line, members, earlier) == text(line, members, later) {
                return members.get(later.member as usize);
            }
        }
    }
    None
}

fn sorted<'t>(line: &[u8], members: &'t [Member], names: &mut [NameKey]) -> Option<&'t Member> {
    names.sort_unstable_by(|a, b| {
        a.key.cmp(&b.key).then_with(|| text(line, members, a).cmp(&text(line, members, b)))
    });
    let pair = names.windows(2).find(|pair| {
        pair[0].key == pair[1].key && text(line, members, &pair[0]) == text(line, members, &pair[1])
    })?;
    members.get(pair[0].member.max(pair[1].member) as usize)
}

fn text<'a>(line: &'a [u8], members: &[Member], name: &NameKey) -> Cow<'a, [u8]> {
    members.get(name.member as usize).map_or_else(Cow::default, |member| member.name_bytes(line))
}
