//! The places of bad numbers in a tensor: their common pattern, and their density.

mod axes;
mod bits;
mod collector;
mod map;
mod statement;

pub(crate) use collector::Collector;
pub use map::{Lit, Map, Steps};
use serde::{Deserialize, Serialize};

/// The places of the bad elements of a tensor. A complex element is bad if one of its parts is bad.
/// A bad scale makes each element bad that is computed with it.
///
/// Not available for tensors whose extents add up to more than [`Places::MOST_INDICES`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Places {
    /// The number of bad elements.
    pub elements: u64,
    /// The number of elements of the tensor.
    pub of: u64,
    /// The indices of bad elements, for each axis of the shape.
    pub axes: Vec<AxisPlaces>,
    /// The density map, if [`Options::draw`](crate::Options::draw) asks for it. None if this map
    /// would raise the number of lit cells in the report above [`Map::MOST_LIT`].
    pub map: Option<Map>,
}

impl Places {
    /// The largest sum of the extents of a tensor. A bit is kept for each index of each axis, so
    /// this bounds the memory to 32 MiB for a thread.
    pub const MOST_INDICES: u64 = 1 << 28;

    /// Adds the cells of the map to those of the maps before, or leaves out the map if there would
    /// be too many.
    pub(crate) fn bound_map(&mut self, lit: &mut usize) {
        let more = self.map.as_ref().map_or(0, |map| map.lit.len());
        if *lit + more > Map::MOST_LIT {
            self.map = None;
        } else {
            *lit += more;
        }
    }
}

/// The indices of the bad elements on one axis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AxisPlaces {
    /// The extent of the axis.
    pub extent: u64,
    /// The number of indices with a bad element.
    pub indices: u64,
    /// These indices: the first and the last index of each run, in rising order. Empty if there are
    /// more than [`AxisPlaces::MOST_RANGES`] runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranges: Vec<(u64, u64)>,
}

impl AxisPlaces {
    /// The most runs of indices that are listed.
    pub const MOST_RANGES: usize = 4;
}
