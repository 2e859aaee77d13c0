/// Leaves out what stands between `://` and `@`: an address may hold a password, also one in the wrong place.
pub(crate) fn without_secrets(text: &str) -> String {
    let words = text.split(' ').map(|word| match (word.find("://"), word.rfind('@')) {
        (Some(scheme), Some(at)) if scheme + 3 <= at => {
            format!("{}…{}", word.get(..scheme + 3).unwrap_or_default(), word.get(at..).unwrap_or_default())
        }
        _ => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_and_password_are_left_out_and_the_rest_stays() {
        let text = "Cannot read \"mongodb://user:s3cr3t@host/db\": it is not there; write to a@b.example";
        assert_eq!(
            without_secrets(text),
            "Cannot read \"mongodb://…@host/db\": it is not there; write to a@b.example"
        );
    }
}
