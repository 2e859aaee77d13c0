//! The `rekey` command.

fn main() {}
