//! StableHLO is_finite: stablehlo/tests/interpret/is_finite.mlir (VECTORS, section 7) and its types
//! (CONTRACTS, section 5).

use nonfinite::Format;
use nonfinite_ops::stablehlo::{ElementType, Error, IsFinite};
use nonfinite_ops::{Dense, Operator};

use crate::openvino_shapes::same_shape;
use crate::{Sentences, check, codes, elements, hold, memory};

/// docs/spec.md, "is_finite".
#[test]
fn sentences() {
    hold("stablehlo.is_finite", IS_FINITE);
}

const IS_FINITE: Sentences = &[
    ("whether the value in x is finite (i.e. is neither +Inf, -Inf, nor NaN)", interpret_is_finite),
    ("For quantized types, the result is always true.", quantized),
    ("(I1) x: tensor of floating-point type or per-tensor quantized tensor", types),
    ("y: tensor of boolean type", types),
    ("(C1) shape(x) = shape(y)", || same_shape(&IsFinite)),
];

fn interpret_is_finite() {
    let mut bits = vec![0xFFF0_0000_0000_0000, 0x7FF0_0000_0000_0000, 0x7FF8_0000_0000_0000];
    bits.extend([-10.0, -0.0, 0.0, 10.0].map(f64::to_bits));
    let x = memory(Format::F64, bits);
    check("is_finite.mlir", &IsFinite, ElementType::F64, &[7], &x, "F F F T T T T");
}

/// stablehlo/testdata/is_finite_*_20_20.mlir: 400 finite values of each type give true. Theirs are
/// random and in the files; these are spread over all exponents.
#[test]
fn finite_values() {
    let types = [ElementType::Bf16, ElementType::F16, ElementType::F32, ElementType::F64];
    for element_type in types {
        let format = element_type.format().unwrap();
        let width = 8 * format.size_in_bytes() as u32;
        let max = crate::bits(format, "max");
        // All magnitudes up to the largest, every other one negative.
        let bits =
            (0..400u64).map(|i| (max as u128 * i as u128 / 399) as u64 | (i & 1) << (width - 1));
        let expected = "T ".repeat(400);
        check("20x20", &IsFinite, element_type, &[20, 20], &memory(format, bits), &expected);
    }
}

#[test]
fn every_float_type() {
    let rows = [
        (ElementType::F4E2M1Fn, "00 07 08 0F", "T T T T"),
        (ElementType::F6E2M3Fn, "00 1F 20 3F", "T T T T"),
        (ElementType::F6E3M2Fn, "00 1F 20 3F", "T T T T"),
        (ElementType::F8E3M4, "6F 70 71 F0 FF", "T F F F F"),
        (ElementType::F8E4M3, "77 78 79 F8 FF", "T F F F F"),
        (ElementType::F8E4M3B11FnUz, "7F 80 FF", "T F T"),
        (ElementType::F8E4M3Fn, "78 7E 7F FF 80", "T T F F T"),
        (ElementType::F8E4M3FnUz, "7F 80 FF", "T F T"),
        (ElementType::F8E5M2, "7B 7C 7D FC FF", "T F F F F"),
        (ElementType::F8E5M2FnUz, "7C 7F 80 FC", "T T F T"),
        (ElementType::F8E8M0Fnu, "00 7F 80 FE FF", "T T T T F"),
    ];
    for (element_type, x, expected) in rows {
        let x = codes(x);
        check("is_finite", &IsFinite, element_type, &[x.len()], &x, expected);
    }
    for element_type in [ElementType::Bf16, ElementType::F16, ElementType::F32, ElementType::F64] {
        let x = elements(element_type.format().unwrap(), "nan inf -inf max min -0");
        check("is_finite", &IsFinite, element_type, &[6], &x, "F F F T T T");
    }
}

/// Quantized elements are integers with a scale: all finite, whatever their storage.
fn quantized() {
    for bytes in [&[][..], &[0xFF; 3]] {
        let mut out = [7; 3];
        let x = Dense::from_bytes(ElementType::PerTensorQuantized, &[3], bytes);
        assert_eq!((IsFinite.run(x, (&mut out[..]).into()), out), (Ok(()), [1; 3]));
    }
}

fn types() {
    for &element_type in ElementType::ALL {
        assert_eq!(element_type.name().parse(), Ok(element_type));
        let taken =
            element_type.format().is_some() || element_type == ElementType::PerTensorQuantized;
        let expected = if taken {
            Ok(ElementType::Boolean.into())
        } else {
            Err(Error::ElementType(element_type).into())
        };
        assert_eq!(IsFinite.infer(element_type.into()), expected);
    }
    assert!("f8e4m3fn".parse::<ElementType>().is_err());
    // The 15 floating-point types of docs/spec.md.
    let floats = ElementType::ALL.iter().filter(|element_type| element_type.format().is_some());
    assert_eq!(floats.count(), 15);
    let error = IsFinite.infer(ElementType::PerAxisQuantized.into()).unwrap_err();
    assert!(
        error.to_string().ends_with("quantized type, not of per-axis !quant.uniform"),
        "{error}"
    );
}
