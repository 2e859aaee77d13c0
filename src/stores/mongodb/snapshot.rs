//! One moment at which any number of readers read.
//!
//! A read concern `snapshot` with the same `atClusterTime` is what a snapshot session sends; said in the
//! command, it outlives a session and a process.

use mongodb::bson::{Timestamp, doc};
use serde_json::json;

use super::MongoDbCollection;
use super::command::Body;
use super::failure::{Action, broken};
use crate::stores::{Snapshot, StoreResult};

impl MongoDbCollection {
    /// Fixes a moment; `None` on a standalone, and before MongoDB 5.0.
    pub(super) async fn take_snapshot(&self) -> StoreResult<Option<Snapshot>> {
        if !self.deployment.snapshots {
            return Ok(None);
        }
        let mut body = Body::command("find", &self.name);
        // Only the moment is asked for: a document without any field of its own.
        body.within("projection", |fields| fields.int32("_id", 0));
        body.within("filter", |filter| filter.within("_id", |id| id.array("$in", |_| {})));
        body.int32("limit", 1);
        body.within("readConcern", |concern| concern.text("level", "snapshot"));
        let answer = self.run(body, Action::READ).await?;
        let cursor = answer.get_document("cursor").map_err(|_| broken("no cursor"))?;
        let time = cursor.get_timestamp("atClusterTime").map_err(|_| broken("no time of a snapshot"))?;
        Ok(Some(Snapshot(json!({ "t": time.time, "i": time.increment }))))
    }
}

impl Body {
    /// States that a read is to see the moment of a snapshot, if one is given.
    pub(super) fn at(&mut self, snapshot: Option<&Snapshot>) -> StoreResult<()> {
        let Some(Snapshot(moment)) = snapshot else { return Ok(()) };
        let part =
            |name| moment.get(name).and_then(serde_json::Value::as_u64).and_then(|it| u32::try_from(it).ok());
        let (Some(time), Some(increment)) = (part("t"), part("i")) else {
            return Err(broken("a snapshot of another store"));
        };
        let time = mongodb::bson::serialize_to_vec(&doc! { "atClusterTime": Timestamp { time, increment } });
        let time = time.map_err(|_| broken("a snapshot"))?;
        let time = super::command::first(&time)?;
        self.within("readConcern", |concern| {
            concern.text("level", "snapshot");
            concern.value("atClusterTime", &time);
        });
        Ok(())
    }
}
