use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use sha2::{Digest as _, Sha256};

use super::buffer::Output;
use super::rules::{AlreadyRekeyed, Rules};
use super::verdict::RefusedDocument;
use crate::archive::{KeyMapRow, Line};
use crate::check::{Reason, Refusal};
use crate::document::canonical::{DocumentDigest, Scratch, digest};
use crate::document::json::Tape;
use crate::layout::{Identity, Inspector, KeyState};

/// Reads and rewrites single documents; its buffers live as long as the thread.
pub struct DocumentRewriter {
    rules: Arc<Rules>,
    touched: Vec<String>,
    inspector: Inspector,
    tape: Tape,
    identity: Identity,
    order_key: Vec<u8>,
    stream_len: usize,
    map_key: String,
    store_key: Vec<u8>,
    scratch: Scratch,
}

/// What a document is to its stream.
pub enum Reading {
    /// It belongs to the stream of [`DocumentRewriter::stream`] and can be rewritten.
    Ready,
    /// It belongs to the stream of [`DocumentRewriter::stream`] but is refused.
    Refused(Refusal),
    /// It cannot be said which stream it belongs to.
    Unattributable(Refusal),
}

impl DocumentRewriter {
    /// Makes a rewriter for `rules`.
    pub fn new(rules: &Arc<Rules>) -> Self {
        Self {
            rules: Arc::clone(rules),
            touched: rules.layout.touched_fields().into_iter().map(str::to_owned).collect(),
            inspector: Inspector::new(&rules.layout, rules.escaping),
            tape: Tape::new(),
            identity: Identity::default(),
            order_key: Vec::new(),
            stream_len: 0,
            map_key: String::new(),
            store_key: Vec::new(),
            scratch: Scratch::default(),
        }
    }

    /// Reads one line: which stream it belongs to, and whether it can be rewritten.
    pub fn read(&mut self, line: &[u8]) -> Reading {
        self.order_key.clear();
        self.stream_len = 0;
        if let Err(error) = self.tape.read(line) {
            let reason = if error.duplicate { Reason::DuplicateName } else { Reason::Malformed };
            return Reading::Unattributable(Refusal::new(reason, error.to_string()));
        }
        self.identity.version = None;
        let read = self.inspector.read(&self.tape, line, &mut self.identity, &mut self.order_key);
        match (read.stream_len, read.inspected) {
            (Ok(stream_len), inspected) => {
                self.stream_len = stream_len;
                inspected.map_or_else(Reading::Refused, |()| Reading::Ready)
            }
            (Err(_), Err(refusal)) | (Err(refusal), Ok(())) => {
                self.order_key.clear();
                Reading::Unattributable(refusal)
            }
        }
    }

    /// The order key of the line read last; empty if it is unattributable.
    pub fn order_key(&self) -> &[u8] {
        &self.order_key
    }

    /// The part of the order key that all documents of a stream share.
    pub fn stream(&self) -> &[u8] {
        &self.order_key[..self.stream_len]
    }

    /// What the line read last is.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The tokens of the line read last.
    pub fn tape(&self) -> &Tape {
        &self.tape
    }

    /// The stream's key in a tenant map.
    pub fn map_key(&mut self) -> &str {
        self.map_key.clear();
        self.inspector.map_key(&self.identity, &mut self.map_key);
        &self.map_key
    }

    /// The key a person sees, as far as the line has one.
    pub fn shown_key(&self, line: &[u8]) -> String {
        self.inspector.display_key(&self.tape, line).into_owned()
    }

    /// Describes why the line read last is refused.
    pub fn refuse(&self, line: Line<'_>, refusal: Refusal, readable: bool) -> RefusedDocument {
        let (key, version) = if readable {
            (self.shown_key(line.bytes), self.identity.version)
        } else {
            (String::new(), None)
        };
        RefusedDocument { line: line.number, key, version, refusal }
    }

    /// Writes the document read last with the key of `tenant`.
    ///
    /// # Errors
    /// What the layout refuses of the rewritten document.
    pub fn write(&mut self, line: &[u8], tenant: &str, out: &mut Output) -> Result<(), Refusal> {
        let order_start = out.order_keys.len();
        let kept = self.carry_over(line, tenant, out)?;
        if self.inspector.escaping_mattered() && !self.rules.escaping_mattered.load(Relaxed) {
            self.rules.escaping_mattered.store(true, Relaxed);
        }
        out.lines.push(b'\n');
        let digest = self.body_digest(line);
        self.store_key.clear();
        let keys = self.inspector.keys(&self.tape, line, kept, &mut out.order_keys, &mut self.store_key)?;
        KeyMapRow {
            old: keys.old,
            new: Cow::Borrowed(&keys.new),
            tenant: Cow::Borrowed(tenant),
            version: self.identity.version,
            // Made of parts of a valid line, cut at JSON values.
            key: String::from_utf8_lossy(&self.store_key),
            digest: digest.0,
        }
        .append_to(&mut out.key_lines);
        out.new_key.clear();
        out.new_key.push_str(&keys.new);
        out.content.add(&content_entry(out.order_keys.get(order_start..).unwrap_or_default(), &digest));
        out.push_document(keys.stream_len, digest, kept);
        Ok(())
    }

    /// Appends the rewritten line, or the line as it is where it carries the tenant already.
    fn carry_over(&mut self, line: &[u8], tenant: &str, out: &mut Output) -> Result<bool, Refusal> {
        let KeyState::Rekeyed { tenant: stored } = &self.identity.state else {
            let owner = self.rules.stored_owner;
            self.inspector.rewrite(&self.tape, line, &self.identity, tenant, owner, &mut out.lines)?;
            return Ok(false);
        };
        if self.rules.already_rekeyed == AlreadyRekeyed::Refuse {
            return Err(Refusal::new(
                Reason::AlreadyRekeyed,
                format!("the key carries the tenant {stored:?} already"),
            ));
        }
        if stored != tenant {
            return Err(Refusal::new(
                Reason::TenantDisagrees,
                format!("the key carries the tenant {stored:?}, the rule assigns {tenant:?}"),
            ));
        }
        self.inspector.carry_over(&self.tape, line, &self.identity, &mut out.lines)?;
        Ok(true)
    }

    /// The digest of everything that the rewrite does not touch.
    fn body_digest(&mut self, line: &[u8]) -> DocumentDigest {
        digest(self.rules.layout.store, &self.tape, line, &self.touched, &mut self.scratch)
    }
}

/// What one document adds to its tenant's content sum: its place (new key and version) and its body.
pub fn content_entry(order_key: &[u8], body: &DocumentDigest) -> [u8; 32] {
    Sha256::new().chain_update(order_key).chain_update(body.0).finalize().into()
}
