//! Where in a tensor the numbers are that make it bad: what their places have in common, and how
//! densely they lie.

mod axes;
mod collector;
mod map;
mod statement;

pub(crate) use collector::Collector;
pub use map::{Lit, Map, Steps};

/// Where the numbers are that make a tensor bad. An element of a complex number is such a place if
/// one of its parts is bad. A bad scale makes a place of each element that is computed with it.
///
/// None of this is said of tensors whose extents add up to more than [`Places::MOST_INDICES`], and
/// none of lists of varying length in a table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Places {
    /// How many elements are bad.
    pub elements: u64,
    /// Elements of the shape.
    pub of: u64,
    /// The indices of bad elements, for each axis of the shape.
    pub axes: Vec<AxisPlaces>,
    /// How densely they lie, if [`Options::draw`](crate::Options::draw) asks for that. None too if
    /// the maps of the tensors before this one have [`Map::MOST_LIT`] lit cells.
    pub map: Option<Map>,
}

impl Places {
    /// The most extents that may add up over the axes of a tensor. A bit is kept for each index of
    /// each axis, so this bounds the memory to 32 MiB for a thread.
    pub const MOST_INDICES: usize = 1 << 28;
}

/// The indices that the bad elements have on one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AxisPlaces {
    /// Indices of the axis.
    pub extent: usize,
    /// How many of them a bad element has.
    pub indices: usize,
    /// Which these are: the first and the last index of each run of them, in rising order. Empty if
    /// there are more than [`AxisPlaces::MOST_RANGES`] runs.
    pub ranges: Vec<(usize, usize)>,
}

impl AxisPlaces {
    /// The most runs of indices that are listed.
    pub const MOST_RANGES: usize = 4;
}
