//! The `tune` command.

fn main() {}
