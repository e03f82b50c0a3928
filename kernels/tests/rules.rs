//! Rules that no format has: every question on every backend against loops that use no rule.
//!
//! Formats have few masks and limits. The kernels take all of them, and a wrong instruction for one
//! may hide behind those that formats have.

use nonfinite_kernels::strided::Tensor;
use nonfinite_kernels::{
    Backend, F8E5M2, MaskOut, Occurrences, Rule, Values, bits, bytes, bytes_mut, census, count,
    mask, occurrences, position, replace, replace_into,
};
use quickcheck::{TestResult, quickcheck};

/// The default and all backends of this CPU.
fn backends() -> Vec<Option<Backend>> {
    let here = Backend::all().filter_map(|(_, backend)| backend).map(Some);
    [None].into_iter().chain(here).collect()
}

/// The low bytes of a number, as an element has them in memory.
fn element(code: u64, size: usize) -> Vec<u8> {
    let (little, big) = (code.to_le_bytes(), code.to_be_bytes());
    if cfg!(target_endian = "little") { little[..size].to_vec() } else { big[8 - size..].to_vec() }
}

/// The number with these bytes.
fn code(element: &[u8]) -> u64 {
    let up = |code: u64, &byte: &u8| code << 8 | u64::from(byte);
    match cfg!(target_endian = "little") {
        true => element.iter().rev().fold(0, up),
        false => element.iter().fold(0, up),
    }
}

/// How many of some answers are yes, and the first.
fn class(mut answers: impl Iterator<Item = bool> + Clone) -> Occurrences {
    Occurrences::new(answers.clone().filter(|&hit| hit).count(), answers.position(|hit| hit))
}

/// Asks all backends every question about the elements of `x`. `exponent`: that of a rule for NaN,
/// whose census has infinities.
fn check(
    x: &[u8],
    rule: &Rule,
    holds: impl Fn(u64) -> bool,
    exponent: Option<u64>,
) -> Result<(), String> {
    let size = rule.size();
    let codes = || x.chunks_exact(size).map(code);
    let hits: Vec<bool> = codes().map(&holds).collect();
    let found = class(hits.iter().copied());
    let inf = |code| class(codes().map(|other| other == code));
    let sign = 1u64 << (8 * size - 1);
    let infinities = exponent.map(|exponent| [inf(exponent), inf(sign | exponent)]);
    for backend in backends() {
        let same = |what, right| match right {
            true => Ok(()),
            false => Err(format!("{what} {backend:?} {rule:?} {} bytes", x.len())),
        };
        let mut bytes = vec![7u8; hits.len()];
        mask(backend, x, rule, MaskOut::from(&mut bytes[..]));
        same("mask", bytes.iter().zip(&hits).all(|(byte, hit)| *byte == u8::from(*hit)))?;
        let mut packed = vec![0x5Au8; hits.len() / 8 + 2];
        bits(backend, x, rule, &mut packed, 5);
        let is_right = |bit: usize| {
            let before = 0x5A >> (bit % 8) & 1 == 1;
            let want = bit.checked_sub(5).and_then(|i| hits.get(i)).copied().unwrap_or(before);
            (packed[bit / 8] >> (bit % 8) & 1 == 1) == want
        };
        same("bits", (0..8 * packed.len()).all(is_right))?;
        same("position", position(backend, x, rule) == found.first)?;
        same("count", count(backend, x, rule) == found.count)?;
        same("occurrences", occurrences(backend, x, rule) == found)?;
        let census = census(backend, x, rule);
        same("census", census.nan == found)?;
        same("infinities", infinities.is_none_or(|inf| [census.pos_inf, census.neg_inf] == inf))?;
    }
    Ok(())
}

/// The same for a rule and its negation.
fn check_both(
    x: &[u8],
    rule: &Rule,
    holds: impl Fn(u64) -> bool,
    exponent: Option<u64>,
) -> Result<(), String> {
    check(x, rule, &holds, exponent)?;
    check(x, &rule.not(), |code| !holds(code), None)
}

/// Equality and comparison by a mask and a limit, and their opposites.
fn check_all(x: &[u8], size: usize, [mask, limit]: [u64; 2]) -> Result<(), String> {
    let (up, keep) = (64 - 8 * size, u64::MAX >> (64 - 8 * size));
    let (mask, limit) = (mask & keep, limit & keep);
    check_both(x, &Rule::equal(size, mask, limit), |code| code & mask == limit, None)?;
    let signed = |code: u64| (code << up).cast_signed();
    let greater = |code: u64| signed(code & mask) > signed(limit);
    check_both(x, &Rule::greater(size, mask, limit), greater, None)
}

/// Masks and limits like those of formats, and others.
fn shaped(size: usize, mask: u64, limit: u64, shape: u8) -> [u64; 2] {
    let keep = u64::MAX >> (64 - 8 * size);
    let mask = [mask, keep, keep >> 1, keep << 1, mask | limit][shape as usize % 5];
    let exponent = keep & !(keep >> (limit % 64)) >> 1;
    [mask, [limit, limit & mask, mask, 0, exponent][shape as usize / 5 % 5]]
}

quickcheck! {
    fn any_rule(seed: Vec<u8>, size: u8, mask: u64, limit: u64, shape: u8) -> TestResult {
        let size = 1 << (size % 4);
        let rule = shaped(size, mask, limit, shape);
        for elements in [0, 1, 15, 63, 64, 65, 200, 1500] {
            let seed = seed.iter().copied().chain([shape]).cycle();
            // The bytes of an incomplete element are left out.
            let x: Vec<u8> = seed.take(elements * size + size - 1).collect();
            if let Err(wrong) = check_all(&x, size, rule) {
                return TestResult::error(wrong);
            }
        }
        TestResult::passed()
    }

    /// Long runs of one element, with one or two others near the end: after many equal answers,
    /// loops change their path.
    fn any_rule_on_runs(
        all: u64, other: u64, size: u8, mask: u64, limit: u64, shape: u8, at: u16
    ) -> TestResult {
        let size = 1 << (size % 4);
        let rule = shaped(size, mask, limit, shape);
        let elements = 12_000 / size;
        // Hits of the rule, elements with one more bit, and others.
        for all in [rule[1], rule[0] | rule[1], all] {
            for other in [rule[1], all | 1 << (other % 64), all & !(1 << (other % 64)), other] {
                let mut x = element(all, size).repeat(elements);
                for at in [at as usize % elements, elements - 1 - at as usize % (elements / 4)] {
                    x[at * size..][..size].copy_from_slice(&element(other, size));
                }
                if let Err(wrong) = check_all(&x, size, rule) {
                    return TestResult::error(wrong);
                }
            }
        }
        TestResult::passed()
    }
}

/// All bytes, with masks and limits of one bit, of all bits except one, and of ones from either
/// end. And one hit in a run of one code, long enough to be searched in groups.
#[test]
fn bytes_by_many_rules() {
    let shapes =
        || (0..8).flat_map(|bit| [1 << bit, !(1 << bit), 0xFF << bit, 0xFF >> bit]).chain([0u8]);
    let all: Vec<u8> = (0..=255).collect();
    for (mask, limit) in shapes().flat_map(|mask| shapes().map(move |limit| (mask, limit))) {
        check_all(&all, 1, [mask.into(), limit.into()]).unwrap();
        let greater = |code: &u8| (code & mask).cast_signed() > limit.cast_signed();
        one_hit(Rule::greater(1, mask.into(), limit.into()), &all, greater);
        one_hit(Rule::equal(1, mask.into(), limit.into()), &all, |code| code & mask == limit);
    }
}

/// The last code that a rule holds for, in a long run of the first that it does not hold for.
fn one_hit(rule: Rule, codes: &[u8], holds: impl Fn(&u8) -> bool) {
    let plain = codes.iter().find(|code| !holds(code));
    for (plain, hit) in plain.into_iter().zip(codes.iter().rev().find(|code| holds(code))) {
        let mut x = [*plain; 3000];
        x[1500] = *hit;
        for backend in backends() {
            let (at, one) = (format!("{backend:?} {rule:?}"), Occurrences::new(1, Some(1500)));
            assert_eq!(occurrences(backend, &x, &rule), one, "{at}");
            assert_eq!(position(backend, &x, &rule), Some(1500), "{at}");
        }
    }
}

/// Exponents of all lengths: rules for NaN of formats with infinities, rules for all ones, and
/// rules with bits far apart; NaN or +Inf; what holds always.
#[test]
fn wide_rules() {
    for size in [1, 2, 4, 8] {
        let sign = 1u64 << (8 * size - 1);
        let ones = |bits: usize| (sign - 1) & !((sign - 1) >> bits);
        let exponents = 1..=15.min(8 * size - 3);
        for exponent in exponents.clone().map(ones).chain((1..=15).map(ones)).chain([sign >> 1 | 1])
        {
            // Elements that lack one bit, for each bit, in every place of a block.
            let missing_bits = (0..16).map(|bit| exponent & !(sign >> bit));
            let [nan, inf] = [exponent + 1, exponent];
            let others = [inf, inf | sign, nan, sign | nan, inf - 1, sign - 1, sign, 0, 5];
            let codes: Vec<u64> = missing_bits.chain(others).collect();
            let x: Vec<u8> =
                (0..1700).flat_map(|i| element(codes[(i + i / 64) % codes.len()], size)).collect();
            let is_nan = |code: u64| code & (sign - 1) > exponent;
            let equal = |code| code & exponent == exponent;
            check_both(&x, &Rule::equal(size, exponent, exponent), equal, None).unwrap();
            if exponents.clone().any(|bits| ones(bits) == exponent) {
                let rule = Rule::greater(size, sign - 1, exponent);
                // With one bit below the exponent, the rule is also that of a format without
                // infinities.
                let classes = (exponent & 3 == 0).then_some(exponent);
                assert_eq!(rule.exponent(), classes);
                check_both(&x, &rule, is_nan, classes).unwrap();
                let either = Rule::nan_or_pos_inf(size, exponent);
                check_both(&x, &either, |code| is_nan(code) || code == exponent, None).unwrap();
                assert_eq!((rule.not().not(), either.not().not()), (rule, either));
            }
            check_both(&x, &Rule::greater(size, 0, u64::MAX), |_| true, None).unwrap();
        }
    }
}

#[test]
fn room_for_masks() {
    let mut room = [7u8; 5];
    let out = MaskOut::from(&mut room[..]);
    assert_eq!((out.len(), out.is_empty()), (5, false));
    let (first, rest) = out.split_at(2);
    assert_eq!((first.len(), rest.len()), (2, 3));
    rest.fill(true);
    first.fill(false);
    assert_eq!(room, [0, 0, 1, 1, 1]);
    let (none, all) = MaskOut::from(&mut room[..]).split_at(0);
    assert_eq!((none.len(), none.is_empty(), all.len()), (0, true, 5));
}

/// Elements have 1, 2, 4 or 8 bytes.
#[test]
#[cfg(not(target_family = "wasm"))]
fn other_sizes_are_refused() {
    for size in [3, 5, 6, 7] {
        for rule in [Rule::equal, Rule::greater] {
            assert!(std::panic::catch_unwind(|| rule(size, 1, 1)).is_err(), "{size} bytes");
        }
    }
}

/// What a rule that is none for NaN holds for is replaced, and nothing else.
#[test]
fn replacing_by_other_rules() {
    let values = Values { nan: 9, pos_inf: 9, neg_inf: 9 };
    let x: Vec<u8> = (0..4800_u32).map(|i| ((i * i) >> 3) as u8).collect();
    for size in [1, 2, 4, 8] {
        let sign = 1 << (8 * size - 1);
        let rules = [
            Rule::greater(size, sign - 1, 5),
            Rule::greater(size, sign - 1, sign >> 1).not(),
            Rule::equal(size, sign >> 1, sign >> 1).not(),
            Rule::equal(size, 0xFF, 0x20),
        ];
        for rule in &rules {
            let replaced =
                |x: &[u8]| if rule.holds(code(x)) { element(9, size) } else { x.to_vec() };
            let want: Vec<u8> = x.chunks_exact(size).flat_map(replaced).collect();
            for backend in backends() {
                let (mut here, mut there) = (x.clone(), vec![0; x.len()]);
                let found = replace(backend, &mut here, rule, values);
                assert_eq!(replace_into(backend, &x, &mut there, rule, values), found, "{rule:?}");
                assert_eq!(found, count(None, &x, rule), "{rule:?}");
                assert!(here == want && there == want, "{rule:?}");
            }
        }
    }
}

/// A rule that holds for zero replaces every element of a run of zeros.
#[test]
fn replacing_what_is_usual() {
    let values = Values { nan: 9, pos_inf: 9, neg_inf: 9 };
    for size in [1, 2, 4, 8] {
        let rule = Rule::equal(size, 0x40, 0x40).not();
        for backend in backends() {
            let mut x = vec![0; 3000 * size];
            assert_eq!(replace(backend, &mut x, &rule, values), 3000, "{backend:?} {rule:?}");
            assert_eq!(x, element(9, size).repeat(3000), "{backend:?} {rule:?}");
        }
    }
}

/// The rule for NaN or +Inf does not say which elements are NaN.
#[test]
#[cfg(not(target_family = "wasm"))]
fn replacing_needs_the_rule_for_nan() {
    let (rule, x) = (Rule::nan_or_pos_inf(4, 0x7F80_0000), [0xFF; 64]);
    let values = Values { nan: 0, pos_inf: 0, neg_inf: 0 };
    let (mut here, mut there) = (x, [7; 64]);
    let replaced = std::panic::catch_unwind(move || replace(None, &mut here, &rule, values));
    assert!(replaced.is_err());
    let copied = std::panic::AssertUnwindSafe(|| replace_into(None, &x, &mut there, &rule, values));
    assert!(std::panic::catch_unwind(copied).is_err());
    assert_eq!(there, [7; 64]);
}

/// Elements 2 to 5 of a view of 2 by 2 by 2 are rows of two matrices.
#[test]
#[cfg(not(target_family = "wasm"))]
fn a_part_is_a_box() {
    let x = [0; 16];
    let part = |first, len| {
        let view = Tensor::strided(&x, 1, 0, &[2, 2, 2], &[8, 4, 2]).unwrap();
        std::panic::catch_unwind(move || view.part(first, len).len()).ok()
    };
    assert_eq!((part(2, 2), part(4, 4), part(2, 4)), (Some(2), Some(4), None));
}

#[test]
fn slices_and_bytes_are_the_same_memory() {
    let mut x = [1.0_f64, -2.0];
    assert_eq!(bytes(&x), [1.0_f64.to_ne_bytes(), (-2.0_f64).to_ne_bytes()].as_flattened());
    bytes_mut(&mut x)[8..].copy_from_slice(&f64::NAN.to_ne_bytes());
    assert_eq!((x[0], x[1].to_bits()), (1.0, f64::NAN.to_bits()));
    assert_eq!(bytes::<u32>(&[]), []);
    assert_eq!(bytes(&[F8E5M2::from_bits(0x7C), F8E5M2::default()]), [0x7C, 0]);
}

/// More bytes than there are: their number does not fit into a `usize`.
#[test]
#[cfg(all(feature = "stats", target_pointer_width = "64"))]
#[should_panic(expected = "range end index")]
fn too_many_bytes_are_not_gathered() {
    let x = Tensor::strided(&[0; 4], 4, 0, &[(1 << 62) + 1], &[0]).unwrap();
    nonfinite_kernels::strided::gather(&x, &mut [0; 4]);
}

/// Every rule of bytes, against what its function says.
#[test]
fn rules_of_bytes() {
    for mask in 0..=255u64 {
        for bound in 0..=255u64 {
            let (equal, greater) = (Rule::equal(1, mask, bound), Rule::greater(1, mask, bound));
            for bits in 0..=255u64 {
                let masked = bits & mask;
                let above = masked as u8 as i8 > bound as u8 as i8;
                for (rule, answer) in [(equal, masked == bound), (greater, above)] {
                    assert_eq!(rule.holds(bits), answer, "{rule:?} {bits:#x}");
                    assert_eq!(rule.not().holds(bits), !answer, "not {rule:?} {bits:#x}");
                    assert!(rule.constant().is_none_or(|constant| constant == answer));
                }
            }
        }
    }
}

#[test]
fn nan_or_positive_infinity() {
    for bits in 0..=0xFFFF_u64 {
        let answer = bits & 0x7FFF > 0x7C00 || bits == 0x7C00;
        let rule = Rule::nan_or_pos_inf(2, 0x7C00);
        assert_eq!((rule.holds(bits), rule.not().holds(bits)), (answer, !answer), "{bits:#x}");
    }
}
