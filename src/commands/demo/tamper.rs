use crate::document::json::Tape;
use crate::document::{Lines, StoreKey};
use crate::layout::{Inspector, Layout};
use crate::options::StoreOptions;
use crate::signal::StopSignal;
use crate::stores::{Collection, connect};
use crate::{Error, Result};

const BEFORE: &str = "\"timestamp\":\"20";
const AFTER: &str = "\"timestamp\":\"21";

/// Changes one digit in one stored document, as somebody with another tool would; tells its key.
pub(super) async fn change_one(target: &Result<StoreOptions>, stop: &StopSignal) -> Result<String> {
    let Ok(target) = target else { return Err(Error::bug("The demonstration has no target")) };
    let collection = connect::open(target, false, stop).await?;
    let layout = Layout::builtin(super::SHOWN).ok_or_else(|| Error::bug("A built-in layout is missing"))?;
    let inspector = Inspector::new(&layout, None);
    let mut tape = Tape::new();
    for part in collection.parts(1).await? {
        let page = collection.page(&part, None, 1, None).await?;
        let Some(line) = page.lines.get(0) else { continue };
        tape.read(line).map_err(|error| Error::bug(error.to_string()))?;
        let key = inspector.store_key(&tape, line).map_err(|refusal| Error::bug(refusal.to_string()))?;
        let shown = inspector.display_key(&tape, line).into_owned();
        replace(collection.as_ref(), &[key], line).await?;
        return Ok(shown);
    }
    Err(Error::bug("The demonstration's target is empty"))
}

/// Writes the document again with another century in its time stamp.
async fn replace(collection: &dyn Collection, keys: &[StoreKey], line: &[u8]) -> Result<()> {
    let text = String::from_utf8_lossy(line).replacen(BEFORE, AFTER, 1);
    let (mut before, mut after) = (Lines::new(), Lines::new());
    before.push(line);
    after.push(text.as_bytes());
    let _ = collection.delete(keys, &before).await;
    let _ = collection.create(&after).await;
    let stored = collection.read(keys).await?;
    let is_changed = stored.iter().flatten().any(|stored| String::from_utf8_lossy(stored).contains(AFTER));
    if is_changed { Ok(()) } else { Err(Error::bug("The demonstration could not change a document")) }
}
