//! The one description of a strided tensor: tests, guard pages and fuzz targets share it.

use nonfinite::{Elements, Error, MaskView, TensorView};

/// Sizes and strides, outermost dimension first, and the place of coordinate 0. All count elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// The number of coordinates of each dimension.
    pub sizes: Vec<usize>,
    /// The distance between neighbours along each dimension.
    pub strides: Vec<isize>,
    /// The place of coordinate 0.
    pub offset: isize,
}

impl Layout {
    /// The layout with the least offset for these strides. Its first place is 0.
    #[must_use]
    pub fn new(sizes: &[usize], strides: &[isize]) -> Self {
        let mut layout = Self { sizes: sizes.to_vec(), strides: strides.to_vec(), offset: 0 };
        layout.offset = layout.reach().0.unsigned_abs() as isize;
        layout
    }

    /// Row-major, without gaps.
    #[must_use]
    pub fn dense(sizes: &[usize]) -> Self {
        let order: Vec<usize> = (0..sizes.len()).rev().collect();
        Self::permuted(sizes, &order, |_| false, |_| 0)
    }

    /// Dense in this order of the dimensions, innermost first. Some dimensions run backwards, and
    /// behind each run of a dimension lies some padding.
    #[must_use]
    pub fn permuted(
        sizes: &[usize],
        order: &[usize],
        backwards: impl Fn(usize) -> bool,
        padding: impl Fn(usize) -> usize,
    ) -> Self {
        let (mut strides, mut stride) = (vec![0; sizes.len()], 1isize);
        for &dimension in order {
            strides[dimension] = if backwards(dimension) { stride.wrapping_neg() } else { stride };
            stride = stride.wrapping_mul(sizes[dimension].max(1) as isize);
            stride = stride.wrapping_add(padding(dimension) as isize);
        }
        Self::new(sizes, &strides)
    }

    /// Sizes of any rank up to `rank`, mostly with at most `most` elements. `pick(n)` picks a
    /// number below `n`.
    pub fn any_sizes(rank: usize, most: usize, pick: &mut dyn FnMut(usize) -> usize) -> Vec<usize> {
        let mut room = most;
        let mut sizes = Vec::new();
        for _ in 0..pick(rank + 1) {
            let limit = [room, 1, 70, 70, 70, 5, 5, 5][pick(8)];
            let size = 1 + pick(limit.min(room));
            room /= size;
            sizes.push(match pick(100) {
                0 => 0,
                1 => usize::MAX / (1 + pick(9)),
                _ => size,
            });
        }
        sizes
    }

    /// Any layout of these sizes: dense in any order with reversals and padding, or with broadcast
    /// dimensions, or with any strides, which overlap or lead far away.
    pub fn any(sizes: &[usize], pick: &mut dyn FnMut(usize) -> usize) -> Self {
        let rank = sizes.len();
        let mut order: Vec<usize> = (0..rank).collect();
        (1..rank).for_each(|i| order.swap(i, pick(i + 1)));
        let often = pick(3);
        let backwards: Vec<bool> = (0..rank).map(|_| pick(6) < often).collect();
        let padding: Vec<usize> =
            (0..rank).map(|_| if pick(4) < often { pick(5) } else { 0 }).collect();
        let mut layout = Self::permuted(sizes, &order, |i| backwards[i], |i| padding[i]);
        match pick(5) {
            0 => layout.strides.iter_mut().for_each(|stride| *stride *= pick(3).min(1) as isize),
            1 => layout.strides.fill_with(|| pick(23) as isize - 11),
            _ => {}
        }
        // The stride of a dimension of size 1 has no meaning.
        for (stride, &size) in layout.strides.iter_mut().zip(sizes) {
            if size == 1 || pick(200) == 0 {
                *stride = pick(usize::MAX).cast_signed();
            }
        }
        Self::new(sizes, &layout.strides)
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> u128 {
        let product = |all: u128, &size| all.saturating_mul(size as u128);
        if self.is_empty() { 0 } else { self.sizes.iter().fold(1, product) }
    }

    /// Whether there is no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sizes.contains(&0)
    }

    /// The lowest and the highest place. As far as they can be told, if there are no elements.
    #[must_use]
    pub fn reach(&self) -> (i128, i128) {
        let (mut first, mut last) = (self.offset as i128, self.offset as i128);
        for (&size, &stride) in self.sizes.iter().zip(&self.strides) {
            let reach = (size.saturating_sub(1) as i128).saturating_mul(stride as i128);
            first = first.saturating_add(reach.min(0));
            last = last.saturating_add(reach.max(0));
        }
        (first, last)
    }

    /// The elements of the memory that the layout needs.
    #[must_use]
    pub fn memory(&self) -> usize {
        if self.is_empty() { 0 } else { self.reach().1 as usize + 1 }
    }

    /// The places of all coordinates, in row-major order.
    #[must_use]
    pub fn places(&self) -> Vec<i128> {
        if self.is_empty() {
            return Vec::new();
        }
        let mut places = vec![self.offset as i128];
        for (&size, &stride) in self.sizes.iter().zip(&self.strides) {
            let steps = |at: i128| (0..size as i128).map(move |i| at + i * stride as i128);
            places = places.into_iter().flat_map(steps).collect();
        }
        places
    }

    /// The elements, of `size` bytes each, in row-major order. None if one is not in `memory`.
    #[must_use]
    pub fn gather(&self, memory: &[u8], size: usize) -> Option<Vec<u8>> {
        let mut gathered = Vec::with_capacity(self.len() as usize * size);
        for place in self.places() {
            let start = usize::try_from(place).ok()?.checked_mul(size)?;
            gathered.extend_from_slice(memory.get(start..start + size)?);
        }
        Some(gathered)
    }

    /// The view of elements with this layout.
    ///
    /// # Errors
    /// As [`TensorView::strided`].
    pub fn view<'a>(&'a self, x: Elements<'a>) -> Result<TensorView<'a>, Error> {
        let (offset, sizes, strides) = (self.offset.cast_unsigned(), &self.sizes, &self.strides);
        TensorView::strided(x, offset, sizes, strides)
    }

    /// The output with this layout.
    ///
    /// # Errors
    /// As [`MaskView::strided`].
    pub fn output<'a>(&'a self, out: &'a mut [u8]) -> Result<MaskView<'a>, Error> {
        let (offset, sizes, strides) = (self.offset.cast_unsigned(), &self.sizes, &self.strides);
        Ok(MaskView::strided(out, offset, sizes, strides)?)
    }
}
