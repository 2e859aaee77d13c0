use std::collections::BTreeMap;

use futures::{StreamExt as _, stream};
use sha2::{Digest as _, Sha256};

use super::{Record, TenantNames};
use crate::document::StoreKind;
use crate::document::canonical::{Scratch, digest};
use crate::document::json::Tape;
use crate::key::Escaping;
use crate::layout::{Identity, Layout};
use crate::stores::{CollectionReader, FrameworkQuery};
use crate::{Error, Result};

/// How many streams are read at one time: each is a round trip to the store.
const AT_ONCE: usize = 8;

/// How many streams are read the framework's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamChoice {
    /// Every one.
    All,
    /// All of so many, or beyond that each tenant's longest and a sample.
    UpTo(u64),
}

/// Streams chosen to be read the way the framework reads them.
pub struct StreamSample {
    choice: StreamChoice,
    every: u64,
    seen: u64,
    open: Option<(Vec<u8>, SampledStream)>,
    chosen: Vec<SampledStream>,
    longest: BTreeMap<u32, SampledStream>,
}

/// One stream and what its documents must be.
#[derive(Clone)]
pub struct SampledStream {
    /// Its tenant.
    pub tenant: u32,
    /// Its type.
    pub type_name: String,
    /// Its id.
    pub id: String,
    /// Its key as a person sees it.
    pub shown: String,
    /// How many documents it has.
    pub documents: u64,
    digests: Sha256,
}

impl StreamSample {
    /// Chooses among about `streams` streams.
    pub fn new(choice: StreamChoice, streams: u64) -> Self {
        let every = match choice {
            StreamChoice::UpTo(most) if most > 0 && streams > most => streams.div_ceil(most),
            StreamChoice::UpTo(0) => u64::MAX,
            _ => 1,
        };
        Self { choice, every, seen: 0, open: None, chosen: Vec::new(), longest: BTreeMap::new() }
    }

    /// Takes the next document in order.
    pub fn take(&mut self, stream: &[u8], record: &Record<'_>) {
        if self.choice == StreamChoice::UpTo(0) {
            return;
        }
        match &mut self.open {
            Some((open, sampled)) if open == stream => sampled.add(record),
            _ => {
                self.close();
                self.open = Some((stream.to_vec(), SampledStream::new(record)));
            }
        }
    }

    /// The streams that were chosen.
    pub fn finish(mut self) -> Vec<SampledStream> {
        self.close();
        let mut chosen = self.chosen;
        if self.every > 1 {
            chosen.extend(self.longest.into_values());
        }
        chosen
    }

    /// Whether not all streams are chosen.
    pub fn is_sample(&self) -> bool {
        self.every > 1
    }

    fn close(&mut self) {
        let Some((_, stream)) = self.open.take() else { return };
        if self.every > 1 && self.longest.get(&stream.tenant).is_none_or(|it| it.documents < stream.documents)
        {
            let _ = self.longest.insert(stream.tenant, stream.clone());
        }
        if self.seen.is_multiple_of(self.every) {
            self.chosen.push(stream);
        }
        self.seen += 1;
    }
}

impl SampledStream {
    fn new(record: &Record<'_>) -> Self {
        let mut stream = Self {
            tenant: record.tenant,
            type_name: record.type_name.clone().into_owned(),
            id: record.id.clone().into_owned(),
            shown: record.shown.clone().into_owned(),
            documents: 0,
            digests: Sha256::new(),
        };
        stream.add(record);
        stream
    }

    fn add(&mut self, record: &Record<'_>) {
        self.documents += 1;
        self.digests.update(record.whole);
    }
}

/// Reads streams the way the framework does and hands over those whose answer is not what it must be.
pub async fn query_streams(
    reader: &dyn CollectionReader,
    layout: &Layout,
    escaping: Escaping,
    streams: Vec<SampledStream>,
    tenants: &TenantNames,
    differs: &mut (dyn FnMut(&SampledStream, u64) -> Result<()> + Send),
) -> Result<u64> {
    let asked = streams.into_iter().map_while(|stream| {
        let identity =
            Identity { type_name: stream.type_name.clone(), id: stream.id.clone(), ..Identity::default() };
        let query = layout.framework_query(&identity, tenants.name(stream.tenant), escaping)?;
        Some((stream, query))
    });
    let mut answers = stream::iter(asked)
        .map(|(stream, query)| async move {
            answer(reader, layout.store, &query).await.map(|answer| (stream, answer))
        })
        .buffered(AT_ONCE);
    let mut probed = 0;
    while let Some(answered) = answers.next().await {
        let (stream, answer) = answered?;
        if answer.digest != <[u8; 32]>::from(stream.digests.clone().finalize()) {
            differs(&stream, answer.documents)?;
        }
        probed += 1;
    }
    Ok(probed)
}

/// What the store gave for one stream.
struct Answer {
    documents: u64,
    /// Of the documents' digests, in the order of the answer.
    digest: [u8; 32],
}

async fn answer(reader: &dyn CollectionReader, store: StoreKind, query: &FrameworkQuery) -> Result<Answer> {
    let (mut tape, mut scratch) = (Tape::new(), Scratch::default());
    let (mut documents, mut digests, mut from) = (0, Sha256::new(), None);
    loop {
        let page = reader.query(query, from.as_ref()).await?;
        for line in page.lines.iter() {
            tape.read(line).map_err(|error| {
                Error::store(format!("The store gave a document that is not JSON: {error}"))
            })?;
            digests.update(digest(store, &tape, line, &[], &mut scratch).0);
        }
        documents += page.lines.len() as u64;
        from = match page.next {
            Some(next) => Some(next),
            None => return Ok(Answer { documents, digest: digests.finalize().into() }),
        };
    }
}
