//! The functions of the C interface as C calls them.

mod answers;
mod common;
mod errors;
#[path = "../../../tests/paths/oracle.rs"]
mod oracle;
mod views;
