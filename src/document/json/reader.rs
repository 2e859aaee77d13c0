//! The single pass over a line: grammar, UTF-8, escapes and depth are checked, shallow members recorded.
//!
//! Every step takes the place where it begins and gives the place where it ends, so that the place stays in
//! a register.

use std::borrow::Cow;

use super::names::{NameKey, repeated};
use super::scan::{Marks, ordinary_run};
use super::{JsonError, Kind, MAX_DEPTH, Member, RECORDED_DEPTH, Traits};

/// Boxed, so that the way without an error needs two registers and no memory.
type Outcome<T> = Result<T, Box<JsonError>>;

pub(super) struct Reader<'t, 'a> {
    line: &'a [u8],
    marks: &'t Marks,
    recorded: u16,
    traits: Traits,
    /// Where the last escape stands.
    last_escape: usize,
    members: &'t mut Vec<Member>,
    /// The names of the object that was just read.
    names: &'t mut Vec<NameKey>,
}

/// A name's span, quotes included; nothing for an array element.
struct Name {
    start: usize,
    end: usize,
    escaped: bool,
}

#[allow(clippy::inline_always, reason = "calls cost more than what these small steps do")]
impl<'t, 'a> Reader<'t, 'a> {
    pub(super) fn new(
        line: &'a [u8],
        marks: &'t Marks,
        recorded: u16,
        members: &'t mut Vec<Member>,
        names: &'t mut Vec<NameKey>,
    ) -> Self {
        Self { line, marks, recorded, traits: Traits::default(), last_escape: 0, members, names }
    }

    /// Reads the whole line.
    pub(super) fn document(&mut self) -> Outcome<Traits> {
        if u32::try_from(self.line.len()).is_err() {
            return Err(self.fault(0, "a line of more than 4 GiB"));
        }
        let at = self.space(0);
        if self.byte(at) != Some(b'{') {
            return Err(self.fault(at, "no JSON object"));
        }
        let end = self.object(at, 0, None)?;
        let at = self.space(end);
        if at < self.line.len() {
            return Err(self.fault(at, "something behind the object"));
        }
        Ok(self.traits)
    }

    /// Reads the object at `at`, which is `depth` containers deep; `member` holds it, if it is recorded.
    ///
    /// Recursion, here and in [`Self::array`], is bounded by [`MAX_DEPTH`].
    fn object(&mut self, at: usize, depth: u16, member: Option<usize>) -> Outcome<usize> {
        let (mut at, depth) = self.descend(at, depth)?;
        if self.byte(at) == Some(b'}') {
            return Ok(at + 1);
        }
        let mut count = 0_usize;
        loop {
            if self.byte(at) != Some(b'"') {
                return Err(self.fault(at, "no member name"));
            }
            let end = self.string(at)?;
            let name = Name { start: at, end, escaped: self.last_escape > at };
            let colon = self.space(end);
            if self.byte(colon) != Some(b':') {
                return Err(self.fault(colon, "no colon behind a member name"));
            }
            count += 1;
            let value = self.space(colon + 1);
            if self.byte(at + 1) == Some(b'$') {
                self.notice(at + 1, value);
            }
            at = self.member(&name, value, depth)?;
            match self.after_member(at, b'}')? {
                (end, true) => {
                    at = end;
                    break;
                }
                (next, false) => at = next,
            }
        }
        if count > 1 && depth <= RECORDED_DEPTH {
            self.refuse_repeated(member)?;
        }
        Ok(at)
    }

    fn array(&mut self, at: usize, depth: u16) -> Outcome<usize> {
        let (mut at, depth) = self.descend(at, depth)?;
        if self.byte(at) == Some(b']') {
            return Ok(at + 1);
        }
        loop {
            at = self.member(&Name { start: at, end: at, escaped: false }, at, depth)?;
            match self.after_member(at, b']')? {
                (end, true) => return Ok(end),
                (next, false) => at = next,
            }
        }
    }

    /// Steps into a container: over its bracket and the space behind, one level deeper.
    #[inline(always)]
    fn descend(&mut self, at: usize, depth: u16) -> Outcome<(usize, u16)> {
        if depth >= MAX_DEPTH {
            return Err(self.fault(at, "too many levels"));
        }
        Ok((self.space(at + 1), depth + 1))
    }

    /// Steps over a comma, or over the bracket that ends the container: then the answer holds true.
    #[inline(always)]
    fn after_member(&mut self, at: usize, bracket: u8) -> Outcome<(usize, bool)> {
        let at = self.space(at);
        match self.byte(at) {
            Some(b',') => Ok((self.space(at + 1), false)),
            Some(byte) if byte == bracket => Ok((at + 1, true)),
            _ => Err(self.fault(at, "neither a comma nor the end of the object or array")),
        }
    }

    /// Reads a member's value at `at`, and records the member if it is shallow enough.
    #[inline(always)]
    fn member(&mut self, name: &Name, at: usize, depth: u16) -> Outcome<usize> {
        let opening = self.byte(at);
        if depth > self.recorded {
            return match opening {
                Some(b'{') => self.object(at, depth, None),
                Some(b'[') => self.array(at, depth),
                _ => self.scalar(at).map(|(_, end)| end),
            };
        }
        let index = self.members.len();
        let mut member = Member {
            name: span(name.start)..span(name.end),
            value: span(at)..span(at),
            next: span(index + 1),
            index: span(index),
            depth,
            kind: if opening == Some(b'{') { Kind::Object } else { Kind::Array },
            escaped_name: name.escaped,
        };
        if !matches!(opening, Some(b'{' | b'[')) {
            let (kind, end) = self.scalar(at)?;
            member.kind = kind;
            member.value.end = span(end);
            self.members.push(member);
            return Ok(end);
        }
        let is_object = member.kind == Kind::Object;
        self.members.push(member);
        let end = if is_object { self.object(at, depth, Some(index))? } else { self.array(at, depth)? };
        let next = span(self.members.len());
        if let Some(member) = self.members.get_mut(index) {
            member.value.end = span(end);
            member.next = next;
        }
        Ok(end)
    }

    /// Reads a value that is neither object nor array.
    #[inline(always)]
    fn scalar(&mut self, at: usize) -> Outcome<(Kind, usize)> {
        Ok(match self.byte(at) {
            Some(b'"') => (Kind::String, self.string(at)?),
            Some(b'-' | b'0'..=b'9') => (Kind::Number, self.number(at)?),
            Some(b't') => (Kind::Bool, self.literal(at, b"true")?),
            Some(b'f') => (Kind::Bool, self.literal(at, b"false")?),
            Some(b'n') => (Kind::Null, self.literal(at, b"null")?),
            _ => return Err(self.fault(at, "no JSON value")),
        })
    }

    /// Reads the string whose quote stands at `start`.
    #[inline(always)]
    fn string(&mut self, start: usize) -> Outcome<usize> {
        let mark = self.marks.next(start + 1, self.line.len());
        if self.byte(mark) == Some(b'"') {
            return Ok(mark + 1);
        }
        self.uncommon_string(start)
    }

    /// Reads a string that may hold escapes and characters beyond ASCII.
    #[inline(never)]
    fn uncommon_string(&mut self, start: usize) -> Outcome<usize> {
        let mut at = start + 1;
        loop {
            at = ordinary_run(self.line, at);
            match self.byte(at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    self.last_escape = at;
                    at = self.escape(at)?;
                }
                Some(_) => return Err(self.fault(at, "a control character in a string")),
                None => return Err(self.fault(at, "a string without an end")),
            }
        }
        let text = self.line.get(start..at).unwrap_or_default();
        match std::str::from_utf8(text) {
            Ok(_) => Ok(at + 1),
            Err(error) => Err(self.fault(start + error.valid_up_to(), "invalid UTF-8")),
        }
    }

    /// Reads the escape at `at`, and notes whether it is the shortest one for its character.
    fn escape(&mut self, at: usize) -> Outcome<usize> {
        match self.byte(at + 1) {
            Some(b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
            Some(b'/') => {
                self.traits.loose = true;
                Ok(at + 2)
            }
            Some(b'u') => self.unicode_escape(at),
            Some(_) => Err(self.fault(at, "an unknown escape")),
            None => Err(self.fault(at + 1, "a string without an end")),
        }
    }

    fn unicode_escape(&mut self, at: usize) -> Outcome<usize> {
        let unit = self.code_unit(at)?;
        let shortest = unit < 0x20 && !matches!(unit, 8 | 9 | 10 | 12 | 13);
        let digits = self.line.get(at + 2..at + 6).unwrap_or_default();
        if !shortest || digits.iter().any(u8::is_ascii_uppercase) {
            self.traits.loose = true;
        }
        match unit {
            0xd800..=0xdbff => self.low_surrogate(at),
            0xdc00..=0xdfff => Err(self.fault(at, "a lone surrogate")),
            _ => Ok(at + 6),
        }
    }

    /// Reads the second half of the pair of surrogates at `at`.
    fn low_surrogate(&self, at: usize) -> Outcome<usize> {
        let low = at + 6;
        let follows = |at, expected| self.byte(at).is_none_or(|byte| byte == expected);
        if !follows(low, b'\\') || !follows(low + 1, b'u') || !matches!(self.code_unit(low)?, 0xdc00..=0xdfff)
        {
            return Err(self.fault(at, "a lone surrogate"));
        }
        Ok(low + 6)
    }

    /// The UTF-16 unit that the `\uXXXX` at `at` stands for.
    fn code_unit(&self, at: usize) -> Outcome<u32> {
        let mut unit = 0;
        for index in at + 2..at + 6 {
            let Some(byte) = self.byte(index) else {
                return Err(self.fault(self.line.len(), "a string without an end"));
            };
            let Some(digit) = char::from(byte).to_digit(16) else {
                return Err(self.fault(index, "a bad \\u escape"));
            };
            unit = unit << 4 | digit;
        }
        Ok(unit)
    }

    fn number(&mut self, start: usize) -> Outcome<usize> {
        self.traits.bare_number = true;
        let mut at = start;
        if self.byte(at) == Some(b'-') {
            at += 1;
        }
        at = if self.byte(at) == Some(b'0') { at + 1 } else { self.digits(at)? };
        if self.byte(at) == Some(b'.') {
            at = self.digits(at + 1)?;
        }
        if matches!(self.byte(at), Some(b'e' | b'E')) {
            at += 1;
            if matches!(self.byte(at), Some(b'+' | b'-')) {
                at += 1;
            }
            at = self.digits(at)?;
        }
        Ok(at)
    }

    /// Steps over one or more digits.
    #[inline]
    fn digits(&self, start: usize) -> Outcome<usize> {
        let mut at = start;
        while matches!(self.byte(at), Some(b'0'..=b'9')) {
            at += 1;
        }
        if at == start {
            Err(self.fault(at, "a number without a digit where one must stand"))
        } else {
            Ok(at)
        }
    }

    #[inline]
    fn literal(&self, at: usize, text: &'static [u8]) -> Outcome<usize> {
        let rest = self.line.get(at..).unwrap_or_default();
        if rest.starts_with(text) {
            return Ok(at + text.len());
        }
        let cut_off = text.starts_with(rest);
        Err(self.fault(if cut_off { self.line.len() } else { at }, "no JSON value"))
    }

    #[inline]
    fn byte(&self, at: usize) -> Option<u8> {
        self.line.get(at).copied()
    }

    /// Steps over white space.
    #[inline]
    fn space(&mut self, at: usize) -> usize {
        match self.byte(at) {
            Some(b' ' | b'\t' | b'\n' | b'\r') => self.more_space(at),
            _ => at,
        }
    }

    #[inline(never)]
    fn more_space(&mut self, mut at: usize) -> usize {
        self.traits.loose = true;
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.byte(at) {
            at += 1;
        }
        at
    }

    /// Notes a name, without its first quote, and value that Extended JSON may spell in several ways.
    #[inline]
    fn notice(&mut self, name: usize, value: usize) {
        let name = self.line.get(name..).unwrap_or_default();
        self.traits.date_as_text |= self.byte(value) == Some(b'"') && name.starts_with(b"$date\"");
        self.traits.dollar_number_d |= name.starts_with(b"$numberD");
    }

    /// Refuses a name that stands twice in the object that was just read; `member` holds that object.
    #[inline(never)]
    fn refuse_repeated(&mut self, member: Option<usize>) -> Outcome<()> {
        let first = member.map_or(0, |member| member + 1);
        let Some(member) = repeated(self.line, self.members, first, self.names) else { return Ok(()) };
        Err(Box::new(JsonError {
            what: Cow::Owned(format!("the member {:?} twice", member.name(self.line))),
            at: member.name.start as usize,
            truncated: false,
            duplicate: true,
        }))
    }

    #[cold]
    #[allow(clippy::unnecessary_box_returns, reason = "the outcome holds a box")]
    fn fault(&self, at: usize, what: &'static str) -> Box<JsonError> {
        let truncated = at >= self.line.len();
        Box::new(JsonError { what: Cow::Borrowed(what), at, truncated, duplicate: false })
    }
}

/// An offset in a line whose length is known to fit.
#[allow(clippy::cast_possible_truncation, reason = "checked once for the whole line")]
#[inline]
fn span(at: usize) -> u32 {
    at as u32
}
