//! Columns of each version of arrow, against a loop over rows that uses arrow's own accessors.
#![allow(clippy::duplicate_mod, reason = "one source for each version of arrow")]

mod v59;
mod v60;
