//! Statistics of the numbers of a tensor.

use core::fmt;

use nonfinite_kernels as kernels;

use crate::{Census, Format};

/// The minimum, the maximum, or the maximum magnitude of a tensor.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Extreme {
    /// The bits of the number in the format of the tensor, without the bits that the format does
    /// not use.
    pub bits: u64,
    /// The number, exactly.
    pub value: f64,
    /// The index of the first element with this value, row-major or along a row. -0 equals +0.
    pub index: usize,
}

impl Extreme {
    /// A signed integer in the order of values. An integer, because a floating-point comparison
    /// would take subnormal numbers for zero in a flush-to-zero mode.
    fn key(&self) -> i64 {
        let bits = self.value.to_bits().cast_signed();
        let magnitude = bits & i64::MAX;
        if bits < 0 { -magnitude } else { magnitude }
    }

    /// The extreme with the larger key, or the first one if the keys are equal.
    fn best(a: Option<Self>, b: Option<Self>, key: fn(&Self) -> i64) -> Option<Self> {
        let (Some(a), Some(b)) = (a, b) else { return a.or(b) };
        let b_is_better = (key(&b), a.index) > (key(&a), b.index);
        Some(if b_is_better { b } else { a })
    }
}

/// What the numbers of a tensor are: [`crate::TensorView::stats`].
///
/// Every element is one of `census` (NaN, +Inf, -Inf), `zeros`, `subnormals` and `normals`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// NaN, +Inf and -Inf.
    pub census: Census,
    /// The minimum of the finite elements. `None` if no element is finite.
    pub min: Option<Extreme>,
    /// The maximum of the finite elements. `None` if no element is finite.
    pub max: Option<Extreme>,
    /// The maximum magnitude (absolute value) of the finite elements, with the index of the first
    /// element of this magnitude. Bits and value have no sign. `None` if no element is finite.
    pub max_abs: Option<Extreme>,
    /// How many elements are zero, of either sign.
    pub zeros: usize,
    /// How many elements are subnormal: not zero, and nearer to it than every normal number (IEEE
    /// 754-2019, section 2.1).
    pub subnormals: usize,
    /// How many elements are normal numbers.
    pub normals: usize,
}

impl Stats {
    #[inline(never)]
    pub(crate) fn new(stats: kernels::Stats, format: Format) -> Self {
        let sign = format.sign();
        let extreme = |(bits, index)| Extreme { bits, value: format.to_f64(bits), index };
        let (min, max) = (stats.lowest.map(extreme), stats.highest.map(extreme));
        let max_abs = Extreme::best(min, max, |x| x.key().abs());
        let max_abs = max_abs.map(|x| extreme((x.bits & !sign, x.index)));
        let kernels::Stats { census, zeros, subnormals, normals, .. } = stats;
        Self { census, min, max, max_abs, zeros, subnormals, normals }
    }

    /// How many elements are finite.
    #[must_use]
    pub fn finite(&self) -> usize {
        self.zeros + self.subnormals + self.normals
    }

    /// Adds `elements` to each index: for a part that begins at element `elements` of a tensor.
    #[must_use]
    #[inline(never)]
    pub fn behind(self, elements: usize) -> Self {
        let [min, max, max_abs] = [self.min, self.max, self.max_abs]
            .map(|x| x.map(|x| Extreme { index: x.index + elements, ..x }));
        Self { census: self.census.behind(elements), min, max, max_abs, ..self }
    }

    /// Adds the statistics of another part of the same tensor. Indices of both parts count from the
    /// start of the tensor: see [`Stats::behind`]. Parts may be joined in any order and grouping.
    ///
    /// ```
    /// let x = [3.0f32, -0.5, f32::INFINITY, -7.0, 0.0];
    /// let (first, second) = (nonfinite::stats(&x[..2]), nonfinite::stats(&x[2..]));
    /// assert_eq!(first.join(second.behind(2)), nonfinite::stats(&x));
    /// assert_eq!(second.behind(2).join(first), nonfinite::stats(&x));
    /// ```
    #[must_use]
    #[inline(never)]
    pub fn join(self, other: Self) -> Self {
        let best = Extreme::best;
        Self {
            census: self.census.join(other.census),
            min: best(self.min, other.min, |x| -x.key()),
            max: best(self.max, other.max, Extreme::key),
            max_abs: best(self.max_abs, other.max_abs, Extreme::key),
            zeros: self.zeros + other.zeros,
            subnormals: self.subnormals + other.subnormals,
            normals: self.normals + other.normals,
        }
    }
}

/// Such as `1 NaN, 0 +Inf, 0 -Inf, 1 zero, 0 subnormal, 2 normal, from -3.0 to 1.0`.
impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { census, zeros, subnormals, normals, .. } = self;
        write!(f, "{census}, {zeros} zero, {subnormals} subnormal, {normals} normal")?;
        let (Some(min), Some(max)) = (self.min, self.max) else { return Ok(()) };
        write!(f, ", from {:?} to {:?}", min.value, max.value)
    }
}
