//! Finds a name that stands twice in one object, without comparing every pair of texts.

use std::borrow::Cow;

use super::{Member, slice};
use crate::document::text::unescape;

/// The beginning of a member's decoded name as a number; equal names have equal keys.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameKey {
    key: u64,
    member: u32,
}

/// Up to this many names, comparing every pair of keys is faster than sorting.
const PAIRWISE: usize = 24;

impl NameKey {
    /// Makes the key of the member at `member` in the tape.
    #[inline]
    pub(super) fn new(line: &[u8], name: &Member, member: u32) -> Self {
        let key = if name.escaped_name {
            let text = name.name(line);
            key(text.as_bytes(), text.len())
        } else {
            key(line.get(name.name.start as usize + 1..).unwrap_or_default(), name.name.len() - 2)
        };
        Self { key, member }
    }
}

/// The first eight bytes of a name that is `length` bytes long, mixed with its length; `from` begins with it.
#[inline]
fn key(from: &[u8], length: usize) -> u64 {
    let word = match from.first_chunk::<8>() {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => from.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    };
    let word = if length < 8 { word & ((1 << (8 * length)) - 1) } else { word };
    word ^ (length as u64) << 56
}

/// Finds the later one of two members of one object that have the same decoded name.
pub(super) fn repeated<'t>(line: &[u8], members: &'t [Member], names: &mut [NameKey]) -> Option<&'t Member> {
    if names.len() <= PAIRWISE { pairwise(line, members, names) } else { sorted(line, members, names) }
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
    let Some(member) = members.get(name.member as usize) else { return Cow::Borrowed(&[]) };
    if member.escaped_name {
        match unescape(slice(line, &member.name)) {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        }
    } else {
        Cow::Borrowed(member.inner_name(line))
    }
}
