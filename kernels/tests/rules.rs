//! Rules that no format has. Every backend must agree with the scalar backend on them too.

use nonfinite_kernels::{
    Backend, Census, MaskOut, Occurrences, Rule, Values, bits, census, count, mask, occurrences,
    position, replace, replace_into,
};
use quickcheck::{TestResult, quickcheck};

/// Mask, packed bits from bit 5 on; position, count, occurrences and census.
type Answers = (Vec<u8>, Vec<u8>, (Option<usize>, usize, Occurrences, Census));

/// All sinks on one backend.
fn answers(backend: Backend, x: &[u8], rule: &Rule) -> Answers {
    let backend = Some(backend);
    let mut bytes = vec![7u8; x.len() / rule.size()];
    mask(backend, x, rule, MaskOut::from(&mut bytes[..]));
    let mut packed = vec![0x5Au8; bytes.len() / 8 + 2];
    bits(backend, x, rule, &mut packed, 5);
    let searches = (
        position(backend, x, rule),
        count(backend, x, rule),
        occurrences(backend, x, rule),
        census(backend, x, rule),
    );
    (bytes, packed, searches)
}

/// The low bytes of a number, as an element has them in memory.
fn element(code: u64, size: usize) -> Vec<u8> {
    let (little, big) = (code.to_le_bytes(), code.to_be_bytes());
    if cfg!(target_endian = "little") { little[..size].to_vec() } else { big[8 - size..].to_vec() }
}

/// The number with these bytes.
fn code(element: &[u8]) -> u64 {
    let up = |code: u64, &byte: &u8| code << 8 | u64::from(byte);
    if cfg!(target_endian = "little") {
        element.iter().rev().fold(0, up)
    } else {
        element.iter().fold(0, up)
    }
}

/// Masks and bounds like those of formats, and others.
fn shaped(size: usize, mask: u64, bound: u64, shape: u8) -> [u64; 2] {
    let keep = u64::MAX >> (64 - 8 * size);
    let mask = [mask, keep, keep >> 1, keep << 1, mask | bound][shape as usize % 5];
    [
        mask,
        [bound, bound & mask, mask, 0, keep & !(keep >> (bound % 64)) >> 1][shape as usize / 5 % 5],
    ]
}

/// Compares all backends with the scalar one, for both rules and their negations.
fn agree(x: &[u8], size: usize, [mask, bound]: [u64; 2]) -> TestResult {
    for rule in [Rule::equal(size, mask, bound), Rule::greater(size, mask, bound)] {
        for rule in [rule, rule.not()] {
            let want = answers(Backend::by_name("scalar").unwrap(), x, &rule);
            for backend in Backend::all().filter_map(|(_, backend)| backend) {
                if answers(backend, x, &rule) != want {
                    return TestResult::error(format!(
                        "{} {rule:?} {} bytes",
                        backend.name(),
                        x.len()
                    ));
                }
            }
        }
    }
    TestResult::passed()
}

quickcheck! {
    fn backends_agree(seed: Vec<u8>, size: u8, mask: u64, bound: u64, shape: u8) -> TestResult {
        if seed.is_empty() {
            return TestResult::discard();
        }
        let size = 1 << (size % 4);
        let rule = shaped(size, mask, bound, shape);
        for elements in [63, 64, 65, 200, 1500] {
            let x: Vec<u8> = seed.iter().copied().cycle().take(elements * size).collect();
            let result = agree(&x, size, rule);
            if result.is_failure() {
                return result;
            }
        }
        TestResult::passed()
    }

    /// Long runs of one element, with one or two others near the end: after many equal answers,
    /// loops change their path.
    fn backends_agree_on_runs(
        all: u64, other: u64, size: u8, mask: u64, bound: u64, shape: u8, at: u16
    ) -> TestResult {
        let size = 1 << (size % 4);
        let rule = shaped(size, mask, bound, shape);
        let elements = 12_000 / size;
        // Hits of the rule, elements with one more bit, and others.
        for all in [rule[1], rule[1] | 1, rule[0] | rule[1], all] {
            for other in [rule[1], all | 1 << (other % 64), all & !(1 << (other % 64)), other] {
                let mut x = element(all, size).repeat(elements);
                for at in [at as usize % elements, elements - 1 - at as usize % (elements / 4)] {
                    x[at * size..][..size].copy_from_slice(&element(other, size));
                }
                let result = agree(&x, size, rule);
                if result.is_failure() {
                    return result;
                }
            }
        }
        TestResult::passed()
    }
}

/// The result of a loop over single elements: the number of hits, and the first.
fn class(x: &[u8], size: usize, holds: impl Fn(u64) -> bool) -> Occurrences {
    let mut found = Occurrences::default();
    for (index, element) in x.chunks_exact(size).enumerate() {
        if holds(code(element)) {
            found.count += 1;
            found.first.get_or_insert(index);
        }
    }
    found
}

/// Compares rules with loops that do not use rules, which finds mistakes that all backends share.
#[test]
fn loops_agree() {
    let mut backends = vec![None];
    backends.extend(Backend::all().filter_map(|(_, backend)| backend).map(Some));
    for size in [1, 2, 4, 8] {
        for elements in [0, 1, 15, 16, 17, 63, 64, 65, 129, 300] {
            // Every other element is 3, and the rest count up.
            let codes = (0..elements).map(|i| [(i as u8).wrapping_mul(7), 3][i % 2]);
            let mut x: Vec<u8> = codes.flat_map(|code| element(code.into(), size)).collect();
            let whole = x.len();
            // The bytes of an incomplete element are left out.
            x.resize(whole + size - 1, 3);
            type Holds = fn(u64) -> bool;
            let questions: [(Rule, Holds); 5] = [
                (Rule::Constant { answer: true, size }, |_| true),
                (Rule::Constant { answer: false, size }, |_| false),
                (Rule::equal(size, 0x7F, 3), |code| code % 128 == 3),
                (Rule::greater(size, 0x7F, 100), |code| code % 128 > 100),
                // Like the rule of an IEEE format, with an exponent of no bits.
                (
                    Rule::greater(size, (1 << (8 * size - 1)) - 1, 0),
                    if size == 1 { |code| code % 128 > 0 } else { |code| code > 0 },
                ),
            ];
            for (rule, holds) in questions {
                let (yes, no) = (class(&x, size, holds), class(&x, size, |code| !holds(code)));
                for backend in &backends {
                    for (rule, want) in [(rule, yes), (rule.not(), no)] {
                        let at = format!("{backend:?} {rule:?} {elements} elements");
                        assert_eq!(occurrences(*backend, &x, &rule), want, "{at}");
                        assert_eq!(count(*backend, &x, &rule), want.count, "{at}");
                        assert_eq!(position(*backend, &x, &rule), want.first, "{at}");
                        // None of these is a rule for NaN that has infinities.
                        let mut nan = Census::default();
                        nan.nan = want;
                        assert_eq!(census(*backend, &x, &rule), nan, "{at}");
                    }
                }
            }
        }
    }
}

/// All bytes, with masks and bounds of one bit, of all bits except one, and of runs from either
/// end.
#[test]
fn bytes_by_many_rules() {
    let shapes =
        || (0..8).flat_map(|bit| [1 << bit, !(1 << bit), 0xFF << bit, 0xFF >> bit]).chain([0u8]);
    let x: Vec<u8> = (0..=255).collect();
    for (mask, bound) in shapes().flat_map(|mask| shapes().map(move |bound| (mask, bound))) {
        let found = [
            class(&x, 1, |code| code as u8 & mask == bound),
            class(&x, 1, |code| (code as u8 & mask).cast_signed() > bound.cast_signed()),
        ];
        let rules =
            [Rule::equal, Rule::greater].map(|rule| rule(1, u64::from(mask), u64::from(bound)));
        for (rule, want) in rules.iter().zip(found) {
            // One hit in a run of one code, long enough to be searched in groups.
            let holds = |code: &u8| {
                let masked = code & mask;
                if *rule == rules[0] {
                    masked == bound
                } else {
                    masked.cast_signed() > bound.cast_signed()
                }
            };
            let plain = (0..=255).find(|code| !holds(code));
            for (plain, hit) in plain.into_iter().zip((0..=255).rev().find(holds)) {
                let mut x = [plain; 3000];
                x[1500] = hit;
                for backend in Backend::all().filter_map(|(_, backend)| backend).map(Some) {
                    let one = Occurrences::new(1, Some(1500));
                    assert_eq!(
                        occurrences(backend, &x, rule),
                        one,
                        "{backend:?} {rule:?} {hit} in {plain}"
                    );
                    assert_eq!(
                        position(backend, &x, rule),
                        Some(1500),
                        "{backend:?} {rule:?} {hit} in {plain}"
                    );
                }
            }
            for backend in Backend::all().filter_map(|(_, backend)| backend).map(Some) {
                let at = format!("{backend:?} {rule:?}");
                assert_eq!(occurrences(backend, &x, rule), want, "{at}");
                assert_eq!(count(backend, &x, rule), want.count, "{at}");
                assert_eq!(position(backend, &x, rule), want.first, "{at}");
            }
        }
    }
}

/// Exponents of all lengths: rules for NaN of formats with infinities, and rules for all ones. Also
/// rules with bits far apart.
#[test]
fn wide_rules() {
    for size in [1, 2, 4, 8] {
        let sign = 1u64 << (8 * size - 1);
        let ones = |bits: usize| (sign - 1) & !((sign - 1) >> bits);
        let lengths = 1..=15.min(8 * size - 2);
        let mut questions: Vec<(Rule, u64, bool)> = lengths
            .map(|bits| (Rule::greater(size, sign - 1, ones(bits)), ones(bits), true))
            .collect();
        // Masks of the whole top of a lane, and masks with bits below the top.
        for ones in (1..=15).map(ones).chain([sign >> 1 | 1]) {
            questions.push((Rule::equal(size, ones, ones), ones, false));
        }
        for (rule, ones, nan) in questions {
            // Elements that lack one bit, for each bit, in every place of a block.
            let missing_bits = (0..16).map(|bit| ones & !(sign >> bit));
            let codes: Vec<u64> = missing_bits
                .chain([
                    ones,
                    ones | sign,
                    ones + 1,
                    sign | (ones + 1),
                    ones - 1,
                    sign - 1,
                    sign,
                    0,
                    5,
                ])
                .collect();
            let x: Vec<u8> =
                (0..1700).flat_map(|i| element(codes[(i + i / 64) % codes.len()], size)).collect();
            let mask_of = if nan { sign - 1 } else { ones };
            let holds =
                |code: u64| if nan { code & mask_of > ones } else { code & mask_of == ones };
            let mut want = Census::default();
            want.nan = class(&x, size, holds);
            if nan {
                want.pos_inf = class(&x, size, |code| code == ones);
                want.neg_inf = class(&x, size, |code| code == ones | sign);
            }
            for backend in Backend::all().filter_map(|(_, backend)| backend).map(Some) {
                let at = format!("{backend:?} {rule:?}");
                for (rule, want) in [(rule, true), (rule.not(), false)] {
                    let mut out = vec![7u8; x.len() / size];
                    mask(backend, &x, &rule, MaskOut::from(&mut out[..]));
                    let wrong = x
                        .chunks_exact(size)
                        .zip(out)
                        .find(|(x, hit)| *hit != u8::from(holds(code(x)) == want));
                    assert_eq!(wrong, None, "{at}");
                }
                assert_eq!(occurrences(backend, &x, &rule), want.nan, "{at}");
                assert_eq!(census(backend, &x, &rule), want, "{at}");
            }
        }
    }
}

/// NaN or +Inf, and neither of both: every question, in more than one piece.
#[test]
fn two_comparisons() {
    for (size, inf) in [(1, 0x7C), (2, 0x7C00), (4, 0x7F80_0000), (8, 0x7FF0 << 48)] {
        let sign = 1u64 << (8 * size - 1);
        let codes = [0, inf, sign | inf, inf + 1, sign | (inf + 1), inf - 1, sign];
        let x: Vec<u8> =
            (0..2500).flat_map(|i| element(codes[(i + i / 64) % codes.len()], size)).collect();
        let holds = |code: u64| code == inf || code & (sign - 1) > inf;
        let either = Rule::nan_or_pos_inf(size, inf);
        for (rule, want) in [(either, true), (either.not(), false)] {
            let want: Vec<bool> = x.chunks_exact(size).map(|x| holds(code(x)) == want).collect();
            for backend in Backend::all().filter_map(|(_, backend)| backend) {
                let at = format!("{} {rule:?}", backend.name());
                let (bytes, packed, (first, hits, ..)) = answers(backend, &x, &rule);
                let packed = (5..5 + want.len()).map(|bit| packed[bit / 8] >> (bit % 8) & 1);
                assert!(bytes.iter().zip(&want).all(|(hit, want)| (*hit != 0) == *want), "{at}");
                assert!(packed.zip(&want).all(|(hit, want)| (hit != 0) == *want), "{at}");
                assert_eq!(first, want.iter().position(|want| *want), "{at}");
                assert_eq!(hits, want.iter().filter(|want| **want).count(), "{at}");
            }
        }
    }
}

/// The negation of the negation is the rule itself, its infinities included.
#[test]
fn opposites_of_opposites() {
    for rule in [Rule::greater(4, 0x7FFF_FFFF, 0x7F80_0000), Rule::equal(2, 0x7C00, 0x7C00)] {
        assert_eq!(rule.not().not(), rule);
    }
    let rule = Rule::greater(4, 0x7FFF_FFFF, 0x7F80_0000).not().not();
    let x: Vec<u8> = [f32::INFINITY, f32::NAN].into_iter().flat_map(f32::to_ne_bytes).collect();
    let census = census(None, &x, &rule);
    assert_eq!((census.pos_inf.first, census.nan.first), (Some(0), Some(1)));
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

/// With rules for NaN that hold for everything and for nothing.
#[test]
fn replacing_all_or_none() {
    const NAN: u64 = 0x1122_3344_5566_7788;
    let values = Values { nan: NAN, pos_inf: 1, neg_inf: 2 };
    let mut backends = vec![None];
    backends.extend(Backend::all().filter_map(|(_, backend)| backend).map(Some));
    for (backend, size) in
        backends.iter().flat_map(|backend| [1, 2, 4, 8].map(|size| (*backend, size)))
    {
        for elements in [0, 1, 63, 64, 65, 500] {
            let x: Vec<u8> = (0..elements * size).map(|i| i as u8).collect();
            for answer in [false, true] {
                let want = if answer { element(NAN, size).repeat(elements) } else { x.clone() };
                let rule = Rule::Constant { answer, size };
                let (mut here, mut there) = (x.clone(), vec![0; x.len()]);
                let found = [
                    replace(backend, &mut here, &rule, values),
                    replace_into(backend, &x, &mut there, &rule, values),
                ];
                let at = format!("{backend:?} {rule:?} {elements} elements");
                assert_eq!(found, [usize::from(answer) * elements; 2], "{at}");
                assert!(here == want && there == want, "{at}");
            }
        }
    }
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

/// Rules that are not rules for NaN are refused before anything is written: other masks and bounds,
/// and all negations.
#[test]
#[cfg(not(target_family = "wasm"))]
fn replacing_by_other_rules_is_refused() {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    let values = Values { nan: 9, pos_inf: 9, neg_inf: 9 };
    let x = [0xFF; 800];
    for size in [1, 2, 4, 8] {
        let sign = 1 << (8 * size - 1);
        let rules = [
            Rule::greater(size, sign - 1, 5),
            Rule::greater(size, sign | (sign - 1), sign >> 1),
            Rule::greater(size, sign - 1, sign >> 1).not(),
            Rule::equal(size, sign >> 1, sign >> 1).not(),
        ];
        for rule in rules.iter().chain((size > 1).then_some(&Rule::equal(size, sign - 1, 5))) {
            let (mut here, mut there) = (x, [0; 800]);
            let refused = [
                catch_unwind(AssertUnwindSafe(|| replace(None, &mut here, rule, values))).is_err(),
                catch_unwind(AssertUnwindSafe(|| replace_into(None, &x, &mut there, rule, values)))
                    .is_err(),
            ];
            assert_eq!(refused, [true; 2], "{rule:?}");
            assert!(here == x && there == [0; 800], "{rule:?}");
        }
    }
}
