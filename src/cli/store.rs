use std::num::NonZeroU32;

use clap::Args;

use crate::document::StoreKind;
use crate::error::{Error, Result};
use crate::options::{Rates, StoreOptions};
use crate::stores::address::StoreAddress;

/// How fast a store may be read.
#[derive(Args, Debug)]
pub(super) struct ReadRateArgs {
    /// The most read capacity units a second (DynamoDB)
    #[arg(long, value_name = "N", help_heading = "Rates")]
    max_rcu: Option<NonZeroU32>,

    /// The most request units a second (Cosmos DB)
    #[arg(long, value_name = "N", help_heading = "Rates")]
    max_ru: Option<NonZeroU32>,

    /// The most requests in flight at one time
    #[arg(long, value_name = "N", help_heading = "Rates")]
    concurrency: Option<NonZeroU32>,
}

/// How fast a store may be read and written.
#[derive(Args, Debug)]
pub(super) struct RateArgs {
    #[command(flatten)]
    read: ReadRateArgs,

    /// The most write capacity units a second (DynamoDB)
    #[arg(long, value_name = "N", help_heading = "Rates")]
    max_wcu: Option<NonZeroU32>,

    /// The most documents written or deleted a second
    #[arg(long, value_name = "N", help_heading = "Rates")]
    max_writes_per_second: Option<NonZeroU32>,
}

impl ReadRateArgs {
    pub(super) fn into_rates(self) -> Rates {
        Rates {
            max_rcu: self.max_rcu,
            max_ru: self.max_ru,
            concurrency: self.concurrency,
            ..Rates::default()
        }
    }
}

impl RateArgs {
    pub(super) fn into_rates(self) -> Rates {
        Rates {
            max_wcu: self.max_wcu,
            max_writes_per_second: self.max_writes_per_second,
            ..self.read.into_rates()
        }
    }
}

/// Reads an address and checks that the collection has a name.
pub(super) fn store(flag: &str, address: &str, collection: String, rates: Rates) -> Result<StoreOptions> {
    let address =
        StoreAddress::parse(address).map_err(|error| error.context(format!("{flag} is not a store")))?;
    if collection.trim().is_empty() {
        return Err(Error::usage("The name of the collection is empty.")
            .hint("Name the collection, table or container."));
    }
    Ok(StoreOptions { address, collection, rates })
}

/// Refuses a rate in units that none of the stores counts in: a limit that is not kept must not be accepted.
pub(super) fn check_rates(rates: Rates, stores: &[&StoreOptions]) -> Result<()> {
    let units = [
        ("--max-rcu", rates.max_rcu, StoreKind::DynamoDb),
        ("--max-wcu", rates.max_wcu, StoreKind::DynamoDb),
        ("--max-ru", rates.max_ru, StoreKind::CosmosDb),
    ];
    for (flag, value, kind) in units {
        if value.is_some() && stores.iter().all(|store| store.address.kind() != kind) {
            return Err(Error::usage(format!("{flag} limits {} alone, and none is used.", kind.title()))
                .hint("Use --concurrency, or --max-writes-per-second where documents are written."));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    fn embedded(kind: &str, rates: Rates) -> StoreOptions {
        store("--to", &format!("embedded:a.redb?as={kind}"), "events".into(), rates).unwrap()
    }

    #[test]
    fn a_rate_in_units_that_the_store_does_not_count_is_a_usage_error() {
        let rates = Rates { max_wcu: NonZeroU32::new(5), ..Rates::default() };
        assert!(check_rates(rates, &[&embedded("dynamodb", rates)]).is_ok());
        assert!(check_rates(rates, &[&embedded("mongodb", rates), &embedded("dynamodb", rates)]).is_ok());
        let error = check_rates(rates, &[&embedded("mongodb", rates)]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        let rates = Rates { max_ru: NonZeroU32::new(5), ..Rates::default() };
        assert!(check_rates(rates, &[&embedded("cosmosdb", rates)]).is_ok());
        assert!(check_rates(rates, &[&embedded("firestore", rates)]).is_err());
    }

    #[test]
    fn a_wrong_address_names_the_flag_and_not_the_secret() {
        let error =
            store("--from", "mongo://ops:S3CRET@db/x", "events".into(), Rates::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.to_string().contains("--from") && !error.to_string().contains("S3CRET"), "{error}");
    }
}
