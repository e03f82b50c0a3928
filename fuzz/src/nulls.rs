//! Elements of which some are null.

use arbitrary::{Arbitrary, Result, Unstructured};

use crate::Tensor;

/// Validity, and a question about a tensor.
///
/// `seeds.py` writes these in the bytes that [`Arbitrary`] takes them from: the bit of the first
/// element, how often each byte of the pattern stands in the bitmap less one, eight bytes of the
/// pattern, then a [`Tensor`].
#[derive(Debug)]
pub struct Nulls {
    /// Whether each element is valid.
    pub valid: Vec<bool>,
    /// The bit of the first element in the bitmap.
    pub offset: usize,
    /// The elements and the predicate.
    pub tensor: Tensor,
}

impl<'a> Arbitrary<'a> for Nulls {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let offset = usize::from(u.arbitrary::<u8>()?);
        // Repeated, so that there are long runs.
        let repeats = 8 * (usize::from(u.arbitrary::<u8>()?) + 1);
        let pattern: [u8; 8] = u.arbitrary()?;
        let tensor = Tensor::arbitrary(u)?;
        let valid = |i: usize| pattern[i / repeats % 8] >> (i % 8) & 1 == 1;
        let valid = (0..tensor.elements().len()).map(valid).collect();
        Ok(Self { valid, offset, tensor })
    }
}
