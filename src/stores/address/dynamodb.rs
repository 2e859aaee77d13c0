//! `dynamodb://[REGION][?endpoint=URL&profile=NAME]`.

use std::fmt;

use super::{query, wrong};
use crate::Result;

pub(super) const EXAMPLE: &str = "dynamodb://eu-west-1";

/// The DynamoDB tables of one account in one region, or behind one endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DynamoDbAddress {
    /// The region; from the usual AWS settings if `None`.
    pub region: Option<String>,
    /// The endpoint, `http://…` or `https://…`; from the usual AWS settings if `None`.
    pub endpoint: Option<String>,
    /// The profile of the AWS configuration files.
    pub profile: Option<String>,
}

pub(super) fn parse(text: &str) -> Result<DynamoDbAddress> {
    let Some(rest) = text.strip_prefix("dynamodb://") else {
        return Err(wrong("The DynamoDB address lacks its two slashes", EXAMPLE));
    };
    let (region, options) = rest.split_once('?').unwrap_or((rest, ""));
    if region.contains(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-') {
        let what = "The DynamoDB address holds more than a region; the table is given with --table";
        return Err(wrong(what, EXAMPLE));
    }
    let region = (!region.is_empty()).then(|| region.to_owned());
    let mut address = DynamoDbAddress { region, endpoint: None, profile: None };
    for (name, value) in query::options(options, &["endpoint", "profile"], EXAMPLE)? {
        match name {
            "endpoint" if !value.starts_with("http://") && !value.starts_with("https://") => {
                let example = "dynamodb://eu-west-1?endpoint=http://127.0.0.1:8000";
                return Err(wrong(
                    "The endpoint of a DynamoDB address begins with http:// or https://",
                    example,
                ));
            }
            "endpoint" if value.contains('@') => {
                return Err(wrong("The endpoint of a DynamoDB address holds no credentials", EXAMPLE));
            }
            "endpoint" => address.endpoint = Some(value.trim_end_matches('/').to_owned()),
            _ => address.profile = Some(value),
        }
    }
    Ok(address)
}

impl DynamoDbAddress {
    pub(super) fn identity(&self) -> String {
        let part = |value: &Option<String>| value.clone().unwrap_or_else(|| "default".to_owned());
        format!("dynamodb://{}/{}/{}", part(&self.region), part(&self.endpoint), part(&self.profile))
    }
}

impl fmt::Display for DynamoDbAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "dynamodb://{}", self.region.as_deref().unwrap_or_default())?;
        let endpoint = self.endpoint.as_ref().map(|value| format!("endpoint={value}"));
        let profile = self.profile.as_ref().map(|value| format!("profile={value}"));
        let options: Vec<String> = endpoint.into_iter().chain(profile).collect();
        if options.is_empty() { Ok(()) } else { write!(f, "?{}", options.join("&")) }
    }
}
