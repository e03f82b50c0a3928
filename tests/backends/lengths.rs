//! Every length, start address and bit offset.

use nonfinite::{Backend, Elements, Format, Predicate, TensorView};

use crate::layouts::{self, Layout};
use crate::{Visit, backends, check, check_backend, expected, oracle, reduced};

/// Elements that hold every second edge of the format in an order that repeats late, and the last
/// one: NaN in all formats that have NaN, except where NaN has the code of -0.
pub(crate) fn mixed(format: Format, elements: usize) -> Vec<u8> {
    let edges = oracle::edges(format);
    let mut bytes = Vec::new();
    for i in 0..elements {
        let bits = match i {
            _ if i % 3 == 0 => edges[(i / 3 * 7 + i) % edges.len()],
            _ if i % 50 == 40 => edges[edges.len() - 1],
            _ => 0,
        };
        oracle::write(format, bits, &mut bytes);
    }
    bytes
}

#[test]
fn every_length() {
    lengths(&mut check);
}

pub(crate) fn lengths(visit: Visit<'_>) {
    let most = if reduced() { 140 } else { 300 };
    for format in Format::ALL.iter().copied() {
        let bytes = mixed(format, most);
        for n in 0..=most {
            visit(format, &bytes[..n * format.size_in_bytes()]);
        }
    }
}

#[test]
fn long_inputs() {
    long(&mut check);
}

pub(crate) fn long(visit: Visit<'_>) {
    let lengths: &[usize] =
        if reduced() { &[1023, 2049] } else { &[511, 1024, 1025, 2047, 3000, 4096, 5001] };
    for format in Format::ALL.iter().copied() {
        for &n in lengths {
            let bytes = mixed(format, n);
            visit(format, &bytes);
            // Clean except the end, so that searches go through whole groups.
            let size = format.size_in_bytes();
            let mut clean = vec![0; bytes.len()];
            visit(format, &clean);
            let end = clean.len() - 3 * size;
            clean[end..].copy_from_slice(
                &mixed(format, 3 * oracle::edges(format).len())[size * 3..size * 6],
            );
            visit(format, &clean);
        }
        // Finite elements whose sum is none, whatever lanes it is taken in: the greatest of either
        // sign.
        let finite = |&bits: &u64| oracle::kind(format, bits) == oracle::Kind::Finite;
        let edges: Vec<u64> = oracle::edges(format).into_iter().filter(finite).collect();
        let (positive, negative) = edges.split_at(edges.len() / 2);
        let mut extremes = Vec::new();
        for i in 0..2048 {
            let half = if i % 2 == 0 { positive } else { negative };
            oracle::write(format, half.iter().copied().max().unwrap_or(0), &mut extremes);
        }
        visit(format, &extremes);
    }
}

/// Rows of every length up to more than a block, with padding behind each, so that they are lines
/// of their own.
#[test]
fn every_short_line() {
    for format in [Format::F64, Format::F32, Format::Bf16, Format::F8E4M3Fn] {
        for columns in (1..=66).step_by(if reduced() { 5 } else { 1 }) {
            let sizes = [5, columns];
            let padded = |padding| Layout::permuted(&sizes, &[1, 0], &[false; 2], &[0, padding]);
            let from = padded(3);
            let bytes = mixed(format, from.memory);
            layouts::check(format, &bytes, &from, &[&padded(0), &padded(2)]);
        }
    }
}

/// Every byte address within 64, odd ones too, and 64 elements of offset.
#[test]
fn every_address() {
    for format in Format::ALL.iter().copied() {
        let size = format.size_in_bytes();
        let bytes = mixed(format, 400);
        let n = 199;
        let kinds = expected(format, &bytes);
        let mut room = vec![0u8; bytes.len() + 256];
        let aligned = room.as_ptr().align_offset(64);
        for offset in (0..64).step_by(if reduced() { 7 } else { 1 }) {
            let start = aligned + offset;
            room[start..start + bytes.len()].copy_from_slice(&bytes);
            for backend in backends() {
                check_backend(backend, format, &room[start..start + n * size], &kinds[..n]);
                let shifted = start + offset * size;
                check_backend(
                    backend,
                    format,
                    &room[shifted..shifted + n * size],
                    &kinds[offset..offset + n],
                );
            }
        }
    }
}

/// One special element near either end of an input, at places about 5 bytes apart. Screens look at
/// the first 128 bytes, from the first cache line on, and at the last 256 bytes, and these parts
/// overlap.
#[test]
fn one_special_element_near_an_end() {
    let (offsets, apart): (&[usize], usize) =
        if reduced() { (&[1, 16], 41) } else { (&[0, 1, 8, 16, 48, 63], 5) };
    // A width of lanes each, and a rule that compares all bits of a byte.
    let formats = [Format::F64, Format::F32, Format::Bf16, Format::F8E5M2, Format::F8E4M3FnUz];
    for format in formats {
        let size = format.size_in_bytes();
        let special: Vec<u64> = oracle::edges(format)
            .into_iter()
            .filter(|&bits| oracle::kind(format, bits) != oracle::Kind::Finite)
            .collect();
        for (length, &offset) in [248, 256, 504, 512, 776, 1032, 2304, 4360]
            .into_iter()
            .flat_map(|length| offsets.iter().map(move |offset| (length, offset)))
        {
            let mut room = vec![0u8; length + 192];
            let start = room.as_ptr().align_offset(64) + 64 + offset;
            // Special elements around the input, which nothing may count.
            let mut code = Vec::new();
            oracle::write(format, special[0], &mut code);
            for (i, byte) in room.iter_mut().enumerate() {
                *byte = code[(i + size - start % size) % size];
            }
            room[start..start + length].fill(0);
            check(format, &room[start..start + length]);
            let step = apart.div_ceil(size);
            let near_start = (0..140 / size).step_by(step);
            let near_end = (length.saturating_sub(256) / size..length / size).step_by(step);
            for at in near_start.chain(near_end) {
                let mut code = Vec::new();
                oracle::write(format, special[at % special.len()], &mut code);
                let here = start + at * size..start + (at + 1) * size;
                room[here.clone()].copy_from_slice(&code);
                check(format, &room[start..start + length]);
                room[here].fill(0);
            }
        }
    }
}

#[test]
fn every_bit_offset() {
    let format = Format::F16;
    let bytes = mixed(format, 200);
    let kinds = expected(format, &bytes);
    for backend in backends() {
        for n in (0..=200).step_by(if reduced() { 9 } else { 1 }) {
            let x = Elements::from_bytes(&bytes[..2 * n], format).unwrap();
            for predicate in [Predicate::NonFinite, Predicate::Finite, Predicate::Never] {
                for offset in 0..20 {
                    bits_at(backend, x, predicate, &kinds[..n], offset);
                }
            }
        }
    }
}

fn bits_at(
    backend: Backend,
    x: Elements<'_>,
    predicate: Predicate,
    kinds: &[oracle::Kind],
    offset: usize,
) {
    for fill in [0, 0xFF] {
        let mut out = vec![fill; (offset + kinds.len()).div_ceil(8)];
        TensorView::from(x).on(backend).bits(predicate, &mut out, offset).unwrap();
        for bit in 0..8 * out.len() {
            let got = out[bit / 8] >> (bit % 8) & 1 == 1;
            let element = bit.checked_sub(offset).and_then(|i| kinds.get(i));
            let want = element.map_or(fill != 0, |&kind| oracle::holds(predicate, kind));
            assert_eq!(
                got,
                want,
                "{} {predicate:?} length {} bit {bit} from {offset}",
                backend.name(),
                kinds.len()
            );
        }
    }
}
