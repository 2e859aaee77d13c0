//! Who we are on a server and what we may do there, from what it says itself: nothing is tried.

use mongodb::bson::{Bson, Document, doc};

use super::MongoDbCollection;
use super::failure::Action;
use crate::stores::examination::now;
use crate::stores::{Clock, Examination, Held, Permission, Right, StoreErrorKind, StoreResult};

impl MongoDbCollection {
    pub(super) async fn examination(&self) -> StoreResult<Examination> {
        let asked = now();
        let hello = self.question(doc! { "hello": 1 }).await?;
        let local = asked + (now() - asked) / 2;
        let status = self.question(doc! { "connectionStatus": 1, "showPrivileges": true }).await?;
        let account = Account::of(&status);
        let access_control = account.users.is_some() || !self.answers_anybody().await?;
        let permission = |right| Permission {
            right,
            held: match access_control {
                true if account.may(right, self.database.name(), &self.name) => Held::Yes,
                true => Held::No,
                false => Held::Yes,
            },
            given_by: format!(
                "the role {}, or a role of your own with the action {} on the collection {:?}, in the database {:?}",
                if right == Right::Read { "read" } else { "readWrite" },
                action(right),
                self.name,
                self.database.name()
            ),
        };
        let permissions = Right::ALL.map(permission).into();
        let identity = match account.users {
            None if !access_control => Some("anybody: access control is off".to_owned()),
            users => users,
        };
        let version: Vec<String> = self.deployment.version.iter().take(3).map(ToString::to_string).collect();
        let clock = hello.get_datetime("localTime").ok();
        Ok(Examination {
            identity,
            server: Some(format!("MongoDB {}", version.join("."))),
            clock: clock.map(|clock| Clock { server: clock.timestamp_millis(), local }),
            bytes: self.stored_bytes().await?,
            permissions,
        })
    }

    async fn question(&self, question: Document) -> StoreResult<Document> {
        let answer = self.database.run_command(question).await;
        answer.map_err(|error| self.failed(error, Action::DESCRIBE))
    }

    /// Whether the server answers to whoever has not logged in: access control is off.
    async fn answers_anybody(&self) -> StoreResult<bool> {
        match self
            .question(doc! { "listCollections": 1, "nameOnly": true, "filter": { "name": &self.name } })
            .await
        {
            Ok(_) => Ok(true),
            Err(error) if error.kind == StoreErrorKind::Denied => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The size of the documents, uncompressed; `None` if there is no collection or we may not know.
    async fn stored_bytes(&self) -> StoreResult<Option<u64>> {
        let statistics = match self.question(doc! { "collStats": &self.name }).await {
            Ok(statistics) => statistics,
            Err(error) if matches!(error.kind, StoreErrorKind::Denied | StoreErrorKind::NotFound) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let size = statistics.get("size").and_then(|size| match size {
            Bson::Int32(size) => Some(i64::from(*size)),
            Bson::Int64(size) => Some(*size),
            #[allow(clippy::cast_possible_truncation)] // Bytes beyond 2⁵³ are no collection's.
            Bson::Double(size) => Some(*size as i64),
            _ => None,
        });
        Ok(size.and_then(|size| u64::try_from(size).ok()))
    }
}

/// The action that a right is in MongoDB's words.
fn action(right: Right) -> &'static str {
    match right {
        Right::Read => "find",
        Right::Create => "insert",
        Right::Update => "update",
        Right::Delete => "remove",
        Right::MakeCollection => "createCollection",
    }
}

/// What a connection is allowed.
struct Account {
    /// The users that have logged in; `None` if nobody has.
    users: Option<String>,
    privileges: Vec<Document>,
}

impl Account {
    /// Reads the answer to `connectionStatus`.
    fn of(status: &Document) -> Self {
        let info = status.get_document("authInfo").cloned().unwrap_or_default();
        let documents = |name| {
            let all = info.get_array(name).into_iter().flatten();
            all.filter_map(Bson::as_document).cloned().collect::<Vec<_>>()
        };
        let name = |user: &Document| {
            format!("{}@{}", user.get_str("user").unwrap_or_default(), user.get_str("db").unwrap_or_default())
        };
        let users: Vec<String> = documents("authenticatedUsers").iter().map(name).collect();
        let users = (!users.is_empty()).then(|| users.join(", "));
        Self { users, privileges: documents("authenticatedUserPrivileges") }
    }

    /// Whether one of the privileges gives a right on a collection.
    fn may(&self, right: Right, database: &str, collection: &str) -> bool {
        let wanted = action(right);
        self.privileges.iter().any(|privilege| {
            let actions = privilege.get_array("actions").into_iter().flatten();
            let resource = privilege.get_document("resource");
            resource.is_ok_and(|resource| covers(resource, database, collection))
                && actions.filter_map(Bson::as_str).any(|action| action == wanted || action == "anyAction")
        })
    }
}

/// Whether a resource of a privilege is, or holds, a collection. An empty name stands for any.
fn covers(resource: &Document, database: &str, collection: &str) -> bool {
    if resource.get_bool("anyResource").unwrap_or(false) {
        return true;
    }
    let (Ok(db), Ok(name)) = (resource.get_str("db"), resource.get_str("collection")) else { return false };
    (db.is_empty() || db == database) && (name.is_empty() || name == collection)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(resource: &Document, actions: &[&str]) -> Account {
        Account::of(&doc! { "authInfo": {
            "authenticatedUsers": [{ "user": "ops", "db": "admin" }],
            "authenticatedUserPrivileges": [{ "resource": resource.clone(), "actions": actions }],
        } })
    }

    #[test]
    fn a_right_is_held_where_a_privilege_covers_the_collection() {
        for (resource, covered) in [
            (doc! { "db": "shop", "collection": "events" }, true),
            (doc! { "db": "shop", "collection": "" }, true),
            (doc! { "db": "", "collection": "" }, true),
            (doc! { "db": "", "collection": "events" }, true),
            (doc! { "anyResource": true }, true),
            (doc! { "db": "shop", "collection": "sagas" }, false),
            (doc! { "db": "other", "collection": "" }, false),
            (doc! { "cluster": true }, false),
        ] {
            let account = account(&resource, &["find", "insert"]);
            assert_eq!(account.may(Right::Read, "shop", "events"), covered, "{resource}");
            assert!(!account.may(Right::Delete, "shop", "events"), "{resource}");
            assert_eq!(account.users.as_deref(), Some("ops@admin"));
        }
        assert!(account(&doc! { "anyResource": true }, &["anyAction"]).may(Right::Delete, "a", "b"));
        assert_eq!(Account::of(&doc! { "authInfo": { "authenticatedUsers": [] } }).users, None);
    }
}
