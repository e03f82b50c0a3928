//! Cuts a tensor into tiles.

use super::dims::{Dim, Dims, MOST_DIMENSIONS, TILE_DIMS, Tile};

/// The size of the tiles of a tensor: the number of coordinates of each dimension.
#[derive(Clone, Debug)]
pub(super) struct Cut {
    sizes: [usize; MOST_DIMENSIONS],
}

/// A run of at least this many adjacent bytes is not copied together with others.
const LONG: usize = 2048;

/// Columns of the input that are read together where the output has another order: at least a cache
/// line of the output.
const COLUMNS: usize = 64;

impl Cut {
    /// Takes as much of all dimensions as fits into `most` elements, in their order.
    #[inline(never)]
    pub(super) fn whole(dims: &Dims, most: usize) -> Self {
        Self::new(dims, most, &mut (0..dims.len()).map(|i| (i, usize::MAX)))
    }

    /// [`Cut::whole`], but each long run of adjacent elements is a tile of its own, which is read
    /// in place. Such a tile has up to `most_of_run` elements.
    #[inline(never)]
    pub(super) fn runs(dims: &Dims, element: usize, most: usize, most_of_run: usize) -> Self {
        match dims.first() {
            Some(run)
                if run.input == 1
                    && run.size * element >= LONG
                    && dims.get(1).is_none_or(|next| next.input != run.size as isize) =>
            {
                Self::new(dims, most_of_run, &mut core::iter::once((0, usize::MAX)))
            }
            _ => Self::whole(dims, most),
        }
    }

    /// For dimensions that are sorted by their step in the output. If the input has another order,
    /// tiles are long in both orders.
    #[inline(never)]
    pub(super) fn by_output(dims: &Dims, element: usize, most: usize) -> Self {
        let along = (0..dims.len())
            .filter(|&i| dims[i].input != 0)
            .min_by_key(|&i| dims[i].input.unsigned_abs());
        match along {
            Some(along) if along > 0 && dims[0].input != 0 => {
                let (columns, rows) = (dims[along].size, dims[0].size);
                let most_rows = rows.min(most / columns.min(COLUMNS));
                let most_columns = columns.min(most / most_rows.max(1));
                let others = (1..dims.len()).filter(|&i| i != along).map(|i| (i, usize::MAX));
                let order = [(along, most_columns), (0, most_rows)].into_iter().chain(others);
                Self::new(dims, most, &mut { order })
            }
            _ => {
                let in_place = dims.first().is_some_and(|run| run.output == 1);
                Self::runs(dims, element, most, if in_place { usize::MAX } else { most })
            }
        }
    }

    /// Takes dimensions in this order, at most the given number of coordinates of each. Ends at the
    /// first dimension that does not fit whole.
    #[inline(never)]
    fn new(dims: &Dims, most: usize, order: &mut dyn Iterator<Item = (usize, usize)>) -> Self {
        let mut cut = Self { sizes: [1; MOST_DIMENSIONS] };
        let mut count = 1;
        for (i, limit) in order.take(TILE_DIMS) {
            let size = dims[i].size;
            let pieces = size.div_ceil((most / count).min(limit).max(1));
            let taken = size.div_ceil(pieces);
            cut.sizes[i] = taken;
            count *= taken;
            if taken < size && limit >= size || taken == 1 {
                break;
            }
        }
        cut
    }
}

/// The tiles of a tensor. Tiles along the first dimension are consecutive.
pub(super) struct Tiles<'d> {
    dims: &'d Dims,
    cut: Cut,
    at: [usize; MOST_DIMENSIONS],
    next: Option<(isize, isize, isize)>,
    pub(super) tile: Tile,
}

impl<'d> Tiles<'d> {
    #[inline(never)]
    pub(super) fn new(dims: &'d Dims, cut: Cut) -> Self {
        let next = Some((dims.input, dims.output, dims.row));
        Self { dims, cut, at: [0; MOST_DIMENSIONS], next, tile: Tile::new() }
    }

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
