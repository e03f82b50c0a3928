//! One module for each adopter. None has code of theirs: a task calls their published function.

use crate::data::Column;
use crate::task::Pair;

#[cfg(feature = "arrow")]
mod arrow;
#[cfg(feature = "candle")]
mod candle;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "rten")]
mod rten;

/// A crate with a loop that answers one of our questions.
pub struct Adopter {
    /// The cargo feature.
    pub name: &'static str,
    /// The crate whose version the report names.
    pub package: &'static str,
    /// What of theirs is called, and what of ours.
    pub what: &'static str,
    /// Questions about a column: the same ones in the same order for one type and nulls or none.
    /// None where they do not have the type, or nulls.
    pub pairs: fn(&Column) -> Vec<Pair>,
    /// What else was found out by running it.
    pub note: Option<fn() -> String>,
}

/// Those that were built in.
pub const ALL: &[&Adopter] = &[
    #[cfg(feature = "arrow")]
    &arrow::ADOPTER,
    #[cfg(feature = "parquet")]
    &parquet::ADOPTER,
    #[cfg(feature = "candle")]
    &candle::ADOPTER,
    #[cfg(feature = "rten")]
    &rten::ADOPTER,
];
