//! A project file is committed, copied and mailed: no address in it may hold a secret.

/// Names the secret that an address holds, if it holds one; never its value.
pub(super) fn secret_in(address: &str) -> Option<&'static str> {
    let lower = address.to_ascii_lowercase();
    if lower.contains("accountkey=") {
        return Some("an account key");
    }
    let (_, rest) = address.split_once("://")?;
    // A raw `@` or `/` in a password moves the end of the user information; the last `@` before the query is safe.
    let user = rest.rsplit_once('@').map_or("", |(user, _)| user);
    if user.contains(':') {
        return Some("a password");
    }
    let query = lower.split_once('?').map_or("", |(_, query)| query);
    let is_secret = |option: &str| {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        !value.is_empty()
            && (name.contains("password")
                || name.contains("secret")
                || name.contains("token")
                || value.contains("aws_session_token"))
    };
    query.split('&').any(is_secret).then_some("a secret option")
}

/// The variables that the secret of a kind of address belongs in.
pub(super) fn variables_for(address: &str) -> &'static str {
    match address.split_once(':').map(|(scheme, _)| scheme) {
        Some("mongodb" | "mongodb+srv") => "MONGODB_USERNAME and MONGODB_PASSWORD",
        Some("dynamodb") => "the usual AWS variables (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_PROFILE)",
        Some("firestore") => "GOOGLE_APPLICATION_CREDENTIALS",
        _ => "COSMOS_KEY or COSMOS_CONNECTION_STRING",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_keys_and_tokens_are_found() {
        for address in [
            "mongodb://ops:S3CRET@db/shop",
            "mongodb+srv://ops:S3@CRET@db/shop",
            "mongodb://ops:S3/CRET@db/shop",
            "mongodb://db/shop?tlsCertificateKeyFilePassword=S3CRET",
            "mongodb://db/shop?authMechanismProperties=AWS_SESSION_TOKEN:S3CRET",
            "AccountEndpoint=https://x/;AccountKey=S3CRET==;",
            "cosmosdb://key:S3CRET@host/db",
            "dynamodb://eu-west-1?endpoint=http://key:S3CRET@host",
            "dynamodb://eu-west-1?secret=S3CRET",
        ] {
            let found = secret_in(address).expect(address);
            assert!(!found.contains("S3CRET"));
        }
    }

    #[test]
    fn an_address_without_a_secret_passes() {
        for address in [
            "mongodb://ops@db:27017/shop?replicaSet=rs0&authSource=admin",
            "dynamodb://eu-west-1?endpoint=http://127.0.0.1:8000&profile=ops",
            "firestore://my-project/second",
            "cosmosdb+http://127.0.0.1:8081/shop",
            "embedded:shop.redb?as=mongodb",
        ] {
            assert_eq!(secret_in(address), None, "{address}");
        }
    }
}
