//! Density maps: how many elements are bad in each part of a tensor.

use serde::{Deserialize, Serialize};

/// The density of bad elements in the last two axes of a tensor. The last axis gives the columns,
/// and the axis before it the rows. A tensor with one axis has one row. The axes before these two
/// are merged into one axis of groups, in row-major order. Groups, rows and columns are divided
/// into at most 64 steps each. A cell of the map is one step of the groups, one step of the rows
/// and one step of the columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Map {
    /// Steps of the axes before the last two.
    pub groups: Steps,
    /// Steps of the axis before the last.
    pub rows: Steps,
    /// Steps of the last axis.
    pub columns: Steps,
    /// The cells with a bad element, in the order of the cell numbers.
    pub lit: Vec<Lit>,
}

/// A cell with a bad element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u32, u64)", into = "(u32, u64)")]
pub struct Lit {
    /// The number of the cell: `(group * rows.count() + row) * columns.count() + column`.
    pub cell: u32,
    /// The number of its bad elements, at least 1.
    pub elements: u64,
}

/// In JSON, a cell is a pair of numbers.
impl From<(u32, u64)> for Lit {
    fn from((cell, elements): (u32, u64)) -> Self {
        Self { cell, elements }
    }
}

impl From<Lit> for (u32, u64) {
    fn from(lit: Lit) -> Self {
        (lit.cell, lit.elements)
    }
}

/// An axis in steps of equal length. The last step may be shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Steps {
    /// The number of indices of the axis.
    pub extent: u64,
    /// The number of indices in a step, at least 1.
    pub step: u64,
}

impl Steps {
    /// The most steps of an axis.
    pub const MOST: usize = 64;

    fn new(extent: u64) -> Self {
        Self { extent, step: extent.div_ceil(Self::MOST as u64).max(1) }
    }

    /// The number of steps, at most [`Steps::MOST`].
    #[must_use]
    pub const fn count(&self) -> usize {
        self.extent.div_ceil(self.step) as usize
    }

    /// The first and the last index of a step.
    #[must_use]
    pub fn indices(&self, step: usize) -> (u64, u64) {
        let first = self.step.saturating_mul(step as u64);
        (first, first.saturating_add(self.step).min(self.extent).saturating_sub(1))
    }
}

impl Map {
    /// The most lit cells of all maps of a report.
    pub const MOST_LIT: usize = 1 << 20;

    /// The steps of group, row and column that a cell is in.
    #[must_use]
    pub fn steps_of(&self, cell: u32) -> (usize, usize, usize) {
        let (rows, columns) = (self.rows.count().max(1), self.columns.count().max(1));
        let cell = cell as usize;
        (cell / columns / rows, cell / columns % rows, cell % columns)
    }
}

/// A map while it is drawn. Counts units: a unit is the elements that belong to one number, and
/// lies along the last axis.
pub(super) struct Draft {
    /// Extents of the axes before the last two.
    leading: Vec<u64>,
    map: Map,
    /// The number of bad units, by cell.
    counts: Vec<u64>,
}

impl Draft {
    pub(super) fn new(shape: &[u64]) -> Self {
        let (leading, rows, columns) = split(shape, 1);
        let map = Map {
            groups: Steps::new(leading.iter().product()),
            rows: Steps::new(rows),
            columns: Steps::new(columns),
            lit: Vec::new(),
        };
        let cells = map.groups.count() * map.rows.count() * map.columns.count();
        Self { leading: leading.to_vec(), map, counts: vec![0; cells] }
    }

    /// Units in a step of this axis, if adjacent units on the axis are in the same cell or in
    /// adjacent cells. This holds for the last two axes.
    pub(super) fn step(&self, axis: usize) -> u64 {
        match axis.checked_sub(self.leading.len()) {
            Some(0) if self.map.rows.extent > 1 => self.map.rows.step,
            Some(_) => self.map.columns.step,
            None => 1,
        }
    }

    /// Counts `count` bad units at a coordinate.
    pub(super) fn add(&mut self, coordinate: &[u64], units: u64) {
        let (leading, row, column) = split(coordinate, 0);
        let extents = leading.iter().zip(&self.leading);
        let group = extents.fold(0, |group, (index, extent)| group * extent + index);
        let Map { groups, rows, columns, .. } = &self.map;
        let cell = group / groups.step * rows.count() as u64 + row / rows.step;
        let cell = cell * columns.count() as u64 + column / columns.step;
        // Each axis has at most 64 steps.
        self.counts[cell as usize] += units;
    }

    /// Adds what another draft of the same tensor has counted.
    pub(super) fn merge(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(units, more)| *units += more);
    }

    /// The map, in elements.
    pub(super) fn finish(self, unit: u64) -> Map {
        let Self { mut map, counts, .. } = self;
        map.columns.extent *= unit;
        map.columns.step *= unit;
        let cells = (0u32..).zip(counts).filter(|(_, units)| *units > 0);
        map.lit = cells.map(|(cell, units)| Lit { cell, elements: units * unit }).collect();
        map
    }
}

/// Splits a list by axis: the part before the last two axes, and the values of the last two.
/// `missing` stands for a value that is not there.
fn split(axes: &[u64], missing: u64) -> (&[u64], u64, u64) {
    match axes {
        [leading @ .., row, column] => (leading, *row, *column),
        [column] => (&[], missing, *column),
        [] => (&[], missing, missing),
    }
}
