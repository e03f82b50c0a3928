//! Rules that no format has: every path must agree with the scalar one all the same.

use nonfinite_kernels::{
    Census, Class, MaskOut, Path, Rule, Values, bits, census, count, mask, position, replace, replace_into,
    tally,
};
use quickcheck::{TestResult, quickcheck};

/// All sinks on one path.
fn answers(path: Path, x: &[u8], rule: &Rule) -> impl PartialEq + std::fmt::Debug {
    let path = Some(path);
    let mut bytes = vec![7u8; x.len() / rule.size()];
    mask(path, x, rule, MaskOut::from(&mut bytes[..]));
    let mut packed = vec![0x5Au8; bytes.len() / 8 + 2];
    bits(path, x, rule, &mut packed, 5);
    let searches =
        (position(path, x, rule), count(path, x, rule), tally(path, x, rule), census(path, x, rule));
    (bytes, packed, searches)
}

/// Masks and bounds like those of formats, and others.
fn shaped(size: usize, mask: u64, bound: u64, shape: u8) -> [u64; 2] {
    let keep = u64::MAX >> (64 - 8 * size);
    let mask = [mask, keep, keep >> 1, keep << 1, mask | bound][shape as usize % 5];
    [mask, [bound, bound & mask, mask, 0, keep & !(keep >> (bound % 64)) >> 1][shape as usize / 5 % 5]]
}

/// Whether all paths answer as the scalar one does, for both rules and their opposites.
fn agree(x: &[u8], size: usize, [mask, bound]: [u64; 2]) -> TestResult {
    for rule in [Rule::equal(size, mask, bound), Rule::greater(size, mask, bound)] {
        for rule in [rule, rule.not()] {
            let want = answers(Path::by_name("scalar").unwrap(), x, &rule);
            for path in Path::all().filter_map(|(_, path)| path) {
                if answers(path, x, &rule) != want {
                    return TestResult::error(format!("{} {rule:?} {} bytes", path.name(), x.len()));
                }
            }
        }
    }
    TestResult::passed()
}

quickcheck! {
    fn paths_agree(seed: Vec<u8>, size: u8, mask: u64, bound: u64, shape: u8) -> TestResult {
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

    /// Long runs of one element, in which one or two others stand late: runs of hits are taken for granted until something differs.
    fn paths_agree_on_runs(all: u64, other: u64, size: u8, mask: u64, bound: u64, shape: u8, at: u16) -> TestResult {
        let size = 1 << (size % 4);
        let rule = shaped(size, mask, bound, shape);
        let elements = 12_000 / size;
        // Hits of the rule, what has a bit more than those, and anything.
        for all in [rule[1], rule[1] | 1, rule[0] | rule[1], all] {
            for other in [rule[1], all | 1 << (other % 64), all & !(1 << (other % 64)), other] {
                let mut x: Vec<u8> = all.to_le_bytes()[..size].iter().copied().cycle().take(elements * size).collect();
                for at in [at as usize % elements, elements - 1 - at as usize % (elements / 4)] {
                    x[at * size..][..size].copy_from_slice(&other.to_le_bytes()[..size]);
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

/// What a loop over single elements finds: how many, and the first.
fn class(x: &[u8], size: usize, holds: impl Fn(u64) -> bool) -> Class {
    let mut found = Class::default();
    for (index, element) in x.chunks_exact(size).enumerate() {
        let mut code = [0; 8];
        code[..size].copy_from_slice(element);
        if holds(u64::from_le_bytes(code)) {
            found.count += 1;
            found.first.get_or_insert(index);
        }
    }
    found
}

/// Rules against loops that know no rules: what all paths have in common is seen here.
#[test]
fn loops_agree() {
    let mut paths = vec![None];
    paths.extend(Path::all().filter_map(|(_, path)| path).map(Some));
    for size in [1, 2, 4, 8] {
        for elements in [0, 1, 15, 16, 17, 63, 64, 65, 129, 300] {
            // Every other element is 3, the rest count.
            let codes = (0..elements).flat_map(|i| [(i as u8).wrapping_mul(7), 3][i % 2].to_le_bytes());
            let mut x: Vec<u8> =
                codes.flat_map(|low| std::iter::once(low).chain(vec![0; size - 1])).collect();
            let whole = x.len();
            // Bytes of an element that is not whole are left out.
            x.resize(whole + size - 1, 3);
            type Holds = fn(u64) -> bool;
            let questions: [(Rule, Holds); 4] = [
                (Rule::Constant { answer: true, size }, |_| true),
                (Rule::Constant { answer: false, size }, |_| false),
                (Rule::equal(size, 0x7F, 3), |code| code % 128 == 3),
                (Rule::greater(size, 0x7F, 100), |code| code % 128 > 100),
            ];
            for (rule, holds) in questions {
                let (yes, no) = (class(&x, size, holds), class(&x, size, |code| !holds(code)));
                for path in &paths {
                    for (rule, want) in [(rule, yes), (rule.not(), no)] {
                        let at = format!("{path:?} {rule:?} {elements} elements");
                        assert_eq!(tally(*path, &x, &rule), want, "{at}");
                        assert_eq!(count(*path, &x, &rule), want.count, "{at}");
                        assert_eq!(position(*path, &x, &rule), want.first, "{at}");
                        // None of these is a rule for NaN that has infinities.
                        let nan = Census { nan: want, ..Census::default() };
                        assert_eq!(census(*path, &x, &rule), nan, "{at}");
                    }
                }
            }
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

/// With rules for NaN that hold for everything and for nothing.
#[test]
fn replacing_all_or_none() {
    const NAN: u64 = 0x1122_3344_5566_7788;
    let values = Values { nan: NAN, pos_inf: 1, neg_inf: 2 };
    let mut paths = vec![None];
    paths.extend(Path::all().filter_map(|(_, path)| path).map(Some));
    for (path, size) in paths.iter().flat_map(|path| [1, 2, 4, 8].map(|size| (*path, size))) {
        for elements in [0, 1, 63, 64, 65, 500] {
            let x: Vec<u8> = (0..elements * size).map(|i| i as u8).collect();
            for answer in [false, true] {
                let want = if answer { NAN.to_le_bytes()[..size].repeat(elements) } else { x.clone() };
                let rule = Rule::Constant { answer, size };
                let (mut here, mut there) = (x.clone(), vec![0; x.len()]);
                let found = [
                    replace(path, &mut here, &rule, values),
                    replace_into(path, &x, &mut there, &rule, values),
                ];
                let at = format!("{path:?} {rule:?} {elements} elements");
                assert_eq!(found, [usize::from(answer) * elements; 2], "{at}");
                assert!(here == want && there == want, "{at}");
            }
        }
    }
}

/// Rules that are no rule for NaN are refused before anything is written: other masks and bounds, and whatever negates.
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
                catch_unwind(AssertUnwindSafe(|| replace_into(None, &x, &mut there, rule, values))).is_err(),
            ];
            assert_eq!(refused, [true; 2], "{rule:?}");
            assert!(here == x && there == [0; 800], "{rule:?}");
        }
    }
}
