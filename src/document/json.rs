//! One strict JSON tokenizer: a whole line is checked and its shallow members become spans.

mod names;
mod reader;
pub(super) mod scan;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

use super::text::unescape;
use names::{NameKey, repeated};
use reader::Reader;
use scan::Marks;

/// How deep members are recorded: `{"Item":{"pk":{"S":"…"}}}` needs three levels.
pub const RECORDED_DEPTH: u16 = 3;
/// The deepest nesting a line may have; MongoDB stores up to 180 levels and Extended JSON adds one per wrapper.
pub const MAX_DEPTH: u16 = 400;

/// What a JSON value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An object.
    Object,
    /// An array.
    Array,
    /// A string.
    String,
    /// A number.
    Number,
    /// `true` or `false`.
    Bool,
    /// `null`.
    Null,
}

/// One member of an object (or element of an array, with an empty name) at depth 1 to [`RECORDED_DEPTH`].
#[derive(Clone, Debug)]
pub struct Member {
    /// The name with its quotes, as it stands in the line; empty for an array element.
    pub name: Range<u32>,
    /// The value as it stands in the line (a string with its quotes).
    pub value: Range<u32>,
    /// Where in the tape the member after this one and its descendants stands.
    pub next: u32,
    /// Where in the tape this member stands.
    pub(super) index: u32,
    /// The depth: 1 for a member of the line's own object.
    pub depth: u16,
    /// What the value is.
    pub kind: Kind,
    /// Whether the name holds an escape, so that its bytes are not its text.
    pub(super) escaped_name: bool,
}

impl Member {
    /// The value's bytes in `line`, the line this member was read from.
    pub fn raw<'a>(&self, line: &'a [u8]) -> &'a [u8] {
        slice(line, &self.value)
    }

    /// The decoded name in `line`; empty for an array element.
    pub fn name<'a>(&self, line: &'a [u8]) -> Cow<'a, str> {
        unescape(slice(line, &self.name))
    }

    /// Whether the decoded name is `name`.
    #[inline]
    pub fn is_named(&self, line: &[u8], name: &str) -> bool {
        if self.escaped_name {
            return self.name(line) == name;
        }
        self.name.len() == name.len() + 2 && self.inner_name(line) == name.as_bytes()
    }

    /// Whether the decoded name is one of `names`.
    pub(super) fn is_one_of(&self, line: &[u8], names: &[impl AsRef<str>]) -> bool {
        names.iter().any(|name| self.is_named(line, name.as_ref()))
    }

    /// The UTF-8 bytes of the decoded name in `line`.
    #[inline]
    pub(super) fn name_bytes<'a>(&self, line: &'a [u8]) -> Cow<'a, [u8]> {
        if !self.escaped_name {
            return Cow::Borrowed(self.inner_name(line));
        }
        Cow::Owned(self.name(line).into_owned().into_bytes())
    }

    /// The first eight bytes of the decoded name as a number that sorts as they do.
    pub(super) fn name_prefix(&self, line: &[u8]) -> u64 {
        prefix(&self.name_bytes(line))
    }

    /// Compares the decoded names of two members of one line by their UTF-8 bytes.
    pub(super) fn compare_names(&self, other: &Self, line: &[u8]) -> Ordering {
        self.name_bytes(line).cmp(&other.name_bytes(line))
    }

    /// Whether nothing is recorded inside this member.
    pub(super) fn is_childless(&self) -> bool {
        self.next == self.index + 1
    }

    /// The name's bytes in `line` without the quotes; `None` if it holds an escape.
    pub(crate) fn plain_name_bytes<'a>(&self, line: &'a [u8]) -> Option<&'a [u8]> {
        (!self.escaped_name).then(|| self.inner_name(line))
    }

    /// The name's bytes in `line` with the quotes.
    pub(super) fn quoted_name<'a>(&self, line: &'a [u8]) -> &'a [u8] {
        slice(line, &self.name)
    }

    /// The name's bytes in `line` without the quotes, escapes still in place.
    pub(super) fn inner_name<'a>(&self, line: &'a [u8]) -> &'a [u8] {
        slice(line, &(self.name.start + 1..self.name.end.saturating_sub(1)))
    }
}

/// The first eight bytes as a big-endian number, with zeros for those that are missing.
fn prefix(bytes: &[u8]) -> u64 {
    u64::from_be_bytes(bytes.first_chunk().copied().unwrap_or_else(|| {
        let mut chunk = [0; 8];
        chunk.iter_mut().zip(bytes).for_each(|(to, byte)| *to = *byte);
        chunk
    }))
}

/// The bytes of a span; empty if the span is not of this line, so that a mix-up never panics.
fn slice<'a>(line: &'a [u8], span: &Range<u32>) -> &'a [u8] {
    line.get(span.start as usize..span.end as usize).unwrap_or_default()
}

/// The shallow structure of one line; reusable, and free of allocations once it has seen a line as large.
///
/// A tape is flat: a member is followed by its descendants, then by its next sibling.
#[derive(Clone, Debug)]
pub struct Tape {
    marks: Marks,
    members: Vec<Member>,
    names: Vec<NameKey>,
    recorded: u16,
    traits: Traits,
}

/// What a tokenizer notices on its way through a line.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "four things that have nothing to do with each other")]
pub(super) struct Traits {
    /// White space outside strings, or a string that is not in its shortest canonical escape form.
    pub loose: bool,
    /// A number outside strings, at any depth.
    pub bare_number: bool,
    /// A member named `$date` whose value is a string, at any depth.
    pub date_as_text: bool,
    /// A member whose name begins with `$numberD` (`$numberDouble`, `$numberDecimal`), at any depth.
    pub dollar_number_d: bool,
}

impl Default for Tape {
    fn default() -> Self {
        Self::new()
    }
}

impl Tape {
    /// Makes an empty tape that records members down to [`RECORDED_DEPTH`].
    pub fn new() -> Self {
        Self {
            marks: Marks::default(),
            members: Vec::new(),
            names: Vec::new(),
            recorded: RECORDED_DEPTH,
            traits: Traits::default(),
        }
    }

    /// Makes an empty tape that records members at every depth.
    pub fn deep() -> Self {
        Self { recorded: MAX_DEPTH, ..Self::new() }
    }

    /// Reads a whole line: one JSON object with nothing but white space around it.
    ///
    /// Grammar, UTF-8, surrogates and depth ([`MAX_DEPTH`]) are checked everywhere, repeated names (by
    /// decoded name) down to [`RECORDED_DEPTH`]. After an error the tape is empty.
    pub fn read(&mut self, line: &[u8]) -> Result<(), JsonError> {
        self.members.clear();
        self.names.clear();
        self.marks.set(line);
        let mut reader = Reader::new(line, &self.marks, self.recorded, &mut self.members, &mut self.names);
        match reader.document() {
            Ok(traits) => {
                self.traits = traits;
                Ok(())
            }
            Err(error) => {
                self.members.clear();
                Err(*error)
            }
        }
    }

    /// The children of a member, or the members of the line's object, in order.
    pub fn members<'t>(&'t self, of: Option<&Member>) -> impl Iterator<Item = &'t Member> + use<'t> {
        let (mut at, end) = match of {
            None => (0, self.members.len()),
            Some(parent) => (parent.index as usize + 1, parent.next as usize),
        };
        std::iter::from_fn(move || {
            let member = self.members[..end.min(self.members.len())].get(at)?;
            at = member.next as usize;
            Some(member)
        })
    }

    /// The only child of a member, if it has exactly one.
    pub fn only_child(&self, of: &Member) -> Option<&Member> {
        let child = self.members.get(of.index as usize + 1)?;
        (of.next > child.index && child.next == of.next).then_some(child)
    }

    /// Finds a child by its decoded name: a member of `of`, or of the line's object.
    pub fn find<'t>(&'t self, line: &[u8], of: Option<&Member>, name: &str) -> Option<&'t Member> {
        self.members(of).find(|member| member.is_named(line, name))
    }

    /// A child of `of` whose name another one has, too: below [`RECORDED_DEPTH`] that is for the caller to look for.
    pub fn repeated_name(&self, line: &[u8], of: &Member) -> Option<&Member> {
        let members = self.members.get(..of.next as usize).unwrap_or_default();
        repeated(line, members, of.index as usize + 1, &mut Vec::new())
    }

    /// Whether the line has no white space outside strings and every string in its shortest canonical escape form.
    pub fn is_compact(&self) -> bool {
        !self.traits.loose
    }

    /// The member at `index`.
    #[inline]
    pub(super) fn member(&self, index: u32) -> Option<&Member> {
        self.members.get(index as usize)
    }

    /// Whether the members inside this one, if it is an object or array, are recorded.
    #[inline]
    pub(super) fn records_inside(&self, member: &Member) -> bool {
        member.depth < self.recorded
    }

    /// What else the tokenizer noticed.
    pub(super) fn traits(&self) -> Traits {
        self.traits
    }
}

/// Why a line is not a document; `at` is a byte offset in the line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} at byte {at}")]
pub struct JsonError {
    /// What is wrong, in words (“a lone surrogate”, “the member "pk" twice”).
    pub what: Cow<'static, str>,
    /// Where.
    pub at: usize,
    /// Whether the line ends too early (a cut-off file), rather than being malformed.
    pub truncated: bool,
    /// Whether a member stands twice in an object that a layout reads.
    pub duplicate: bool,
}

#[cfg(test)]
mod tests;
