//! The comparison with the oracle of answers under a validity bitmap.

use std::fmt::Debug;

use nonfinite::{Backend, Census, Elements, Predicate, TensorView, ValidView};

use crate::check::CANARY;
use crate::kind::{Kind, holds, read};
use crate::stats::{Summary, summary_of_valid};

/// Elements, some of them null.
#[derive(Clone, Copy)]
pub struct Nullable<'a> {
    /// The elements, null and valid.
    pub elements: Elements<'a>,
    /// One bit for each, least significant first: 1 for a valid element.
    pub bitmap: &'a [u8],
    /// The bit of the first element.
    pub offset: usize,
}

/// What answers under a bitmap as a backend does.
pub trait NullSubject {
    /// For messages.
    fn name(&self) -> &str;
    /// One bit for each element, 0 for a null, from bit `offset` on; the others stay.
    fn bits(&self, x: Nullable<'_>, predicate: Predicate, out: &mut [u8], offset: usize);
    /// Whether the predicate holds for a valid element.
    fn any(&self, x: Nullable<'_>, predicate: Predicate) -> bool;
    /// Whether it holds for all valid elements.
    fn all(&self, x: Nullable<'_>, predicate: Predicate) -> bool;
    /// For how many valid elements it holds.
    fn count(&self, x: Nullable<'_>, predicate: Predicate) -> usize;
    /// The index, among all elements, of the first valid one for which it holds.
    fn position(&self, x: Nullable<'_>, predicate: Predicate) -> Option<usize>;
    /// The indices of all of them.
    fn positions(&self, x: Nullable<'_>, predicate: Predicate) -> Vec<usize>;
    /// NaN, +Inf and -Inf among the valid elements: how many, and the first.
    fn census(&self, x: Nullable<'_>) -> Census;
    /// How many elements are valid.
    fn valid_count(&self, x: Nullable<'_>) -> usize;
}

fn view(backend: Backend, x: Nullable<'_>) -> ValidView<'_> {
    TensorView::from(x.elements).on(backend).with_validity(x.bitmap, x.offset).unwrap()
}

impl NullSubject for Backend {
    fn name(&self) -> &str {
        (*self).name()
    }
    fn bits(&self, x: Nullable<'_>, predicate: Predicate, out: &mut [u8], offset: usize) {
        view(*self, x).bits(predicate, out, offset).unwrap();
    }
    fn any(&self, x: Nullable<'_>, predicate: Predicate) -> bool {
        view(*self, x).any(predicate)
    }
    fn all(&self, x: Nullable<'_>, predicate: Predicate) -> bool {
        view(*self, x).all(predicate)
    }
    fn count(&self, x: Nullable<'_>, predicate: Predicate) -> usize {
        view(*self, x).count(predicate)
    }
    fn position(&self, x: Nullable<'_>, predicate: Predicate) -> Option<usize> {
        view(*self, x).position(predicate)
    }
    fn positions(&self, x: Nullable<'_>, predicate: Predicate) -> Vec<usize> {
        view(*self, x).positions(predicate).collect()
    }
    fn census(&self, x: Nullable<'_>) -> Census {
        view(*self, x).census()
    }
    fn valid_count(&self, x: Nullable<'_>) -> usize {
        view(*self, x).valid_count()
    }
}

/// A bitmap with the bit of the first element at `offset`. Other bits come from [`CANARY`]. No
/// byte follows the last bit.
#[must_use]
pub fn bitmap(valid: &[bool], offset: usize) -> Vec<u8> {
    let mut bitmap = vec![CANARY; (offset + valid.len()).div_ceil(8)];
    for (i, &valid) in valid.iter().enumerate() {
        let (byte, bit) = ((offset + i) / 8, (offset + i) % 8);
        bitmap[byte] = bitmap[byte] & !(1 << bit) | u8::from(valid) << bit;
    }
    bitmap
}

/// Compares every answer about `x` with what its elements are and which are valid.
///
/// # Errors
/// What was wrong.
pub fn check_nulls(
    subject: &dyn NullSubject,
    x: Nullable<'_>,
    kinds: &[Kind],
    valid: &[bool],
) -> Result<(), String> {
    for &predicate in Predicate::ALL {
        check_nulls_of(subject, x, predicate, kinds, valid)?;
    }
    check_null_census(subject, x, kinds, valid)
}

/// [`check_nulls`] for one predicate, without the census.
///
/// # Errors
/// What was wrong.
pub fn check_nulls_of(
    subject: &dyn NullSubject,
    x: Nullable<'_>,
    predicate: Predicate,
    kinds: &[Kind],
    valid: &[bool],
) -> Result<(), String> {
    let holds = |i: usize| holds(predicate, kinds[i]);
    let hits: Vec<usize> = (0..kinds.len()).filter(|&i| valid[i] && holds(i)).collect();
    let all = (0..kinds.len()).all(|i| !valid[i] || holds(i));
    same(subject, x, "any", predicate, subject.any(x, predicate), !hits.is_empty())?;
    same(subject, x, "all", predicate, subject.all(x, predicate), all)?;
    same(subject, x, "count", predicate, subject.count(x, predicate), hits.len())?;
    let position = subject.position(x, predicate);
    same(subject, x, "position", predicate, position, hits.first().copied())?;
    same(subject, x, "positions", predicate, &subject.positions(x, predicate), &hits)?;
    for offset in [0, 1 + kinds.len() % 7, 19, 64 + x.offset] {
        // A byte before and one behind show writes outside. The output may be longer than needed.
        let (first, longer) = (8 + offset, 9 * (offset % 2));
        let mut out = vec![CANARY; (first + kinds.len()).div_ceil(8) + longer + 1];
        let mut want = out.clone();
        for i in 0..kinds.len() {
            want[(first + i) / 8] &= !(1 << ((first + i) % 8));
        }
        for i in &hits {
            want[(first + i) / 8] |= 1 << ((first + i) % 8);
        }
        let end = out.len() - 1;
        subject.bits(x, predicate, &mut out[1..end], offset);
        same(subject, x, "bits", (predicate, offset), &out, &want)?;
    }
    Ok(())
}

/// Compares the census and the number of valid elements.
///
/// # Errors
/// What was wrong.
pub fn check_null_census(
    subject: &dyn NullSubject,
    x: Nullable<'_>,
    kinds: &[Kind],
    valid: &[bool],
) -> Result<(), String> {
    let census = subject.census(x);
    let classes =
        [(census.nan, Kind::Nan), (census.pos_inf, Kind::PosInf), (census.neg_inf, Kind::NegInf)];
    for (class, kind) in classes {
        let at = || (0..kinds.len()).filter(|&i| valid[i] && kinds[i] == kind);
        same(subject, x, "census", kind, (class.count, class.first), (at().count(), at().next()))?;
    }
    let count = valid.iter().filter(|&&valid| valid).count();
    same(subject, x, "valid_count", "", subject.valid_count(x), count)
}

/// Compares the statistics of the valid elements.
///
/// # Errors
/// What was wrong.
pub fn check_null_stats(backend: Backend, x: Nullable<'_>, valid: &[bool]) -> Result<(), String> {
    let format = x.elements.format();
    let elements = x.elements.as_bytes().chunks_exact(format.size_in_bytes());
    let elements: Vec<u64> = elements.map(read).collect();
    let (got, want) = (view(backend, x).stats().into(), summary_of_valid(format, &elements, valid));
    same::<Summary>(&backend, x, "stats", "", got, want)
}

fn same<T: PartialEq + Debug>(
    subject: &dyn NullSubject,
    x: Nullable<'_>,
    question: &str,
    about: impl Debug,
    got: T,
    want: T,
) -> Result<(), String> {
    if got == want {
        return Ok(());
    }
    let (format, n, offset) = (x.elements.format(), x.elements.len(), x.offset);
    let mut values = format!("{got:?}, not {want:?}");
    if values.len() > 400 {
        values = "wrong".into();
    }
    Err(format!(
        "{question} {about:?} {} {format} of {n} elements, validity from bit {offset}: {values}",
        subject.name()
    ))
}
