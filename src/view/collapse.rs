//! Fewer, larger dimensions that name the same elements.

use nonfinite_kernels::strided::{Dim, Grid};

use super::layout::{Layout, MOST};

/// Dimensions, innermost first, none of size 1, and where coordinate 0 is.
pub(super) struct Dims {
    dims: [Dim; MOST],
    rank: usize,
    input: usize,
    output: usize,
}

impl Dims {
    /// For a mask: in the order of the output, whatever the order of the coordinates. Both layouts have the same sizes
    /// and at least one element.
    pub(super) fn of_mask(input: &Layout<'_>, output: &Layout<'_>) -> Self {
        let mut dims = Self::at(input.offset(), output.offset());
        for ((size, input, _), (_, output, _)) in input.dimensions().zip(output.dimensions()) {
            dims.push(Dim { size, input, output });
        }
        dims.turn_where(|dim| dim.output < 0);
        dims.dims[..dims.rank].sort_unstable_by_key(|dim| dim.output);
        dims.merge();
        dims
    }

    /// For a mask into a contiguous output, or bits: in row-major order of the coordinates.
    pub(super) fn row_major(input: &Layout<'_>) -> Self {
        let mut dims = Self::at(input.offset(), 0);
        for (size, input, output) in input.dimensions() {
            dims.push(Dim { size, input, output });
        }
        dims.merge();
        dims
    }

    /// For the first hit: in row-major order of the coordinates, `output` is the row-major index. Of a broadcast
    /// dimension only its first coordinate is there: where one has a hit, it has one.
    pub(super) fn of_search(input: &Layout<'_>) -> Self {
        let mut dims = Self::at(input.offset(), 0);
        for (size, input, output) in input.dimensions() {
            if input != 0 {
                dims.push(Dim { size, input, output });
            }
        }
        dims.merge();
        dims
    }

    /// For questions to which order means nothing: in the order of memory. Each element stands for as many as
    /// the second value tells.
    pub(super) fn of_count(input: &Layout<'_>) -> (Self, usize) {
        let mut dims = Self::at(input.offset(), 0);
        let mut repeats = 1;
        for (size, input, _) in input.dimensions() {
            match input {
                0 => repeats *= size,
                _ => dims.push(Dim { size, input, output: 0 }),
            }
        }
        dims.turn_where(|dim| dim.input < 0);
        dims.dims[..dims.rank].sort_unstable_by_key(|dim| dim.input);
        dims.merge();
        (dims, repeats)
    }

    /// For one answer a row: the last dimension of the layout, or one of one element if there is none, as it is, and behind it
    /// the others in row-major order. A row that repeats one element is cut down to it; the second value is how often it stands
    /// there.
    pub(super) fn of_rows(input: &Layout<'_>) -> (Self, usize) {
        let mut dims = Self::at(input.offset(), 0);
        let mut dimensions = input.dimensions().map(|(size, input, _)| Dim { size, input, output: 0 });
        let mut row = dimensions.next().unwrap_or(Dim { size: 1, input: 1, output: 0 });
        let mut repeats = 1;
        if row.input == 0 {
            repeats = core::mem::replace(&mut row.size, 1);
        }
        dims.dims[0] = row;
        dims.rank = 1;
        dimensions.for_each(|dim| dims.push(dim));
        dims.merge_from(1);
        (dims, repeats)
    }

    /// As the kernels have it.
    pub(super) fn grid(&self) -> Grid<'_> {
        Grid { input: self.input, output: self.output, dims: &self.dims[..self.rank] }
    }

    fn at(input: usize, output: usize) -> Self {
        Self { dims: [Dim::default(); MOST], rank: 0, input, output }
    }

    fn push(&mut self, dim: Dim) {
        if dim.size > 1 {
            self.dims[self.rank] = dim;
            self.rank += 1;
        }
    }

    /// Turns some dimensions around.
    fn turn_where(&mut self, backwards: impl Fn(&Dim) -> bool) {
        for dim in &mut self.dims[..self.rank] {
            if backwards(dim) {
                // The last element of the dimension exists, so its offset is a valid one.
                let last = dim.size as isize - 1;
                self.input = self.input.wrapping_add_signed(dim.input * last);
                self.output = self.output.wrapping_add_signed(dim.output * last);
                (dim.input, dim.output) = (-dim.input, -dim.output);
            }
        }
    }

    /// Makes one dimension of two where the outer one goes on where the inner one ends.
    fn merge(&mut self) {
        self.merge_from(0);
    }

    /// [`Dims::merge`] for the dimensions from this one on.
    fn merge_from(&mut self, innermost: usize) {
        let mut rank = innermost;
        for i in innermost..self.rank {
            let dim = self.dims[i];
            if rank > innermost {
                let inner = &mut self.dims[rank - 1];
                let size = inner.size as isize;
                if size.checked_mul(inner.input) == Some(dim.input)
                    && size.checked_mul(inner.output) == Some(dim.output)
                {
                    inner.size *= dim.size;
                    continue;
                }
            }
            self.dims[rank] = dim;
            rank += 1;
        }
        self.rank = rank;
    }
}
