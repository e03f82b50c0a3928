//! Dimensions in the order that a question wants, and tiles of them.

use core::ops::Deref;

/// One dimension.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Dim {
    pub(super) size: usize,
    /// From one coordinate to the next, in elements of the input.
    pub(super) input: isize,
    /// The same in the output.
    pub(super) output: isize,
    /// The same in the index along a row: 0 in all dimensions except the one that rows run along.
    pub(super) row: isize,
}

/// Dimensions larger than 1 that a tensor can have: as many of two elements each have more elements than a `usize` counts.
pub(super) const MOST: usize = usize::BITS as usize;

/// Dimensions, innermost first, none of size 1 or 0, and where coordinate 0 is.
#[derive(Clone, Debug)]
pub(super) struct Dims {
    list: [Dim; MOST],
    rank: usize,
    pub(super) input: isize,
    pub(super) output: isize,
    pub(super) row: isize,
}

impl Deref for Dims {
    type Target = [Dim];

    fn deref(&self) -> &[Dim] {
        &self.list[..self.rank]
    }
}

impl Dims {
    pub(super) fn new() -> Self {
        Self::at(0, 0, 0)
    }

    /// No dimension yet.
    pub(super) fn at(input: isize, output: isize, row: isize) -> Self {
        Self { list: [Dim::default(); MOST], rank: 0, input, output, row }
    }

    /// One more dimension around the others. A size of 1 changes nothing.
    ///
    /// # Panics
    /// If there are too many.
    pub(super) fn push(&mut self, dim: Dim) {
        if dim.size != 1 {
            self.list[self.rank] = dim;
            self.rank += 1;
        }
    }

    pub(super) fn list_mut(&mut self) -> &mut [Dim] {
        &mut self.list[..self.rank]
    }

    /// Turns around what runs backwards through the input, so that coordinate 0 is at the lowest address.
    pub(super) fn forwards(&mut self) {
        for dim in &mut self.list[..self.rank] {
            if dim.input < 0 {
                let last = dim.size as isize - 1;
                self.input += dim.input * last;
                self.output = self.output.wrapping_add(dim.output.wrapping_mul(last));
                self.row += dim.row * last;
                *dim = Dim { size: dim.size, input: -dim.input, output: -dim.output, row: -dim.row };
            }
        }
    }

    /// Makes one dimension of two where the outer one goes on where the inner one ends.
    pub(super) fn merge(&mut self) {
        let mut rank = 0usize;
        for i in 0..self.rank {
            let dim = self.list[i];
            if let Some(inner) = rank.checked_sub(1).map(|inner| &mut self.list[inner]) {
                let size = inner.size as isize;
                let follows = |inner: isize, outer| size.checked_mul(inner) == Some(outer);
                if follows(inner.input, dim.input)
                    && follows(inner.output, dim.output)
                    && follows(inner.row, dim.row)
                {
                    inner.size *= dim.size;
                    continue;
                }
            }
            self.list[rank] = dim;
            rank += 1;
        }
        self.rank = rank;
    }

    /// How many coordinates there are.
    pub(super) fn elements(&self) -> usize {
        self.iter().fold(1, |len, dim| len.saturating_mul(dim.size))
    }
}

/// Dimensions that a tile can have: it has at most as many elements as two to the power of that, or one dimension.
pub(super) const TILE_DIMS: usize = 16;

/// Part of a tensor: where its coordinate 0 is, and its dimensions.
#[derive(Clone, Debug)]
pub(super) struct Tile {
    list: [Dim; TILE_DIMS],
    rank: usize,
    pub(super) input: isize,
    pub(super) output: isize,
    pub(super) row: isize,
}

impl Deref for Tile {
    type Target = [Dim];

    fn deref(&self) -> &[Dim] {
        &self.list[..self.rank]
    }
}

impl Tile {
    pub(super) fn list_mut(&mut self) -> &mut [Dim] {
        &mut self.list[..self.rank]
    }

    /// From the first element to the last, with both. No dimension runs backwards.
    pub(super) fn span(&self) -> usize {
        1 + self.iter().map(|dim| (dim.size - 1) * dim.input.unsigned_abs()).sum::<usize>()
    }

    /// How many elements, each as often as coordinates name it.
    pub(super) fn elements(&self) -> usize {
        self.iter().map(|dim| dim.size).product()
    }

    /// The tile as a tensor of its own, with its results in one piece in the order of its dimensions.
    pub(super) fn to_dims(&self) -> Dims {
        let mut dims = Dims::at(self.input, 0, 0);
        let mut output = 1;
        for &dim in &**self {
            dims.push(Dim { output, row: 0, ..dim });
            output *= dim.size as isize;
        }
        dims
    }
}

/// How a tensor is cut into tiles: so many coordinates of each dimension.
#[derive(Clone, Debug)]
pub(super) struct Cut {
    pub(super) sizes: [usize; MOST],
    /// Whether the elements of a tile are looked at with all that is between them.
    pub(super) span: bool,
}

/// How large tiles may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Elements that are looked at with what is between them.
    pub(super) span: usize,
    /// Elements that are brought together.
    pub(super) gather: usize,
    /// Bytes of an element.
    pub(super) element: usize,
    /// Whether what is between elements may be read.
    pub(super) gaps: bool,
    /// Whether no element of a span may be named twice.
    pub(super) once: bool,
    /// Whether a long line of elements in one piece is a tile.
    pub(super) lines: bool,
}

/// From one element to the next, on average, a span may have so many bytes: then it costs no cache line more.
const PITCH: usize = 64;
/// Bytes in one piece that are worth a call of a kernel.
const PIECE: usize = 256;
/// Bytes in one piece that are never put together with others.
const LONG: usize = 2048;

impl Cut {
    /// Takes as much of the first dimension in `order` as fits, and if that is all, of the next. Of each it takes at most
    /// the size beside it. No dimension runs backwards.
    pub(super) fn new(
        dims: &Dims,
        order: impl Iterator<Item = (usize, usize)> + Clone,
        limits: Limits,
    ) -> Self {
        let first = order.clone().next();
        let line = first.filter(|&(i, _)| limits.lines && dims[i].input == 1);
        let line_bytes = line.map_or(0, |(i, most)| dims[i].size.min(most).saturating_mul(limits.element));
        let of_line = || Self::grow(dims, line.into_iter(), limits, true).0;
        if line_bytes >= LONG {
            return of_line();
        }
        let (cut, count, span) = Self::grow(dims, order.clone(), limits, true);
        let worth = count * limits.element >= PIECE || count == dims.elements();
        if worth && (count == span || limits.gaps && span * limits.element <= PITCH * count) {
            return cut;
        }
        if line_bytes >= PIECE {
            return of_line();
        }
        Self::grow(dims, order, limits, false).0
    }

    /// The cut, the elements of a tile, and how many there are from its first to its last.
    fn grow(
        dims: &Dims,
        order: impl Iterator<Item = (usize, usize)>,
        limits: Limits,
        span: bool,
    ) -> (Self, usize, usize) {
        let mut cut = Self { sizes: [1; MOST], span };
        let (mut count, mut reach) = (1, 0);
        for (i, most) in order.take(TILE_DIMS) {
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

/// The tiles of a tensor, those along the first dimension one after the other.
pub(super) struct Tiles<'d> {
    dims: &'d Dims,
    cut: &'d Cut,
    at: [usize; MOST],
    next: Option<(isize, isize, isize)>,
}

impl<'d> Tiles<'d> {
    pub(super) fn new(dims: &'d Dims, cut: &'d Cut) -> Self {
        Self { dims, cut, at: [0; MOST], next: Some((dims.input, dims.output, dims.row)) }
    }
}

impl Iterator for Tiles<'_> {
    type Item = Tile;

    fn next(&mut self) -> Option<Tile> {
        let (input, output, row) = self.next.take()?;
        let mut tile = Tile { list: [Dim::default(); TILE_DIMS], rank: 0, input, output, row };
        let (mut input, mut output, mut row, mut carry) = (input, output, row, true);
        for (i, dim) in self.dims.iter().enumerate() {
            let (cut, at) = (self.cut.sizes[i], &mut self.at[i]);
            let size = cut.min(dim.size - *at);
            if size > 1 {
                tile.list[tile.rank] = Dim { size, ..*dim };
                tile.rank += 1;
            }
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

/// Calls `f` with where each coordinate is in the input and in the output.
#[inline(always)]
pub(super) fn each(dims: &[Dim], mut f: impl FnMut(isize, isize)) {
    let mut at = [0; TILE_DIMS];
    let (mut input, mut output) = (0, 0);
    loop {
        f(input, output);
        let mut dims = dims.iter().zip(&mut at);
        loop {
            let Some((dim, at)) = dims.next() else { return };
            *at += 1;
            input += dim.input;
            output += dim.output;
            if *at < dim.size {
                break;
            }
            *at = 0;
            input -= dim.input * dim.size as isize;
            output -= dim.output * dim.size as isize;
        }
    }
}
