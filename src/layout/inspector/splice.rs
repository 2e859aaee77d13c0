use std::borrow::Cow;
use std::ops::Range;

use super::Inspector;
use super::found::Found;
use crate::document::json::Member;
use crate::document::text::write_quoted;

/// One change of a line; the bytes between changes stay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    /// The bytes that go.
    pub span: Range<usize>,
    /// What comes in their place.
    pub with: With,
}

/// What an edit puts in; values are positions in `Inspector::new`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum With {
    /// Nothing.
    Nothing,
    /// A value as the store's string.
    Text(usize),
    /// A value as the last segment of a Firestore name, up to the closing quote.
    DocumentId(usize),
    /// A new member behind the last one: the value, the field's slot.
    MemberBehind(usize, usize),
    /// A new member before another one: the value, the field's slot.
    MemberBefore(usize, usize),
}

impl Edit {
    /// Puts another string in a member's place.
    pub fn text(member: &Member, value: usize) -> Self {
        Self { span: span(&member.value), with: With::Text(value) }
    }

    /// Puts another document id at the end of a Firestore name.
    pub fn document_id(name: &Member, line: &[u8], value: usize) -> Self {
        let quoted = span(&name.value);
        let id = last_segment_at(name.raw(line));
        Self { span: quoted.start + id..quoted.end, with: With::DocumentId(value) }
    }

    /// Adds a member: on DynamoDB where the names' order asks for it, if they are in order; else last.
    pub fn add(found: &Found<'_, '_>, sorted: bool, name: &str, slot: usize, value: usize) -> Option<Self> {
        let mut members = found.tape.members(found.holder);
        let behind =
            if sorted { members.find(|it| *name_bytes(it, found.line) > *name.as_bytes()) } else { None };
        if let Some(behind) = behind {
            let at = behind.name.start as usize;
            return Some(Self { span: at..at, with: With::MemberBefore(value, slot) });
        }
        let at = found.tape.members(found.holder).last()?.value.end as usize;
        Some(Self { span: at..at, with: With::MemberBehind(value, slot) })
    }
}

/// Appends the edits that take members out, each with the comma that parted it from its neighbour.
pub(super) fn cut<'t>(
    members: impl Iterator<Item = &'t Member>,
    is_cut: impl Fn(&Member) -> bool,
    edits: &mut Vec<Edit>,
) {
    let mut kept_one = false;
    let mut previous_end = None;
    // The start of a member that goes together with the comma behind it, as nothing before it stays.
    let mut open: Option<Range<usize>> = None;
    for member in members {
        let (start, end) = (member.name.start as usize, member.value.end as usize);
        if let Some(span) = open.take() {
            edits.push(Edit { span: span.start..start, with: With::Nothing });
        }
        if !is_cut(member) {
            kept_one = true;
        } else if kept_one {
            edits.push(Edit { span: previous_end.unwrap_or(start)..end, with: With::Nothing });
        } else {
            open = Some(start..end);
        }
        previous_end = Some(end);
    }
    edits.extend(open.map(|span| Edit { span, with: With::Nothing }));
}

/// Whether the names of a document's fields are in the order of their bytes.
pub(super) fn is_sorted(found: &Found<'_, '_>) -> bool {
    found
        .tape
        .members(found.holder)
        .is_sorted_by(|a, b| name_bytes(a, found.line) <= name_bytes(b, found.line))
}

impl Inspector {
    /// Appends the line with the edits made.
    pub(super) fn splice(&mut self, line: &[u8], out: &mut Vec<u8>) {
        self.edits.sort_by_key(|edit| edit.span.start);
        let mut at = 0;
        for edit in &self.edits {
            out.extend_from_slice(line.get(at..edit.span.start).unwrap_or_default());
            self.write(edit.with, out);
            at = edit.span.end;
        }
        out.extend_from_slice(line.get(at..).unwrap_or_default());
    }

    fn write(&self, with: With, out: &mut Vec<u8>) {
        match with {
            With::Nothing => {}
            With::Text(value) => self.plan.store.write_text(self.value(value), out),
            With::DocumentId(value) => {
                let quote = out.len();
                write_quoted(self.value(value), out);
                let _ = out.remove(quote);
            }
            With::MemberBehind(value, slot) => {
                out.push(b',');
                self.write_member(value, slot, out);
            }
            With::MemberBefore(value, slot) => {
                self.write_member(value, slot, out);
                out.push(b',');
            }
        }
    }

    fn write_member(&self, value: usize, slot: usize, out: &mut Vec<u8>) {
        write_quoted(self.plan.name(slot), out);
        out.push(b':');
        self.plan.store.write_text(self.value(value), out);
    }

    fn value(&self, at: usize) -> &str {
        self.new.get(at).map_or("", String::as_str)
    }
}

/// The bytes of a member's decoded name.
fn name_bytes<'a>(member: &Member, line: &'a [u8]) -> Cow<'a, [u8]> {
    match member.plain_name_bytes(line) {
        Some(name) => Cow::Borrowed(name),
        None => Cow::Owned(member.name(line).into_owned().into_bytes()),
    }
}

fn span(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

/// Where in a quoted name the bytes of the last segment begin; a `/` may be written `\/` or `\u002f`.
fn last_segment_at(quoted: &[u8]) -> usize {
    let mut segment = 1;
    let mut at = 1;
    while let Some(byte) = quoted.get(at) {
        let escape = quoted.get(at..).unwrap_or_default();
        let (length, is_slash) = match byte {
            b'\\' if escape.get(1) == Some(&b'u') => {
                (6, escape.get(2..6).is_some_and(|digits| digits.eq_ignore_ascii_case(b"002f")))
            }
            b'\\' => (2, escape.get(1) == Some(&b'/')),
            _ => (1, *byte == b'/'),
        };
        at += length;
        if is_slash {
            segment = at;
        }
    }
    segment
}
