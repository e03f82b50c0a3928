//! Replacing non-finite elements, by the bits alone: no floating-point instruction touches the
//! data.

use crate::backend::{Backend, Question, Row};
use crate::codes::{Codes, Values};
use crate::lane::Lane;
use crate::line::elements;
use crate::loops::replace::InPlace;
use crate::rule::{Comparison, Rule};
use crate::scalar;

/// Replaces every NaN and infinity of `x`, and returns their number. `nan` is the rule for NaN. As
/// in [`crate::census`], it also determines the codes of the infinities. `None` means the active
/// backend. Bytes behind the last whole element keep their values.
///
/// # Panics
/// If `nan` is for elements of another width, or is none of these: a constant; [`Rule::greater`] as
/// in [`crate::census`]; [`Rule::equal`] for elements of one byte; or, for wider elements,
/// [`Rule::equal`] with `mask == bound` in the top 15 bits below the sign.
#[inline]
pub fn replace<L: Lane>(
    backend: Option<Backend>,
    x: &mut [u8],
    nan: &Rule,
    values: Values,
) -> usize {
    replace_by(L::REPLACE, L::SIZE, backend, x, nan, values)
}

/// [`replace`] for elements of `size` bytes. Not generic, so that it is compiled once.
#[inline(never)]
pub(crate) fn replace_by(
    row: &Row<InPlace<1>>,
    size: usize,
    backend: Option<Backend>,
    x: &mut [u8],
    nan: &Rule,
    values: Values,
) -> usize {
    assert!(nan.size() == size, "a rule for elements of another width");
    let Some((comparison, codes)) = Codes::new(nan, values) else { return 0 };
    let whole = elements(x.len(), size) * size;
    row.run(backend, &[], &comparison, (&mut x[..whole], &codes))
}

/// Like [`replace`], but writes to `out`: a copy of `x`, with NaN and infinities replaced.
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
    replace_into_by(L::REPLACE, L::SIZE, backend, x, out, nan, values)
}

/// [`replace_into`] for elements of `size` bytes.
#[inline(never)]
#[track_caller]
pub(crate) fn replace_into_by(
    row: &Row<InPlace<1>>,
    size: usize,
    backend: Option<Backend>,
    x: &[u8],
    out: &mut [u8],
    nan: &Rule,
    values: Values,
) -> usize {
    let (given, results) = (elements(x.len(), size), elements(out.len(), size));
    assert!(x.len() == out.len(), "{given} elements, but an output for {results}");
    assert!(nan.size() == size, "a rule for elements of another width");
    let codes = Codes::new(nan, values);
    let mut found = 0;
    for (x, out) in x.chunks(COPIED).zip(out.chunks_mut(COPIED)) {
        out.copy_from_slice(x);
        if let Some((comparison, codes)) = &codes {
            let whole = elements(out.len(), size) * size;
            found += row.run(backend, &[], comparison, (&mut out[..whole], codes));
        }
    }
    found
}

/// Bytes that are copied, and then searched while they are in the nearest cache.
const COPIED: usize = 8 << 10;

impl<const W: usize> Question for InPlace<W> {
    fn scalar(_: &[u8], comparison: &Comparison, (x, codes): (&mut [u8], &Codes)) -> usize {
        scalar::replace::<W>(x, comparison, codes)
    }
}
