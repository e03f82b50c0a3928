//! Density maps: how many elements are bad in each part of a tensor.

/// How densely the bad elements lie in the last two axes of a tensor. Rows are of the axis before
/// the last, columns of the last. A tensor of one axis has one row. The indices of all axes before
/// these two, taken as one index in row-major order, are the groups. Rows, columns and groups are
/// taken in steps, so that there are at most 64 steps of each; the cells of the map are the steps
/// of a row in the steps of a column in the steps of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Map {
    /// Steps of the axes before the last two.
    pub groups: Steps,
    /// Steps of the axis before the last.
    pub rows: Steps,
    /// Steps of the last axis.
    pub columns: Steps,
    /// The cells with a bad element, in the order of their numbers.
    pub lit: Vec<Lit>,
}

/// A cell with a bad element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lit {
    /// The number of the cell: `(group * rows.count() + row) * columns.count() + column`.
    pub cell: u32,
    /// Its bad elements; at least 1.
    pub elements: u64,
}

/// An axis in steps of equal length; the last may be shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    /// Indices of the axis.
    pub extent: usize,
    /// Indices in a step; at least 1.
    pub step: usize,
}

impl Steps {
    /// The most steps of an axis.
    pub const MOST: usize = 64;

    fn new(extent: usize) -> Self {
        Self { extent, step: extent.div_ceil(Self::MOST).max(1) }
    }

    /// How many steps there are.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.extent.div_ceil(self.step)
    }

    /// The first and the last index of a step.
    #[must_use]
    pub fn indices(&self, step: usize) -> (usize, usize) {
        let first = step.saturating_mul(self.step);
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

/// A map that is being drawn, of a tensor of units: a unit is the elements that share a number, and
/// lies along the last axis.
pub(super) struct Draft {
    /// Extents of the axes before the last two.
    leading: Vec<usize>,
    map: Map,
    /// By cell.
    counts: Vec<u64>,
}

impl Draft {
    pub(super) fn new(shape: &[usize]) -> Self {
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

    /// Units in a step of this axis, if neighbours on the axis are in one cell or in two that are
    /// next to each other. That is so for the last two axes.
    pub(super) fn step(&self, axis: usize) -> usize {
        match axis.checked_sub(self.leading.len()) {
            Some(0) if self.map.rows.extent > 1 => self.map.rows.step,
            Some(_) => self.map.columns.step,
            None => 1,
        }
    }

    /// Counts so many units at a coordinate.
    pub(super) fn add(&mut self, coordinate: &[usize], units: u64) {
        let (leading, row, column) = split(coordinate, 0);
        let extents = leading.iter().zip(&self.leading);
        let group = extents.fold(0, |group, (index, extent)| group * extent + index);
        let Map { groups, rows, columns, .. } = &self.map;
        let cell = group / groups.step * rows.count() + row / rows.step;
        self.counts[cell * columns.count() + column / columns.step] += units;
    }

    /// The map, in elements.
    pub(super) fn finish(self, unit: usize) -> Map {
        let Self { mut map, counts, .. } = self;
        map.columns.extent *= unit;
        map.columns.step *= unit;
        let cells = (0u32..).zip(counts).filter(|(_, units)| *units > 0);
        map.lit = cells.map(|(cell, units)| Lit { cell, elements: units * unit as u64 }).collect();
        map
    }
}

/// What is before the last two axes, and those of the last two; `missing` in the place of one that
/// is not there.
fn split(axes: &[usize], missing: usize) -> (&[usize], usize, usize) {
    match axes {
        [leading @ .., row, column] => (leading, *row, *column),
        [column] => (&[], missing, *column),
        [] => (&[], missing, missing),
    }
}
