//! From line to line.

use super::{Dim, Grid};

/// Where a walk through the coordinates of some dimensions is.
pub(super) struct Walk<'a> {
    /// In elements of the input. Sums wrap around: whoever uses them checks them against a slice.
    pub(super) input: usize,
    /// Likewise in the output.
    pub(super) output: usize,
    dims: &'a [Dim],
    at: [usize; Grid::MOST],
}

impl<'a> Walk<'a> {
    /// Through all dimensions but the innermost, none of which may be empty.
    pub(super) fn lines(grid: Grid<'a>) -> Self {
        let dims = grid.dims.get(1..).unwrap_or(&[]);
        Self::new(Grid { dims, ..grid })
    }

    /// Through all dimensions, none of which may be empty.
    ///
    /// # Panics
    /// If they are too many.
    pub(super) fn new(grid: Grid<'a>) -> Self {
        assert!(grid.dims.len() <= Grid::MOST, "a grid of more than {} dimensions", Grid::MOST);
        Self { input: grid.input, output: grid.output, dims: grid.dims, at: [0; Grid::MOST] }
    }

    /// Goes on; false at the end.
    #[inline(always)]
    pub(super) fn next(&mut self) -> bool {
        // Most often the first dimension goes on.
        if let (Some(dim), at) = (self.dims.first(), &mut self.at[0]) {
            *at += 1;
            if *at < dim.size {
                self.input = self.input.wrapping_add_signed(dim.input);
                self.output = self.output.wrapping_add_signed(dim.output);
                return true;
            }
        }
        self.carry()
    }

    #[inline(never)]
    fn carry(&mut self) -> bool {
        // The first dimension has been counted, but not gone.
        for (i, (dim, at)) in self.dims.iter().zip(&mut self.at).enumerate() {
            *at += usize::from(i > 0);
            if *at < dim.size {
                self.input = self.input.wrapping_add_signed(dim.input);
                self.output = self.output.wrapping_add_signed(dim.output);
                return true;
            }
            *at = 0;
            let back = (dim.size - 1) as isize;
            self.input = self.input.wrapping_add_signed(dim.input.wrapping_mul(back).wrapping_neg());
            self.output = self.output.wrapping_add_signed(dim.output.wrapping_mul(back).wrapping_neg());
        }
        false
    }
}
