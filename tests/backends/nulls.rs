//! Answers under a validity bitmap, against the oracle element by element.

use nonfinite::{Backend, Census, Elements, Error, Format, Predicate, TensorView};
use quickcheck::{Arbitrary, Gen, QuickCheck};

use crate::layouts::Layout;
use crate::lengths::mixed;
use crate::oracle::{self, NullSubject, Nullable, bitmap, check_nulls, holds};
use crate::properties::Tensor;
use crate::{backends, expected, reduced};

/// What a test does with elements, their validity, and the bit of the first in the bitmap.
type Visit<'a> = &'a mut dyn FnMut(Format, &[u8], &[bool], usize);

fn check(format: Format, bytes: &[u8], valid: &[bool], offset: usize) {
    check_all_stats(format, bytes, valid, offset);
    for backend in backends() {
        check_subject(&backend, format, bytes, valid, offset)
            .unwrap_or_else(|wrong| panic!("{wrong}"));
    }
}

fn check_stats(
    backend: Backend,
    format: Format,
    bytes: &[u8],
    valid: &[bool],
    offset: usize,
) -> Result<(), String> {
    let (elements, bitmap) = (Elements::from_bytes(bytes, format).unwrap(), bitmap(valid, offset));
    oracle::check_null_stats(backend, Nullable { elements, bitmap: &bitmap, offset }, valid)
}

fn check_subject(
    subject: &dyn NullSubject,
    format: Format,
    bytes: &[u8],
    valid: &[bool],
    offset: usize,
) -> Result<(), String> {
    let (kinds, bitmap) = (expected(format, bytes), bitmap(valid, offset));
    let elements = Elements::from_bytes(bytes, format).unwrap();
    check_nulls(subject, Nullable { elements, bitmap: &bitmap, offset }, &kinds, valid)
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

#[test]
fn every_length() {
    lengths(&mut check);
}

fn lengths(visit: Visit<'_>) {
    let most = if reduced() { 70 } else { 300 };
    for format in [Format::F32, Format::F64, Format::Bf16, Format::F8E4M3Fn] {
        let bytes = mixed(format, most);
        for n in 0..=most {
            for (turn, valid) in PATTERNS[..6].iter().enumerate() {
                let valid: Vec<bool> = (0..n).map(|i| valid(i, n)).collect();
                let bytes = &bytes[..n * format.size_in_bytes()];
                visit(format, bytes, &valid, (n + 11 * turn) % 64);
            }
        }
    }
}

#[test]
fn every_offset() {
    for offset in 0..64 {
        for n in [0, 1, 7, 8, 9, 63, 64, 65, 200] {
            for format in [Format::F32, Format::F16] {
                let bytes = mixed(format, n);
                for valid in &PATTERNS[2..6] {
                    let valid: Vec<bool> = (0..n).map(|i| valid(i, n)).collect();
                    check(format, &bytes, &valid, offset);
                }
            }
        }
    }
}

/// Chunks that are all valid, all null, and mixed.
#[test]
fn long_inputs() {
    long(&mut check);
}

fn long(visit: Visit<'_>) {
    let lengths: &[usize] =
        if reduced() { &[2048, 4097] } else { &[1025, 2048, 2049, 4096, 4097, 33_001] };
    let few = &[Format::F32, Format::F8E4M3Fn][..];
    for &format in if reduced() { few } else { Format::ALL } {
        // The longest for each width.
        let widths = [Format::F32, Format::F64, Format::Bf16, Format::F8E4M3Fn];
        let lengths =
            if widths.contains(&format) { lengths } else { &lengths[lengths.len() / 2..][..1] };
        for &n in lengths {
            let size = format.size_in_bytes();
            let dirty = mixed(format, n);
            for (turn, valid) in PATTERNS.iter().enumerate() {
                let valid: Vec<bool> = (0..n).map(|i| valid(i, n)).collect();
                let offset = (5 * turn + n) % 64;
                visit(format, &dirty, &valid, offset);
                // Clean, and then except for the last element.
                let mut clean = vec![0; n * size];
                visit(format, &clean, &valid, offset);
                clean[(n - 1) * size..].fill(0xFF);
                visit(format, &clean, &valid, offset);
                // Few elements of a mix, near each other and far.
                for every in [16, 150] {
                    let mut sparse = vec![0; n * size];
                    for i in (0..n)
                        .filter(|i| i.wrapping_mul(0x9E37_79B1) >> 8 & 0xFFFF < 0xFFFF / every)
                    {
                        let element = i * size..(i + 1) * size;
                        sparse[element.clone()].copy_from_slice(&dirty[element]);
                    }
                    visit(format, &sparse, &valid, offset);
                }
                // What other libraries write under a null.
                let mut under = vec![0; n * size];
                for i in (0..n).filter(|&i| !valid[i]) {
                    under[i * size..][..size].fill(0xFF);
                }
                visit(format, &under, &valid, offset);
            }
        }
    }
}

/// Many nulls in a window, and then a long valid run; and a long valid run that ends inside of a
/// block, and then many nulls.
#[test]
fn windows_beside_runs() {
    let patterns: [Pattern; 2] =
        [|i, _| i >= 16384 || i.is_multiple_of(2), |i, _| i < 5001 || i.is_multiple_of(2)];
    for format in [Format::F32, Format::F8E4M3Fn] {
        let (dirty, ones) = (mixed(format, 21_000), vec![0xFF; 21_000 * format.size_in_bytes()]);
        for (valid, offset) in patterns.iter().zip([3, 60]) {
            let valid: Vec<bool> = (0..21_000).map(|i| valid(i, 0)).collect();
            check(format, &dirty, &valid, offset);
            check(format, &ones, &valid, offset);
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
    for format in if reduced() { &formats[..1] } else { &formats } {
        let size = format.size_in_bytes();
        let n = if reduced() { 6000 } else { 72_000 / size };
        let (sign, base) = (1u64 << (8 * size - 1), 1u64 << (8 * size - 2));
        let sign_of = |i: usize| if i.is_multiple_of(3) { sign } else { 0 };
        let range = |i: usize| (base + (i * i % 5) as u64) | sign_of(i);
        let high = base + 5;
        let others = [0, sign, 1, high, high | sign, base - 1, u64::MAX, 0xFF << 3];
        for (turn, other) in others.into_iter().enumerate() {
            let places = [n / 4 + 1, n * 5 / 6 + turn, n - 1];
            for (valid, place) in [PATTERNS[3], PATTERNS[8], PATTERNS[2]].iter().zip(places) {
                let mut valid: Vec<bool> = (0..n).map(|i| valid(i, n)).collect();
                for is_null in [false, true] {
                    valid[place] = !is_null;
                    let code = |i| match valid[i] {
                        _ if i == place => other,
                        true => range(i),
                        false => others[i % others.len()],
                    };
                    let mut bytes = Vec::new();
                    (0..n).for_each(|i| oracle::write(*format, code(i), &mut bytes));
                    check_all_stats(*format, &bytes, &valid, (7 * turn + place) % 64);
                }
            }
        }
    }
}

fn check_all_stats(format: Format, bytes: &[u8], valid: &[bool], offset: usize) {
    for backend in backends() {
        check_stats(backend, format, bytes, valid, offset)
            .unwrap_or_else(|wrong| panic!("{wrong}"));
    }
}

/// Elements, validity and an offset.
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
        check(tensor.format, &tensor.bytes, &valid, offset);
    }
    let tests = if reduced() { 30 } else { 1000 };
    QuickCheck::new().tests(tests).quickcheck(agrees as fn(Case));
}

/// Views with strides: the bitmap is in row-major order.
#[test]
fn strided_views() {
    let shapes: &[&[usize]] = if reduced() {
        &[&[3, 70]]
    } else {
        &[&[3, 70], &[3, 5, 7, 11], &[90, 200], &[2, 3, 1500]]
    };
    for sizes in shapes {
        let rank = sizes.len();
        let order: Vec<usize> = (0..rank).collect();
        let rows: Vec<usize> = (0..rank).rev().collect();
        let turned: Vec<usize> = (0..rank).map(|i| (i + 1) % rank).collect();
        let one_backwards: Vec<bool> = (0..rank).map(|i| i == 1).collect();
        let layouts = [
            Layout::permuted(sizes, &order, &vec![false; rank], &vec![0; rank]),
            Layout::permuted(sizes, &order, &vec![true; rank], &vec![1; rank]),
            Layout::permuted(sizes, &rows, &one_backwards, &vec![3; rank]),
            Layout::permuted(sizes, &turned, &one_backwards, &vec![0; rank]),
            // Every second element.
            Layout::new(sizes, &{
                let inner = |i: usize| sizes[i + 1..].iter().product::<usize>();
                (0..rank).map(|i| 2 * inner(i) as isize).collect::<Vec<_>>()
            }),
            // The outermost dimension is broadcast.
            Layout::new(sizes, &{
                let mut strides = vec![0; rank];
                strides[rank - 1] = 3;
                strides
            }),
        ];
        for layout in layouts {
            for format in [Format::F32, Format::F64, Format::F16, Format::F8E5M2] {
                let bytes = mixed(format, layout.memory);
                for (turn, pattern) in PATTERNS.iter().enumerate() {
                    strided_view(format, &bytes, &layout, *pattern, 3 * turn);
                    strided_view(format, &vec![0; bytes.len()], &layout, *pattern, 3 * turn);
                }
            }
        }
    }
}

fn strided_view(format: Format, bytes: &[u8], layout: &Layout, valid: Pattern, offset: usize) {
    let size = format.size_in_bytes();
    let kind = |at| oracle::kind(format, oracle::read(&bytes[at * size..][..size]));
    let kinds: Vec<_> = layout.places().into_iter().map(kind).collect();
    let n = kinds.len();
    let valid: Vec<bool> = (0..n).map(|i| valid(i, n)).collect();
    let bitmap = bitmap(&valid, offset);
    let in_order: Vec<u64> =
        layout.places().into_iter().map(|at| oracle::read(&bytes[at * size..][..size])).collect();
    let summary = oracle::summary_of_valid(format, &in_order, &valid);
    let elements = Elements::from_bytes(bytes, format).unwrap();
    for backend in backends() {
        let view =
            TensorView::strided(elements, layout.offset, &layout.sizes, &layout.strides).unwrap();
        let view = view.on(backend).with_validity(&bitmap, offset).unwrap();
        for &predicate in Predicate::ALL {
            let hits: Vec<usize> =
                (0..n).filter(|&i| valid[i] && holds(predicate, kinds[i])).collect();
            let all = (0..n).all(|i| !valid[i] || holds(predicate, kinds[i]));
            assert_eq!(view.count(predicate), hits.len());
            assert_eq!(view.position(predicate), hits.first().copied());
            assert_eq!(view.any(predicate), !hits.is_empty());
            assert_eq!(view.all(predicate), all);
            assert!(view.positions(predicate).eq(hits.iter().copied()));
            let mut out = vec![0; (n + 3).div_ceil(8)];
            let mut want = out.clone();
            hits.iter().for_each(|i| want[(i + 3) / 8] |= 1 << ((i + 3) % 8));
            view.bits(predicate, &mut out, 3).unwrap();
            assert_eq!(out, want);
        }
        assert_eq!(oracle::Summary::from(view.stats()), summary);
        let census = view.census();
        let class = |wanted| {
            let at = || (0..n).filter(|&i| valid[i] && kinds[i] == wanted);
            nonfinite::Occurrences::new(at().count(), at().next())
        };
        let [nan, pos, neg] =
            [oracle::Kind::Nan, oracle::Kind::PosInf, oracle::Kind::NegInf].map(class);
        assert_eq!(census, Census::new(nan, pos, neg));
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
    assert_eq!(
        error(8, 3).to_string(),
        "17 elements from bit 8 on, but a validity bitmap of 3 bytes"
    );
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

/// How an implementation is wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wrong {
    /// The control: it must not be refused.
    Nothing,
    IgnoresBitmap,
    IgnoresOffset,
    MostSignificantFirst,
    OneIsNull,
    /// `count` is the count without the bitmap less the nulls.
    SubtractsNulls,
    /// `all` is false if there is a null.
    NullFailsAll,
    /// Indices count valid elements.
    IndexAmongValid,
    /// Null in, true out.
    NullBitsAreOnes,
    /// Only whole bytes of the bitmap are looked at; the rest counts as valid.
    ForgetsTail,
}

impl Wrong {
    const ALL: [Self; 9] = [
        Self::IgnoresBitmap,
        Self::IgnoresOffset,
        Self::MostSignificantFirst,
        Self::OneIsNull,
        Self::SubtractsNulls,
        Self::NullFailsAll,
        Self::IndexAmongValid,
        Self::NullBitsAreOnes,
        Self::ForgetsTail,
    ];

    fn valid(self, x: Nullable<'_>, i: usize) -> bool {
        let bit = if self == Self::IgnoresOffset { i } else { x.offset + i };
        let byte = x.bitmap[bit / 8];
        match self {
            Self::IgnoresBitmap => true,
            Self::ForgetsTail if bit / 8 == x.bitmap.len() - 1 => true,
            Self::MostSignificantFirst => byte >> (7 - bit % 8) & 1 == 1,
            Self::OneIsNull => byte >> (bit % 8) & 1 == 0,
            _ => byte >> (bit % 8) & 1 == 1,
        }
    }

    fn hits(self, x: Nullable<'_>, hit: impl Fn(oracle::Kind) -> bool) -> Vec<usize> {
        let kinds = oracle::kinds(x.elements.format(), x.elements.as_bytes());
        (0..kinds.len()).filter(|&i| self.valid(x, i) && hit(kinds[i])).collect()
    }

    fn index(self, x: Nullable<'_>, i: usize) -> usize {
        match self {
            Self::IndexAmongValid => (0..i).filter(|&i| self.valid(x, i)).count(),
            _ => i,
        }
    }
}

impl NullSubject for Wrong {
    fn name(&self) -> &str {
        "wrong"
    }
    fn bits(&self, x: Nullable<'_>, predicate: Predicate, out: &mut [u8], offset: usize) {
        let hits = self.hits(x, |kind| holds(predicate, kind));
        for i in 0..x.elements.len() {
            let null = *self == Self::NullBitsAreOnes && !self.valid(x, i);
            let (byte, bit) = ((offset + i) / 8, (offset + i) % 8);
            out[byte] = out[byte] & !(1 << bit) | u8::from(null || hits.contains(&i)) << bit;
        }
    }
    fn any(&self, x: Nullable<'_>, predicate: Predicate) -> bool {
        self.count(x, predicate) != 0
    }
    fn all(&self, x: Nullable<'_>, predicate: Predicate) -> bool {
        let nulls = (0..x.elements.len()).any(|i| !self.valid(x, i));
        let fails = self.hits(x, |kind| !holds(predicate, kind));
        fails.is_empty() && !(nulls && *self == Self::NullFailsAll)
    }
    fn count(&self, x: Nullable<'_>, predicate: Predicate) -> usize {
        if *self == Self::SubtractsNulls {
            let hits = Self::IgnoresBitmap.hits(x, |kind| holds(predicate, kind));
            return hits.len().saturating_sub(x.elements.len() - self.valid_count(x));
        }
        self.hits(x, |kind| holds(predicate, kind)).len()
    }
    fn position(&self, x: Nullable<'_>, predicate: Predicate) -> Option<usize> {
        self.positions(x, predicate).first().copied()
    }
    fn positions(&self, x: Nullable<'_>, predicate: Predicate) -> Vec<usize> {
        let hits = self.hits(x, |kind| holds(predicate, kind));
        hits.into_iter().map(|i| self.index(x, i)).collect()
    }
    fn census(&self, x: Nullable<'_>) -> Census {
        let class = |wanted| {
            let hits = self.hits(x, |kind| kind == wanted);
            nonfinite::Occurrences::new(hits.len(), hits.first().map(|&i| self.index(x, i)))
        };
        Census::new(
            class(oracle::Kind::Nan),
            class(oracle::Kind::PosInf),
            class(oracle::Kind::NegInf),
        )
    }
    fn valid_count(&self, x: Nullable<'_>) -> usize {
        (0..x.elements.len()).filter(|&i| self.valid(x, i)).count()
    }
}

#[test]
fn known_bad_are_refused() {
    let refused = |wrong: Wrong| {
        let mut refused = None;
        lengths(&mut |format, bytes, valid, offset| {
            let n = valid.len();
            if refused.is_none() && format == Format::F32 && n > 0 && n % 13 < 2 {
                refused = check_subject(&wrong, format, bytes, valid, offset).err();
            }
        });
        refused
    };
    assert_eq!(refused(Wrong::Nothing), None);
    for wrong in Wrong::ALL {
        assert!(refused(wrong).is_some(), "{wrong:?} was not refused");
    }
}
