//! The scalar backend: the rule, element by element. All others must give the same answers.

pub(crate) mod each;

pub(crate) use each::word;

use crate::element::{elements, read, write};
use crate::lines::{Four, Hit, Line, Long, Places};
use crate::loops::CLASS_BITS;
#[cfg(feature = "stats")]
use crate::loops::Given;
#[cfg(feature = "stats")]
use crate::order::Range;
use crate::product::{self, format};
use crate::rule::Rule;
#[cfg(feature = "stats")]
use crate::validity::Bitmap;
use crate::values::Codes;

/// Every CPU has this backend.
pub(crate) fn detect() -> bool {
    true
}

pub(crate) fn find<const W: usize>(x: Long<'_>, rule: &Rule) -> Hit {
    let first = elements::<W>(x.bytes()).position(|bits| rule.holds_of::<W>(bits));
    let Some(first) = first else { return Hit::none_in(x) };
    // The line that begins with the hit, or the last line.
    let (at, line) = x.line_at(first * W);
    Hit { at, bits: word::<W>(line, rule) }
}

pub(crate) fn screen<const W: usize>(x: Long<'_>, rule: &Rule) -> usize {
    let first = elements::<W>(x.bytes()).position(|bits| rule.passes_of::<W>(bits));
    first.map_or(x.len(), |first| first * W)
}

pub(crate) fn count<const W: usize>(x: Long<'_>, rule: &Rule) -> u64 {
    each::count::<W>(x.bytes(), rule) as u64
}

pub(crate) fn classify<const W: usize>(x: Long<'_>, nan: &Rule) -> u64 {
    let mut sum = 0;
    for bits in elements::<W>(x.bytes()) {
        let magnitude = bits & nan.mask();
        let (infinite, negative) = (magnitude == nan.least(), bits != magnitude);
        sum += u64::from(magnitude > nan.least());
        sum += u64::from(infinite) << CLASS_BITS;
        sum += u64::from(infinite & negative) << (2 * CLASS_BITS);
    }
    sum
}

pub(crate) fn mask<const W: usize>(x: Long<'_>, rule: &Rule, out: &mut Places) -> usize {
    each::mask::<W>(x.bytes(), rule, out);
    x.len()
}

/// No group is known to have no hit.
pub(crate) fn skip<const W: usize>(_: Long<'_>, _: &Rule, _: &mut Places) -> usize {
    0
}

pub(crate) fn bits<const W: usize>(x: Long<'_>, rule: &Rule, out: &mut [u8]) -> u64 {
    let (lines, rest) = x.bytes().split_at(x.len() & !63);
    for (block, out) in lines.chunks(64 * W).zip(out.chunks_mut(8)) {
        out.copy_from_slice(&word::<W>(block, rule).to_le_bytes()[..out.len()]);
    }
    word::<W>(rest, rule)
}

#[inline(always)]
pub(crate) fn replace<const W: usize>(x: &mut [Four], codes: &Codes) -> usize {
    let mut found = 0;
    for element in x.as_flattened_mut().as_flattened_mut().as_chunks_mut::<W>().0 {
        let bits = read(element);
        if codes.rule.holds_of::<W>(bits) {
            write(element, codes.instead_of(bits));
            found += 1;
        }
    }
    found
}

pub(crate) fn multiply<const W: usize>(
    x: &mut [Four],
    rule: &Rule,
    bf16: bool,
    factor: f64,
) -> bool {
    match W {
        8 => products::<{ format::F64 }, 8>(x, rule, factor),
        4 => products::<{ format::F32 }, 4>(x, rule, factor),
        2 if bf16 => products::<{ format::BF16 }, 2>(x, rule, factor),
        2 => products::<{ format::F16 }, 2>(x, rule, factor),
        _ => false,
    }
}

#[inline(always)]
fn products<const F: usize, const W: usize>(x: &mut [Four], rule: &Rule, factor: f64) -> bool {
    let mut found = false;
    for line in x.as_flattened_mut() {
        found |= elements::<W>(line).fold(false, |any, bits| any | rule.holds_of::<W>(bits));
        multiply_line::<F, W>(line, factor);
    }
    found
}

/// Not inlined. LLVM of rustc 1.96 for s390x otherwise moves the loads of the check after these
/// stores. Products that overflow then count as infinite elements.
#[inline(never)]
fn multiply_line<const F: usize, const W: usize>(line: &mut Line, factor: f64) {
    for element in line.as_chunks_mut::<W>().0 {
        write(element, product::multiply::<F>(read(element), factor));
    }
}

/// No group is known to be in the range.
#[cfg(feature = "stats")]
pub(crate) fn within<const W: usize>(_: &[u8], _: Range, _: Option<&Bitmap<'_>>) -> usize {
    0
}

#[cfg(feature = "stats")]
pub(crate) fn find_code<const W: usize>(x: Long<'_>, mask: u64, code: u64) -> usize {
    elements::<W>(x.bytes()).position(|bits| bits & mask == code).unwrap_or(x.len() / W)
}

#[cfg(feature = "stats")]
pub(crate) fn order<const W: usize>(given: &Given<'_>, [low, high]: &mut [i64; 2]) -> [usize; 3] {
    let (numbers, mut counts) = (given.numbers, [0; 3]);
    let all = elements::<W>(given.blocks).chain(elements::<W>(given.last));
    for (i, bits) in all.enumerate() {
        let valid = given.valid.is_none_or(|valid| i < valid.len() && valid.is_valid(i));
        let special = valid && numbers.special.holds(bits);
        let bits = if valid && !special { bits } else { given.filling };
        let key = numbers.key(bits);
        (*low, *high) = ((*low).min(key), (*high).max(key));
        let [zero, small] = numbers.counts(bits);
        for (count, one) in counts.iter_mut().zip([zero, small, special]) {
            *count += usize::from(one);
        }
    }
    counts
}
