//! Every code of the formats of 8 and 16 bits.

use nonfinite::Format;

use crate::{Visit, check, oracle, reduced};

fn tensor(format: Format, codes: impl Iterator<Item = u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    codes.for_each(|code| oracle::write(format, code, &mut bytes));
    bytes
}

#[test]
fn all_codes_in_every_lane() {
    codes(&mut check);
}

/// All codes, in every lane of a block.
pub(crate) fn codes(visit: Visit<'_>) {
    for format in Format::ALL.iter().copied() {
        let bits = 8 * format.size_in_bytes() as u32;
        if bits > 16 {
            continue;
        }
        let lanes = match (bits, reduced()) {
            (8, _) => 64,
            (_, false) => 64,
            (_, true) => 1,
        };
        for lane in 0..lanes {
            let codes = (0..lane).map(|_| 0).chain(0..1 << bits);
            visit(format, &tensor(format, codes));
        }
    }
}

#[test]
fn one_special_element() {
    lone_specials(&mut check);
}

/// One special element among zeros. Searches must find it at every place of a block.
pub(crate) fn lone_specials(visit: Visit<'_>) {
    for format in Format::ALL.iter().copied() {
        let edges = oracle::edges(format);
        let special = edges
            .iter()
            .copied()
            .filter(|&bits| oracle::kind(format, bits) != oracle::Kind::Finite);
        let special: Vec<u64> = special.step_by(if reduced() { 11 } else { 3 }).collect();
        for (i, bits) in special.iter().enumerate() {
            // The first in every place, whatever the input.
            let step = if reduced() && i > 0 { 23 } else { 1 };
            for at in ((i % step)..200).step_by(step) {
                visit(format, &tensor(format, (0..200).map(|j| if j == at { *bits } else { 0 })));
            }
        }
    }
}

#[test]
fn one_finite_element() {
    lone_finites(&mut check);
}

/// One finite element among special ones of the same kind. Searches for the opposite must find it.
pub(crate) fn lone_finites(visit: Visit<'_>) {
    for format in Format::ALL.iter().copied() {
        let edges = oracle::edges(format);
        let (finite, special): (Vec<u64>, Vec<u64>) =
            edges.iter().partition(|&&bits| oracle::kind(format, bits) == oracle::Kind::Finite);
        let special: Vec<u64> =
            special.into_iter().step_by(if reduced() { 31 } else { 11 }).collect();
        for (i, bits) in special.iter().enumerate() {
            // The first in every place, whatever the input.
            let step = if reduced() && i > 0 { 23 } else { 1 };
            for at in ((i % step)..200).step_by(step) {
                let one = finite[(7 * at + i) % finite.len()];
                visit(format, &tensor(format, (0..200).map(|j| if j == at { one } else { *bits })));
            }
        }
    }
}

/// The same for a search, which folds groups of blocks: a finite element at either end of a block,
/// among elements whose bits are all set, which a load at a wrong place cannot tell from each
/// other.
#[test]
fn one_finite_element_of_a_group() {
    for format in Format::ALL.iter().copied() {
        let edges = oracle::edges(format);
        let all_set = edges.iter().copied().max().unwrap();
        if oracle::kind(format, all_set) == oracle::Kind::Finite {
            continue;
        }
        let elements = 3 * 1024 / format.size_in_bytes();
        let step = if reduced() { 512 } else { 64 };
        for at in (0..elements).step_by(step).flat_map(|block| [block, block + 62, block + 63]) {
            // Zero, and elements that lack few bits.
            for one in [format.min_bits(), 0, format.max_bits()].into_iter().step_by(if reduced() {
                2
            } else {
                1
            }) {
                let codes = (0..elements).map(|i| if i == at { one } else { all_set });
                check(format, &tensor(format, codes));
            }
        }
    }
}

/// One special element in every place of 128 bytes, all within a group of blocks that a search
/// folds into one register.
#[test]
fn one_special_element_of_a_group() {
    // A rule and a width of lanes each.
    let few = [Format::F8E4M3FnUz, Format::F8E5M2, Format::F16, Format::F32, Format::F64];
    for &format in if reduced() { &few[..] } else { Format::ALL } {
        let edges = oracle::edges(format);
        let special: Vec<u64> = edges
            .into_iter()
            .filter(|&bits| oracle::kind(format, bits) != oracle::Kind::Finite)
            .collect();
        let size = format.size_in_bytes();
        let elements = 2304 / size;
        for at in 1152 / size..1280 / size {
            let Some(&bits) = special.get(at % special.len().max(1)) else { continue };
            let codes = (0..elements).map(|i| if i == at { bits } else { 0 });
            check(format, &tensor(format, codes));
        }
    }
}
