//! The code that every program has.
fn main() {}
