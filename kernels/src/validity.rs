//! Validity bitmaps of Apache Arrow: packed bits, counts and the census under one.

use core::ops::ControlFlow;

use crate::backend::{Backend, Question, Row};
use crate::bitmap::Bitmap;
use crate::bytes::bits;
use crate::census::{Census, Occurrences};
use crate::found::ClassCounts;
use crate::lane::width;
use crate::line::elements;
use crate::loops::valid::{CensusValid, CountNulls, CountValid};
use crate::rule::{Comparison, Rule, UNUSED};
use crate::scalar;

impl Question for CountNulls {
    fn scalar(x: &[u8], _: &Comparison, [begin, end]: [usize; 2]) -> usize {
        let bitmap = Bitmap { bytes: x, shift: 0 };
        (begin..end).filter(|&bit| !bitmap.is_valid(bit)).count()
    }
}

/// How many of `elements` elements are null: bit `(offset + i) % 8` of `bitmap[(offset + i) / 8]`
/// is 0. `None` means the active backend.
///
/// # Panics
/// If the bitmap ends before bit `offset` or before the bit of the last element.
#[must_use]
pub fn count_nulls(
    backend: Option<Backend>,
    bitmap: &[u8],
    offset: usize,
    elements: usize,
) -> usize {
    static ROW: Row<CountNulls> = Row::of::<CountNulls>();
    let Bitmap { bytes, shift } = Bitmap::new(bitmap, offset, elements);
    ROW.run(backend, bytes, &UNUSED, [shift, shift + elements])
}

/// Clears the bits of nulls among the first `elements` packed bits: bit `i` stays as it is where
/// bit `(offset + i) % 8` of `bitmap[(offset + i) / 8]` is 1. All other bits stay as they are.
///
/// # Panics
/// If the bitmap ends before bit `offset`, or if the bitmap or `bits` end before the bit of the
/// last element; nothing is written then.
pub fn clear_nulls(bits: &mut [u8], elements: usize, bitmap: &[u8], offset: usize) {
    assert!(elements.div_ceil(8) <= bits.len(), "packed bits that are too short");
    let bitmap = Bitmap::new(bitmap, offset, elements);
    let bits = &mut bits[..elements.div_ceil(8)];
    let (words, rest) = bits.split_at_mut(elements / 64 * 8);
    for (word, valid) in words.as_chunks_mut().0.iter_mut().zip(bitmap.bits_of(64)) {
        *word = (u64::from_le_bytes(*word) & valid).to_le_bytes();
    }
    let mut keep = bitmap.word(elements & !63) | u64::MAX << (elements % 64);
    for byte in rest {
        *byte &= keep as u8;
        keep >>= 8;
    }
}

impl<const W: usize> Question for CountValid<W> {
    fn scalar(x: &[u8], comparison: &Comparison, bitmap: &Bitmap<'_>) -> usize {
        scalar::count_valid(x, comparison, bitmap)
    }
}

impl<const W: usize> Question for CensusValid<W> {
    fn scalar(x: &[u8], nan: &Comparison, (bitmap, _): Self::Out<'_>) -> ClassCounts {
        scalar::census_valid(x, nan, bitmap)
    }
}

static COUNT: [Row<CountValid<1>>; 4] = [
    Row::of::<CountValid<1>>(),
    Row::of::<CountValid<2>>(),
    Row::of::<CountValid<4>>(),
    Row::of::<CountValid<8>>(),
];

static CENSUS: [Row<CensusValid<1>>; 4] = [
    Row::of::<CensusValid<1>>(),
    Row::of::<CensusValid<2>>(),
    Row::of::<CensusValid<4>>(),
    Row::of::<CensusValid<8>>(),
];

/// A column, cut behind its last whole block of 64 elements.
struct Column<'x> {
    size: usize,
    blocks: &'x [u8],
    rest: &'x [u8],
    bitmap: Bitmap<'x>,
}

impl<'x> Column<'x> {
    #[inline(never)]
    fn new(x: &'x [u8], size: usize, bitmap: &'x [u8], offset: usize) -> Self {
        let elements = elements(x.len(), size);
        let bitmap = Bitmap::new(bitmap, offset, elements);
        let (blocks, rest) = x[..elements * size].split_at((elements & !63) * size);
        Self { size, blocks, rest, bitmap }
    }

    /// The index of the first element of the rest.
    fn first(&self) -> usize {
        elements(self.blocks.len(), self.size)
    }

    /// Calls `ask` with a block that has the rest, which is not empty, and nulls behind.
    #[inline(never)]
    fn ask_rest(&self, ask: &mut dyn FnMut(&[u8], &Bitmap<'_>)) {
        let (mut block, elements) = ([0; 64 * 8], elements(self.rest.len(), self.size));
        block[..self.rest.len()].copy_from_slice(self.rest);
        let valid = self.bitmap.word(self.first()) & !(u64::MAX << elements);
        ask(&block[..64 * self.size], &Bitmap { bytes: &valid.to_le_bytes(), shift: 0 });
    }
}

/// The number of valid elements of `x` for which the rule holds. Element `i` is valid if bit
/// `(offset + i) % 8` of `bitmap[(offset + i) / 8]` is 1. `None` means the active backend.
///
/// Compares every element. [`crate::count`] of clean elements takes less time.
///
/// # Panics
/// If the bitmap ends before bit `offset` or before the bit of the last element.
#[must_use]
pub fn count_of_valid(
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
    bitmap: &[u8],
    offset: usize,
) -> usize {
    let column = Column::new(x, rule.size(), bitmap, offset);
    let Rule::Comparison(comparison) = rule else {
        let mut count = 0;
        let _ = by_bits(backend, x, rule, column.bitmap, &mut |_, hits| {
            count += hits.count_ones() as usize;
            ControlFlow::Continue(())
        });
        return count;
    };
    let row = &COUNT[width(column.size)];
    let mut count = row.run(backend, column.blocks, comparison, &column.bitmap);
    // Asked here, since the call alone takes 2 ns.
    if !column.rest.is_empty() {
        column.ask_rest(&mut |x, bitmap| count += row.run(backend, x, comparison, bitmap));
    }
    count
}

/// The index of the first valid element of `x` for which the rule holds, as in [`count_of_valid`].
///
/// # Panics
/// As [`count_of_valid`].
#[must_use]
pub fn position_of_valid(
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
    bitmap: &[u8],
    offset: usize,
) -> Option<usize> {
    let (mut first, bitmap) = (None, Bitmap::new(bitmap, offset, elements(x.len(), rule.size())));
    let _ = by_bits(backend, x, rule, bitmap, &mut |at, hits| {
        first = Some(at + hits.trailing_zeros() as usize);
        ControlFlow::Break(())
    });
    first
}

/// For each block of 64 elements with a valid hit, calls `visit` with the index of its first
/// element and the bits of its valid hits, until `visit` breaks. Takes all rules.
#[inline(never)]
fn by_bits(
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
    bitmap: Bitmap<'_>,
    visit: &mut dyn FnMut(usize, u64) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut at = 0;
    for x in x.chunks(1024 * rule.size()) {
        let (mut words, elements) = ([[0; 8]; 1024 / 64], elements(x.len(), rule.size()));
        bits(backend, x, rule, words.as_flattened_mut(), 0);
        clear_nulls(words.as_flattened_mut(), elements, bitmap.bytes, bitmap.shift + at);
        for word in &words[..elements.div_ceil(64)] {
            let hits = u64::from_le_bytes(*word);
            if hits != 0 {
                visit(at, hits)?;
            }
            at += 64;
        }
    }
    ControlFlow::Continue(())
}

/// [`crate::census`] of the valid elements, as in [`count_of_valid`].
///
/// # Panics
/// As [`count_of_valid`].
#[must_use]
pub fn census_of_valid(
    backend: Option<Backend>,
    x: &[u8],
    nan: &Rule,
    bitmap: &[u8],
    offset: usize,
) -> Census {
    match nan {
        Rule::Comparison(comparison) if comparison.is_ieee() => {
            let column = Column::new(x, nan.size(), bitmap, offset);
            let row = &CENSUS[width(column.size)];
            let others = &[comparison.special(), comparison.class(2)];
            let mut taken = row.run(backend, column.blocks, comparison, (&column.bitmap, others));
            if !column.rest.is_empty() {
                column.ask_rest(&mut |x, bitmap| {
                    let rest = row.run(backend, x, comparison, (bitmap, others));
                    taken.add_three(rest.three, |class| column.first() + rest.first[class]);
                });
            }
            taken.census()
        }
        _ => {
            let count = count_of_valid(backend, x, nan, bitmap, offset);
            let first = || position_of_valid(backend, x, nan, bitmap, offset);
            let nan = Occurrences::new(count, if count == 0 { None } else { first() });
            Census { nan, ..Census::default() }
        }
    }
}
