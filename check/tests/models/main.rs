//! ONNX models and archives of PyTorch: planted NaN and infinities, and files with false claims.
//! `ci/model-oracle` tests files of real writers.

mod bounds;
mod checkpoints;
#[path = "../common/folder.rs"]
mod folder;
#[path = "../common/hidden.rs"]
mod hidden;
mod limits;
mod members;
#[path = "../common/names.rs"]
mod names;
mod onnx;
mod onnx_shared;
mod onnx_types;
mod opcodes;
mod pickles;
#[path = "../common/pieces.rs"]
mod pieces;
mod pytorch;
#[cfg(feature = "remote")]
#[path = "../common/server.rs"]
mod server;
mod shards;
#[path = "../common/varint.rs"]
mod varint;
#[path = "../common/zip.rs"]
mod zip;

use nonfinite_check::{FileFormat, Options, Report, TensorReport, check_bytes};

/// A number of each kind, as little-endian bytes.
struct Kind {
    nan: Vec<u8>,
    pos_inf: Option<Vec<u8>>,
    neg_inf: Option<Vec<u8>>,
}

impl Kind {
    fn new(size: usize, nan: u64, infinities: Option<[u64; 2]>) -> Self {
        let bytes = |bits: u64| bits.to_le_bytes()[..size].to_vec();
        let [pos_inf, neg_inf] =
            infinities.map_or([None, None], |both| both.map(|bits| Some(bytes(bits))));
        Self { nan: bytes(nan), pos_inf, neg_inf }
    }
}

/// The special numbers of a dtype by the names of ONNX, literally.
fn kind(dtype: &str) -> Kind {
    match dtype {
        "float" => Kind::new(4, 0x7F80_0001, Some([0x7F80_0000, 0xFF80_0000])),
        "double" => Kind::new(8, 0x7FF0_0000_0000_0001, Some([0x7FF0 << 48, 0xFFF0 << 48])),
        "float16" => Kind::new(2, 0xFE01, Some([0x7C00, 0xFC00])),
        "bfloat16" => Kind::new(2, 0x7FC0, Some([0x7F80, 0xFF80])),
        "float8e4m3fn" => Kind::new(1, 0xFF, None),
        "float8e4m3fnuz" | "float8e5m2fnuz" => Kind::new(1, 0x80, None),
        "float8e5m2" => Kind::new(1, 0x7D, Some([0x7C, 0xFC])),
        "float8e8m0" => Kind::new(1, 0xFF, None),
        _ => panic!("a dtype without special numbers: {dtype}"),
    }
}

/// The shape of planted tensors, and the places where a fault is planted: first, last, one between.
const SHAPE: [usize; 3] = [3, 5, 7];
const PLACES: [usize; 3] = [0, 104, 61];

fn coordinate(place: usize) -> Vec<usize> {
    vec![place / 35, place / 7 % 5, place % 7]
}

/// Zeros of a dtype with one special number, for each kind and place: the bytes, the place, and
/// which of NaN, +Inf and -Inf it is.
fn planted(dtype: &str) -> Vec<(Vec<u8>, usize, usize)> {
    let kind = kind(dtype);
    let mut planted = Vec::new();
    let numbers = [Some(&kind.nan), kind.pos_inf.as_ref(), kind.neg_inf.as_ref()];
    for (which, number) in numbers.into_iter().enumerate() {
        let Some(number) = number else { continue };
        for place in PLACES {
            let mut data = vec![0; 105 * number.len()];
            data[place * number.len()..][..number.len()].copy_from_slice(number);
            planted.push((data, place, which));
        }
    }
    planted
}

fn check(bytes: &[u8], format: FileFormat) -> Report {
    assert_eq!(FileFormat::detect(bytes, None), Some(format));
    let report = check_bytes(bytes, format, &Options::default()).unwrap();
    pieces::assert_same_in_pieces(bytes, format, &Options::default(), &report);
    report
}

fn error(bytes: &[u8], format: FileFormat) -> String {
    check_bytes(bytes, format, &Options::default()).unwrap_err().to_string()
}

/// Asserts that the tensor holds exactly one special number, of this kind, at this place.
fn assert_found(tensor: &TensorReport, which: usize, coordinate: &[usize]) {
    for (i, finding) in tensor.found.as_ref().into_array().into_iter().enumerate() {
        assert_eq!(finding.count, u64::from(i == which), "{tensor:?}");
    }
    let first = tensor.found.as_ref().into_array()[which].first.as_ref().unwrap();
    assert_eq!(first.coordinate, coordinate, "{tensor:?}");
}
