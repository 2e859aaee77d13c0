//! The single pass over a line: grammar, UTF-8, escapes and depth are checked, shallow members recorded.

use std::borrow::Cow;

use super::names::{NameKey, repeated};
use super::scan::ordinary_run;
use super::{JsonError, Kind, MAX_DEPTH, Member, RECORDED_DEPTH, Traits};

/// Boxed, so that the way without an error stays in a register.
type Outcome<T> = Result<T, Box<JsonError>>;

pub(super) struct Reader<'t, 'a> {
    line: &'a [u8],
    at: usize,
    recorded: u16,
    traits: Traits,
    members: &'t mut Vec<Member>,
    /// The names of the recorded objects that are still open, innermost last.
    names: &'t mut Vec<NameKey>,
}

/// A string's span, quotes included.
struct Quoted {
    start: usize,
    end: usize,
    escaped: bool,
}

impl<'t, 'a> Reader<'t, 'a> {
    pub(super) fn new(
        line: &'a [u8],
        recorded: u16,
        members: &'t mut Vec<Member>,
        names: &'t mut Vec<NameKey>,
    ) -> Self {
        Self { line, at: 0, recorded, traits: Traits::default(), members, names }
    }

    /// Reads the whole line.
    pub(super) fn document(&mut self) -> Outcome<Traits> {
        if u32::try_from(self.line.len()).is_err() {
            return Err(self.fault("a line of more than 4 GiB"));
        }
        self.space();
        if self.peek() != Some(b'{') {
            return Err(self.fault("no JSON object"));
        }
        self.object(0)?;
        self.space();
        if self.at < self.line.len() {
            return Err(self.fault("something behind the object"));
        }
        Ok(self.traits)
    }

    /// Reads the value at the current byte, `depth` containers deep. Recursion is bounded by [`MAX_DEPTH`].
    #[inline]
    fn value(&mut self, depth: u16) -> Outcome<Kind> {
        match self.peek() {
            Some(b'"') => self.string().map(|_| Kind::String),
            Some(b'{') => self.object(depth).map(|()| Kind::Object),
            Some(b'[') => self.array(depth).map(|()| Kind::Array),
            Some(b'-' | b'0'..=b'9') => self.number().map(|()| Kind::Number),
            Some(b't') => self.literal(b"true").map(|()| Kind::Bool),
            Some(b'f') => self.literal(b"false").map(|()| Kind::Bool),
            Some(b'n') => self.literal(b"null").map(|()| Kind::Null),
            _ => Err(self.fault("no JSON value")),
        }
    }

    fn object(&mut self, depth: u16) -> Outcome<()> {
        let depth = self.descend(depth)?;
        let first_name = self.names.len();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.fault("no member name"));
            }
            let name = self.string()?;
            if self.line.get(name.start + 1) == Some(&b'$') {
                self.notice(&name);
            }
            self.space();
            if self.peek() != Some(b':') {
                return Err(self.fault("no colon behind a member name"));
            }
            self.at += 1;
            self.space();
            self.member(depth, &name)?;
            if self.closes(b'}')? {
                break;
            }
        }
        if self.names.len() > first_name + 1 {
            self.refuse_repeated(first_name)?;
        }
        self.names.truncate(first_name);
        Ok(())
    }

    fn array(&mut self, depth: u16) -> Outcome<()> {
        let depth = self.descend(depth)?;
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.member(depth, &Quoted { start: self.at, end: self.at, escaped: false })?;
            if self.closes(b']')? {
                return Ok(());
            }
        }
    }

    /// Steps into a container: over its bracket and the space behind, one level deeper.
    #[inline]
    fn descend(&mut self, depth: u16) -> Outcome<u16> {
        if depth >= MAX_DEPTH {
            return Err(self.fault("too many levels"));
        }
        self.at += 1;
        self.space();
        Ok(depth + 1)
    }

    /// Steps over a comma, or over the bracket that ends the container: then the answer is true.
    #[inline]
    fn closes(&mut self, bracket: u8) -> Outcome<bool> {
        self.space();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                self.space();
                Ok(false)
            }
            Some(byte) if byte == bracket => {
                self.at += 1;
                Ok(true)
            }
            _ => Err(self.fault("neither a comma nor the end of the object or array")),
        }
    }

    /// Reads a member's value and records it if it is shallow enough.
    #[inline]
    fn member(&mut self, depth: u16, name: &Quoted) -> Outcome<()> {
        if depth > self.recorded {
            return self.value(depth).map(|_| ());
        }
        let index = self.members.len();
        let start = span(self.at);
        self.members.push(Member {
            name: span(name.start)..span(name.end),
            value: start..start,
            next: 0,
            index: span(index),
            depth,
            kind: Kind::Null,
            escaped_name: name.escaped,
        });
        if depth <= RECORDED_DEPTH && name.end > name.start {
            if let Some(member) = self.members.last() {
                self.names.push(NameKey::new(self.line, member, span(index)));
            }
        }
        let kind = self.value(depth)?;
        let next = span(self.members.len());
        if let Some(member) = self.members.get_mut(index) {
            member.value.end = span(self.at);
            member.kind = kind;
            member.next = next;
        }
        Ok(())
    }

    /// Reads the string at the current byte, which is its quote.
    #[inline]
    fn string(&mut self) -> Outcome<Quoted> {
        let start = self.at;
        let mut escaped = false;
        let mut beyond_ascii = false;
        self.at += 1;
        loop {
            let run = ordinary_run(self.line, self.at);
            self.at = run.end;
            beyond_ascii |= run.beyond_ascii;
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(_) => return Err(self.fault("a control character in a string")),
                None => return Err(self.fault("a string without an end")),
            }
        }
        if beyond_ascii {
            self.check_utf8(start)?;
        }
        self.at += 1;
        Ok(Quoted { start, end: self.at, escaped })
    }

    /// Checks the bytes of the string from `start` up to the current byte.
    fn check_utf8(&self, start: usize) -> Outcome<()> {
        let bytes = self.line.get(start..self.at).unwrap_or_default();
        std::str::from_utf8(bytes).map(|_| ()).map_err(|error| {
            let at = start + error.valid_up_to();
            Box::new(JsonError { what: "invalid UTF-8".into(), at, truncated: false, duplicate: false })
        })
    }

    /// Reads the escape at the current byte, and notes whether it is the shortest one for its character.
    fn escape(&mut self) -> Outcome<()> {
        match self.line.get(self.at + 1) {
            Some(b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'/') => {
                self.traits.loose = true;
                self.at += 2;
            }
            Some(b'u') => self.unicode_escape()?,
            Some(_) => return Err(self.fault("an unknown escape")),
            None => return Err(self.fault_at(self.line.len(), "a string without an end")),
        }
        Ok(())
    }

    fn unicode_escape(&mut self) -> Outcome<()> {
        let unit = self.code_unit(self.at)?;
        let shortest = unit < 0x20 && !matches!(unit, 8 | 9 | 10 | 12 | 13);
        let digits = self.line.get(self.at + 2..self.at + 6).unwrap_or_default();
        if !shortest || digits.iter().any(u8::is_ascii_uppercase) {
            self.traits.loose = true;
        }
        match unit {
            0xd800..=0xdbff => {
                let low = self.at + 6;
                if low < self.line.len() && self.line.get(low) != Some(&b'\\') {
                    return Err(self.fault("a lone surrogate"));
                }
                if low + 1 < self.line.len() && self.line.get(low + 1) != Some(&b'u') {
                    return Err(self.fault("a lone surrogate"));
                }
                if !matches!(self.code_unit(low)?, 0xdc00..=0xdfff) {
                    return Err(self.fault("a lone surrogate"));
                }
                self.at += 12;
            }
            0xdc00..=0xdfff => return Err(self.fault("a lone surrogate")),
            _ => self.at += 6,
        }
        Ok(())
    }

    /// The UTF-16 unit that the `\uXXXX` at `at` stands for.
    fn code_unit(&self, at: usize) -> Outcome<u16> {
        let mut unit = 0;
        for index in at + 2..at + 6 {
            let Some(byte) = self.line.get(index) else {
                return Err(self.fault_at(self.line.len(), "a string without an end"));
            };
            let Some(digit) = char::from(*byte).to_digit(16) else {
                return Err(self.fault_at(index, "a bad \\u escape"));
            };
            unit = unit << 4 | digit as u16;
        }
        Ok(unit)
    }

    fn number(&mut self) -> Outcome<()> {
        self.traits.bare_number = true;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    /// Steps over one or more digits.
    #[inline]
    fn digits(&mut self) -> Outcome<()> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start {
            Err(self.fault("a number without a digit where one must stand"))
        } else {
            Ok(())
        }
    }

    #[inline]
    fn literal(&mut self, text: &'static [u8]) -> Outcome<()> {
        let rest = self.line.get(self.at..).unwrap_or_default();
        if rest.starts_with(text) {
            self.at += text.len();
            return Ok(());
        }
        if text.starts_with(rest) {
            self.at = self.line.len();
        }
        Err(self.fault("no JSON value"))
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.line.get(self.at).copied()
    }

    #[inline]
    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.traits.loose = true;
            self.at += 1;
        }
    }

    /// Notes a name that Extended JSON gives a meaning whose text may have several spellings.
    fn notice(&mut self, name: &Quoted) {
        let name = self.line.get(name.start + 1..name.end).unwrap_or_default();
        self.traits.dollar_date |= name == b"$date\"";
        self.traits.dollar_number_d |= name.starts_with(b"$numberD");
    }

    fn refuse_repeated(&mut self, first_name: usize) -> Outcome<()> {
        let names = self.names.get_mut(first_name..).unwrap_or_default();
        let Some(member) = repeated(self.line, self.members, names) else { return Ok(()) };
        Err(Box::new(JsonError {
            what: Cow::Owned(format!("the member {:?} twice", member.name(self.line))),
            at: member.name.start as usize,
            truncated: false,
            duplicate: true,
        }))
    }

    fn fault(&self, what: &'static str) -> Box<JsonError> {
        self.fault_at(self.at, what)
    }

    #[cold]
    fn fault_at(&self, at: usize, what: &'static str) -> Box<JsonError> {
        Box::new(JsonError {
            what: Cow::Borrowed(what),
            at,
            truncated: at >= self.line.len(),
            duplicate: false,
        })
    }
}

/// An offset in a line whose length is known to fit.
#[allow(clippy::cast_possible_truncation)]
#[inline]
fn span(at: usize) -> u32 {
    at as u32
}
