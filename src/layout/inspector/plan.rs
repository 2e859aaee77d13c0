use super::found::Found;
use super::names::Names;
use crate::check::Refusal;
use crate::document::json::Tape;
use crate::document::{DOCUMENT_ID, StoreKind};
use crate::key::{OtherTerm, Template, Term};
use crate::layout::check::MAX_FIELDS;
use crate::layout::{DocumentKind, FieldPath, FieldType, KeyPlace, Layout, When};

/// A layout with its field names turned into slots: places in the table that one pass over a document fills.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub store: StoreKind,
    /// The fields that are read.
    pub names: Names,
    id_slot: Option<usize>,
    /// Slot, and what the text there begins with.
    pub conditions: Vec<(usize, String)>,
    /// Terms that are texts, with the slot they are read from; the bare term has none where only its key holds it.
    pub texts: Vec<(Term, Option<usize>)>,
    /// The version's slot, and whether it may be missing.
    pub version: Option<(usize, bool)>,
    pub bare: Option<Bare>,
    pub places: Vec<Place>,
    /// The first place that changes.
    pub first_change: usize,
    pub sets: Vec<Set>,
    pub owners: Vec<(usize, FieldPath)>,
    pub drop: Names,
    pub limits: Vec<Limit>,
    pub max_bytes: u64,
    pub stream: Vec<usize>,
    /// What a person is shown of the key.
    pub shown: Vec<usize>,
    pub store_key: Vec<usize>,
    pub map_key: Template,
    pub event_id: Option<usize>,
    pub expires: Option<usize>,
    /// The number of a global sequence.
    pub sequence: Option<usize>,
}

/// The term that only a key holds.
#[derive(Clone, Debug)]
pub(super) struct Bare {
    pub term: Term,
    /// The field that may hold it all the same.
    pub slot: Option<usize>,
    /// The place of its key.
    pub place: usize,
}

/// One place the key stands in.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub slot: usize,
    pub is: FieldType,
    pub legacy: Template,
    pub rekeyed: Template,
    pub changes: bool,
}

/// One field that is filled in.
#[derive(Clone, Debug)]
pub(super) struct Set {
    pub slot: usize,
    pub value: Template,
    pub when: When,
}

/// One limit, in the layout's own words.
#[derive(Clone, Debug)]
pub(super) struct Limit {
    pub slots: Vec<usize>,
    pub max_bytes: usize,
    pub forbidden_characters: Vec<char>,
    pub forbidden_values: Vec<String>,
}

impl Plan {
    pub fn new(layout: &Layout) -> Self {
        let names = Names::new(layout.read_fields().into_iter().map(str::to_owned).collect());
        // Every name asked for here is one of those that are read.
        let slot = |name: &str| names.slot(name).unwrap_or(MAX_FIELDS);
        let slots = |fields: &[String]| fields.iter().map(|name| slot(name)).collect::<Vec<_>>();
        let fields = &layout.fields;
        let places: Vec<_> = layout.keys.iter().filter_map(|key| Place::new(key, slot(&key.at))).collect();
        let stream: Vec<usize> = slots(&layout.stream.key);
        let mut shown: Vec<usize> = places.iter().take(1).map(|place| place.slot).collect();
        if layout.kind == DocumentKind::Items {
            // Nothing less than all of it tells one item from another.
            shown.extend(stream.iter().filter(|slot| !shown.contains(*slot)).copied().collect::<Vec<_>>());
        }
        let mut sets: Vec<_> = layout.sets.iter().collect();
        if layout.store == StoreKind::DynamoDb {
            // Attributes that are added side by side stay sorted.
            sets.sort_by_key(|set| &set.at);
        }
        Self {
            store: layout.store,
            id_slot: names.slot(DOCUMENT_ID),
            conditions: layout.conditions.iter().map(|it| (slot(&it.at), it.begins.clone())).collect(),
            texts: fields
                .iter()
                .filter(|(term, _)| *term != Term::Version)
                .map(|(term, field)| (term, field.at.as_deref().map(slot)))
                .collect(),
            version: fields.version.as_ref().and_then(|it| Some((slot(it.at.as_deref()?), it.optional))),
            bare: fields.iter().find_map(|(term, field)| {
                let at = field.bare.as_deref()?;
                let place = layout.keys.iter().position(|key| key.at == at)?;
                Some(Bare { term, slot: field.at.as_deref().map(slot), place })
            }),
            first_change: places.iter().position(|place| place.changes).unwrap_or_default(),
            places,
            sets: sets
                .into_iter()
                .map(|set| Set { slot: slot(&set.at), value: set.value.clone(), when: set.when })
                .collect(),
            owners: layout.owner.at.iter().map(|path| (slot(path.field()), path.clone())).collect(),
            drop: Names::new(layout.document.drop.clone()),
            limits: layout
                .limits
                .iter()
                .map(|limit| Limit {
                    slots: slots(&limit.at),
                    max_bytes: limit.max_bytes,
                    forbidden_characters: limit.forbidden_characters.chars().collect(),
                    forbidden_values: limit.forbidden_values.clone(),
                })
                .collect(),
            max_bytes: layout.document.max_bytes,
            stream,
            shown,
            store_key: layout.store_key_fields().into_iter().map(slot).collect(),
            map_key: layout.tenant_map.key.clone(),
            event_id: layout.stream.event_id.as_deref().map(slot),
            expires: layout.document.expires.as_deref().map(slot),
            sequence: layout.counter.as_ref().map(|counter| slot(&counter.counts)),
            names,
        }
    }

    /// Finds the fields that the layout reads.
    pub fn find<'t, 'a>(&self, tape: &'t Tape, line: &'a [u8]) -> Result<Found<'t, 'a>, Refusal> {
        let holder = self.store.fields(tape, line)?;
        let mut members = [None; MAX_FIELDS];
        for member in tape.members(holder) {
            let slot = self.names.find(member, line);
            if let Some(member_of_slot) = slot.and_then(|slot| members.get_mut(slot)) {
                *member_of_slot = Some(member);
            }
        }
        if let Some(name) = self.id_slot.and_then(|slot| members.get_mut(slot)) {
            *name = tape.find(line, None, "name");
        }
        Ok(Found { store: self.store, tape, line, holder, members, id_slot: self.id_slot })
    }

    /// The name of the field in a slot.
    pub fn name(&self, slot: usize) -> &str {
        self.names.get(slot)
    }

    /// The terms of the layout's own, still empty.
    pub fn other_terms(&self) -> impl Iterator<Item = OtherTerm> {
        self.texts.iter().filter_map(|(term, _)| match term {
            Term::Other(name) => Some(OtherTerm { name: name.clone(), value: String::new() }),
            _ => None,
        })
    }
}

impl Place {
    /// `None` never happens for a checked layout: a place has either both templates or the one that stays.
    fn new(key: &KeyPlace, slot: usize) -> Option<Self> {
        let (legacy, rekeyed) = key.change().or(key.stays.as_ref().zip(key.stays.as_ref()))?;
        let changes = key.change().is_some();
        Some(Self { slot, is: key.is, legacy: legacy.clone(), rekeyed: rekeyed.clone(), changes })
    }
}
