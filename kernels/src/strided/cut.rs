//! Decides the size of the tiles of a tensor, and whether tiles include the bytes between their
//! elements.

use core::ops::Deref;

use super::dims::{Dim, Dims, MOST, TILE_DIMS, Tile};

/// The order in which a tile takes dimensions, and the most coordinates of each.
pub(super) struct Order {
    list: [(usize, usize); TILE_DIMS],
    len: usize,
}

impl Order {
    pub(super) fn new() -> Self {
        Self { list: [(0, 0); TILE_DIMS], len: 0 }
    }

    /// Appends a dimension. Ignored if a tile cannot have more.
    pub(super) fn push(mut self, dim: usize, most: usize) -> Self {
        if let Some(slot) = self.list.get_mut(self.len) {
            *slot = (dim, most);
            self.len += 1;
        }
        self
    }

    /// Appends the dimensions of a range, except one.
    #[inline(never)]
    pub(super) fn all(self, dims: core::ops::Range<usize>, except: usize) -> Self {
        dims.filter(|&i| i != except).fold(self, |order, i| order.push(i, usize::MAX))
    }
}

impl Deref for Order {
    type Target = [(usize, usize)];

    fn deref(&self) -> &[(usize, usize)] {
        &self.list[..self.len]
    }
}

/// The size of the tiles of a tensor: the number of coordinates of each dimension.
#[derive(Clone, Debug)]
pub(super) struct Cut {
    pub(super) sizes: [usize; MOST],
    /// Whether a tile is a span: its elements, and the bytes between them.
    pub(super) span: bool,
}

/// The limits for the size of a tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The most elements of a span, including the elements between those of the tile.
    pub(super) span: usize,
    /// The most elements that are gathered.
    pub(super) gather: usize,
    /// Bytes of an element.
    pub(super) element: usize,
    /// Whether bytes between elements may be read.
    pub(super) gaps: bool,
    /// Whether each element of a span must have only one coordinate.
    pub(super) once: bool,
    /// Whether a long line of adjacent elements is a tile.
    pub(super) lines: bool,
}

/// Costs, in bytes of a span that are compared in the same time: the cost of moving one element,
/// and of moving a line of elements (to which twice the bytes of the line are added).
const PER_ELEMENT: usize = 64;
const PER_LINE: usize = 128;
/// Adjacent bytes that are worth a call of a kernel.
const PIECE: usize = 1024;
/// Adjacent bytes that are never gathered with others.
const LONG: usize = 2048;

/// Columns of the input that are transposed together: at least a cache line of the output.
const COLUMNS: usize = 64;

impl Cut {
    /// Takes as much of all dimensions as fits, in their order.
    #[inline(never)]
    pub(super) fn whole(dims: &Dims, limits: Limits) -> Self {
        Self::new(dims, &Order::new().all(0..dims.len(), usize::MAX), limits)
    }

    /// Takes dimensions along the output, in which they are sorted. If the input has another order,
    /// tiles are long enough in both orders.
    #[inline(never)]
    pub(super) fn by_output(dims: &Dims, limits: Limits) -> Self {
        let along = (0..dims.len())
            .filter(|&i| dims[i].input != 0)
            .min_by_key(|&i| dims[i].input.unsigned_abs());
        match along {
            Some(along) if along > 0 => {
                let (columns, rows) = (dims[along].size, dims[0].size);
                let rows = if dims[0].input == 0 { 1 } else { rows };
                let most_rows = rows.min(limits.gather / columns.min(COLUMNS));
                let most_columns = columns.min(limits.gather / most_rows.max(1));
                let most_rows = if dims[0].input == 0 { usize::MAX } else { most_rows };
                let order = Order::new().push(along, most_columns).push(0, most_rows);
                let order = order.all(1..dims.len(), along);
                Self::new(dims, &order, Limits { lines: false, ..limits })
            }
            _ => Self::whole(dims, limits),
        }
    }

    /// Takes dimensions in this order, as many coordinates of each as fit, and at most the given
    /// number. Ends at the first dimension that does not fit whole.
    #[inline(never)]
    pub(super) fn new(dims: &Dims, order: &[(usize, usize)], limits: Limits) -> Self {
        let first = order.first().copied();
        let line = first.filter(|&(i, _)| limits.lines && dims[i].input == 1);
        let line_bytes =
            line.map_or(0, |(i, most)| dims[i].size.min(most).saturating_mul(limits.element));
        let of_line = || Self::grow(dims, &order[..1], limits, true).0;
        if line_bytes >= LONG {
            return of_line();
        }
        let (cut, count, span) = Self::grow(dims, order, limits, true);
        // A broadcast dimension may have more elements than memory has bytes.
        let bytes = count.saturating_mul(limits.element);
        let worth = bytes >= PIECE || count == dims.elements();
        let gathered = match first.map(|(i, _)| (dims[i].input, cut.sizes[i])) {
            Some((1, line)) => {
                (count / line).saturating_mul(PER_LINE).saturating_add(bytes.saturating_mul(2))
            }
            _ => count.saturating_mul(PER_ELEMENT),
        };
        if worth && (count == span || limits.gaps && span * limits.element <= gathered) {
            return cut;
        }
        if line_bytes >= PIECE {
            return of_line();
        }
        Self::grow(dims, order, limits, false).0
    }

    /// Returns the sizes, the number of elements of a tile, and the number of elements from its
    /// first to its last.
    #[inline(never)]
    fn grow(
        dims: &Dims,
        order: &[(usize, usize)],
        limits: Limits,
        span: bool,
    ) -> (Self, usize, usize) {
        let mut cut = Self { sizes: [1; MOST], span };
        let (mut count, mut reach) = (1, 0);
        for &(i, most) in order.iter().take(TILE_DIMS) {
            let Dim { size, input, .. } = dims[i];
            let step = input.unsigned_abs();
            let room = match (span, step) {
                (true, 0) if !limits.once => size,
                (true, _) if limits.once && step <= reach => 1,
                (true, _) => 1 + (limits.span - 1 - reach).checked_div(step).unwrap_or(0),
                (false, _) => limits.gather / count,
            };
            let pieces = size.div_ceil(room.min(most).max(1));
            let taken = size.div_ceil(pieces);
            cut.sizes[i] = taken;
            count *= taken;
            reach += if span { (taken - 1) * step } else { 0 };
            if taken < size && most >= size || taken == 1 {
                break;
            }
        }
        (cut, count, reach + 1)
    }
}

/// The tiles of a tensor. Tiles along the first dimension are consecutive.
pub(super) struct Tiles<'d> {
    dims: &'d Dims,
    cut: &'d Cut,
    at: [usize; MOST],
    next: Option<(isize, isize, isize)>,
    tile: Tile,
}

impl<'d> Tiles<'d> {
    #[inline(never)]
    pub(super) fn new(dims: &'d Dims, cut: &'d Cut) -> Self {
        let next = Some((dims.input, dims.output, dims.row));
        Self { dims, cut, at: [0; MOST], next, tile: Tile::new() }
    }

    /// The next tile.
    #[inline(never)]
    pub(super) fn next(&mut self) -> Option<&mut Tile> {
        let (mut input, mut output, mut row) = self.next.take()?;
        let tile = &mut self.tile;
        tile.restart(input, output, row);
        let mut carry = true;
        for (i, dim) in self.dims.iter().enumerate() {
            let (cut, at) = (self.cut.sizes[i], &mut self.at[i]);
            let size = cut.min(dim.size - *at);
            tile.push(Dim { size, ..*dim });
            if carry {
                let to = if *at + cut < dim.size { *at + cut } else { 0 };
                carry = to == 0;
                let by = to as isize - *at as isize;
                *at = to;
                input += dim.input * by;
                output = output.wrapping_add(dim.output.wrapping_mul(by));
                row += dim.row * by;
            }
        }
        self.next = (!carry).then_some((input, output, row));
        Some(tile)
    }
}
