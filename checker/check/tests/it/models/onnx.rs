use std::fs;

use nonfinite_check::{FileFormat, LookedAt, Options, check_file};

use super::{error, read};
use crate::codes::{
    BF16, Codes, E4M3, E5M2, E8M0, F16, F32, F64, FNUZ, SHAPE, assert_found, plant,
};
use crate::folder::folder;
use crate::{check, names};

/// A number of variable length: seven bits in each byte, the lowest first. The top bit means that
/// more bytes follow.
pub(super) fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// A field that is a number.
pub(crate) fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

/// A field that is a message, text or packed numbers.
pub(crate) fn bytes(field: u64, value: &[u8]) -> Vec<u8> {
    [&varint(field << 3 | 2), &varint(value.len() as u64), value].concat()
}

pub(crate) fn model(graph: &[Vec<u8>]) -> Vec<u8> {
    let opset = bytes(8, &number(2, 20));
    [number(1, 9), bytes(7, &graph.concat()), opset].concat()
}

/// A model with one initializer.
fn of_one(tensor: &[u8]) -> Vec<u8> {
    model(&[bytes(5, tensor)])
}

/// A TensorProto.
pub(super) fn tensor(name: &str, data_type: u64, shape: &[usize], rest: &[Vec<u8>]) -> Vec<u8> {
    let dims: Vec<u8> = shape.iter().flat_map(|&extent| number(1, extent as u64)).collect();
    [dims, number(2, data_type), rest.concat(), bytes(8, name.as_bytes())].concat()
}

/// What a tensor says of its external data.
pub(super) fn entry(key: &str, value: &str) -> Vec<u8> {
    bytes(13, &[bytes(1, key.as_bytes()), bytes(2, value.as_bytes())].concat())
}

fn node(operator: &str, output: &str, attributes: &[Vec<u8>]) -> Vec<u8> {
    let attributes: Vec<u8> = attributes.iter().flat_map(|attribute| bytes(5, attribute)).collect();
    bytes(1, &[bytes(2, output.as_bytes()), bytes(4, operator.as_bytes()), attributes].concat())
}

const TYPES: [(&str, u64, Codes); 9] = [
    ("float", 1, F32),
    ("float16", 10, F16),
    ("double", 11, F64),
    ("bfloat16", 16, BF16),
    ("float8e4m3fn", 17, E4M3),
    ("float8e4m3fnuz", 18, FNUZ),
    ("float8e5m2", 19, E5M2),
    ("float8e5m2fnuz", 20, FNUZ),
    ("float8e8m0", 24, E8M0),
];

#[test]
fn planted_in_raw_data_and_in_fields() {
    for (dtype, code, codes) in TYPES {
        let in_field = |data: &[u8]| match dtype {
            "float" => bytes(4, data),
            "double" => bytes(10, data),
            // The bits of each number in an int32, packed.
            _ => {
                let bits = data
                    .chunks_exact(codes.size)
                    .map(|raw| raw.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte)));
                bytes(5, &bits.flat_map(varint).collect::<Vec<u8>>())
            }
        };
        let raw = |data: &[u8]| bytes(9, data);
        for content in [&raw as &dyn Fn(&[u8]) -> Vec<u8>, &in_field] {
            plant(&codes, false, dtype, |data| {
                let initializer = tensor("w", code, &SHAPE, &[content(data)]);
                let mut report = check(&of_one(&initializer), FileFormat::ONNX);
                assert_eq!(report.tensors[0].dtype, dtype);
                assert_eq!(report.tensors[0].name.as_deref(), Some("w"));
                report.tensors.remove(0)
            });
        }
    }
}

#[test]
fn numbers_that_are_not_packed() {
    let floats: Vec<Vec<u8>> = [1.0, f32::NAN, f32::INFINITY, 2.0]
        .iter()
        .map(|x: &f32| [varint(4 << 3 | 5), x.to_le_bytes().to_vec()].concat())
        .collect();
    let report = check(&of_one(&tensor("w", 1, &[4], &floats)), FileFormat::ONNX);
    assert_eq!(report.tensors[0].found.nan.first.as_ref().unwrap().coordinate, [1]);
    assert_eq!(report.tensors[0].found.pos_inf.first.as_ref().unwrap().coordinate, [2]);
    // Those of an attribute.
    for count in 1..4 {
        let one = |x: f32| [varint(7 << 3 | 5), x.to_le_bytes().to_vec()].concat();
        let floats = [vec![one(0.0); count - 1].concat(), one(f32::NAN)].concat();
        let attribute = [bytes(1, b"scale"), floats].concat();
        let report = check(&model(&[node("Scaler", "z", &[attribute])]), FileFormat::ONNX);
        assert_eq!((&report.tensors[0].shape[..], report.tensors.len()), (&[count as u64][..], 1));
        assert_found(&report.tensors[0], 0, &[count - 1]);
    }
    let halves = [number(5, 0x7E00), number(5, 0x3C00)];
    let report = check(&of_one(&tensor("w", 10, &[2], &halves)), FileFormat::ONNX);
    assert_eq!(report.tensors[0].found.nan.count, 1);
}

#[test]
fn everywhere_a_tensor_can_be() {
    let inf = |name| tensor(name, 1, &[1], &[bytes(9, &f32::INFINITY.to_le_bytes())]);
    let attribute = |name: &str, rest: Vec<u8>| [bytes(1, name.as_bytes()), rest].concat();
    let float = [varint(2 << 3 | 5), f32::NAN.to_le_bytes().to_vec()].concat();
    let floats = bytes(7, &[f32::NAN.to_le_bytes(), 1f32.to_le_bytes()].concat());
    let inner = [
        bytes(5, &inf("inner")),
        node("Constant", "deep", &[attribute("value", bytes(5, &inf("")))]),
    ]
    .concat();
    let graph = [
        bytes(5, &inf("initializer")),
        bytes(15, &bytes(1, &inf("sparse"))),
        node("Constant", "tensor", &[attribute("value", bytes(5, &inf("ignored")))]),
        node("Constant", "float", &[attribute("value_float", float.clone())]),
        node("Constant", "floats", &[attribute("value_floats", floats.clone())]),
        node(
            "Constant",
            "sparse_value",
            &[attribute("sparse_value", bytes(22, &bytes(1, &inf("x"))))],
        ),
        node("ConstantOfShape", "filled", &[attribute("value", bytes(5, &inf("")))]),
        node("If", "chosen", &[attribute("then_branch", bytes(6, &inner))]),
        node("Elu", "y", &[attribute("alpha", float)]),
        node("Scaler", "z", &[attribute("scale", floats)]),
    ];
    let function = [
        bytes(1, b"f"),
        bytes(7, &node("Constant", "local", &[attribute("value", bytes(5, &inf("")))])[2..]),
    ];
    let file = [model(&graph), bytes(25, &function.concat())].concat();
    let report = check(&file, FileFormat::ONNX);
    let want = [
        "initializer",
        "sparse",
        "tensor",
        "float",
        "floats",
        "sparse_value",
        "filled.value",
        "chosen.then_branch/inner",
        "chosen.then_branch/deep",
        "y.alpha",
        "z.scale",
        "f/local",
    ];
    assert_eq!(names(&report), want);
    for tensor in &report.tensors {
        assert_eq!(tensor.found.nan.count + tensor.found.pos_inf.count, 1, "{tensor:?}");
    }
    assert_eq!(report.tensors[3].shape, [0; 0]);
    assert_eq!(report.tensors[4].shape, [2]);
    assert_eq!((&report.tensors[9].shape[..], &report.tensors[10].shape[..]), (&[][..], &[2][..]));
}

#[test]
fn external_data() {
    let folder = folder("onnx-external");
    let save = |entries: &[Vec<u8>]| {
        let content = [entries.concat(), number(14, 1)];
        let file = of_one(&tensor("w", 1, &[2], &content));
        let path = folder.join("model.onnx");
        fs::write(&path, file).unwrap();
        check_file(&path, &Options::default())
    };
    let data: Vec<u8> =
        [0f32, 0.0, 1.0, f32::NEG_INFINITY].iter().flat_map(|x| x.to_le_bytes()).collect();
    fs::write(folder.join("data.bin"), data).unwrap();
    let report =
        save(&[entry("location", "data.bin"), entry("offset", "8"), entry("length", "8")]).unwrap();
    assert_eq!(report.tensors[0].found.neg_inf.first.as_ref().unwrap().coordinate, [1]);
    let report = save(&[entry("location", "data.bin")]).unwrap();
    assert!(!report.is_bad());
    for (entries, part) in [
        (vec![entry("offset", "0")], "bad location"),
        (vec![entry("location", "data.bin"), entry("offset", "x")], "bad offset"),
        (
            vec![entry("location", "data.bin"), entry("offset", "12")],
            "ends at byte 20, its file has 16",
        ),
        (vec![entry("location", "data.bin"), entry("length", "4")], "4 bytes or numbers of data"),
        (
            vec![entry("location", "data.bin"), entry("offset", "18446744073709551615")],
            "ends at byte",
        ),
        (vec![entry("location", "../data.bin")], "outside its folder"),
        (vec![entry("location", "/etc/passwd")], "outside its folder"),
        (vec![entry("location", "missing.bin")], "missing.bin"),
    ] {
        let message = save(&entries).unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn what_is_no_number_or_not_known() {
    let looked_at = |code, rest: &[Vec<u8>]| {
        let file = of_one(&tensor("w", code, &[1], rest));
        check(&file, FileFormat::ONNX).tensors.remove(0).looked_at.clone()
    };
    for code in [2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 21, 22, 25, 26] {
        assert_eq!(looked_at(code, &[]), LookedAt::NotFloat, "{code}");
    }
    for code in [23, 27, 28] {
        assert_eq!(looked_at(code, &[]), LookedAt::AlwaysFinite, "{code}");
    }
    for code in [0, 29, 1000] {
        assert!(matches!(looked_at(code, &[]), LookedAt::Unreadable(_)), "{code}");
    }
    assert!(matches!(looked_at(1, &[bytes(3, b"")]), LookedAt::Unreadable(_)));
}

#[test]
fn lies() {
    let bad = |shape: &[usize], rest: &[Vec<u8>]| {
        error(&of_one(&tensor("w", 1, shape, rest)), FileFormat::ONNX)
    };
    assert!(
        bad(&[3], &[bytes(9, &[0; 8])])
            .contains("8 bytes or numbers of data, where shape and type ask for 12")
    );
    assert!(bad(&[3], &[]).contains("0 bytes"));
    assert!(bad(&[usize::MAX], &[]).contains("a shape that cannot be"));
    assert!(bad(&[1 << 40, 1 << 40], &[]).contains("a shape that cannot be"));
    assert!(error(&number(1, 9), FileFormat::ONNX).contains("no graph"));
    assert!(error(b"\x08\x09\x3A\x7F", FileFormat::ONNX).contains("ends behind its message"));
    // No prefix of a good model is valid, except those that end with a field of the model.
    let whole = of_one(&tensor("w", 1, &[1], &[bytes(9, &[0; 4])]));
    let good = |bytes: &[u8]| read(bytes, FileFormat::ONNX).is_ok();
    let cuts: Vec<_> = (0..=whole.len()).filter(|&cut| good(&whole[..cut])).collect();
    assert_eq!(cuts, [whole.len() - 4, whole.len()]);
}

/// The two graphs of a TrainingInfoProto (onnx.proto, ModelProto.training_info).
#[test]
fn graphs_of_training() {
    let graph = |name| bytes(5, &tensor(name, 1, &[1], &[bytes(9, &f32::NAN.to_le_bytes())]));
    let training = [bytes(1, &graph("a")), bytes(2, &graph("b"))].concat();
    let report = check(&[model(&[]), bytes(20, &training)].concat(), FileFormat::ONNX);
    assert_eq!(names(&report), ["training.initialization/a", "training.algorithm/b"]);
    assert!(report.tensors.iter().all(|tensor| tensor.found.nan.count == 1));
}

/// A number of variable length has at most ten bytes.
#[test]
fn numbers_without_an_end() {
    let error_of = |number: &[u8]| error(&[&model(&[])[..], number].concat(), FileFormat::ONNX);
    for length in 1..10 {
        let why = error_of(&vec![0x80; length]);
        assert!(why.contains("a number is cut off"), "{length}: {why}");
    }
    for length in [10, 11, 100] {
        let why = error_of(&vec![0x80; length]);
        assert!(why.contains("a number is too long"), "{length}: {why}");
    }
}

/// Protocol buffers merge two messages of a field that occurs once: the tensor of a program is then
/// neither of the two. Of two entries of external data, other readers take the last.
#[test]
fn what_occurs_twice() {
    let nan = f32::NAN.to_le_bytes();
    let named = |parts: &[Vec<u8>]| bytes(5, &parts.concat());
    // Together they are [1, NaN] of f32: the first has the shape and the data, the second the type.
    let first = tensor("", 6, &[2], &[bytes(9, &[1f32.to_le_bytes(), nan].concat())]);
    let second = [number(2, 1), bytes(4, &[0; 4])].concat();
    let attribute =
        |field| [bytes(1, b"value"), bytes(field, &first), bytes(field, &second)].concat();
    let values = tensor("s", 1, &[1], &[bytes(9, &[0; 4])]);
    let sparse = bytes(15, &[bytes(1, &values), bytes(1, &second)].concat());
    let locations = [entry("location", "a"), entry("location", "b"), number(14, 1)];
    let raw = [bytes(9, &nan), bytes(9, &[0; 4])];
    for (what, field) in [
        ("a tensor", node("Constant", "c", &[attribute(5)])),
        ("a sparse tensor", node("Constant", "c", &[attribute(22)])),
        ("values", sparse),
        ("a location", named(&[tensor("w", 1, &[1], &locations)])),
        ("data", named(&[tensor("w", 1, &[1], &raw)])),
    ] {
        let why = error(&model(&[field]), FileFormat::ONNX);
        assert!(why.contains("occurs twice"), "{what}: {why}");
    }
    // Several tensors are no repetition.
    let several = [bytes(1, b"values"), bytes(10, &values), bytes(10, &values)].concat();
    assert!(check(&model(&[node("If", "c", &[several])]), FileFormat::ONNX).is_complete());
}

/// Fields that no reader knows are passed over.
#[test]
fn fields_that_are_not_known() {
    let nan = f32::NAN.to_le_bytes();
    let weight = bytes(5, &tensor("w", 1, &[1], &[bytes(9, &[0; 4]), bytes(99, &nan)]));
    let file = [model(&[weight, bytes(3, &nan)]), bytes(99, &nan)].concat();
    let report = check(&file, FileFormat::ONNX);
    assert!(report.is_complete() && !report.is_bad() && report.tensors.len() == 1, "{report:?}");
}

#[test]
fn complex_numbers() {
    let singles = [1.0, f32::NAN].map(f32::to_le_bytes).concat();
    let doubles = [1.0, f64::NAN].map(f64::to_le_bytes).concat();
    for (code, data) in [(14, singles), (15, doubles)] {
        let report = check(&of_one(&tensor("c", code, &[1], &[bytes(9, &data)])), FileFormat::ONNX);
        assert_eq!(report.tensors[0].found.nan.count, 1, "{code}");
        assert!(report.is_complete(), "{code}");
    }
}

/// The dimensions as one packed field.
#[test]
fn packed_dimensions() {
    let dims = bytes(1, &[varint(1), varint(2)].concat());
    let data = [1.0, f32::NAN].map(f32::to_le_bytes).concat();
    let report = check(&of_one(&tensor("w", 1, &[], &[dims, bytes(9, &data)])), FileFormat::ONNX);
    assert_eq!(report.tensors[0].shape, [1, 2]);
    assert_eq!(report.tensors[0].found.nan.first.as_ref().unwrap().coordinate, [0, 1]);
}

/// The default of an attribute of a function, and indices of a sparse tensor that are floats.
#[test]
fn defaults_and_indices() {
    let float = [varint(2 << 3 | 5), f32::NAN.to_le_bytes().to_vec()].concat();
    let default = bytes(11, &[bytes(1, b"alpha"), float].concat());
    let function = bytes(25, &[bytes(1, b"f"), default].concat());
    assert!(check(&[model(&[]), function].concat(), FileFormat::ONNX).is_bad());

    let indices = |code, data: &[u8]| {
        let values = tensor("s", 1, &[1], &[bytes(9, &[0; 4])]);
        let indices = tensor("i", code, &[1], &[bytes(9, data)]);
        let sparse = bytes(15, &[bytes(1, &values), bytes(2, &indices)].concat());
        check(&model(&[sparse]), FileFormat::ONNX)
    };
    let report = indices(7, &[0xFF; 8]);
    assert!(!report.is_bad() && report.is_complete());
    assert_eq!(report.tensors.len(), 1);
    assert!(indices(1, &f32::NAN.to_le_bytes()).is_bad());
}
