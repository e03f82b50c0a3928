//! A block of patterns, and the comparison of every answer of a backend with the oracle.

use nonfinite::{Backend, Format, Predicate, TensorView};
use nonfinite_oracle::{self as oracle, Asked, Expected, Framed};

use crate::patterns::Patterns;

/// Patterns that are checked at a time: their bytes and all answers stay in the second cache.
pub const LEN: usize = 1 << 13;

/// The predicates of a sweep: all that depend on the elements.
const PREDICATES: [Predicate; 7] = [
    Predicate::Nan,
    Predicate::Inf,
    Predicate::PositiveInf,
    Predicate::NegativeInf,
    Predicate::Finite,
    Predicate::NonFinite,
    Predicate::NanOrPositiveInf,
];

/// The thresholds that are swept: the largest numbers of f16, bf16 and E4M3, a subnormal number,
/// and numbers that f32 does not have.
const THRESHOLDS: [f64; 7] = [0.0, 1e-40, 0.1, 448.0, 65504.0, 3.389_531_389_251_535_5e38, 1e300];

/// Patterns with consecutive numbers, and the right answers for them.
pub struct Block {
    format: Format,
    bytes: Vec<u8>,
    expected: Expected,
    outputs: Framed,
}

impl Block {
    /// The patterns from number `first` on, `step` numbers apart. The first pattern follows the
    /// last.
    #[must_use]
    pub fn new(patterns: impl Patterns, first: u64, step: u64) -> Self {
        let (format, mut bytes) = (patterns.format(), Vec::with_capacity(8 * LEN));
        for i in 0..LEN as u64 {
            oracle::write(format, patterns.get((first + i * step) % patterns.len()), &mut bytes);
        }
        let asked = PREDICATES.map(Asked::Is).into_iter().chain(THRESHOLDS.map(Asked::Above));
        let expected = Expected::new(format, &bytes).asking(&asked.collect::<Vec<_>>());
        // Each hit is searched for by itself, behind the one before.
        let expected = expected.with_all_positions();
        Self { format, bytes, expected, outputs: Framed::default() }
    }

    /// Replaces the bytes of one element and keeps the right answers, to test the test.
    pub fn replace(&mut self, index: usize, element: &[u8]) {
        self.bytes[index * element.len()..][..element.len()].copy_from_slice(element);
    }

    /// Asks a backend every question about these patterns.
    ///
    /// # Errors
    /// The first answer that is wrong.
    ///
    /// # Panics
    /// Never: the elements are whole.
    pub fn check(&mut self, backend: Backend) -> Result<(), String> {
        let view = TensorView::from_bytes(&self.bytes, self.format).expect("whole elements");
        oracle::check(&view.with_backend(backend), &self.expected, &mut self.outputs)
    }
}
