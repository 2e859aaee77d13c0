use std::io::Write;

use super::progress::Bars;

/// Standard error for the log, whose lines must not run into a bar.
#[derive(Clone, Debug)]
pub struct LogWriter(pub(super) Bars);

impl Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.suspend(|| std::io::stderr().write(bytes))
    }

    fn write_all(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.0.suspend(|| std::io::stderr().write_all(bytes))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stderr().flush()
    }
}
