//! Somebody who changes a store file behind the tool's back.

use rekey::document::json::Tape;
use rekey::document::{Lines, StoreKey};
use rekey::key::Escaping;
use rekey::layout::{Identity, Inspector, Layout, StoredOwner};
use rekey::options::{Rates, StoreOptions};
use rekey::signal::StopSignal;
use rekey::stores::{Collection, Created, Guarded, StoreAddress, connect};
use tokio::runtime::Runtime;

use crate::scene::Scene;

/// Somebody with another tool: one collection, opened to be changed.
pub struct Intruder {
    runtime: Runtime,
    collection: Box<dyn Collection>,
    layout: Layout,
}

impl Intruder {
    pub fn open(scene: &Scene, file: &str, collection: &str, kind: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let file = scene.path(file);
        let address =
            StoreAddress::parse(&format!("embedded:{}?as={}", file.display(), scene.store)).unwrap();
        let store = StoreOptions { address, collection: collection.to_owned(), rates: Rates::default() };
        let collection = runtime.block_on(connect::open(&store, false, &StopSignal::new())).unwrap();
        Self { runtime, collection, layout: Layout::builtin(&scene.layout(kind)).unwrap() }
    }

    fn key(&self, line: &str) -> StoreKey {
        let mut tape = Tape::new();
        tape.read(line.as_bytes()).unwrap();
        Inspector::new(&self.layout, Some(Escaping::Escaped)).store_key(&tape, line.as_bytes()).unwrap()
    }

    /// A document as it is stored, system fields included.
    pub fn stored(&self, line: &str) -> String {
        let stored = self.runtime.block_on(self.collection.read(&[self.key(line)])).unwrap();
        String::from_utf8(stored[0].as_ref().expect("it is stored").to_vec()).unwrap()
    }

    pub fn delete(&self, line: &str) {
        let mut expected = Lines::new();
        expected.push(self.stored(line).as_bytes());
        let answers = self.runtime.block_on(self.collection.delete(&[self.key(line)], &expected));
        assert!(matches!(answers[..], [Guarded::Done]), "{answers:?}");
    }

    pub fn create(&self, line: &str) {
        let mut lines = Lines::new();
        lines.push(line.as_bytes());
        let answers = self.runtime.block_on(self.collection.create(&lines));
        assert!(matches!(answers[..], [Created::Written]), "{answers:?}");
    }

    pub fn replace(&self, line: &str, changed: &str) {
        assert_ne!(line, changed, "nothing would change");
        self.delete(line);
        self.create(changed);
    }

    /// A legacy document with the key of a tenant.
    pub fn rekeyed(&self, legacy: &str, tenant: &str) -> String {
        let (mut tape, mut identity, mut out) = (Tape::new(), Identity::default(), Vec::new());
        let mut inspector = Inspector::new(&self.layout, Some(Escaping::Escaped));
        tape.read(legacy.as_bytes()).unwrap();
        inspector.inspect(&tape, legacy.as_bytes(), &mut identity).unwrap();
        let rewritten =
            inspector.rewrite(&tape, legacy.as_bytes(), &identity, tenant, StoredOwner::Replace, &mut out);
        rewritten.unwrap();
        String::from_utf8(out).unwrap()
    }

    /// The key as `verify` shows it.
    pub fn shown(&self, line: &str) -> String {
        let mut tape = Tape::new();
        tape.read(line.as_bytes()).unwrap();
        Inspector::new(&self.layout, Some(Escaping::Escaped)).display_key(&tape, line.as_bytes()).into_owned()
    }
}
