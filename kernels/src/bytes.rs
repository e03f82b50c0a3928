//! The entries for elements whose width is known only at run time, from the rule.

use core::mem::MaybeUninit;

use crate::backend::Backend;
use crate::census::{Census, Occurrences};
use crate::entry;
use crate::out::MaskOut;
use crate::rule::Rule;

/// An expression in which the type `$lane` is as wide as the elements of a rule.
macro_rules! by_width {
    ($rule:expr, $lane:ident => $answer:expr) => {
        match $rule.size() {
            1 => {
                type $lane = u8;
                $answer
            }
            2 => {
                type $lane = u16;
                $answer
            }
            4 => {
                type $lane = u32;
                $answer
            }
            _ => {
                type $lane = u64;
                $answer
            }
        }
    };
}
pub(crate) use by_width;

/// [`crate::typed::mask`] for elements whose width the rule says.
///
/// # Panics
/// If `out` is not as long as `x` has whole elements; nothing is written then.
#[track_caller]
pub fn mask(backend: Option<Backend>, x: &[u8], rule: &Rule, out: MaskOut<'_>) {
    by_width!(rule, L => entry::mask::<L>(backend, x, rule, out));
}

/// [`crate::typed::mask_uninit`] for elements whose width the rule says.
///
/// # Panics
/// As [`mask`].
#[track_caller]
pub fn mask_uninit<'o>(
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
    out: &'o mut [MaybeUninit<bool>],
) -> &'o mut [bool] {
    by_width!(rule, L => entry::mask_uninit::<L>(backend, x, rule, out))
}

/// [`crate::typed::bits`] for elements whose width the rule says.
///
/// # Panics
/// If `out` ends before the last result, or before bit `offset`; nothing is written then.
#[track_caller]
pub fn bits(backend: Option<Backend>, x: &[u8], rule: &Rule, out: &mut [u8], offset: usize) {
    by_width!(rule, L => entry::bits::<L>(backend, x, rule, out, offset));
}

/// [`crate::typed::any`] for elements whose width the rule says.
#[must_use]
pub fn any(backend: Option<Backend>, x: &[u8], rule: &Rule) -> bool {
    position(backend, x, rule).is_some()
}

/// [`crate::typed::position`] for elements whose width the rule says.
#[must_use]
pub fn position(backend: Option<Backend>, x: &[u8], rule: &Rule) -> Option<usize> {
    by_width!(rule, L => entry::position::<L>(backend, x, rule))
}

/// [`crate::typed::count`] for elements whose width the rule says.
#[must_use]
pub fn count(backend: Option<Backend>, x: &[u8], rule: &Rule) -> usize {
    by_width!(rule, L => entry::count::<L>(backend, x, rule))
}

/// [`crate::typed::occurrences`] for elements whose width the rule says.
#[must_use]
pub fn occurrences(backend: Option<Backend>, x: &[u8], rule: &Rule) -> Occurrences {
    by_width!(rule, L => entry::occurrences::<L>(backend, x, rule))
}

/// [`crate::typed::census`] for elements whose width the rule says.
#[must_use]
pub fn census(backend: Option<Backend>, x: &[u8], nan: &Rule) -> Census {
    by_width!(nan, L => entry::census::<L>(backend, x, nan))
}
