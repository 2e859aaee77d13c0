use std::num::NonZeroU32;

use super::shard_of;
use crate::check::{Reason, Refusal};
use crate::document::json::Tape;
use crate::key::Escaping;
use crate::layout::{Identity, Inspector, Layout};

/// Tells the shards of documents, one at a time, with buffers that are used again and again.
#[derive(Debug)]
pub struct ShardReader {
    of: NonZeroU32,
    tape: Tape,
    /// By what is known of the escaping, which is nothing, and by either one for keys that can then be read two ways.
    inspectors: Box<[Inspector; 3]>,
    identity: Identity,
    map_key: String,
}

impl ShardReader {
    /// Makes a layout ready for documents of `of` shards.
    pub fn new(layout: &Layout, of: NonZeroU32) -> Self {
        Self {
            of,
            tape: Tape::new(),
            inspectors: Box::new(
                [None, Some(Escaping::Escaped), Some(Escaping::Raw)]
                    .map(|escaping| Inspector::new(layout, escaping)),
            ),
            identity: Identity::default(),
            map_key: String::new(),
        }
    }

    /// The number of a document's shard, from 1.
    ///
    /// # Errors
    /// A line that is no document of the layout: nobody can tell its stream.
    pub fn shard(&mut self, line: &[u8]) -> Result<u32, Refusal> {
        self.tape.read(line).map_err(|error| {
            let reason = if error.duplicate { Reason::DuplicateName } else { Reason::Malformed };
            Refusal::new(reason, error.to_string())
        })?;
        let Self { of, tape, inspectors, identity, map_key } = self;
        let [unstated, stated @ ..] = &mut **inspectors;
        match unstated.inspect(tape, line, identity) {
            Err(refusal) if refusal.reason == Reason::EscapingNeeded => {
                let read = stated.iter_mut().any(|it| it.inspect(tape, line, identity).is_ok());
                read.then_some(()).ok_or(refusal)?;
            }
            inspected => inspected?,
        }
        map_key.clear();
        unstated.map_key(identity, map_key);
        Ok(shard_of(map_key, *of))
    }
}
