//! Questions under a validity bitmap, by rules that no format has, against loops that use no rules.

use nonfinite_kernels::strided::{Source, valid_tiles};
use nonfinite_kernels::{
    Backend, Census, Occurrences, Rule, census_of_valid, clear_nulls, count_nulls, count_of_valid,
    position_of_valid,
};

/// Whether a rule holds for the code of an element.
type Holds = Box<dyn Fn(u64) -> bool>;

/// A rule, the same without the rule, and the exponent of a rule for NaN with infinities.
type Question = (Rule, Holds, Option<u64>);

/// The default and all backends of this CPU.
fn backends() -> Vec<Option<Backend>> {
    let here = Backend::all().filter_map(|(_, backend)| backend).map(Some);
    [None].into_iter().chain(here).collect()
}

/// Pseudo-random numbers.
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state >> 11
}

fn questions(size: usize) -> Vec<Question> {
    let sign = 1u64 << (8 * size - 1);
    let (keep, exponent) = (sign | (sign - 1), [0x7C, 0x7C00, 0x7F80_0000, 0x7FF0 << 48]);
    let exponent = exponent[size.trailing_zeros() as usize];
    let is_nan = move |code: u64| code & (sign - 1) > exponent;
    let mut questions: Vec<Question> = vec![
        (Rule::Constant { answer: true, size }, Box::new(|_| true), None),
        (Rule::equal(size, 0x7F, 3), Box::new(|code| code & 0x7F == 3), None),
        (Rule::equal(size, keep, sign), Box::new(move |code| code == sign), None),
        (Rule::greater(size, 0x7F, 100), Box::new(|code| code & 0x7F > 100), None),
        (Rule::greater(size, sign - 1, exponent), Box::new(is_nan), Some(exponent)),
        (
            Rule::nan_or_pos_inf(size, exponent),
            Box::new(move |code| is_nan(code) || code == exponent),
            None,
        ),
    ];
    if size == 1 {
        let holds = |code| code & 0x7F > 0x70 || code == 0x80;
        questions.push((Rule::above_or_minus_zero(0x70), Box::new(holds), None));
    }
    questions
}

/// The valid elements that a rule holds for.
fn found(codes: &[u64], valid: &[bool], holds: impl Fn(u64) -> bool) -> Occurrences {
    let hits = || (0..codes.len()).filter(|&i| valid[i] && holds(codes[i]));
    Occurrences::new(hits().count(), hits().next())
}

#[test]
fn loops_agree() {
    let mut state = 0x9E37_79B9_7F4A_7C15;
    for size in [1, 2, 4, 8] {
        let keep = u64::MAX >> (64 - 8 * size);
        for n in [0, 1, 31, 32, 33, 63, 64, 65, 127, 129, 300, 1088, 2100] {
            let questions = questions(size);
            // Codes of the rules and others.
            let codes: Vec<u64> = (0..n)
                .map(|_| match random(&mut state) % 4 {
                    0 => random(&mut state) & keep,
                    1 => questions[4].2.unwrap_or(0) + random(&mut state) % 2,
                    2 => 1 << (8 * size - 1) | questions[4].2.unwrap_or(0),
                    _ => 3,
                })
                .collect();
            let mut x = Vec::new();
            for code in &codes {
                let (little, big) = (code.to_le_bytes(), code.to_be_bytes());
                let little = &little[..size];
                x.extend(if cfg!(target_endian = "little") { little } else { &big[8 - size..] });
            }
            // The bytes of an incomplete element are left out.
            x.resize(x.len() + size - 1, 3);
            for offset in [0usize, 3, 7, 40, 61] {
                let valid: Vec<bool> =
                    (0..n).map(|_| !random(&mut state).is_multiple_of(3)).collect();
                // Ones behind the last element, in the last byte.
                let mut bitmap = vec![0xFF; (offset + n).div_ceil(8)];
                for i in (0..n).filter(|&i| !valid[i]) {
                    bitmap[(offset + i) / 8] &= !(1 << ((offset + i) % 8));
                }
                for (rule, holds, exponent) in &questions {
                    for backend in backends() {
                        let at = format!("{backend:?} {rule:?} {n} elements, bit {offset}");
                        let want = found(&codes, &valid, holds);
                        let other = found(&codes, &valid, |code| !holds(code));
                        for (rule, want) in [(*rule, want), (rule.not(), other)] {
                            let count = count_of_valid(backend, &x, &rule, &bitmap, offset);
                            assert_eq!(count, want.count, "{at}");
                            let first = position_of_valid(backend, &x, &rule, &bitmap, offset);
                            assert_eq!(first, want.first, "{at}");
                        }
                        let class = |inf: u64| match exponent {
                            Some(exponent) => found(&codes, &valid, |code| {
                                code == inf << (8 * size - 1) | exponent
                            }),
                            None => Occurrences::default(),
                        };
                        let census = Census::new(want, class(0), class(1));
                        assert_eq!(
                            census_of_valid(backend, &x, rule, &bitmap, offset),
                            census,
                            "{at}"
                        );
                    }
                }
                let nulls = valid.iter().filter(|valid| !**valid).count();
                for backend in backends() {
                    assert_eq!(count_nulls(backend, &bitmap, offset, n), nulls);
                }
                // More bytes than bits, which keep their values.
                let before: Vec<u8> =
                    (0..n.div_ceil(8) + 9).map(|_| random(&mut state) as u8).collect();
                let mut bits = before.clone();
                clear_nulls(&mut bits, n, &bitmap, offset);
                for bit in 0..8 * bits.len() {
                    let was = before[bit / 8] >> (bit % 8) & 1 == 1;
                    let keeps = valid.get(bit).copied().unwrap_or(true);
                    assert_eq!(
                        bits[bit / 8] >> (bit % 8) & 1 == 1,
                        was && keeps,
                        "bit {bit} of {n}"
                    );
                }
            }
        }
    }
}

/// Nothing is written then.
#[test]
#[cfg(not(target_family = "wasm"))]
fn short_bitmaps_are_refused() {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    let rule = Rule::equal(1, 0xFF, 1);
    for (bitmap, offset) in
        [(&[0xFF; 2][..], 0), (&[0xFF; 3], 8), (&[], 0), (&[0xFF; 3], usize::MAX)]
    {
        let x = [1u8; 17];
        assert!(catch_unwind(|| count_of_valid(None, &x, &rule, bitmap, offset)).is_err());
        assert!(catch_unwind(|| position_of_valid(None, &x, &rule, bitmap, offset)).is_err());
        assert!(catch_unwind(|| census_of_valid(None, &x, &rule, bitmap, offset)).is_err());
        assert!(catch_unwind(|| count_nulls(None, bitmap, offset, 17)).is_err());
        let tiles = || {
            let column = Source::new(&x, 1, 0, [(17, 1)].into_iter());
            valid_tiles(&column, bitmap, offset, &mut |_| usize::MAX);
        };
        assert!(catch_unwind(tiles).is_err());
        let mut bits = [0xFF; 3];
        let clear = AssertUnwindSafe(|| clear_nulls(&mut bits, 17, bitmap, offset));
        assert!(catch_unwind(clear).is_err());
        assert_eq!(bits, [0xFF; 3]);
    }
    let mut bits = [0xFF; 2];
    assert!(catch_unwind(AssertUnwindSafe(|| clear_nulls(&mut bits, 17, &[0; 3], 0))).is_err());
    assert_eq!(bits, [0xFF; 2]);
}

/// A transposed matrix of 3 rows and 2 columns, with a null in each column.
#[test]
fn tiles_have_elements_bits_and_indices_in_row_major_order() {
    let x = [0u8, 2, 4, 1, 3, 5];
    let source = Source::new(&x, 1, 0, [(2, 3), (3, 1)].into_iter());
    let mut tiles = 0;
    valid_tiles(&source, &[0b1011_0100], 2, &mut |tile| {
        assert_eq!(tile.elements, [0, 1, 2, 3, 4, 5]);
        assert_eq!((tile.bitmap[0] >> tile.offset) & 0b11_1111, 0b10_1101);
        assert!((0..6).all(|i| tile.index(i) == i));
        tiles += 1;
        usize::MAX
    });
    assert_eq!(tiles, 1);
    let empty = Source::new(&x, 1, 9, [(0, 1)].into_iter());
    valid_tiles(&empty, &[], 0, &mut |_| panic!("a tile of nothing"));
}

/// Tiles behind the index that the visitor returns are left out.
#[test]
fn tiles_end_where_the_visitor_says() {
    let x = [0u8; 1 << 17];
    let (source, bitmap) = (Source::new(&x, 1, 0, [(1 << 16, 2)].into_iter()), [0xFF; 1 << 13]);
    let firsts = |end: usize| {
        let mut firsts = Vec::new();
        valid_tiles(&source, &bitmap, 0, &mut |tile| {
            firsts.push(tile.index(0));
            end
        });
        firsts
    };
    let all = firsts(usize::MAX);
    assert!(all.len() >= 4, "one tile shows nothing");
    assert_eq!(firsts(all[2]), all[..2]);
    assert_eq!(firsts(all[2] + 1), all[..3]);
    // The first one comes in any case.
    assert_eq!(firsts(0), all[..1]);
}
