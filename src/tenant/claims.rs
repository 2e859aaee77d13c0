//! What several sources say about the tenant of one stream.

/// One source's word: the line it stands on, and the tenant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Claim {
    pub line: u64,
    pub tenant: String,
}

/// The first claim and the first that contradicts it; further ones add nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Claims {
    count: usize,
    first: Claim,
    other: Claim,
}

/// What the claims come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settled<'c> {
    Unclaimed,
    Agreed(&'c str),
    Disputed(&'c Claim, &'c Claim),
}

impl Claims {
    /// Adds a claim. Texts are kept in buffers that [`Claims::clear`] leaves in place.
    pub fn add(&mut self, line: u64, tenant: &str) {
        let claim = match self.count {
            0 => &mut self.first,
            1 if self.first.tenant != tenant => &mut self.other,
            _ => return,
        };
        claim.line = line;
        claim.tenant.clear();
        claim.tenant.push_str(tenant);
        self.count += 1;
    }

    /// Tells what the claims come to.
    pub fn settle(&self) -> Settled<'_> {
        match self.count {
            0 => Settled::Unclaimed,
            1 => Settled::Agreed(&self.first.tenant),
            _ => Settled::Disputed(&self.first, &self.other),
        }
    }

    /// Forgets every claim.
    pub fn clear(&mut self) {
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_agree_until_one_contradicts_the_first() {
        let mut claims = Claims::default();
        assert_eq!(claims.settle(), Settled::Unclaimed);
        claims.add(2, "acme");
        claims.add(3, "acme");
        assert_eq!(claims.settle(), Settled::Agreed("acme"));
        claims.add(4, "globex");
        claims.add(5, "initech");
        let named = |line, tenant: &str| Claim { line, tenant: tenant.into() };
        assert_eq!(claims.settle(), Settled::Disputed(&named(2, "acme"), &named(4, "globex")));
        claims.clear();
        claims.add(9, "initech");
        assert_eq!(claims.settle(), Settled::Agreed("initech"));
    }
}
