//! Multiplying with a check of the inputs, on every backend. The oracles are the conversions of
//! `half` and the multiplication of the standard library.

use half::{bf16, f16};
use nonfinite::scale::unscale_and_check;
use nonfinite::{Backend, ElementsMut, Error, Format};
use quickcheck::Arbitrary;

use crate::oracle::{self, Kind, kind};
use crate::properties::Tensor;
use crate::{CANARY, backends, reduced};

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

/// On every backend, between canaries.
fn check(format: Format, input: &[u8], factor: f64) {
    for backend in backends() {
        check_backend(backend, format, input, factor, 64);
    }
}

fn check_backend(backend: Backend, format: Format, input: &[u8], factor: f64, start: usize) {
    let at =
        || format!("{} {format} {} bytes from {start} times {factor}", backend.name(), input.len());
    let mut room = [&vec![CANARY; start], input, &[CANARY; 64]].concat();
    let (before, rest) = room.split_at_mut(start);
    let (inside, behind) = rest.split_at_mut(input.len());
    let x = ElementsMut::from_bytes(inside, format).unwrap();
    let found = x.on(backend).unscale_and_check(factor).unwrap();
    let size = format.size_in_bytes();
    let mut want_found = false;
    for (i, (old, new)) in input.chunks_exact(size).zip(inside.chunks_exact(size)).enumerate() {
        let [old, new] = [old, new].map(oracle::read);
        want_found |= kind(format, old) != Kind::Finite;
        let want = product(format, old, factor);
        assert!(same(format, old, new, want), "{} at {i}: {old:x} to {new:x}, not {want:x}", at());
    }
    assert_eq!(found, want_found, "{}", at());
    assert!(before.iter().chain(&*behind).all(|&byte| byte == CANARY), "{} wrote outside", at());
}

/// The halves in every code, the others at their edges.
fn codes(format: Format) -> Vec<u64> {
    match format.size_in_bytes() {
        2 => (0..=0xFFFF).collect(),
        _ => oracle::edges(format),
    }
}

fn every_code(format: Format) {
    let codes = codes(format);
    // On emulators of few factors, among them one whose products are subnormal and one whose
    // products overflow.
    for &factor in FACTORS.iter().step_by(if reduced() { 4 } else { 1 }) {
        for shift in 0..if codes.len() > 0x1000 { 2 } else { 65 } {
            let mut input = Vec::new();
            (0..shift).for_each(|_| oracle::write(format, 1, &mut input));
            codes.iter().for_each(|&bits| oracle::write(format, bits, &mut input));
            check(format, &input, factor);
        }
    }
}

#[test]
fn every_code_of_bf16() {
    every_code(Format::Bf16);
}

#[test]
fn edges_of_f32_and_f64() {
    every_code(Format::F32);
    every_code(Format::F64);
}

#[test]
fn ties_of_bf16() {
    ties(Format::Bf16);
}

/// Halfway between two halves, and the least above, normal and subnormal.
fn ties(format: Format) {
    let one = if format == Format::F16 { 0x3C00 } else { 0x3F80 };
    let mut input = Vec::new();
    for code in [one, one + 1, one | 0x8000, one + 3].into_iter().cycle().take(70) {
        oracle::write(format, code, &mut input);
    }
    // From 2 on in threes are the last bits of f16 (11), of bf16 (8), and of f16 at 2^-20 (5).
    let (first, step) = if reduced() { (2, 3) } else { (1, 1) };
    for exponent in [0, -15, -14, -20, -16, -24, -25].into_iter().step_by(step) {
        for half in (first..=23).step_by(step) {
            for beyond in (half + 1..=23).map(|bit| 2f64.powi(-bit)).chain([0.0]) {
                let factor = 1.0 + 2f64.powi(-half) + beyond;
                check(format, &input, factor * 2f64.powi(exponent));
            }
        }
    }
}

#[test]
fn one_special() {
    specials(&FORMATS);
}

/// Every infinity, NaNs with one bit of a payload, and what lacks one bit of an exponent, each
/// alone among finite elements: no other may be found for it.
fn specials(formats: &[Format]) {
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
                let mut input = Vec::new();
                (0..200).for_each(|at| {
                    oracle::write(format, if at == i * 37 % 200 { code } else { 1 }, &mut input)
                });
                check(format, &input, 0.5);
            }
        }
    }
}

/// Infinite factors, and NaN: the check is on what was there before.
#[test]
fn factors_that_are_not_finite() {
    not_finite(&FORMATS);
}

fn not_finite(formats: &[Format]) {
    // The payload of a NaN may be all ones: rounded as a number, it is no NaN any more.
    let ones = [f64::from_bits(u64::MAX), f64::from_bits(u64::MAX >> 1)];
    for &format in formats {
        for factor in
            [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e300, 1e-300].into_iter().chain(ones)
        {
            let mut input = Vec::new();
            for &bits in
                oracle::edges(format).iter().filter(|&&bits| kind(format, bits) != Kind::Nan)
            {
                oracle::write(format, bits, &mut input);
            }
            check(format, &input, factor);
        }
    }
}

#[test]
fn every_length_and_place() {
    lengths_and_places(&FORMATS);
}

fn lengths_and_places(formats: &[Format]) {
    for &format in formats {
        let most: usize = if reduced() { 140 } else { 300 };
        let clean = (0..most).map(|i| oracle::edges(format)[i % 7]).collect::<Vec<_>>();
        let nan =
            *oracle::edges(format).iter().find(|&&bits| kind(format, bits) == Kind::Nan).unwrap();
        let size = format.size_in_bytes();
        for n in 0..=most {
            let mut input = Vec::new();
            clean[..n].iter().for_each(|&bits| oracle::write(format, bits, &mut input));
            check(format, &input, 0.25);
            if n > 0 {
                let (place, mut special) = (n * 31 % n.max(17) % n, Vec::new());
                oracle::write(format, nan, &mut special);
                input[place * size..(place + 1) * size].copy_from_slice(&special);
                check(format, &input, 0.25);
            }
        }
    }
}

#[test]
fn every_address() {
    addresses(&FORMATS);
}

fn addresses(formats: &[Format]) {
    for &format in formats {
        let bytes = crate::lengths::mixed(format, 1500 / format.size_in_bytes());
        for start in (0..64).step_by(if reduced() { 7 } else { 1 }) {
            for backend in backends() {
                check_backend(backend, format, &bytes, 0.75, start);
            }
        }
    }
}

#[derive(Clone, Debug)]
struct Case<const F16: bool> {
    tensor: Tensor,
    factor: f64,
}

impl<const F16: bool> Arbitrary for Case<F16> {
    fn arbitrary(g: &mut quickcheck::Gen) -> Self {
        let format = if F16 { Format::F16 } else { *g.choose(&FORMATS).unwrap() };
        let exponent = i32::arbitrary(g) % 40;
        let factor = f64::from(i16::arbitrary(g)) * f64::powi(2.0, exponent);
        Self { tensor: Tensor::of(format, g), factor }
    }
}

#[test]
fn random_tensors() {
    random::<false>();
}

fn random<const F16: bool>() {
    fn agrees<const F16: bool>(case: Case<F16>) {
        check(case.tensor.format, &case.tensor.bytes, case.factor);
    }
    let tests = if reduced() { 20 } else { 500 };
    quickcheck::QuickCheck::new().tests(tests).quickcheck(agrees as fn(Case<F16>));
}

mod rounds_to_f16 {
    use super::*;

    #[test]
    fn ties() {
        super::ties(Format::F16);
    }

    #[test]
    fn every_code_of_f16() {
        every_code(Format::F16);
    }

    #[test]
    fn one_special() {
        specials(&[Format::F16]);
    }

    #[test]
    fn factors_that_are_not_finite() {
        not_finite(&[Format::F16]);
    }

    #[test]
    fn every_length_and_place() {
        lengths_and_places(&[Format::F16]);
    }

    #[test]
    fn every_address() {
        addresses(&[Format::F16]);
    }

    #[test]
    fn random_tensors() {
        random::<true>();
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
