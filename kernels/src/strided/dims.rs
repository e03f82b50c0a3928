//! Dimensions in the order that a question needs, and loops over their coordinates.

use core::mem::MaybeUninit;
use core::ops::Deref;

/// One dimension. A step leads from one coordinate to the next.
#[derive(Clone, Copy)]
pub(super) struct Dim {
    pub(super) size: usize,
    /// The step in what is read, in elements: the memory of a tensor, or a block of its elements.
    pub(super) input: isize,
    /// The step in what is written.
    pub(super) output: isize,
    /// The step in the index along a row. 0 in all dimensions except the rows' own.
    pub(super) row: isize,
}

impl Dim {
    /// An absent dimension.
    pub(super) const ONE: Self = Self { size: 1, input: 0, output: 0, row: 0 };
}

/// The most dimensions of a tensor, as in numpy 2.
pub const MOST_DIMENSIONS: usize = 64;

/// The most dimensions of a tile.
pub(super) const TILE_DIMS: usize = 8;

/// Dimensions, innermost first, none of size 1, with the place of coordinate 0.
pub(super) struct Dims<const N: usize = MOST_DIMENSIONS> {
    /// The first `rank` are initialised.
    list: [MaybeUninit<Dim>; N],
    rank: usize,
    pub(super) input: isize,
    pub(super) output: isize,
    pub(super) row: isize,
}

/// Part of a tensor, or the block of its elements.
pub(super) type Tile = Dims<TILE_DIMS>;

impl<const N: usize> Deref for Dims<N> {
    type Target = [Dim];

    fn deref(&self) -> &[Dim] {
        // SAFETY: the first `rank` are initialised: see `push` and `in_block`.
        unsafe { &*(core::ptr::from_ref(&self.list[..self.rank]) as *const [Dim]) }
    }
}

impl<const N: usize> Dims<N> {
    /// No dimensions yet.
    pub(super) const fn at(input: isize, output: isize, row: isize) -> Self {
        Self { list: [MaybeUninit::uninit(); N], rank: 0, input, output, row }
    }

    /// Adds a dimension around the others. Does nothing for a size of 1.
    ///
    /// # Panics
    /// If there are too many dimensions.
    #[inline(never)]
    pub(super) fn push(&mut self, dim: Dim) {
        if dim.size != 1 {
            self.list[self.rank].write(dim);
            self.rank += 1;
        }
    }

    pub(super) fn list_mut(&mut self) -> &mut [Dim] {
        // SAFETY: the first `rank` are initialised: see `push` and `in_block`.
        unsafe { &mut *(core::ptr::from_mut(&mut self.list[..self.rank]) as *mut [Dim]) }
    }

    /// Begins again without dimensions, at another place in input, output and rows.
    #[inline(always)]
    pub(super) fn restart(&mut self, input: isize, output: isize, row: isize) {
        (self.rank, self.input, self.output, self.row) = (0, input, output, row);
    }

    /// The number of coordinates. A broadcast element counts for each of its coordinates.
    pub(super) fn elements(&self) -> usize {
        self.iter().fold(1, |len, dim| len.saturating_mul(dim.size))
    }

    /// Sorts by a key, and keeps the order of equal keys. For few dimensions.
    #[inline(never)]
    pub(super) fn sort(&mut self, key: fn(&Dim) -> usize) {
        let dims = self.list_mut();
        for i in 1..dims.len() {
            let mut i = i;
            while i > 0 && key(&dims[i]) < key(&dims[i - 1]) {
                dims.swap(i, i - 1);
                i -= 1;
            }
        }
    }
}

impl Dims {
    /// Reverses the dimensions that run backwards through the input, so that coordinate 0 is at the
    /// lowest address. Does not reverse rows.
    pub(super) fn forwards(&mut self) {
        for i in 0..self.rank {
            let dim = self[i];
            if dim.input < 0 && dim.row == 0 {
                let last = dim.size as isize - 1;
                self.input += dim.input * last;
                self.output = self.output.wrapping_add(dim.output.wrapping_mul(last));
                self.list_mut()[i] = Dim { input: -dim.input, output: -dim.output, ..dim };
            }
        }
    }

    /// Merges neighbouring dimensions where the outer one continues where the inner one ends.
    #[inline(never)]
    pub(super) fn merge(&mut self) {
        let mut rank = 0usize;
        let list = self.list_mut();
        for i in 0..list.len() {
            let dim = list[i];
            if let Some(inner) = rank.checked_sub(1).map(|inner| &mut list[inner]) {
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
            list[rank] = dim;
            rank += 1;
        }
        self.rank = rank;
    }
}

impl Tile {
    /// Whether the elements are adjacent, none is broadcast, and their results are adjacent too, in
    /// the same order.
    pub(super) fn in_order(&self) -> bool {
        let mut here = 1;
        self.iter().all(|dim| {
            let goes_on = dim.input != 0 && dim.output == here;
            here *= dim.size as isize;
            goes_on
        })
    }

    /// The output of element number `i` in the order of the dimensions.
    pub(super) fn output_of(&self, i: usize) -> usize {
        self.output.wrapping_add(output_of(self, i)) as usize
    }

    /// The dimensions of the block that holds the elements in this order, once each. Inlined, since
    /// a tile is too large to be moved.
    #[inline(always)]
    pub(super) fn in_block(&self) -> Self {
        let (mut block, mut count) = (Self::at(0, self.output, self.row), 1);
        for (to, dim) in block.list.iter_mut().zip(&**self) {
            let (input, size) = if dim.input == 0 { (0, 1) } else { (count, dim.size as isize) };
            to.write(Dim { input, ..*dim });
            count *= size;
        }
        block.rank = self.rank;
        block
    }
}

/// The place in the output of coordinate number `i`, innermost dimension first. Not inlined: the
/// compiler would unroll the loop for the most dimensions of a tile.
#[inline(never)]
pub(super) fn output_of(dims: &[Dim], mut i: usize) -> isize {
    dims.iter().fold(0, |output: isize, dim| {
        let coordinate = (i % dim.size) as isize;
        i /= dim.size;
        output.wrapping_add(dim.output.wrapping_mul(coordinate))
    })
}

/// Calls `f` with the places in input and output of each coordinate of a dimension.
#[inline(always)]
pub(super) fn steps(dim: Dim, mut f: impl FnMut(isize, isize)) {
    // The compiler unrolls loops with a count that it can compute, which does not pay for few
    // rounds.
    let one = core::hint::black_box(1);
    let (mut input, mut output, mut left) = (0, 0, dim.size);
    while left != 0 {
        f(input, output);
        // Wraps, since the step after the last coordinate may pass the largest number.
        input = input.wrapping_add(dim.input);
        output = output.wrapping_add(dim.output);
        left -= one;
    }
}

/// Calls `f` with the places in input, output and row of each coordinate of all dimensions.
///
/// # Panics
/// If there are more than [`TILE_DIMS`] dimensions.
#[inline(never)]
pub(super) fn all_steps(dims: &[Dim], f: &mut dyn FnMut(isize, isize, isize)) {
    let mut at = [0; TILE_DIMS];
    assert!(dims.len() <= at.len(), "{} dimensions", dims.len());
    let (mut input, mut output, mut row) = (0isize, 0isize, 0);
    loop {
        f(input, output, row);
        let mut dims = dims.iter().zip(&mut at);
        loop {
            let Some((dim, at)) = dims.next() else { return };
            *at += 1;
            input = input.wrapping_add(dim.input);
            output = output.wrapping_add(dim.output);
            row += dim.row;
            if *at < dim.size {
                break;
            }
            *at = 0;
            input = input.wrapping_sub(dim.input.wrapping_mul(dim.size as isize));
            output = output.wrapping_sub(dim.output.wrapping_mul(dim.size as isize));
            row -= dim.row * dim.size as isize;
        }
    }
}
