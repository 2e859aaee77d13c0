use jiff::Timestamp;
use serde::Serialize;

/// Who ran what, when and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Circumstances {
    /// The command: `verify`.
    pub command: String,
    /// The tool with its version.
    pub tool: String,
    /// The machine's name.
    pub host: String,
    /// Who ran it: the login name, or the number of the user where there is none.
    pub user: String,
    /// The folder it was run in.
    pub folder: String,
    /// When it began (RFC 3339, UTC).
    pub started: String,
    /// When it ended (RFC 3339, UTC).
    pub ended: String,
    /// The exit code, where no report failed to be written afterwards.
    pub exit_code: u8,
}

impl Circumstances {
    /// Those of this process.
    pub fn of(command: &str, started: Timestamp, exit_code: u8) -> Self {
        let folder = std::env::current_dir().map_or_else(|_| "?".to_owned(), |it| it.display().to_string());
        Self {
            command: command.to_owned(),
            tool: crate::report::tool(),
            host: host(),
            user: user(),
            folder,
            started: to_the_second(started),
            ended: to_the_second(Timestamp::now()),
            exit_code,
        }
    }
}

fn to_the_second(time: Timestamp) -> String {
    time.round(jiff::Unit::Second).unwrap_or(time).to_string()
}

#[cfg(unix)]
fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn host() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_else(|_| "?".to_owned())
}

fn user() -> String {
    let named = ["USER", "LOGNAME", "USERNAME"].into_iter().filter_map(|name| std::env::var(name).ok());
    named.into_iter().find(|name| !name.is_empty()).unwrap_or_else(number_of_user)
}

#[cfg(unix)]
fn number_of_user() -> String {
    format!("user {}", rustix::process::getuid().as_raw())
}

#[cfg(not(unix))]
fn number_of_user() -> String {
    "?".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_and_where_are_known() {
        let it = Circumstances::of("verify", Timestamp::UNIX_EPOCH, 1);
        assert_eq!((it.command.as_str(), it.exit_code), ("verify", 1));
        assert_eq!(it.started, "1970-01-01T00:00:00Z");
        assert!(!it.host.is_empty() && !it.user.is_empty() && !it.folder.is_empty(), "{it:?}");
        assert_eq!(it.ended.len(), it.started.len());
    }
}
