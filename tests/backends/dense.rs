//! With many hits, counts switch to whole runs with byte counters, and back.

use nonfinite::Format;

use crate::{backends, check, check_backend, expected, oracle, reduced};

/// One element of each kind, as bits: NaN, infinities, finite.
fn kinds(format: Format) -> Vec<u64> {
    let edges = oracle::edges(format);
    let of = |kind| edges.iter().copied().find(|&bits| oracle::kind(format, bits) == kind);
    [oracle::Kind::Nan, oracle::Kind::PosInf, oracle::Kind::NegInf, oracle::Kind::Finite]
        .into_iter()
        .filter_map(of)
        .collect()
}

fn tensor(format: Format, elements: usize, bits: impl Fn(usize) -> u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    (0..elements).for_each(|i| oracle::write(format, bits(i), &mut bytes));
    bytes
}

/// More hits of one kind than a byte counter can hold, in case it is used for too long.
#[test]
fn nothing_but_hits() {
    for format in Format::ALL.iter().copied() {
        let elements = (if reduced() { 9_000 } else { 40_000 }) / format.size_in_bytes() + 13;
        for bits in kinds(format) {
            check(format, &tensor(format, elements, |_| bits));
        }
    }
}

/// One element of another kind among many, at the borders of blocks, groups and runs.
#[test]
fn one_among_many() {
    for format in Format::ALL.iter().copied() {
        let size = format.size_in_bytes();
        let kinds = kinds(format);
        let (Some(&most), Some(&finite)) = (kinds.first(), kinds.last()) else { continue };
        let elements = 12_288 / size + 5;
        let borders = [0, 63, 64, 1024 / size, 4096 / size, 5120 / size, 9216 / size, elements - 1];
        let step = if reduced() { 3 } else { 1 };
        for border in borders.into_iter().step_by(step) {
            let around = [border, border.saturating_sub(1), (border + 1).min(elements - 1)];
            for &at in if reduced() { &around[..1] } else { &around } {
                for (all, one) in [(most, finite), (finite, most)] {
                    check(format, &tensor(format, elements, |i| if i == at { one } else { all }));
                }
            }
        }
    }
}

/// A long run of one kind, which changes the path of a loop, and then one element of each code at
/// the edges. (A NaN has all bits of infinity, and more.)
#[test]
fn one_of_another_code() {
    for format in Format::ALL.iter().copied() {
        let size = format.size_in_bytes();
        let elements = 6_144 / size + 3;
        // Behind the first KiB, when all that came before were hits.
        let at = 3_000 / size;
        let kinds = kinds(format);
        let others = if reduced() { kinds.clone() } else { oracle::edges(format) };
        for &all in &kinds {
            for &one in &others {
                if one != all {
                    check(format, &tensor(format, elements, |i| if i == at { one } else { all }));
                }
            }
        }
    }
}

/// Stretches of hits between clean ones, of every kind, at several addresses.
#[test]
fn dense_and_sparse_in_turns() {
    for format in Format::ALL.iter().copied() {
        let size = format.size_in_bytes();
        let kinds = kinds(format);
        let Some(&finite) = kinds.last() else { continue };
        for period in [700, 2048, 5000] {
            let elements = if reduced() { 12_000 } else { 30_000 } / size + 200;
            let bits = |i: usize| match i * size / period % 3 {
                0 => finite,
                1 => kinds[i * 7 % kinds.len()],
                _ if i.is_multiple_of(40) => kinds[i / 40 % kinds.len()],
                _ => finite,
            };
            let bytes = tensor(format, elements, bits);
            for start in [0, 1, 16, 37].into_iter().step_by(if reduced() { 3 } else { 1 }) {
                let part = &bytes[start * size..];
                let kinds = expected(format, part);
                for backend in backends() {
                    check_backend(backend, format, part, &kinds);
                }
            }
        }
    }
}
