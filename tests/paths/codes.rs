//! Every code of the formats of 8 and 16 bits.

use nonfinite::Format;

use crate::{check, oracle, reduced};

fn tensor(format: Format, codes: impl Iterator<Item = u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    codes.for_each(|code| oracle::write(format, code, &mut bytes));
    bytes
}

/// All codes, in every lane of a block.
#[test]
fn all_codes_in_every_lane() {
    for format in Format::ALL {
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
            check(format, &tensor(format, codes));
        }
    }
}

/// One special element among zeros: searches must find it where it is, whatever the rest of the block.
#[test]
fn one_special_element() {
    for format in Format::ALL {
        let edges = oracle::edges(format);
        let special =
            edges.iter().copied().filter(|&bits| oracle::kind(format, bits) != oracle::Kind::Finite);
        let special: Vec<u64> = special.step_by(if reduced() { 11 } else { 3 }).collect();
        let step = if reduced() { 23 } else { 1 };
        for (i, bits) in special.iter().enumerate() {
            for at in ((i % step)..200).step_by(step) {
                check(format, &tensor(format, (0..200).map(|j| if j == at { *bits } else { 0 })));
            }
        }
    }
}
