use serde_json::{Value, json};

use super::{Job, Plan};
use crate::document::DOCUMENT_ID;
use crate::layout::{DocumentKind, Layout};
use crate::report::NoticeCode;
use crate::stores::StoreAddress;
use crate::ui::Ui;

/// The field by which the framework's purge finds completed sagas.
const COMPLETED: &str = "completedAt";

/// Says which composite indexes the framework needs on Firestore, which shows no index to whoever writes documents,
/// as a definition that the tools of Firestore take.
pub(super) fn notice(job: &Job, plan: &Plan, ui: &Ui) {
    if !matches!(job.to.address, StoreAddress::Firestore(_)) {
        return;
    }
    let indexes = indexes(&plan.layout);
    if indexes.is_empty() {
        return;
    }
    let what = match plan.layout.kind {
        DocumentKind::Sagas => "The purge of completed sagas",
        _ => "Reading a stream in the order of its versions",
    };
    let definition = definition(&job.to.collection, &indexes);
    ui.notice(
        NoticeCode::IndexNeeded,
        format!(
            "{what} needs composite indexes, and whether they are there cannot be seen; firestore.indexes.json: {definition}"
        ),
    );
}

/// The fields of each index and whether the last one goes downwards.
fn indexes(layout: &Layout) -> Vec<(Vec<&str>, bool)> {
    let query = layout.query.as_ref();
    let ordered = query.and_then(|query| query.order_by.as_deref().map(|order| (&query.equals, order)));
    if let Some((equals, order)) = ordered {
        let fields: Vec<&str> =
            equals.iter().map(String::as_str).filter(|name| *name != DOCUMENT_ID).chain([order]).collect();
        return vec![(fields.clone(), false), (fields, true)];
    }
    let tenant = layout.sets.first().map(|set| set.at.as_str());
    let purge = tenant.filter(|_| layout.kind == DocumentKind::Sagas);
    purge.map(|tenant| (vec![tenant, COMPLETED], false)).into_iter().collect()
}

/// What `firebase deploy --only firestore:indexes` reads.
fn definition(collection: &str, indexes: &[(Vec<&str>, bool)]) -> Value {
    let group = collection.rsplit('/').next().unwrap_or(collection);
    let index = |(fields, downwards): &(Vec<&str>, bool)| {
        let field = |(at, name): (usize, &&str)| {
            let is_last = at + 1 == fields.len();
            json!({ "fieldPath": name, "order": if *downwards && is_last { "DESCENDING" } else { "ASCENDING" } })
        };
        let fields: Vec<Value> = fields.iter().enumerate().map(field).collect();
        json!({ "collectionGroup": group, "queryScope": "COLLECTION", "fields": fields })
    };
    json!({ "indexes": indexes.iter().map(index).collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(layout: &str, collection: &str) -> String {
        definition(collection, &indexes(&Layout::builtin(layout).unwrap())).to_string()
    }

    #[test]
    fn the_definitions_are_those_of_the_framework_s_questions() {
        assert_eq!(
            of("firestore-events", "tenants/a/events"),
            r#"{"indexes":[{"collectionGroup":"events","fields":[{"fieldPath":"streamId","order":"ASCENDING"},{"fieldPath":"version","order":"ASCENDING"}],"queryScope":"COLLECTION"},{"collectionGroup":"events","fields":[{"fieldPath":"streamId","order":"ASCENDING"},{"fieldPath":"version","order":"DESCENDING"}],"queryScope":"COLLECTION"}]}"#
        );
        assert_eq!(
            of("firestore-sagas", "sagas"),
            r#"{"indexes":[{"collectionGroup":"sagas","fields":[{"fieldPath":"tenantId","order":"ASCENDING"},{"fieldPath":"completedAt","order":"ASCENDING"}],"queryScope":"COLLECTION"}]}"#
        );
    }
}
