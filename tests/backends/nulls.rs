//! Answers under a validity bitmap, against the oracle element by element.

use nonfinite::{Elements, Error, Format, Predicate, TensorView};
use quickcheck::{Arbitrary, Gen, QuickCheck};

use crate::exhaustive;
use crate::oracle::{self, Expected, Framed, Layout, bitmap, mixed};
use crate::tensors::{self, Tensor, either, tensor};

/// Compares the answers about the elements of `view`, of which those with `valid` are no nulls.
/// `offset` is the bit of the first in the bitmap.
fn check_view(view: TensorView<'_>, expected: Expected, valid: Vec<bool>, offset: usize) {
    let bitmap = bitmap(&valid, offset);
    let view = view.with_validity(&bitmap, offset).unwrap();
    oracle::check_view(view, &expected.with_nulls(valid), &mut Framed::default())
        .unwrap_or_else(|wrong| panic!("{wrong}\nvalidity from bit {offset}"));
}

fn check(format: Format, bytes: &[u8], valid: Vec<bool>, offset: usize) {
    let view = TensorView::from_bytes(bytes, format).unwrap();
    check_view(view, Expected::new(format, bytes), valid, offset);
}

/// Whether element `i` of `n` is valid.
type Pattern = fn(usize, usize) -> bool;

/// Among them: none is null, all are, every second is, one is, runs of about 700 and 5000.
const PATTERNS: [Pattern; 9] = [
    |_, _| true,
    |_, _| false,
    |i, _| i % 2 == 0,
    |i, _| i % 5 != 1,
    |i, n| i != n / 2,
    |i, n| i == n / 3,
    |i, _| i / 700 % 2 == 1,
    |i, _| i / 5000 % 2 == 0,
    |i, _| i % 1000 != 999,
];

pub(crate) fn valid(pattern: usize, n: usize) -> Vec<bool> {
    (0..n).map(|i| PATTERNS[pattern](i, n)).collect()
}

#[test]
fn every_length() {
    for format in [Format::F32, Format::F64, Format::Bf16, Format::F8E4M3Fn] {
        for n in 0..=either(70, 300) {
            let bytes = mixed(format, n, 3);
            for turn in 0..6 {
                check(format, &bytes, valid(turn, n), (n + 11 * turn) % 64);
            }
        }
    }
}

#[test]
fn every_offset() {
    for offset in 0..64 {
        for n in [0, 1, 7, 8, 9, 63, 64, 65, 200] {
            for format in [Format::F32, Format::F16] {
                for pattern in (2..6).step_by(either(2, 1)) {
                    check(format, &mixed(format, n, 3), valid(pattern, n), offset);
                }
            }
        }
    }
}

/// Chunks that are all valid, all null, and mixed.
#[test]
fn long() {
    let lengths = either(&[2048, 4097][..], &[1025, 2048, 2049, 4096, 4097, 33_001]);
    // The longest for each width.
    let widths = [Format::F32, Format::F8E4M3Fn, Format::F64, Format::Bf16];
    for format in tensors::formats().filter(|format| exhaustive() || widths[..2].contains(format)) {
        let middle = &lengths[lengths.len() / 2..][..1];
        for &n in if widths.contains(&format) { lengths } else { middle } {
            let (size, dirty) = (format.size_in_bytes(), mixed(format, n, 3));
            let only = |keep: &dyn Fn(usize) -> bool, from: &[u8]| {
                let mut bytes = vec![0; n * size];
                for i in (0..n).filter(|&i| keep(i)) {
                    bytes[i * size..][..size].copy_from_slice(&from[i * size..][..size]);
                }
                bytes
            };
            let ones = vec![0xFF; n * size];
            // Few elements of a mix, near each other and far.
            let few = |every: usize| {
                move |i: usize| i.wrapping_mul(0x9E37_79B1) >> 8 & 0xFFFF < 0xFFFF / every
            };
            for turn in 0..PATTERNS.len() {
                let (valid, offset) = (valid(turn, n), (5 * turn + n) % 64);
                let tensors = [
                    dirty.clone(),
                    // Clean, and then except for the last element.
                    vec![0; n * size],
                    only(&|i| i + 1 == n, &ones),
                    only(&few(16), &dirty),
                    only(&few(150), &dirty),
                    // What other libraries write under a null.
                    only(&|i| !valid[i], &ones),
                ];
                tensors.iter().for_each(|bytes| check(format, bytes, valid.clone(), offset));
            }
        }
    }
}

/// Many nulls in a run, and then only valid elements; and only valid elements up to the inside of a
/// block, and then many nulls.
#[test]
fn many_nulls_beside_none() {
    let patterns: [Pattern; 2] =
        [|i, _| i >= 16384 || i.is_multiple_of(2), |i, _| i < 5001 || i.is_multiple_of(2)];
    for format in [Format::F32, Format::F8E4M3Fn] {
        for (pattern, offset) in patterns.iter().zip([3, 60]) {
            let valid: Vec<bool> = (0..21_000).map(|i| pattern(i, 0)).collect();
            check(format, &mixed(format, 21_000, 3), valid.clone(), offset);
            check(format, &vec![0xFF; 21_000 * format.size_in_bytes()], valid, offset);
        }
    }
}

/// Many numbers of one small range, whose groups can be skipped, and one other element. Whatever
/// the memory of the nulls holds.
#[test]
fn one_among_numbers_of_a_range() {
    let formats = [
        Format::F32,
        Format::F64,
        Format::Bf16,
        Format::F16,
        Format::F8E4M3Fn,
        Format::F8E5M2FnUz,
        Format::F8E8M0Fnu,
    ];
    for &format in either(&formats[..1], &formats) {
        let size = format.size_in_bytes();
        let n = either(6000, 72_000 / size);
        let (sign, base) = (1u64 << (8 * size - 1), 1u64 << (8 * size - 2));
        let sign_of = |i: usize| if i.is_multiple_of(3) { sign } else { 0 };
        let range = |i: usize| (base + (i * i % 5) as u64) | sign_of(i);
        let high = base + 5;
        let others = [0, sign, 1, high, high | sign, base - 1, u64::MAX, 0xFF << 3];
        for (turn, other) in others.into_iter().enumerate() {
            let places = [n / 4 + 1, n * 5 / 6 + turn, n - 1];
            for (pattern, place) in [3, 8, 2].into_iter().zip(places) {
                let mut valid = valid(pattern, n);
                for is_null in [false, true] {
                    valid[place] = !is_null;
                    let bytes = tensor(format, n, |i| match valid[i] {
                        _ if i == place => other,
                        true => range(i),
                        false => others[i % others.len()],
                    });
                    let view = TensorView::from_bytes(&bytes, format).unwrap();
                    let expected = Expected::new(format, &bytes).asking(&[]);
                    check_view(view, expected, valid.clone(), (7 * turn + place) % 64);
                }
            }
        }
    }
}

/// A tensor, validity and an offset.
#[derive(Clone, Debug)]
struct Case(Tensor, Vec<bool>, usize);

impl Arbitrary for Case {
    fn arbitrary(g: &mut Gen) -> Self {
        let tensor = Tensor::arbitrary(g);
        let n = tensor.bytes.len() / tensor.format.size_in_bytes();
        // From one to the next: other with a probability of one in 1, 2, 30 or 1000.
        let (rare, mut now) = (*g.choose(&[1, 2, 30, 1000]).unwrap(), bool::arbitrary(g));
        let mut next = || {
            now ^= u32::arbitrary(g) % rare == 0;
            now
        };
        let valid = (0..n).map(|_| next()).collect();
        Self(tensor, valid, usize::arbitrary(g) % 64)
    }
}

#[test]
fn random_mixes() {
    fn agrees(Case(tensor, valid, offset): Case) {
        check(tensor.format, &tensor.bytes, valid, offset);
    }
    QuickCheck::new().tests(either(40, 1000)).quickcheck(agrees as fn(Case));
}

/// Views with strides: the bitmap is in row-major order.
#[test]
fn strided_views() {
    let shapes: [&[usize]; 4] = [&[3, 70], &[3, 5, 7, 11], &[90, 200], &[2, 3, 1500]];
    for sizes in &shapes[..either(1, 4)] {
        let rank = sizes.len();
        let order: Vec<usize> = (0..rank).collect();
        let rows: Vec<usize> = (0..rank).rev().collect();
        let turned: Vec<usize> = (0..rank).map(|i| (i + 1) % rank).collect();
        let mut apart = Layout::dense(sizes).strides;
        apart.iter_mut().for_each(|stride| *stride *= 2);
        let mut broadcast = vec![0; rank];
        broadcast[rank - 1] = 3;
        let layouts = [
            Layout::permuted(sizes, &order, |_| false, |_| 0),
            Layout::permuted(sizes, &order, |_| true, |_| 1),
            Layout::permuted(sizes, &rows, |i| i == 1, |_| 3),
            Layout::permuted(sizes, &turned, |i| i == 1, |_| 0),
            Layout::new(sizes, &apart),
            Layout::new(sizes, &broadcast),
        ];
        for layout in &layouts {
            for format in [Format::F32, Format::F64, Format::F16, Format::F8E5M2] {
                for pattern in 0..PATTERNS.len() {
                    let dirty = mixed(format, layout.memory(), 3);
                    for bytes in [&vec![0; dirty.len()], &dirty] {
                        let x = Elements::from_bytes(bytes, format).unwrap();
                        // The last one names elements twice.
                        let output = layouts[pattern % 5].clone();
                        let expected =
                            Expected::strided(format, bytes, layout).into_outputs(vec![output]);
                        let valid = valid(pattern, expected.kinds().len());
                        check_view(layout.view(x).unwrap(), expected, valid, 3 * pattern);
                    }
                }
            }
        }
    }
}

#[test]
fn short_bitmaps_are_refused() {
    let view = TensorView::from(&[0f32; 17]);
    let refused = |bitmap: &[u8], offset| view.with_validity(bitmap, offset).unwrap_err();
    let error = |offset, bytes| Error::ValidityBits { elements: 17, offset, bytes };
    assert_eq!(refused(&[0xFF; 2], 0), error(0, 2));
    assert_eq!(refused(&[0xFF; 3], 8), error(8, 3));
    assert_eq!(refused(&[], 0), error(0, 0));
    assert_eq!(refused(&[0xFF; 3], usize::MAX), error(usize::MAX, 3));
    assert!(view.with_validity(&[0xFF; 3], 7).unwrap().all(Predicate::Finite));
    let empty = TensorView::from(&[0f32; 0]);
    assert!(empty.with_validity(&[], 0).unwrap().is_empty());
    assert!(empty.with_validity(&[], 1).is_err());
    let view = view.with_validity(&[0xFF; 3], 7).unwrap();
    let mut out = [0xA5; 2];
    let error = Error::OutputBits { elements: 17, offset: 0, bytes: 2 };
    assert_eq!(view.bits(Predicate::Finite, &mut out, 0), Err(error));
    assert_eq!(out, [0xA5; 2], "nothing is written");
}
