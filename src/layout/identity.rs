use crate::key::{OtherTerm, Term, Terms};

/// What a document is: its stream, its version, whose it says it is, and which of the two keys it carries.
///
/// One value is filled again and again, so that reading a document allocates nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Which key it carries.
    pub state: KeyState,
    /// The aggregate or saga type; empty where the layout has none.
    pub type_name: String,
    /// The aggregate or saga id.
    pub id: String,
    /// The version, where the document has one.
    pub version: Option<i64>,
    /// Terms of the layout's own, in the order of their names.
    pub others: Vec<OtherTerm>,
    /// The owners the document names, in the layout's order; empty ones are left out.
    pub stored_owner: Vec<String>,
}

/// Which key a document carries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KeyState {
    /// The key without a tenant.
    #[default]
    Legacy,
    /// The key of this tenant.
    Rekeyed {
        /// The tenant term.
        tenant: String,
    },
}

/// What a rewrite does with a document that names another owner than the tenant it is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StoredOwner {
    /// Refuses it.
    #[default]
    Refuse,
    /// Puts the tenant in its place, where the layout fills it in.
    Replace,
}

impl Identity {
    /// The terms that render the document's keys for `tenant`.
    pub fn terms<'a>(&'a self, tenant: &'a str) -> Terms<'a> {
        Terms {
            tenant,
            type_name: &self.type_name,
            id: &self.id,
            version: self.version,
            others: &self.others,
        }
    }

    /// The tenant in its key, if there is one.
    pub fn tenant(&self) -> Option<&str> {
        match &self.state {
            KeyState::Legacy => None,
            KeyState::Rekeyed { tenant } => Some(tenant),
        }
    }

    /// Sets the text of a term that a document gives.
    pub(super) fn set(&mut self, term: &Term, text: &str) {
        let value = match term {
            Term::Type => &mut self.type_name,
            Term::Id => &mut self.id,
            Term::Other(name) => match self.others.iter_mut().find(|other| other.name == *name) {
                Some(other) => &mut other.value,
                None => return,
            },
            Term::Tenant | Term::Version => return,
        };
        value.clear();
        value.push_str(text);
    }
}

impl KeyState {
    /// Becomes the state of a rekeyed document, keeping the buffer.
    pub(super) fn set_tenant(&mut self, new: &str) {
        if let Self::Rekeyed { tenant } = self {
            tenant.clear();
            tenant.push_str(new);
        } else {
            *self = Self::Rekeyed { tenant: new.to_owned() };
        }
    }
}
