//! WebNN: WPT's webnn/conformance_tests for isNaN and isInfinite (VECTORS, section 4), types and
//! shapes (CONTRACTS, section 5).

use nonfinite_ops::webnn::{DataType, Error, IsInfinite, IsNan};
use nonfinite_ops::{Dense, Dimension, Operator, PartialShape};

use crate::{Sentences, check, elements, hold};

/// The comments of WPT, and the rules of the standard (CONTRACTS, section 5).
#[test]
fn sentences() {
    hold("WebNN", SENTENCES);
}

const SENTENCES: Sentences = &[
    ("isNaN: invalid numeric representations (NaN's), element-wise.", wpt_is_nan),
    ("isInfinite: if the values of the input tensor are infinite, element-wise.", wpt_is_infinite),
    ("input float32 or float16, else TypeError", types),
    ("output uint8, same shape, 1/0", types),
    ("a valid dimension is an integer greater than zero in the range of long", dimensions),
];

type Row = (&'static [usize], &'static str, &'static str);

fn run(op: &dyn Operator, data_type: DataType, rows: &[Row]) {
    for &(shape, x, expected) in rows {
        let bytes = elements(data_type.format().unwrap(), x);
        check(&format!("WPT {} {x}", op.name()), op, data_type, shape, &bytes, expected);
    }
}

fn wpt_is_nan() {
    let four = "1 nan -2.5 0 inf -inf 3.14 nan -0 42 nan -999.99 1e10 -1e-10 nan 100.5";
    run(
        &IsNan,
        DataType::Float32,
        &[
            (&[], "1.5", "0"),
            (&[2], "1.5 nan", "0 1"),
            (&[2, 2], "1 nan -2.5 0", "0 1 0 0"),
            (&[2, 2, 2], "1 nan -2.5 0 inf -inf 3.14 nan", "0 1 0 0 0 0 0 1"),
            (&[2, 2, 2, 2], four, "0 1 0 0 0 0 0 1 0 0 1 0 0 0 1 0"),
            (&[7], "nan inf -inf 0 -0 1 -1", "1 0 0 0 0 0 0"),
            (&[4], "nan nan nan nan", "1 1 1 1"),
            (&[6], "1 2.5 -3.7 0 inf -inf", "0 0 0 0 0 0"),
        ],
    );
    run(
        &IsNan,
        DataType::Float16,
        &[
            (&[], "1.5", "0"),
            (&[2], "1.5 nan", "0 1"),
            (&[2, 2], "1 nan -2.5 0", "0 1 0 0"),
            (&[7], "nan inf -inf 0 -0 1 -1", "1 0 0 0 0 0 0"),
        ],
    );
}

fn wpt_is_infinite() {
    let four = "1 inf -2.5 0 nan -inf 3.14 inf -0 42 -inf -999.99 1e10 -1e-10 inf 100.5";
    run(
        &IsInfinite,
        DataType::Float32,
        &[
            (&[], "1.5", "0"),
            (&[2], "inf -inf", "1 1"),
            (&[2, 2], "1 inf -2.5 -inf", "0 1 0 1"),
            (&[2, 2, 2], "1 inf -2.5 0 nan -inf 3.14 inf", "0 1 0 0 0 1 0 1"),
            (&[2, 2, 2, 2], four, "0 1 0 0 0 1 0 1 0 0 1 0 0 0 1 0"),
            (&[8], "inf -inf nan 0 -0 1 -1 3.40282346638528859811704e38", "1 1 0 0 0 0 0 0"),
            (&[4], "inf -inf inf -inf", "1 1 1 1"),
            (&[6], "1 2.5 -3.7 0 -0 nan", "0 0 0 0 0 0"),
            (&[4], "inf 1 2.5 -3.7", "1 0 0 0"),
            (&[4], "1 -inf 2.5 -3.7", "0 1 0 0"),
            (&[6], "1e38 -1e38 max -max 1e39 -1e39", "0 0 0 0 1 1"),
        ],
    );
    run(
        &IsInfinite,
        DataType::Float16,
        &[
            (&[], "1.5", "0"),
            (&[2], "inf -inf", "1 1"),
            (&[2, 2], "1 inf -2.5 -inf", "0 1 0 1"),
            (&[7], "inf -inf nan 0 -0 1 -1", "1 1 0 0 0 0 0"),
        ],
    );
}

fn types() {
    let names = "float32 float16 int32 uint32 int64 uint64 int8 uint8 int4 uint4";
    assert_eq!(
        DataType::ALL.iter().map(|data_type| data_type.name()).collect::<Vec<_>>().join(" "),
        names
    );
    for &data_type in DataType::ALL {
        assert_eq!(data_type.name().parse(), Ok(data_type));
        let expected = match data_type {
            DataType::Float32 | DataType::Float16 => Ok(DataType::Uint8.into()),
            _ => Err(Error::DataType { op: "isNaN", data_type }.into()),
        };
        assert_eq!(IsNan.infer(data_type.into()), expected);
        assert_eq!(IsInfinite.infer(data_type.into()).is_ok(), expected.is_ok());
    }
    assert!("bfloat16".parse::<DataType>().is_err());
    let error = IsInfinite.infer(DataType::Int8.into()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "TypeError: isInfinite: the input is int8, not float32 or float16"
    );
}

fn dimensions() {
    for (shape, index) in [([2, 0, 3], 1), ([1, 1, 1 << 31], 2)] {
        let mut out = [7; 6];
        let x = Dense::from_bytes(DataType::Float32, &shape, &[0; 24]);
        let error =
            Error::Dimension { op: "isNaN", index, size: Dimension::fixed(shape[index] as u64) };
        assert_eq!((IsNan.run(x, (&mut out[..]).into()), out), (Err(error.into()), [7; 6]));
        assert_eq!(IsNan.infer_shape(&shape), Err(error.into()));
        let text = format!("dimension {index} is {}, no valid dimension", shape[index]);
        assert_eq!(error.to_string(), format!("TypeError: isNaN: {text}: not in 1..=2147483647"));
    }
    assert_eq!(IsInfinite.infer_shape(&[2, 3]), Ok(&[2, 3][..]));
    for (text, valid) in [("?", true), ("..0", false), ("0..1", true), ("2147483648..", false)] {
        let dimensions = [text.parse().unwrap()];
        let shape = PartialShape::Ranked(&dimensions);
        assert_eq!(IsInfinite.infer_partial_shape(shape).ok(), valid.then_some(shape), "{text}");
    }
}
