//! Replacing NaN and infinities, by the bits alone: no floating-point instruction touches the data.
//!
//! What is before the first hit is only searched. After it, four lines without a hit are not
//! written.

use crate::backend::Backend;
use crate::dispatch::{SizeOf, Table, Width};
use crate::entry;
use crate::lines::{Four, GROUP, elements};
use crate::loops::{Codes, FOUR_LINES, Replace, Values};
use crate::rule::Rule;
use crate::tuning::COPIED;

/// The search and the loops for elements of one width.
pub(crate) type Search =
    (fn(Option<Backend>, &[u8], &Rule) -> Option<usize>, &'static Table<Replace>);

/// [`crate::typed::replace`] for elements whose width the rule says.
#[track_caller]
pub fn replace(backend: Option<Backend>, x: &mut [u8], nan: &Rule, values: Values) -> usize {
    let by: Search = (entry::position, SizeOf(nan.size()).table());
    replace_by(by, backend, x, &Codes::new(nan, values))
}

/// [`crate::typed::replace_into`] for elements whose width the rule says.
#[track_caller]
pub fn replace_into(
    backend: Option<Backend>,
    x: &[u8],
    out: &mut [u8],
    nan: &Rule,
    values: Values,
) -> usize {
    let by: Search = (entry::position, SizeOf(nan.size()).table());
    replace_into_by(by, backend, x, out, &Codes::new(nan, values))
}

#[inline(never)]
#[track_caller]
pub(crate) fn replace_into_by(
    by: Search,
    backend: Option<Backend>,
    x: &[u8],
    out: &mut [u8],
    codes: &Codes,
) -> usize {
    let size = codes.rule.size();
    let (given, results) = (elements(x.len(), size), elements(out.len(), size));
    assert!(x.len() == out.len(), "{given} elements, but an output for {results}");
    let mut found = 0;
    for (x, out) in x.chunks(COPIED).zip(out.chunks_mut(COPIED)) {
        out.copy_from_slice(x);
        found += replace_by(by, backend, out, codes);
    }
    found
}

#[inline(never)]
pub(crate) fn replace_by(
    (position, replace): Search,
    backend: Option<Backend>,
    x: &mut [u8],
    codes: &Codes,
) -> usize {
    let (backend, size) = (backend.unwrap_or_else(Backend::active), codes.rule.size());
    let whole = elements(x.len(), size) * size;
    let x = &mut x[..whole];
    let Some(first) = position(Some(backend), x, &codes.rule) else { return 0 };
    // From the group of 1 KiB that has the first hit.
    let x = &mut x[first * size / GROUP * GROUP..];
    let zeros = x.len().next_multiple_of(FOUR_LINES) - x.len();
    let replace = replace.pick(Some(backend));
    let found = by_fours(x, |lines| replace.run(lines, codes, ()));
    // The zeros after the last element were counted too, if they are hits.
    if codes.rule.holds(0) { found - elements(zeros, size) } else { found }
}

/// Changes four lines at a time in place. The last bytes are copied to four lines, filled up with
/// zeros, and copied back if they have changed. Returns the sum of what `change` returns.
pub(crate) fn by_fours(x: &mut [u8], mut change: impl FnMut(&mut [Four]) -> usize) -> usize {
    let (fours, few) = x.split_at_mut(x.len() & !(FOUR_LINES - 1));
    let mut sum = change(fours.as_chunks_mut().0.as_chunks_mut().0);
    if !few.is_empty() {
        let mut last = [[[0; 64]; 4]];
        last.as_flattened_mut().as_flattened_mut()[..few.len()].copy_from_slice(few);
        sum += change(&mut last);
        let last = &last.as_flattened().as_flattened()[..few.len()];
        if last != few {
            few.copy_from_slice(last);
        }
    }
    sum
}
