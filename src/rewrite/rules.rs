use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::stream_id::{StreamId, stream_id};
use super::suspicion::Suspicion;
use crate::check::Refusal;
use crate::key::Escaping;
use crate::layout::{DocumentKind, Layout, StoredOwner};

/// Everything that decides what becomes of a document; shared by all threads of a run.
#[derive(Clone)]
pub struct Rules {
    /// The layout, with its parameters.
    pub layout: Layout,
    /// How terms are joined; terms that would need escaping are refused if it was not stated.
    pub escaping: Option<Escaping>,
    /// The tenants whose streams are moved; all if there is none.
    pub only_tenants: BTreeSet<String>,
    /// Whether versions may begin late or have holes.
    pub allow_gaps: bool,
    /// What to do with a saga whose stored owner is another one.
    pub stored_owner: StoredOwner,
    /// What to do with documents that carry a tenant already.
    pub already_rekeyed: AlreadyRekeyed,
    /// Streams that an earlier pass found to be refused for what only the whole archive shows.
    pub refused_streams: BTreeMap<StreamId, Refusal>,
    /// Streams that an unattributable event of an earlier pass may be missing from.
    pub suspicion: Suspicion,
    /// Whether a document written by any thread held a term that the two escapings write differently; a pass
    /// begins with a new one.
    pub escaping_mattered: Arc<AtomicBool>,
}

/// What to do with documents that carry a tenant already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AlreadyRekeyed {
    /// Refuse them.
    #[default]
    Refuse,
    /// Pass them on unchanged once their key parses and their tenant agrees.
    Keep,
}

impl Rules {
    /// The rules for reading documents of `layout` alone.
    pub fn for_reading(layout: Layout, escaping: Option<Escaping>) -> Self {
        Self {
            layout,
            escaping,
            only_tenants: BTreeSet::new(),
            allow_gaps: false,
            stored_owner: StoredOwner::default(),
            already_rekeyed: AlreadyRekeyed::default(),
            refused_streams: BTreeMap::new(),
            suspicion: Suspicion::default(),
            escaping_mattered: Arc::default(),
        }
    }

    /// Whether documents that carry a tenant already are passed on.
    pub fn keeps_rekeyed(&self) -> bool {
        self.already_rekeyed == AlreadyRekeyed::Keep
    }

    /// Why an earlier pass refused the stream, if it did.
    pub fn refused_before(&self, stream: &[u8]) -> Option<&Refusal> {
        if self.refused_streams.is_empty() { None } else { self.refused_streams.get(&stream_id(stream)) }
    }

    /// Whether a stream is one document, as a saga is, so that its version is not part of its key.
    pub fn has_one_document_a_stream(&self) -> bool {
        self.layout.kind == DocumentKind::Sagas
    }

    /// Whether streams of `tenant` are to be moved.
    pub fn in_scope(&self, tenant: &str) -> bool {
        self.only_tenants.is_empty() || self.only_tenants.contains(tenant)
    }
}
