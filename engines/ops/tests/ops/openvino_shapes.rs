//! OpenVINO: type propagation with partial shapes (src/core/tests/type_prop/is_finite.cpp) and
//! dimensions as text.

use nonfinite_ops::openvino::{ElementType, Error, IsFinite, IsInf, IsNan};
use nonfinite_ops::{Dimension, DimensionError, Operator, PartialShape, ShapeError};

fn dimensions(line: &str) -> Vec<Dimension> {
    line.split(',').map(|text| text.parse().unwrap()).collect()
}

/// What is known of the input's shape is known of the output's.
pub(crate) fn same_shape(op: &dyn Operator) {
    for line in ["4,2", "?,21,37", "2..4,73,12", "?,?,?,?,?", "0", "2.."] {
        let dimensions = dimensions(line);
        let shape = PartialShape::Ranked(&dimensions);
        assert_eq!(op.infer_partial_shape(shape), Ok(shape));
        assert_eq!(shape.to_string(), format!("[{line}]"));
    }
    for shape in [PartialShape::DynamicRank, PartialShape::Ranked(&[])] {
        assert_eq!(op.infer_partial_shape(shape), Ok(shape));
    }
    for shape in [&[][..], &[0], &[4, 2], &[2, 0, usize::MAX]] {
        assert_eq!(op.infer_shape(shape), Ok(shape));
    }
}

pub(crate) fn type_prop() {
    let ops: [&dyn Operator; 3] = [&IsFinite, &IsInf::default(), &IsNan];
    ops.iter().for_each(|op| same_shape(*op));
    for element_type in [ElementType::F16, ElementType::Dynamic] {
        for inferred in [
            IsFinite.infer(element_type.into()),
            IsInf::default().infer(element_type.into()),
            IsNan.infer(element_type.into()),
        ] {
            assert_eq!(inferred, Ok(ElementType::Boolean.into()));
        }
    }
    assert_eq!(PartialShape::DynamicRank.to_string(), "[...]");
    assert_eq!(PartialShape::Ranked(&[]).to_string(), "[]");

    let error = IsFinite.infer(ElementType::I64.into()).unwrap_err();
    let expected = Error::ElementType { op: "IsFinite", element_type: ElementType::I64 };
    assert_eq!(error, expected.into());
    let known = "The element type of the input tensor must be a floating point number or dynamic";
    assert!(error.to_string().contains(known));
}

#[test]
fn what_a_model_admits() {
    let some = dimensions("?,2..4,37");
    let shape = PartialShape::Ranked(&some);
    assert!(!shape.is_static());
    assert_eq!(shape.admits(&[0, 2, 37]), Ok(()));
    assert_eq!(shape.admits(&[usize::MAX, 4, 37]), Ok(()));
    assert_eq!(shape.admits(&[1, 2]), Err(ShapeError::Rank { expected: 3, found: 2 }));
    for found in [1, 5] {
        let error = shape.admits(&[1, found, 36]).unwrap_err();
        assert_eq!(error, ShapeError::Dimension { index: 1, expected: some[1], found });
        assert_eq!(error.to_string(), format!("dimension 1 is {found} where the model has 2..4"));
    }
    assert_eq!(PartialShape::DynamicRank.admits(&[5, 5]), Ok(()));
    assert!(!PartialShape::DynamicRank.is_static());
    assert!(PartialShape::Ranked(&dimensions("4,0,2")).is_static());
}

/// As OpenVINO 2026.4.1 reads and writes them, seen there.
#[test]
fn text() {
    let rows = [
        ("?", "?"),
        ("-1", "?"),
        ("37", "37"),
        (" 3", "3"),
        ("0", "0"),
        ("2..4", "2..4"),
        ("..4", "..4"),
        ("0..4", "..4"),
        ("2..", "2.."),
        ("..", "?"),
        ("0..", "?"),
        ("3..3", "3"),
        ("0..0", "0"),
    ];
    for (text, written) in rows {
        let dimension: Dimension = text.parse().unwrap();
        assert_eq!(dimension.to_string(), written, "{text}");
        assert_eq!(dimension.to_string().parse(), Ok(dimension));
    }
    let parse = |text: &str| text.parse::<Dimension>();
    for text in ["", "x", "2 .. 4", "-2", "1..-1", "+3", "9223372036854775808", "1...2", "1..2..3"]
    {
        let error = parse(text).unwrap_err();
        assert!(
            matches!(error, DimensionError::Syntax { text: t } if t.as_str() == text),
            "{text}"
        );
    }
    assert_eq!(parse("5..2"), Err(DimensionError::Empty { min: 5, max: 2 }));
    assert_eq!(parse("9223372036854775807"), Ok(Dimension::fixed(i64::MAX as u64)));
    assert_eq!(Dimension::interval(3, Some(2)), None);
    let dimension = Dimension::interval(3, None).unwrap();
    assert_eq!((dimension.min(), dimension.max(), dimension.is_static()), (3, None, false));
}
