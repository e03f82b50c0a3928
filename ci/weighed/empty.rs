//! What every program has.
fn main() {}
