//! Arbitrary text and numbers as types, attributes, opsets, dimensions and shapes of ONNX,
//! OpenVINO, WebNN and StableHLO. They are parsed as in an independent reading of the standard, or
//! refused. Then operators run with them.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use nonfinite::{Format, Predicate};
use nonfinite_fuzz::{holds, kind_of};
use nonfinite_ops::onnx::{self, Attribute};
use nonfinite_ops::{
    Dense, Dimension, Operator, PartialShape, StandardType, openvino, stablehlo, webnn,
};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    opset: u8,
    data_type: i32,
    attributes: Vec<(Name<'a>, bool, i64)>,
    texts: Vec<(Name<'a>, &'a str)>,
    dimensions: Vec<&'a str>,
    shape: Vec<u8>,
    type_name: &'a str,
    choice: u8,
    bytes: &'a [u8],
}

#[derive(Arbitrary, Debug)]
enum Name<'a> {
    Negative,
    Positive,
    Other(&'a str),
}

impl<'a> Name<'a> {
    fn text(&self) -> &'a str {
        match *self {
            Self::Negative => "detect_negative",
            Self::Positive => "detect_positive",
            Self::Other(text) => text,
        }
    }
}

fuzz_target!(|input: Input<'_>| {
    names(input.type_name);
    let shape: Vec<usize> =
        input.shape.iter().take(6).map(|&size| usize::from(size % 17)).collect();
    onnx_node(&input, &shape);
    openvino_layer(&input, &shape);
    let choice = usize::from(input.choice);
    let data_type = webnn::DataType::ALL[choice % webnn::DataType::ALL.len()];
    run(&webnn::IsNan, data_type, data_type.format(), &shape, input.bytes);
    run(&webnn::IsInfinite, data_type, data_type.format(), &shape, input.bytes);
    let element_type = stablehlo::ElementType::ALL[choice % stablehlo::ElementType::ALL.len()];
    run(&stablehlo::IsFinite, element_type, element_type.format(), &shape, input.bytes);
    dimensions(&input.dimensions, &shape);
});

/// The parsed value has the name that was parsed.
fn names(name: &str) {
    if let Ok(data_type) = name.parse::<onnx::DataType>() {
        assert!([data_type.name(), data_type.type_string()].contains(&name));
    }
    if let Ok(element_type) = name.parse::<openvino::ElementType>() {
        assert!(!name.contains(char::is_whitespace) && !element_type.name().is_empty());
    }
    if let Ok(element_type) = name.parse::<stablehlo::ElementType>() {
        assert_eq!(element_type.name(), name);
    }
}

fn onnx_node(input: &Input<'_>, shape: &[usize]) {
    let Ok(data_type) = onnx::DataType::try_from(input.data_type % 32) else {
        return assert!(!(0..=28).contains(&(input.data_type % 32)));
    };
    let opset = u32::from(input.opset % 32);
    let attributes = input.attributes.iter().map(|(name, int, i)| {
        Attribute::new(name.text(), if *int { Attribute::INT } else { 1 }, *i)
    });
    if let Ok(op) = onnx::IsNan::for_opset(opset) {
        assert_eq!(op.with_attributes(attributes.clone()).is_ok(), input.attributes.is_empty());
        run(&op, data_type, data_type.format(), shape, input.bytes);
    } else {
        assert!(opset < 9);
    }
    let Ok(op) = onnx::IsInf::for_opset(opset) else { return assert!(opset < 10) };
    let named = |known: &str| {
        input.attributes.iter().filter(|(name, ..)| name.text() == known).collect::<Vec<_>>()
    };
    let (negative, positive) = (named("detect_negative"), named("detect_positive"));
    let known = negative.len() + positive.len() == input.attributes.len();
    let right =
        known && negative.len() <= 1 && positive.len() <= 1 && input.attributes.iter().all(|a| a.1);
    match op.with_attributes(attributes) {
        Err(error) => assert!(!right && !error.to_string().is_empty()),
        Ok(op) => {
            assert!(right);
            let on = |found: &[&(Name<'_>, bool, i64)]| {
                found.first().is_none_or(|attribute| attribute.2 != 0)
            };
            assert_eq!(op.predicate(), Predicate::inf(on(&negative), on(&positive)));
            run(&op, data_type, data_type.format(), shape, input.bytes);
        }
    }
}

fn openvino_layer(input: &Input<'_>, shape: &[usize]) {
    let read = |text: &str| match text.to_ascii_lowercase().as_str() {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    };
    let (mut negative, mut positive) = (Some(true), Some(true));
    for (name, text) in &input.texts {
        match name.text() {
            "detect_negative" => negative = negative.and(read(text)),
            "detect_positive" => positive = positive.and(read(text)),
            _ => negative = None,
        }
    }
    let texts = input.texts.iter().map(|(name, text)| (name.text(), *text));
    let none = openvino::IsFinite.with_attributes(texts.clone()).is_ok();
    assert_eq!(none, input.texts.is_empty());
    let op = openvino::IsInf::default().with_attributes(texts);
    let expected = negative.zip(positive);
    assert_eq!(op.ok().map(|op| (op.detect_negative, op.detect_positive)), expected);
    let all = openvino::ElementType::ALL;
    let element_type = all[usize::from(input.choice) % all.len()];
    // Two elements of fp4 share a byte.
    let format = element_type.format().filter(|_| element_type.bits() >= 8);
    run(&openvino::IsFinite, element_type, format, shape, input.bytes);
    run(&openvino::IsNan, element_type, format, shape, input.bytes);
    if let Ok(op) = op {
        run(&op, element_type, format, shape, input.bytes);
    }
}

/// An operator either returns an error and writes nothing, or gives the right answers.
fn run(
    op: &dyn Operator,
    element_type: impl Into<StandardType>,
    format: Option<Format>,
    shape: &[usize],
    bytes: &[u8],
) {
    let elements: usize = shape.iter().product();
    if elements > 1 << 12 {
        return;
    }
    let element_type = element_type.into();
    let taken = op.infer(element_type);
    // The number of bytes of the elements, or all bytes of the input, to test the check of lengths.
    let size = format.map_or(1, Format::size_in_bytes);
    let mut input: Vec<u8> = bytes.iter().copied().cycle().take(size * elements).collect();
    input.resize(size * elements, 0);
    let x = Dense::from_bytes(element_type, shape, &input);
    let mut out = vec![9; elements];
    match op.run(x, (&mut out[..]).into()) {
        Ok(()) => {
            assert!(taken.is_ok());
            if let Some(format) = format {
                let kinds = input.chunks_exact(size).map(|element| kind_of(format, element));
                assert!(
                    kinds.map(|kind| u8::from(holds(op.predicate(), kind))).eq(out.iter().copied())
                );
            }
        }
        Err(error) => assert!(out.iter().all(|&byte| byte == 9) && !error.to_string().is_empty()),
    }
    let mut short = vec![9; elements + 1];
    assert!(op.run(x, (&mut short[..]).into()).is_err());
    assert!(short.iter().all(|&byte| byte == 9));
}

/// Parsed as written; a shape is admitted if each size is in its interval.
fn dimensions(texts: &[&str], shape: &[usize]) {
    let parsed: Vec<Dimension> = texts.iter().filter_map(|text| text.parse().ok()).collect();
    for dimension in &parsed {
        assert_eq!(dimension.to_string().parse(), Ok(*dimension));
        assert!(dimension.max().is_none_or(|max| dimension.min() <= max));
    }
    let admits = parsed.len() == shape.len()
        && parsed.iter().zip(shape).all(|(dimension, &size)| {
            dimension.min() <= size as u64 && dimension.max().is_none_or(|max| size as u64 <= max)
        });
    let partial = PartialShape::Ranked(&parsed);
    assert_eq!(partial.admits(shape).is_ok(), admits);
    assert_eq!(openvino::IsNan.infer_partial_shape(partial), Ok(partial));
}
