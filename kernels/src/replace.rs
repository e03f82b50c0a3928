//! Replacing non-finite elements, by the bits alone: no floating-point instruction touches the data.

use crate::codes::{Codes, Values};
use crate::lane::Lane;
use crate::loops::replace::{Copying, InPlace};
use crate::path::{Path, Question};
use crate::rule::{Rule, Test};
use crate::scalar;

/// Replaces every element of `x` that is not finite, and returns how many there were. `nan` is the
/// rule for NaN; as in [`crate::census`] it decides whether there are infinities and where. `path`
/// is the active one if `None`. Bytes behind the last whole element stay.
///
/// # Panics
/// If `nan` is none of: a constant; [`Rule::greater`] as [`crate::census`] has it; [`Rule::equal`]
/// for elements of a byte; or, for wider ones, [`Rule::equal`] with `mask == bound` among the top
/// 15 bits below the sign. Also if it is for elements of another width.
#[inline]
pub fn replace<L: Lane>(path: Option<Path>, x: &mut [u8], nan: &Rule, values: Values) -> usize {
    assert!(nan.size() == L::SIZE, "a rule for elements of another width");
    let Some((test, codes)) = Codes::new(nan, values) else { return 0 };
    let whole = x.len() / L::SIZE * L::SIZE;
    L::replace(path, &mut x[..whole], &test, &codes)
}

/// As [`replace`], with the results in `out`, whose elements become a copy of those of `x` except
/// for what is replaced.
///
/// # Panics
/// If `out` is not as long as `x`, or as [`replace`] does; nothing is written then.
#[inline]
#[track_caller]
pub fn replace_into<L: Lane>(
    path: Option<Path>,
    x: &[u8],
    out: &mut [u8],
    nan: &Rule,
    values: Values,
) -> usize {
    let (elements, results) = (x.len() / L::SIZE, out.len() / L::SIZE);
    assert!(x.len() == out.len(), "{elements} elements, but an output for {results}");
    assert!(nan.size() == L::SIZE, "a rule for elements of another width");
    let Some((test, codes)) = Codes::new(nan, values) else {
        out.copy_from_slice(x);
        return 0;
    };
    let whole = elements * L::SIZE;
    out[whole..].copy_from_slice(&x[whole..]);
    L::replace_into(path, &x[..whole], &test, &mut out[..whole], &codes)
}

impl<const W: usize> Question for InPlace<W> {
    fn scalar(_: &[u8], test: &Test, (x, codes): (&mut [u8], &Codes)) -> usize {
        scalar::replace::<W>(x, test, codes)
    }
}

impl<const W: usize> Question for Copying<W> {
    fn scalar(x: &[u8], test: &Test, (out, codes): (&mut [u8], &Codes)) -> usize {
        out.copy_from_slice(x);
        scalar::replace::<W>(out, test, codes)
    }
}
