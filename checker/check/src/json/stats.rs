//! The finite numbers of a tensor.

use serde::Serialize;

use crate::model::{Extreme, Large, Stats};

/// The finite numbers of a tensor.
#[derive(Serialize)]
pub(super) struct Measured<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_abs: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_at: Option<Position<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_at: Option<Position<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_abs_at: Option<Position<'a>>,
    zeros: u64,
    subnormals: u64,
    normals: u64,
}

/// The place of a number.
#[derive(Serialize)]
struct Position<'a> {
    coordinate: &'a [u64],
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<&'static str>,
}

/// The finite numbers above the bound on magnitudes.
#[derive(Serialize)]
pub(super) struct Above<'a> {
    count: u64,
    bound: f64,
    max_abs: f64,
    max_abs_at: Position<'a>,
}

impl<'a> Measured<'a> {
    pub(super) fn new(stats: &'a Stats) -> Self {
        let [min, max, max_abs] = [&stats.min, &stats.max, &stats.max_abs]
            .map(|extreme| extreme.as_ref().map(|extreme| extreme.value));
        Self {
            min,
            max,
            max_abs,
            min_at: stats.min.as_ref().map(Position::new),
            max_at: stats.max.as_ref().map(Position::new),
            max_abs_at: stats.max_abs.as_ref().map(Position::new),
            zeros: stats.zeros,
            subnormals: stats.subnormals,
            normals: stats.normals,
        }
    }
}

impl<'a> Position<'a> {
    fn new(extreme: &'a Extreme) -> Self {
        Self { coordinate: &extreme.coordinate, part: extreme.part }
    }
}

impl<'a> Above<'a> {
    pub(super) fn new(large: &'a Large) -> Self {
        Self {
            count: large.count,
            bound: large.bound,
            max_abs: large.largest.value,
            max_abs_at: Position::new(&large.largest),
        }
    }
}
