//! A strided tensor, and the output of its mask.

use arbitrary::{Arbitrary, Result, Unstructured};
use nonfinite::{Format, Predicate};

/// A strided tensor, and the output of its mask.
#[derive(Debug)]
pub struct Strided {
    /// The format of the elements.
    pub format: Format,
    /// The predicate.
    pub predicate: Predicate,
    /// The layout of the elements in `memory`.
    pub input: Layout,
    /// The layout of the results, mostly with the same sizes.
    pub output: Layout,
    /// Whole elements.
    pub memory: Vec<u8>,
}

/// Sizes and strides of any kind. Most of them name elements.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The element of coordinate 0.
    pub offset: usize,
    /// The sizes.
    pub sizes: Vec<usize>,
    /// The strides in elements.
    pub strides: Vec<isize>,
}

/// The most elements for a nested loop.
const MOST: usize = 2000;

impl Layout {
    /// The elements of all coordinates in row-major order, by a nested loop. None if there are too
    /// many.
    #[must_use]
    pub fn named(&self) -> Option<Vec<i128>> {
        let product = self.sizes.iter().try_fold(1usize, |all, &size| all.checked_mul(size));
        if self.sizes.contains(&0) {
            return Some(Vec::new());
        }
        if product.is_none_or(|product| product > MOST) {
            return None;
        }
        let mut named = vec![self.offset as i128];
        for (&size, &stride) in self.sizes.iter().zip(&self.strides) {
            let steps = |at: i128| (0..size as i128).map(move |i| at + i * stride as i128);
            named = named.into_iter().flat_map(steps).collect();
        }
        Some(named)
    }

    fn sizes(u: &mut Unstructured<'_>) -> Result<Vec<usize>> {
        let rank = u.int_in_range(0..=6)?;
        let mut left = MOST;
        let mut size = || {
            let size = match u.arbitrary::<u8>()? {
                255 => return u.arbitrary(),
                kind @ 240..=254 => usize::from(kind) * 7 % 400,
                kind => usize::from(kind % 7),
            };
            // Mostly few enough to walk.
            let size = size.min(left);
            left /= size.max(1);
            Ok(size)
        };
        (0..rank).map(|_| size()).collect()
    }

    /// A layout of these sizes: dense in an order of dimensions of its own, with padding and
    /// reversals; or any strides.
    fn of(sizes: Vec<usize>, u: &mut Unstructured<'_>) -> Result<Self> {
        let mut strides = vec![0isize; sizes.len()];
        let any = u.ratio(1, 4)?;
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        for i in 0..order.len() {
            let j = u.int_in_range(i..=order.len() - 1)?;
            order.swap(i, j);
        }
        let (mut step, mut lowest) = (1isize, 0isize);
        for i in order {
            let choice = u.arbitrary::<u8>()?;
            strides[i] = match choice {
                _ if any && choice == 255 => u.arbitrary()?,
                _ if any => isize::from(choice as i8 % 40),
                _ if choice % 4 == 0 => step.wrapping_neg(),
                _ => step,
            };
            let reach = strides[i].wrapping_mul(sizes[i].saturating_sub(1) as isize);
            lowest = lowest.wrapping_add(reach.min(0));
            // Padding behind each row of a few dimensions.
            let padding = if choice >= 200 { isize::from(choice % 5) } else { 0 };
            step = step.wrapping_mul(sizes[i].max(1) as isize).wrapping_add(padding);
        }
        let slack = if u.ratio(1, 8)? { u.arbitrary::<u8>()?.into() } else { 0 };
        let offset = lowest.unsigned_abs().wrapping_add(slack);
        Ok(Self { offset, sizes, strides })
    }
}

impl<'a> Arbitrary<'a> for Strided {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let (format, predicate) = (*u.choose(Format::ALL)?, *u.choose(Predicate::ALL)?);
        let sizes = Layout::sizes(u)?;
        let output_sizes = if u.ratio(1, 16)? { Layout::sizes(u)? } else { sizes.clone() };
        let input = Layout::of(sizes, u)?;
        let output = Layout::of(output_sizes, u)?;
        let short = if u.ratio(1, 8)? { usize::from(u.arbitrary::<u8>()?) } else { 0 };
        // As many elements as the input reaches, or some fewer.
        let last = input.named().and_then(|named| named.into_iter().max()).unwrap_or(-1);
        let elements = usize::try_from(last + 1).unwrap_or(0).min(1 << 14).saturating_sub(short);
        let pattern = u.bytes(u.len())?;
        let mut memory: Vec<u8> =
            pattern.iter().copied().cycle().take(elements * format.size_in_bytes()).collect();
        memory.resize(elements * format.size_in_bytes(), 0);
        Ok(Self { format, predicate, input, output, memory })
    }
}
