use super::rights::{later, needed};
use super::{Practice, told};
use crate::options::{ExaminedStore, Purpose, StoreRole};
use crate::report::{FindingCode, NoticeCode, PermissionHealth, StoreHealth};
use crate::signal::StopSignal;
use crate::stores::connect::{open_to_examine, place_exists};
use crate::stores::{
    Clock, CollectionReader, Description, Examination, Held, Permission, Right, StoreErrorKind,
    collection_noun, lookup, sdk,
};
use crate::ui::format::duration;
use crate::{Error, Result};

/// A clock so far off is worth knowing.
const SKEW_NOTICED: i64 = 5_000;
/// A clock so far off lets services refuse signed requests.
const SKEW_REFUSED: i64 = 300_000;

/// Looks at one store.
pub(super) async fn examine(
    examined: &ExaminedStore,
    purposes: &[Purpose],
    practice: &mut Practice<'_>,
    stop: &StopSignal,
) -> Result<StoreHealth> {
    let ExaminedStore { role, store } = examined;
    let kind = store.address.kind();
    let mut health = StoreHealth {
        role: role.word().to_owned(),
        location: format!("{}, {} {:?}", store.address, collection_noun(kind), store.collection),
        ..StoreHealth::default()
    };
    if *role == StoreRole::Target && !place_exists(&store.address) {
        practice.ui.target(role.word(), &format!("{} (does not exist yet)", health.location));
        let what = format!("{} does not exist yet.", health.location);
        practice.notice(NoticeCode::TargetMissing, &what, "Pass --create-target to the import.");
        (health.reached, health.exists) = (true, Some(false));
        return Ok(health);
    }
    let looked = match open_to_examine(store, stop).await {
        Ok(reader) => {
            reader.location().clone_into(&mut health.location);
            look(reader.as_ref(), role.word(), practice).await
        }
        Err(error) => Err(error),
    };
    let (description, examination, missing) = match looked {
        Ok(looked) => looked,
        Err(error) => {
            stop.check("Interrupted; nothing was changed. Run the same command again.")?;
            let (what, remedy) = told(&error);
            practice.blocking(FindingCode::Unreachable, &format!("{}: {what}", health.location), &remedy)?;
            return Ok(health);
        }
    };
    health.reached = true;
    health.exists = Some(description.is_some());
    health.sdk = Some(sdk(kind).to_owned()).filter(|_| !store.address.is_embedded());
    if let Some(description) = &description {
        health.documents = description.documents;
    }
    if let Some(missing) = missing {
        tell_missing(*role, &health.location, &missing, practice)?;
    }
    tell_clock(examination.clock, &health.location, practice)?;
    let rights = needed(*role, purposes, description.is_some());
    for permission in &examination.permissions {
        // Of what is not there nothing can be found out besides whether it may be made.
        let can_be_known = description.is_some() || permission.right == Right::MakeCollection;
        let is_needed = can_be_known && rights.contains(&permission.right);
        tell_permission(permission, is_needed, *role, &health, examination.identity.as_deref(), practice)?;
    }
    let Examination { identity, server, clock, bytes, permissions } = examination;
    health.identity = identity;
    health.server = server;
    health.clock_ahead_ms = clock.map(Clock::ahead);
    health.bytes = bytes;
    health.permissions = permissions.into_iter().map(shown).collect();
    Ok(health)
}

/// What a collection is, what the store says, and what is there instead of a collection that is missing.
type Looked = (Option<Description>, Examination, Option<String>);

async fn look(reader: &dyn CollectionReader, role: &str, practice: &Practice<'_>) -> Result<Looked> {
    practice.ui.target(role, reader.location());
    let described = reader.describe().await;
    let examination = reader.examine().await?;
    match described {
        Ok(description) => Ok((Some(description), examination, None)),
        Err(error) if error.kind == StoreErrorKind::NotFound => {
            let instead = lookup::alternatives(reader).await;
            Ok((None, examination, Some(instead.unwrap_or_else(|| "Check the name.".to_owned()))))
        }
        // Who may not describe a collection may still have other rights; the look at them says so.
        Err(error) if error.kind == StoreErrorKind::Denied => {
            let nothing_held = examination.permissions.iter().all(|it| it.held != Held::Yes);
            if nothing_held { Err(Error::from(error)) } else { Ok((None, examination, None)) }
        }
        Err(error) => Err(error.into()),
    }
}

fn tell_missing(role: StoreRole, location: &str, instead: &str, practice: &mut Practice<'_>) -> Result<()> {
    match role {
        StoreRole::Source => {
            let what = format!("{location} is not there.");
            practice.blocking(FindingCode::CollectionMissing, &what, instead)
        }
        StoreRole::Target => {
            let what = format!("{location} is not there yet.");
            let remedy = format!("Pass --create-target to the import, if the name is right. {instead}");
            practice.notice(NoticeCode::TargetMissing, &what, &remedy);
            Ok(())
        }
    }
}

fn tell_clock(clock: Option<Clock>, location: &str, practice: &mut Practice<'_>) -> Result<()> {
    let Some(ahead) = clock.map(Clock::ahead) else { return Ok(()) };
    let off = duration(std::time::Duration::from_millis(ahead.unsigned_abs()));
    let way = if ahead > 0 { "ahead of" } else { "behind" };
    let what = format!("The clock of {location} is {off} {way} this machine's.");
    let remedy = "Let both machines keep the time of a time server.";
    match ahead.abs() {
        SKEW_REFUSED.. => practice.blocking(FindingCode::ClockSkew, &what, remedy),
        SKEW_NOTICED.. => {
            practice.notice(NoticeCode::ClockSkew, &what, remedy);
            Ok(())
        }
        _ => Ok(()),
    }
}

fn tell_permission(
    permission: &Permission,
    is_needed: bool,
    role: StoreRole,
    health: &StoreHealth,
    identity: Option<&str>,
    practice: &mut Practice<'_>,
) -> Result<()> {
    let who = identity.map_or_else(|| "We".to_owned(), |it| format!("{it:?}"));
    let (verb, location) = (verb(permission), &health.location);
    let remedy = format!("Grant {}.", permission.given_by);
    match (permission.held, is_needed, later(role, permission.right)) {
        (Held::No, true, _) => {
            let what = format!("{who} may not {verb} {location}.");
            practice.blocking(FindingCode::PermissionMissing, &what, &remedy)
        }
        (Held::No, false, Some(later)) => {
            let what = format!("{who} may not {verb} {location}; {later}.");
            practice.notice(NoticeCode::PermissionMissing, &what, &remedy);
            Ok(())
        }
        (Held::Unknown, true, _) => {
            let what = format!("Whether we may {verb} {location} cannot be found out without doing it.");
            let remedy = format!("Make sure of {}.", permission.given_by);
            practice.notice(NoticeCode::PermissionUnknown, &what, &remedy);
            Ok(())
        }
        _ => Ok(()),
    }
}

/// What a right lets one do, in front of the collection's place.
fn verb(permission: &Permission) -> &'static str {
    match permission.right {
        Right::Read => "read",
        Right::Create => "create documents in",
        Right::Update => "change documents in",
        Right::Delete => "delete from",
        Right::MakeCollection => "make",
    }
}

fn shown(permission: Permission) -> PermissionHealth {
    PermissionHealth {
        permission: permission.right.word().to_owned(),
        held: permission.held.word().to_owned(),
        given_by: permission.given_by,
    }
}
