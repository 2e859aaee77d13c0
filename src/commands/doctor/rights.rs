use crate::options::{Purpose, StoreRole};
use crate::stores::Right;

/// The rights without which nothing can be done.
pub(super) fn needed(role: StoreRole, purposes: &[Purpose], exists: bool) -> Vec<Right> {
    let wants = |purpose| purposes.contains(&purpose);
    let mut rights = vec![Right::Read];
    match role {
        StoreRole::Source => {
            if wants(Purpose::Prune) || wants(Purpose::Move) {
                rights.push(Right::Delete);
            }
            if wants(Purpose::InPlace) {
                rights.push(Right::Update);
            }
        }
        StoreRole::Target => {
            rights.push(if wants(Purpose::InPlace) { Right::Update } else { Right::Create });
            if wants(Purpose::CreateTarget) || !exists {
                rights.push(Right::MakeCollection);
            }
            if wants(Purpose::Move) || (wants(Purpose::Undo) && !wants(Purpose::InPlace)) {
                rights.push(Right::Delete);
            }
        }
    }
    rights
}

/// What a right is for that is not needed yet: what an operator may want to do later.
pub(super) fn later(role: StoreRole, right: Right) -> Option<&'static str> {
    match (role, right) {
        (StoreRole::Source, Right::Delete) => Some("`prune` will need it"),
        (StoreRole::Target, Right::Delete) => Some("`undo` would need it"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_purpose_adds_its_right() {
        use Right::{Create, Delete, MakeCollection, Read, Update};
        let source = |purposes: &[Purpose]| needed(StoreRole::Source, purposes, true);
        assert_eq!(source(&[]), [Read]);
        assert_eq!(source(&[Purpose::Prune]), [Read, Delete]);
        assert_eq!(source(&[Purpose::Undo]), [Read]);
        let target = |purposes: &[Purpose]| needed(StoreRole::Target, purposes, true);
        assert_eq!(target(&[]), [Read, Create]);
        assert_eq!(target(&[Purpose::InPlace, Purpose::Undo]), [Read, Update]);
        assert_eq!(target(&[Purpose::CreateTarget, Purpose::Undo]), [Read, Create, MakeCollection, Delete]);
        assert_eq!(needed(StoreRole::Target, &[], false), [Read, Create, MakeCollection]);
    }
}
