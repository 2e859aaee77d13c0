use std::path::Path;

use super::secret::{secret_in, variables_for};
use crate::stores::StoreAddress;
use crate::{Error, Result};

/// A store address as a project file names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProjectAddress {
    /// It stands in the file, and holds no secret.
    Plain(String),
    /// It is the value of this variable of the environment, and may hold one.
    Variable(String),
}

impl ProjectAddress {
    /// Takes an address that stands in the file; `base` is the file's folder.
    ///
    /// # Errors
    /// Usage: it holds a secret, or is no address.
    pub(super) fn plain(text: &str, base: &Path) -> Result<Self> {
        if let Some(secret) = secret_in(text) {
            return Err(Error::usage(format!("the address holds {secret}, and a project file may not"))
                .hint(format!("Leave it out and put it into {}.", variables_for(text)))
                .hint("Or name a variable that holds the whole address: { env = \"MY_STORE\" }."));
        }
        let _is_one = StoreAddress::parse(text)?;
        Ok(Self::Plain(relative_to(text, base)))
    }

    /// The whole address, as the command line would have it.
    ///
    /// # Errors
    /// Usage: the variable is not set, or holds no address; its value is never shown.
    pub fn resolve(&self) -> Result<String> {
        match self {
            Self::Plain(text) => Ok(text.clone()),
            Self::Variable(name) => match std::env::var(name) {
                Ok(value) if !value.trim().is_empty() => {
                    let _is_one = StoreAddress::parse(&value).map_err(|error| {
                        error.context(format!("The variable {name} holds no store address"))
                    })?;
                    Ok(value)
                }
                _ => Err(Error::usage(format!("The variable {name} is not set"))
                    .hint(format!("Set {name} to the address of the store."))),
            },
        }
    }

    /// What is shown in its place: never the value of a variable.
    pub fn shown(&self) -> String {
        match self {
            Self::Plain(text) => text.clone(),
            Self::Variable(name) => format!("${name}"),
        }
    }
}

/// The file of embedded storage is found from the project file's folder.
fn relative_to(text: &str, base: &Path) -> String {
    match text.strip_prefix("embedded:") {
        Some(rest) if !base.as_os_str().is_empty() && !Path::new(rest).is_absolute() => {
            format!("embedded:{}", base.join(rest).display())
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_embedded_file_is_found_from_the_project() {
        let plain = |text, base: &str| ProjectAddress::plain(text, Path::new(base)).unwrap().shown();
        assert_eq!(plain("embedded:a.db?as=mongodb", ""), "embedded:a.db?as=mongodb");
        assert_eq!(plain("embedded:a.db?as=mongodb", "shop"), "embedded:shop/a.db?as=mongodb");
        assert_eq!(plain("embedded:/x/a.db?as=mongodb", "shop"), "embedded:/x/a.db?as=mongodb");
        assert_eq!(plain("mongodb://h/d", "shop"), "mongodb://h/d");
    }

    #[test]
    fn a_secret_is_refused_by_name_with_its_variable() {
        let error = ProjectAddress::plain("mongodb://ops:S3CRET@db/shop", Path::new("")).unwrap_err();
        assert!(error.to_string().contains("holds a password"), "{error}");
        assert!(error.hints()[0].contains("MONGODB_PASSWORD"), "{error:?}");
        assert!(!format!("{error:?}").contains("S3CRET"));
    }

    #[test]
    fn a_variable_that_is_not_set_is_a_usage_error() {
        let address = ProjectAddress::Variable("REKEY_TEST_NO_SUCH_VARIABLE".into());
        assert_eq!(address.shown(), "$REKEY_TEST_NO_SUCH_VARIABLE");
        assert_eq!(address.resolve().unwrap_err().kind(), crate::ErrorKind::Usage);
    }
}
