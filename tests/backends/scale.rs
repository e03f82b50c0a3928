//! Multiplying with a check of the inputs, on every backend. The oracles are the conversions of
//! `half` and the multiplication of the standard library.

use half::{bf16, f16};
use nonfinite::scale::unscale_and_check;
use nonfinite::{ElementsMut, Error, Format};
use quickcheck::{Arbitrary, Gen};

use crate::oracle::{self, Kind, kind};
use crate::tensors::{SUITE, Tensor, all_codes, either, tensor};
use crate::{CANARY, backends};

/// The formats with arithmetic, but for f16, whose tests are in a module of their own: Bochs rounds
/// f32 to f16 wrongly, so `ci/emulate/avx512` leaves that module out.
const FORMATS: [Format; 3] = [Format::F64, Format::F32, Format::Bf16];

/// Powers of two as scalers have them, others, and those for which products are subnormal, round up
/// or overflow.
const FACTORS: [f64; 14] = [
    1.0,
    0.5,
    1.0 / 65536.0,
    1.0 / 1024.0,
    3.0,
    -0.1,
    1.0 + f32::EPSILON as f64,
    1e-3,
    65536.0,
    1e30,
    1e-30,
    0.0,
    -0.0,
    f32::MIN_POSITIVE as f64,
];

/// The product by an independent implementation.
fn product(format: Format, bits: u64, factor: f64) -> u64 {
    let single = factor as f32;
    match format {
        Format::F64 => (f64::from_bits(bits) * factor).to_bits(),
        Format::F32 => u64::from((f32::from_bits(bits as u32) * single).to_bits()),
        Format::F16 => u64::from(
            f16::from_f32_const(f16::from_bits(bits as u16).to_f32_const() * single).to_bits(),
        ),
        _ => u64::from(
            bf16::from_f32_const(bf16::from_bits(bits as u16).to_f32_const() * single).to_bits(),
        ),
    }
}

/// Whether one result may replace the other: equal bits, or two NaN that a multiplication has made.
fn same(format: Format, input: u64, got: u64, want: u64) -> bool {
    let made = kind(format, input) != Kind::Nan && kind(format, want) == Kind::Nan;
    got == want || made && kind(format, got) == Kind::Nan
}

/// On every backend, between canaries, at the address that the input has within a line.
fn check(format: Format, input: &[u8], factor: f64) {
    let mut room = vec![CANARY; input.len() + 256];
    let start = room.as_ptr().align_offset(64) + 64 + input.as_ptr().addr() % 64;
    let codes = input.chunks_exact(format.size_in_bytes()).map(oracle::read);
    let want: Vec<[u64; 2]> = codes.map(|bits| [bits, product(format, bits, factor)]).collect();
    let special = want.iter().any(|&[bits, _]| kind(format, bits) != Kind::Finite);
    for &backend in backends() {
        let at = || format!("{backend:?} {format} {} bytes times {factor}", input.len());
        let (before, rest) = room.split_at_mut(start);
        let (inside, behind) = rest.split_at_mut(input.len());
        inside.copy_from_slice(input);
        let x = ElementsMut::from_bytes(inside, format).unwrap();
        assert_eq!(x.with_backend(backend).unscale_and_check(factor), Ok(special), "{}", at());
        let results = inside.chunks_exact(format.size_in_bytes()).map(oracle::read);
        for (&[bits, want], got) in want.iter().zip(results) {
            assert!(same(format, bits, got, want), "{}: {bits:x} to {got:x}, not {want:x}", at());
        }
        assert!(
            before.iter().chain(&*behind).all(|&byte| byte == CANARY),
            "{} wrote outside",
            at()
        );
    }
}

/// All codes of the halves, the edges of the others, in some lanes, times every factor.
fn every_code(formats: &[Format]) {
    for &format in formats {
        let codes = all_codes(format);
        // By default few factors, among them one whose products are subnormal and one whose
        // products overflow.
        for &factor in FACTORS.iter().step_by(either(4, 1)) {
            for lane in 0..if codes.len() > 0x1000 { 2 } else { 65 } {
                let bits = |i: usize| i.checked_sub(lane).map_or(1, |i| codes[i]);
                check(format, &tensor(format, lane + codes.len(), bits), factor);
            }
        }
    }
}

/// Halfway between two halves, and the least above, normal and subnormal.
fn ties(format: Format) {
    let one = if format == Format::F16 { 0x3C00 } else { 0x3F80 };
    let input = tensor(format, 70, |i| [one, one + 1, one | 0x8000, one + 3][i % 4]);
    // From 2 on in threes are the last bits of f16 (11), of bf16 (8), and of f16 at 2^-20 (5).
    let (first, step) = either((2, 3), (1, 1));
    for exponent in [0, -15, -14, -20, -16, -24, -25].into_iter().step_by(step) {
        for half in (first..=23).step_by(step) {
            for beyond in (half + 1..=23).map(|bit| 2f64.powi(-bit)).chain([0.0]) {
                let factor = 1.0 + 2f64.powi(-half) + beyond;
                check(format, &input, factor * 2f64.powi(exponent));
            }
        }
    }
}

/// Every infinity, NaNs with one bit of a payload, and what lacks one bit of an exponent, each
/// alone among finite elements: no other may be found for it.
fn one_special(formats: &[Format]) {
    for &format in formats {
        let (infinity, payload) = match format {
            Format::F64 => (0x7FF0_0000_0000_0000, 52),
            Format::F32 => (0x7F80_0000, 23),
            Format::F16 => (0x7C00, 10),
            _ => (0x7F80, 7),
        };
        let sign: u64 = 1 << (8 * format.size_in_bytes() - 1);
        let nans = (0..payload).map(|bit| infinity | 1 << bit);
        let finite = (payload..sign.trailing_zeros()).map(|bit| (sign - 1) & !(1 << bit));
        for (i, code) in [infinity].into_iter().chain(nans).chain(finite).enumerate() {
            for code in [code, code | sign] {
                let bits = |at| if at == i * 37 % 200 { code } else { 1 };
                check(format, &tensor(format, 200, bits), 0.5);
            }
        }
    }
}

/// Infinite factors, and NaN: the check is on what was there before.
fn not_finite(formats: &[Format]) {
    // The payload of a NaN may be all ones: rounded as a number, it is no NaN any more.
    let ones = [f64::from_bits(u64::MAX), f64::from_bits(u64::MAX >> 1)];
    let factors = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e300, 1e-300];
    for &format in formats {
        let mut codes = oracle::edges(format);
        codes.retain(|&bits| kind(format, bits) != Kind::Nan);
        let input = tensor(format, codes.len(), |i| codes[i]);
        factors.iter().chain(&ones).for_each(|&factor| check(format, &input, factor));
    }
}

/// Every place, length and address.
fn suite(formats: &[Format]) {
    for (name, tensors) in SUITE {
        println!("{name}");
        tensors(&mut |format, input| {
            if formats.contains(&format) {
                check(format, input, 0.75);
            }
        });
    }
}

fn random(formats: &[Format]) {
    let mut g = Gen::new(100);
    for turn in 0..either(20, 500) {
        let Tensor { format, bytes } = Tensor::of(formats[turn % formats.len()], &mut g);
        let exponent = i32::arbitrary(&mut g) % 40;
        check(format, &bytes, f64::from(i16::arbitrary(&mut g)) * f64::powi(2.0, exponent));
    }
}

#[test]
fn ties_of_bf16() {
    ties(Format::Bf16);
}

#[test]
fn every_code_and_the_suite() {
    for test in [every_code, suite] {
        test(&FORMATS);
    }
}

#[test]
fn specials_and_random_tensors() {
    for test in [one_special, not_finite, random] {
        test(&FORMATS);
    }
}

mod rounds_to_f16 {
    use super::*;

    #[test]
    fn ties() {
        super::ties(Format::F16);
    }

    #[test]
    fn every_code_and_the_suite() {
        for test in [every_code, suite] {
            test(&[Format::F16]);
        }
    }

    #[test]
    fn specials_and_random_tensors() {
        for test in [one_special, not_finite, random] {
            test(&[Format::F16]);
        }
    }
}

/// A finite element whose product overflows is not found; an infinite one that is multiplied by
/// zero is.
#[test]
fn before_multiplying() {
    let mut x = vec![f32::MAX; 200];
    assert!(!unscale_and_check(&mut x, 2.0));
    assert!(x.iter().all(|x| x.is_infinite()));
    assert!(unscale_and_check(&mut x, 0.0));
    let mut halves = vec![f16::MAX; 200];
    assert!(!unscale_and_check(&mut halves, 2.0));
    assert!(unscale_and_check(&mut halves, 1.0));
    assert!(!unscale_and_check::<f64>(&mut [], 1.0));
}

#[test]
fn refused() {
    let mut x = [0x7F; 4];
    let format = Format::F8E4M3Fn;
    let elements = ElementsMut::from_bytes(&mut x, format).unwrap();
    assert_eq!(elements.unscale_and_check(2.0), Err(Error::NoArithmetic { format }));
    let format = Format::F32;
    let elements = ElementsMut::from_bytes(&mut x[1..], format);
    assert_eq!(elements.map(|x| x.len()), Err(Error::PartialElement { bytes: 3, format }));
    assert_eq!(x, [0x7F; 4]);
}
