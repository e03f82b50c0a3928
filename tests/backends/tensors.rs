//! The tensors of the suite. Each function calls its visitor with tensors of one kind. The tests of
//! questions, replacing and scaling visit them, and `known_bad` shows that they refuse
//! implementations that are wrong.

use nonfinite::Format;
use quickcheck::{Arbitrary, Gen};

use crate::exhaustive;
use crate::oracle::{self, Kind, mixed};

/// A function for each tensor.
pub(crate) type Visit<'a> = &'a mut dyn FnMut(Format, &[u8]);

/// What calls a visitor with its tensors.
pub(crate) type Tensors = fn(Visit<'_>);

/// All tensors but the random ones, by name.
pub(crate) const SUITE: [(&str, Tensors); 10] = [
    ("codes", codes),
    ("one_of_another_kind", one_of_another_kind),
    ("lengths", lengths),
    ("long", long),
    ("patterns", patterns),
    ("low_words", low_words),
    ("addresses", addresses),
    ("ends", ends),
    ("groups", groups),
    ("runs", runs),
];

/// A width of lanes each, and a rule that compares all bits of a byte.
pub(crate) const WIDTHS: [Format; 5] =
    [Format::F64, Format::F32, Format::F16, Format::F8E5M2, Format::F8E4M3FnUz];

/// One or the other, depending on whether the test is exhaustive.
pub(crate) fn either<T>(usual: T, in_exhaustive: T) -> T {
    if exhaustive() { in_exhaustive } else { usual }
}

pub(crate) fn formats() -> impl Iterator<Item = Format> {
    Format::ALL.iter().copied()
}

/// `elements` elements with these bits.
pub(crate) fn tensor(format: Format, elements: usize, bits: impl Fn(usize) -> u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    (0..elements).for_each(|i| oracle::write(format, bits(i), &mut bytes));
    bytes
}

/// All codes of a format of 8 or 16 bits, the edges of others.
pub(crate) fn all_codes(format: Format) -> Vec<u64> {
    match format.size_in_bytes() {
        2 => (0..=0xFFFF).collect(),
        _ => oracle::edges(format),
    }
}

/// The finite edges, and the others.
fn finite_and_special(format: Format) -> (Vec<u64>, Vec<u64>) {
    let is_finite = |&bits: &u64| oracle::kind(format, bits) == Kind::Finite;
    oracle::edges(format).into_iter().partition(is_finite)
}

/// An element of each kind: NaN, infinities, and a finite one as the last.
pub(crate) fn one_of_each(format: Format) -> Vec<u64> {
    let edges = oracle::edges(format);
    let of = |kind| edges.iter().copied().find(|&bits| oracle::kind(format, bits) == kind);
    [Kind::Nan, Kind::PosInf, Kind::NegInf, Kind::Finite].into_iter().filter_map(of).collect()
}

/// All codes of 8 and 16 bits and all edges of wider formats, in every lane of a block.
pub(crate) fn codes(visit: Visit<'_>) {
    for format in formats() {
        let codes = all_codes(format);
        let step = match format.size_in_bytes() {
            1 => 1,
            2 => either(64, 1),
            _ => either(13, 1),
        };
        for lane in (0..64).step_by(step) {
            let bits = |i: usize| i.checked_sub(lane).map_or(0, |i| codes[i]);
            visit(format, &tensor(format, lane + codes.len(), bits));
        }
    }
}

/// One special element among zeros, and one finite element among special ones: a search must find
/// either at every place of a block, and of an input that is shorter than a block.
pub(crate) fn one_of_another_kind(visit: Visit<'_>) {
    for format in formats() {
        let (finite, special) = finite_and_special(format);
        for (i, &bits) in special.iter().step_by(either(31, 3)).enumerate() {
            // The first in every place, whatever the input.
            let step = either(if i > 0 { 23 } else { 1 }, 1);
            for at in (i % step..200).step_by(step) {
                visit(format, &tensor(format, 200, |j| if j == at { bits } else { 0 }));
                let one = finite[(7 * at + i) % finite.len()];
                visit(format, &tensor(format, 200, |j| if j == at { one } else { bits }));
            }
        }
    }
    for format in either(&WIDTHS[..], Format::ALL).iter().copied() {
        let (finite, special) = finite_and_special(format);
        for n in 1..=if special.is_empty() { 0 } else { 72 / format.size_in_bytes() } {
            for at in 0..n {
                let (bits, one) = (special[n % special.len()], finite[at % finite.len()]);
                visit(format, &tensor(format, n, |j| if j == at { bits } else { 0 }));
                visit(format, &tensor(format, n, |j| if j == at { one } else { bits }));
            }
        }
    }
}

/// Every length up to more than some blocks.
pub(crate) fn lengths(visit: Visit<'_>) {
    let most = either(140, 300);
    for format in formats() {
        let bytes = mixed(format, most, 3);
        (0..=most).for_each(|n| visit(format, &bytes[..n * format.size_in_bytes()]));
    }
}

/// Many elements, clean ones, clean ones except the end, and sums that are none.
pub(crate) fn long(visit: Visit<'_>) {
    let lengths = either(&[1023, 2049][..], &[511, 1024, 1025, 2047, 3000, 4096, 5001]);
    for format in formats() {
        let (finite, special) = finite_and_special(format);
        for &n in lengths {
            visit(format, &mixed(format, n, 3));
            visit(format, &tensor(format, n, |_| 0));
            let last = |i| special.get(i % special.len().max(1)).copied().unwrap_or(0);
            visit(format, &tensor(format, n, |i| if i + 3 >= n { last(i) } else { 0 }));
        }
        if WIDTHS.contains(&format) {
            visit(format, &mixed(format, (256 << 10) / format.size_in_bytes() + 9, 3));
        }
        // Zeros of both signs, the positive one first.
        let minus = 1 << (8 * format.size_in_bytes() - 1);
        visit(format, &tensor(format, 700, |i| if i % 5 == 2 { minus } else { 0 }));
        // Finite elements whose sum is none, whatever lanes it is taken in: the greatest of either
        // sign.
        let (positive, negative) = finite.split_at(finite.len() / 2);
        let greatest = [positive, negative].map(|half| half.iter().copied().max().unwrap_or(0));
        visit(format, &tensor(format, 2048, |i| greatest[i % 2]));
    }
}

/// All exponents of f32 and f64, with a mantissa of zero, of one low and of one high bit.
pub(crate) fn patterns(visit: Visit<'_>) {
    for (format, mantissa, exponents) in [(Format::F32, 23, 1 << 8), (Format::F64, 52, 1 << 11)] {
        let mantissas = [0, 1, 1 << (mantissa - 1)];
        let bits = |i: usize| ((i / 3) as u64) << mantissa | mantissas[i % 3];
        visit(format, &tensor(format, 6 * exponents, bits));
    }
}

/// NaNs that only the low word tells from infinity.
pub(crate) fn low_words(visit: Visit<'_>) {
    let words = [
        0x7FF0_0000_0000_0001,
        0x7FF0_0000_8000_0000,
        0x7FF0_0000_FFFF_FFFF,
        0xFFF0_0000_0000_0001,
        0x7FF0_0000_0000_0000,
        0xFFF0_0000_0000_0000,
        0x7FEF_FFFF_FFFF_FFFF,
        0xFFEF_FFFF_FFFF_FFFF,
        0x7FF0_0001_0000_0000,
    ];
    for turn in 0..words.len() {
        visit(Format::F64, &tensor(Format::F64, 129, |i| words[(i + turn) % words.len()]));
    }
}

/// Every byte address within 64, odd ones too, and as many elements of offset.
pub(crate) fn addresses(visit: Visit<'_>) {
    for format in formats() {
        let size = format.size_in_bytes();
        let bytes = mixed(format, 400, 3);
        let mut room = vec![0u8; bytes.len() + 256];
        let aligned = room.as_ptr().align_offset(64);
        for offset in (0..64).step_by(either(7, 1)) {
            let start = aligned + offset;
            room[start..start + bytes.len()].copy_from_slice(&bytes);
            visit(format, &room[start..start + 199 * size]);
            visit(format, &room[start + offset * size..start + (offset + 199) * size]);
        }
    }
}

/// One special element near either end, about 5 bytes apart. Screens look at the first 128 bytes,
/// from the first cache line on, and at the last 256 bytes, and these parts overlap.
pub(crate) fn ends(visit: Visit<'_>) {
    let (offsets, apart): (&[usize], usize) = either((&[1, 16], 41), (&[0, 1, 8, 16, 48, 63], 5));
    for format in WIDTHS {
        let (size, (_, special)) = (format.size_in_bytes(), finite_and_special(format));
        for length in [248, 256, 504, 512, 776, 1032, 2304, 4360] {
            for offset in offsets {
                let mut room = vec![0u8; length + 192];
                let start = room.as_ptr().align_offset(64) + 64 + offset;
                // Special elements around the input, which nothing may count.
                let around = tensor(format, length / size + 200, |_| special[0]);
                let shift = (size - start % size) % size;
                room.copy_from_slice(&around[shift..][..length + 192]);
                let inside = start..start + length;
                room[inside.clone()].fill(0);
                visit(format, &room[inside.clone()]);
                let step = apart.div_ceil(size);
                let near_start = (0..140 / size).step_by(step);
                let near_end = (length.saturating_sub(256) / size..length / size).step_by(step);
                for at in near_start.chain(near_end) {
                    let here = start + at * size..start + (at + 1) * size;
                    let one = tensor(format, 1, |_| special[at % special.len()]);
                    room[here.clone()].copy_from_slice(&one);
                    visit(format, &room[inside.clone()]);
                    room[here].fill(0);
                }
            }
        }
    }
}

/// One element among others in groups of blocks that a search folds into one register. A finite one
/// at either end of a block, among elements whose bits are all set, which a load at a wrong place
/// cannot tell from each other. And a special one in every place of 128 bytes.
pub(crate) fn groups(visit: Visit<'_>) {
    for format in formats().filter(|format| exhaustive() || WIDTHS.contains(format)) {
        let (size, (_, special)) = (format.size_in_bytes(), finite_and_special(format));
        let Some(&all_set) = special.iter().max() else { continue };
        let elements = 3 * 1024 / size;
        let blocks = (0..elements).step_by(either(512, 64));
        for at in blocks.flat_map(|block| [block, block + 62, block + 63]) {
            // Zero, and elements that lack few bits.
            for one in [format.min_bits(), 0, format.max_bits()] {
                visit(format, &tensor(format, elements, |i| if i == at { one } else { all_set }));
            }
        }
        for at in 1152 / size..1280 / size {
            let one = special[at % special.len()];
            visit(format, &tensor(format, 2304 / size, |i| if i == at { one } else { 0 }));
        }
    }
}

/// With many hits, counts switch to whole runs with byte counters, and back.
pub(crate) fn runs(visit: Visit<'_>) {
    for format in formats() {
        let size = format.size_in_bytes();
        let kinds = one_of_each(format);
        let (most, finite) = (kinds[0], kinds[kinds.len() - 1]);
        // More hits of one kind than a byte counter can hold, in case it is used for too long.
        for &bits in &kinds {
            visit(format, &tensor(format, 40_000 / size + 13, |_| bits));
        }
        // One element of another kind among many, at the borders of blocks, groups and runs.
        let elements = 12_288 / size + 5;
        let borders = [0, 63, 64, 1024 / size, 4096 / size, 5120 / size, 9216 / size, elements - 1];
        for &border in borders.iter().step_by(either(3, 1)) {
            let around = [border, border.saturating_sub(1), (border + 1).min(elements - 1)];
            for &at in &around[..either(1, 3)] {
                for (all, one) in [(most, finite), (finite, most)] {
                    visit(format, &tensor(format, elements, |i| if i == at { one } else { all }));
                }
            }
        }
        // A long run of one kind, which changes the path of a loop, and behind the first KiB one
        // element of each code at the edges. (A NaN has all bits of infinity, and more.)
        let others = either(kinds.clone(), oracle::edges(format));
        for &all in &kinds {
            for &one in others.iter().filter(|one| **one != all) {
                let bits = |i| if i == 3_000 / size { one } else { all };
                visit(format, &tensor(format, 6_144 / size + 3, bits));
            }
        }
        // Stretches of hits between clean ones, of every kind, at several addresses.
        for period in [700, 2048, 5000] {
            let bits = |i: usize| match i * size / period % 3 {
                0 => finite,
                1 => kinds[i * 7 % kinds.len()],
                _ if i.is_multiple_of(40) => kinds[i / 40 % kinds.len()],
                _ => finite,
            };
            let bytes = tensor(format, either(12_000, 30_000) / size + 200, bits);
            for start in [0, 1, 16, 37].into_iter().step_by(either(3, 1)) {
                visit(format, &bytes[start * size..]);
            }
        }
    }
}

/// A random tensor of some parts, each of one make.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub(crate) format: Format,
    pub(crate) bytes: Vec<u8>,
}

impl Arbitrary for Tensor {
    fn arbitrary(g: &mut Gen) -> Self {
        let format = *g.choose(Format::ALL).unwrap();
        Self::of(format, g)
    }
}

impl Tensor {
    pub(crate) fn of(format: Format, g: &mut Gen) -> Self {
        let edges = oracle::edges(format);
        let bits = 8 * format.size_in_bytes();
        let ones = u64::MAX >> (64 - bits);
        let mut bytes = Vec::new();
        for _ in 0..1 + usize::arbitrary(g) % 3 {
            let elements = usize::arbitrary(g) % either(400, 3000);
            let (make, start) = (u32::arbitrary(g) % 10, u64::arbitrary(g) & ones);
            let edge = *g.choose(&edges).unwrap();
            let rare = 1 + u32::arbitrary(g) % 2000;
            for i in 0..elements as u64 {
                let any = u64::arbitrary(g) & ones;
                let bits = match make {
                    _ if u32::arbitrary(g) % rare == 0 && rare > 3 => *g.choose(&edges).unwrap(),
                    0 => any,
                    // Near one number, of both signs.
                    1 => start >> 2 ^ any >> 6 ^ any << (bits - 1),
                    // Of one sign.
                    2 => start >> 2 ^ any >> 6,
                    3 => 1 << (bits - 1) | start >> 2 ^ any >> 6,
                    4 => edge,
                    // Rising and falling codes.
                    5 => start.wrapping_add(i),
                    6 => start.wrapping_sub(i),
                    // Half zeros.
                    7 => (any % 2) * (start >> 2 ^ any >> 6),
                    _ => 0,
                };
                oracle::write(format, bits & ones, &mut bytes);
            }
        }
        Self { format, bytes }
    }
}
