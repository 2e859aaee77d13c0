/// What `demo` is to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DemoOptions {
    /// Whether the temporary folder stays for a look at the files.
    pub keep: bool,
}
