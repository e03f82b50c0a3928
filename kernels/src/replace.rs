//! Replacing non-finite elements, by the bits alone: no floating-point instruction touches the
//! data.

use crate::backend::{Backend, Question};
use crate::codes::{Codes, Values};
use crate::lane::Lane;
use crate::loops::replace::{Copying, InPlace};
use crate::rule::{Comparison, Rule};
use crate::scalar;

/// Replaces every element of `x` that is not finite, and returns how many there were. `nan` is the
/// rule for NaN; as in [`crate::census`] it decides whether there are infinities and where.
/// `backend` is the active one if `None`. Bytes behind the last whole element stay.
///
/// # Panics
/// If `nan` is none of: a constant; [`Rule::greater`] as [`crate::census`] has it; [`Rule::equal`]
/// for elements of a byte; or, for wider ones, [`Rule::equal`] with `mask == bound` among the top
/// 15 bits below the sign. Also if it is for elements of another width.
#[inline]
pub fn replace<L: Lane>(
    backend: Option<Backend>,
    x: &mut [u8],
    nan: &Rule,
    values: Values,
) -> usize {
    assert!(nan.size() == L::SIZE, "a rule for elements of another width");
    let Some((comparison, codes)) = Codes::new(nan, values) else { return 0 };
    let whole = x.len() / L::SIZE * L::SIZE;
    L::replace(backend, &mut x[..whole], &comparison, &codes)
}

/// As [`replace`], with the results in `out`, whose elements become a copy of those of `x` except
/// for what is replaced.
///
/// # Panics
/// If `out` is not as long as `x`, or as [`replace`] does; nothing is written then.
#[inline]
#[track_caller]
pub fn replace_into<L: Lane>(
    backend: Option<Backend>,
    x: &[u8],
    out: &mut [u8],
    nan: &Rule,
    values: Values,
) -> usize {
    let (elements, results) = (x.len() / L::SIZE, out.len() / L::SIZE);
    assert!(x.len() == out.len(), "{elements} elements, but an output for {results}");
    assert!(nan.size() == L::SIZE, "a rule for elements of another width");
    let Some((comparison, codes)) = Codes::new(nan, values) else {
        out.copy_from_slice(x);
        return 0;
    };
    let whole = elements * L::SIZE;
    out[whole..].copy_from_slice(&x[whole..]);
    L::replace_into(backend, &x[..whole], &comparison, &mut out[..whole], &codes)
}

impl<const W: usize> Question for InPlace<W> {
    fn scalar(_: &[u8], comparison: &Comparison, (x, codes): (&mut [u8], &Codes)) -> usize {
        scalar::replace::<W>(x, comparison, codes)
    }
}

impl<const W: usize> Question for Copying<W> {
    fn scalar(x: &[u8], comparison: &Comparison, (out, codes): (&mut [u8], &Codes)) -> usize {
        out.copy_from_slice(x);
        scalar::replace::<W>(out, comparison, codes)
    }
}
