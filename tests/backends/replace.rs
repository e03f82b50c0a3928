//! Replacing non-finite elements, on every backend, against the oracle of kinds.

use nonfinite::{Elements, ElementsMut, Error, Format, Replacement, TensorView};
use quickcheck::QuickCheck;

use crate::CANARY;
use crate::oracle::{self, Kind, check_replacing, kind};
use crate::tensors::{SUITE, Tensor, either, formats, one_of_each, tensor};

/// On the active backend.
fn in_place(x: &mut [u8], format: Format, with: Replacement<u64>) -> Result<usize, Error> {
    ElementsMut::from_bytes(x, format)?.replace_non_finite(with)
}

/// Replacements that tell the kinds apart, and some that are not finite themselves.
fn replacements(format: Format) -> [Replacement<u64>; 3] {
    let edges = oracle::edges(format);
    let of = |wanted| edges.iter().copied().find(|&bits| kind(format, bits) == wanted);
    let nan = of(Kind::Nan).unwrap_or(1);
    let [pos_inf, neg_inf] = [Kind::PosInf, Kind::NegInf].map(|wanted| of(wanted).unwrap_or(nan));
    [
        Replacement::finite_bits(format),
        Replacement { nan: 1, pos_inf: 2, neg_inf: 3 },
        // Each kind becomes another: what has been replaced must not be replaced again.
        Replacement { nan: neg_inf, pos_inf: nan, neg_inf: pos_inf },
    ]
}

/// All codes, every place, length and address.
#[test]
fn suite() {
    for (name, tensors) in SUITE {
        println!("{name}");
        let mut turn = 0;
        tensors(&mut |format, input| {
            turn += 1;
            check_replacing(format, input, replacements(format)[turn % 3]);
        });
    }
}

/// One special element among finite ones in every place of some groups, so that groups, blocks and
/// the rest are each skipped and each found. And whole groups of one special code.
#[test]
fn one_among_clean_and_nothing_finite() {
    for format in formats() {
        let elements = 2 * 1024 + 64 + 7;
        for &special in one_of_each(format).split_last().unwrap().1 {
            let all = tensor(format, elements, |_| special);
            check_replacing(format, &all, Replacement::finite_bits(format));
            for place in (0..elements).step_by(either(509, 61)).chain([elements - 1]) {
                let one = tensor(format, elements, |i| if i == place { special } else { 5 });
                check_replacing(format, &one, Replacement::finite_bits(format));
            }
        }
    }
}

#[test]
fn random_tensors() {
    fn agrees(Tensor { format, bytes }: Tensor, codes: (usize, usize, usize)) {
        let edges = oracle::edges(format);
        let code = |i: usize| edges[i % edges.len()];
        let (nan, pos_inf, neg_inf) = (code(codes.0), code(codes.1), code(codes.2));
        check_replacing(format, &bytes, Replacement { nan, pos_inf, neg_inf });
    }
    let agrees = agrees as fn(Tensor, (usize, usize, usize));
    QuickCheck::new().tests(either(20, 500)).quickcheck(agrees);
}

/// After a replacement by finite numbers, nothing is left to replace, and finite elements have kept
/// their codes.
#[test]
fn twice_is_once() {
    fn agrees(tensor: Tensor) -> bool {
        let Tensor { format, bytes: mut once } = tensor;
        let with = Replacement::finite_bits(format);
        let found = in_place(&mut once, format, with).unwrap();
        let census = TensorView::from_bytes(&once, format).unwrap().census();
        let mut twice = once.clone();
        found <= once.len()
            && census == nonfinite::Census::default()
            && in_place(&mut twice, format, with) == Ok(0)
            && twice == once
    }
    QuickCheck::new().tests(either(20, 200)).quickcheck(agrees as fn(Tensor) -> bool);
}

/// The typed functions, with values.
#[test]
fn typed() {
    let special = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -f64::NAN];
    let input: Vec<f64> =
        (0..300).map(|i| if i % 5 == 0 { special[i / 5 % 4] } else { i as f64 }).collect();
    let with = Replacement { nan: 0.5, pos_inf: 1e9, neg_inf: -1e9 };
    let want: Vec<f64> = input
        .iter()
        .map(|&x| {
            if x.is_nan() {
                0.5
            } else if x.is_infinite() {
                1e9 * x.signum()
            } else {
                x
            }
        })
        .collect();
    let mut out = vec![0.0; 300];
    assert_eq!(nonfinite::replace_non_finite_into(&input, &mut out, with), 60);
    assert_eq!(out, want);
    let mut x = input.clone();
    assert_eq!(nonfinite::replace_non_finite(&mut x, with), 60);
    assert_eq!(x, want);

    let mut halves = [half::f16::NAN, half::f16::INFINITY, half::f16::NEG_INFINITY, half::f16::ONE];
    assert_eq!(nonfinite::replace_non_finite(&mut halves, Replacement::finite()), 3);
    assert_eq!(halves, [half::f16::ZERO, half::f16::MAX, half::f16::MIN, half::f16::ONE]);
    let mut halves = [half::bf16::NAN, half::bf16::INFINITY, half::bf16::NEG_INFINITY];
    assert_eq!(nonfinite::replace_non_finite(&mut halves, Replacement::finite()), 3);
    assert_eq!(halves, [half::bf16::ZERO, half::bf16::MAX, half::bf16::MIN]);
    let mut singles = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
    assert_eq!(nonfinite::replace_non_finite(&mut singles, Replacement::finite()), 3);
    assert_eq!(singles, [0.0, f32::MAX, f32::MIN]);
}

/// The largest and the least finite codes, as OCP OFP8, OCP MX and ml_dtypes have them.
#[test]
fn finite_limits() {
    let literal = [
        (Format::F16, 0x7BFF, 0xFBFF),
        (Format::Bf16, 0x7F7F, 0xFF7F),
        (Format::F32, 0x7F7F_FFFF, 0xFF7F_FFFF),
        (Format::F64, 0x7FEF_FFFF_FFFF_FFFF, 0xFFEF_FFFF_FFFF_FFFF),
        (Format::F8E4M3Fn, 0x7E, 0xFE),
        (Format::F8E4M3FnUz, 0x7F, 0xFF),
        (Format::F8E5M2, 0x7B, 0xFB),
        (Format::F8E5M2FnUz, 0x7F, 0xFF),
        (Format::F8E4M3, 0x77, 0xF7),
        (Format::F8E3M4, 0x6F, 0xEF),
        (Format::F8E4M3B11FnUz, 0x7F, 0xFF),
        (Format::F8E8M0Fnu, 0xFE, 0x00),
        (Format::F4E2M1Fn, 0x07, 0x0F),
        (Format::F6E2M3Fn, 0x1F, 0x3F),
        (Format::F6E3M2Fn, 0x1F, 0x3F),
    ];
    assert_eq!(literal.map(|(format, ..)| format), Format::ALL);
    for (format, max, min) in literal {
        assert_eq!((format.max_bits(), format.min_bits()), (max, min), "{format}");
        assert!([max, min].iter().all(|&bits| kind(format, bits) == Kind::Finite), "{format}");
    }
}

#[test]
fn refused() {
    let with = Replacement { nan: 0, pos_inf: 0, neg_inf: 0x1_0000 };
    let mut x = [0xFF; 6];
    let format = Format::F16;
    assert_eq!(in_place(&mut x, format, with), Err(Error::Code { bits: 0x1_0000, format }));
    let with = Replacement::finite_bits(format);
    assert_eq!(
        in_place(&mut x[..5], format, with),
        Err(Error::PartialElement { bytes: 5, format })
    );
    let mut out = [CANARY; 4];
    assert_eq!(
        ElementsMut::from_bytes(&mut out, format)
            .unwrap()
            .copy_replacing(Elements::from_bytes(&x, format).unwrap(), with),
        Err(Error::OutputBytes { bytes: 6, output: 4 })
    );
    assert_eq!((x, out), ([0xFF; 6], [CANARY; 4]));
}

/// Panics abort on wasm.
#[cfg(panic = "unwind")]
#[test]
fn wrong_length() {
    let mut out = [7.0f32; 4];
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        nonfinite::replace_non_finite_into(&[f32::NAN; 3], &mut out, Replacement::finite())
    }));
    let message = panic.unwrap_err();
    assert_eq!(message.downcast_ref::<String>().unwrap(), "3 elements, but an output for 4");
    assert_eq!(out, [7.0; 4]);
}
