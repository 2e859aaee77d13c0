//! The tenants that somebody asked for by name, until each has been seen.

use crate::Error;

/// How many names like one that was never seen are kept.
const NEAREST: usize = 3;

/// Tenants asked for, and the names most like those of them that were not seen so far.
#[derive(Clone, Debug, Default)]
pub struct WantedTenants {
    wanted: Vec<Wanted>,
    last: String,
}

#[derive(Clone, Debug)]
struct Wanted {
    name: String,
    seen: bool,
    /// Ascending by distance, then by name.
    nearest: Vec<(usize, String)>,
}

impl WantedTenants {
    /// Has seen none of these.
    pub fn new(names: &[String]) -> Self {
        let wanted = |name: &String| Wanted { name: name.clone(), seen: false, nearest: Vec::new() };
        Self { wanted: names.iter().map(wanted).collect(), last: String::new() }
    }

    /// Takes a tenant that there is.
    pub fn observe(&mut self, tenant: &str) {
        if self.last == tenant {
            return;
        }
        tenant.clone_into(&mut self.last);
        self.wanted.iter_mut().for_each(|wanted| wanted.observe(tenant));
    }

    /// The usage error if one of them was not seen in `place`.
    pub fn unseen(&self, place: &str) -> Option<Error> {
        let unseen: Vec<_> = self.wanted.iter().filter(|wanted| !wanted.seen).collect();
        if unseen.is_empty() {
            return None;
        }
        let names: Vec<_> = unseen.iter().map(|wanted| format!("{:?}", wanted.name)).collect();
        let message = format!(
            "--only-tenants names {}, which {place} does not have; nothing was written",
            names.join(" and ")
        );
        let mut nearest: Vec<_> = unseen.iter().flat_map(|wanted| &wanted.nearest).collect();
        nearest.sort();
        let mut hint: Vec<String> = Vec::new();
        for (_, name) in nearest {
            let quoted = format!("{name:?}");
            if hint.len() < NEAREST && !hint.contains(&quoted) {
                hint.push(quoted);
            }
        }
        Some(Error::usage(message).hint(match hint.as_slice() {
            [] => "There is no tenant at all: look at the tenant rule.".to_owned(),
            [only] => format!("Use {only} if that is meant: it has the closest name."),
            several => format!("The closest names are {}.", several.join(", ")),
        }))
    }
}

impl Wanted {
    fn observe(&mut self, tenant: &str) {
        if self.seen || self.name == tenant {
            self.seen = true;
            return;
        }
        let near = (strsim::osa_distance(&self.name, tenant), tenant);
        let at = self.nearest.partition_point(|(distance, name)| (*distance, name.as_str()) < near);
        let is_new = self.nearest.get(at).is_none_or(|(_, name)| name != tenant);
        if is_new && at < NEAREST {
            self.nearest.insert(at, (near.0, tenant.to_owned()));
            self.nearest.truncate(NEAREST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(wanted: &[&str], seen: &[&str]) -> Option<String> {
        let mut tenants = WantedTenants::new(&wanted.iter().map(ToString::to_string).collect::<Vec<_>>());
        for tenant in seen {
            tenants.observe(tenant);
        }
        tenants.unseen("the tenant map").map(|error| error.hints().join(" "))
    }

    #[test]
    fn what_was_seen_is_no_error() {
        assert_eq!(said(&["acme", "globex"], &["globex", "initech", "acme"]), None);
        assert_eq!(said(&[], &[]), None);
    }

    #[test]
    fn a_name_that_was_not_seen_is_answered_with_the_closest_ones() {
        let many = ["zürich", "globex", "acme", "acme", "initech", "acme-eu", "stark"];
        let closest = "The closest names are \"acme\", \"acme-eu\", \"globex\".";
        assert_eq!(said(&["acmee"], &many).as_deref(), Some(closest));
        let only = "Use \"globex\" if that is meant: it has the closest name.";
        assert_eq!(said(&["glbex"], &["globex"]).as_deref(), Some(only));
        assert!(said(&["acme"], &[]).is_some());
    }
}
