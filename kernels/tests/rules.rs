//! Rules that no format has: every path must agree with the scalar one all the same.

use nonfinite_kernels::{MaskOut, Path, Rule, bits, census, count, mask, position, tally};
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

quickcheck! {
    fn paths_agree(seed: Vec<u8>, size: u8, mask: u64, bound: u64, shape: u8) -> TestResult {
        if seed.is_empty() {
            return TestResult::discard();
        }
        let size = 1 << (size % 4);
        // Masks and bounds like those of formats, and others.
        let keep = u64::MAX >> (64 - 8 * size);
        let mask = [mask, keep, keep >> 1, keep << 1, mask | bound][shape as usize % 5];
        let bound = [bound, bound & mask, mask, 0, keep & !(keep >> (bound % 64)) >> 1][shape as usize / 5 % 5];
        for elements in [63, 64, 65, 200, 1500] {
            let x: Vec<u8> = seed.iter().copied().cycle().take(elements * size).collect();
            for rule in [Rule::equal(size, mask, bound), Rule::greater(size, mask, bound)] {
                for rule in [rule, rule.not()] {
                    let want = answers(Path::by_name("scalar").unwrap(), &x, &rule);
                    for path in Path::all().filter_map(|(_, path)| path) {
                        if answers(path, &x, &rule) != want {
                            return TestResult::error(format!("{} {rule:?} {elements}", path.name()));
                        }
                    }
                }
            }
        }
        TestResult::passed()
    }
}
