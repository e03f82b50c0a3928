//! A strided tensor, its nulls, and the output of its mask.

use arbitrary::{Arbitrary, Result, Unstructured};
use nonfinite::{Format, Predicate};
use nonfinite_oracle::Layout;

/// A strided tensor, its nulls, and the output of its mask.
///
/// `seeds.py` writes these in the bytes that [`Arbitrary`] takes them from: format, predicate, the
/// bit of the first element in the bitmap, how often each byte of the pattern stands there less
/// one, eight bytes of the pattern; then layouts and elements.
#[derive(Debug)]
pub struct Strided {
    /// The format of the elements.
    pub format: Format,
    /// The predicate.
    pub predicate: Predicate,
    /// The layout of the elements in `memory`.
    pub from: Layout,
    /// The layout of a mask, mostly with the same sizes.
    pub to: Layout,
    /// Whole elements.
    pub memory: Vec<u8>,
    /// The bit of the first element in the bitmap.
    pub offset: usize,
    pattern: [u8; 8],
    repeats: usize,
}

impl Strided {
    /// The most elements for a nested loop: longer than a group of any backend.
    pub const MOST: usize = 5000;

    /// Whether an element is no null. The pattern is repeated, so that there are long runs.
    #[must_use]
    pub fn is_valid(&self, i: usize) -> bool {
        self.pattern[i / self.repeats % 8] >> (i % 8) & 1 == 1
    }
}

impl<'a> Arbitrary<'a> for Strided {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let (format, predicate) = (*u.choose(Format::ALL)?, *u.choose(Predicate::ALL)?);
        let [offset, repeats]: [u8; 2] = u.arbitrary()?;
        let pattern = u.arbitrary()?;
        let mut pick = |n: usize| u.int_in_range(0..=n - 1).unwrap_or(0);
        // Each row is a call of some questions, so most tensors are small.
        let most = if pick(4) == 3 { Self::MOST } else { 300 };
        let sizes = Layout::any_sizes(6, most, &mut pick);
        let mut from = Layout::any(&sizes, &mut pick);
        let mut to = Layout::any(&sizes, &mut pick);
        if pick(16) == 15 {
            to = Layout::any(&Layout::any_sizes(6, most, &mut pick), &mut pick);
        }
        if pick(8) == 7 {
            from.offset = from.offset.wrapping_add(pick(256) as isize - 99);
        }
        // As many elements as the input reaches, or some fewer.
        let short = if pick(8) == 7 { pick(256) } else { 0 };
        let reach = usize::try_from(from.reach().1 + 1).unwrap_or(0).min(1 << 14);
        let bytes = reach.saturating_sub(short) * format.size_in_bytes();
        let seed = u.bytes(u.len())?;
        let mut memory: Vec<u8> = seed.iter().copied().cycle().take(bytes).collect();
        memory.resize(bytes, 0);
        let (offset, repeats) = (offset.into(), 8 * (usize::from(repeats) + 1));
        Ok(Self { format, predicate, from, to, memory, offset, pattern, repeats })
    }
}
