//! ONNX models and archives of PyTorch: planted NaN and infinities, and files with false claims.
//! `ci/model-oracle` tests files of real writers.

mod bounds;
mod checkpoints;
mod limits;
mod lint;
mod members;
mod onnx;
mod onnx_types;
mod opcodes;
mod pickles;
mod pytorch;
mod shards;

use std::path::Path;

use nonfinite_check::json::{self, Listed};
use nonfinite_check::{Error, FileFormat, Options, Report, TensorReport, check_bytes};

use crate::codes::{BF16, Codes, E4M3, E5M2, E8M0, F16, F32, F64, FNUZ};

/// The numbers of a dtype by the names of ONNX.
fn codes_of(dtype: &str) -> Codes {
    match dtype {
        "float" => F32,
        "double" => F64,
        "float16" => F16,
        "bfloat16" => BF16,
        "float8e4m3fn" => E4M3,
        "float8e4m3fnuz" | "float8e5m2fnuz" => FNUZ,
        "float8e5m2" => E5M2,
        "float8e8m0" => E8M0,
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
    let Codes { size, special, kinds, .. } = codes_of(dtype);
    let mut planted = Vec::new();
    for (which, number) in special[..kinds].iter().enumerate() {
        for place in PLACES {
            let mut data = vec![0; 105 * size];
            data[place * size..][..size].copy_from_slice(&number.to_le_bytes()[..size]);
            planted.push((data, place, which));
        }
    }
    planted
}

/// As [`check_bytes`] with no options.
fn read(bytes: &[u8], format: FileFormat) -> Result<Report, Error> {
    check_bytes(bytes, format, &Options::default())
}

fn error(bytes: &[u8], format: FileFormat) -> String {
    read(bytes, format).unwrap_err().to_string()
}

/// Asserts that the tensor holds exactly one special number, of this kind, at this place.
fn assert_found(tensor: &TensorReport, which: usize, coordinate: &[usize]) {
    for (i, of_kind) in tensor.found.as_ref().into_array().into_iter().enumerate() {
        assert_eq!(of_kind.count, u64::from(i == which), "{tensor:?}");
    }
    let first = tensor.found.as_ref().into_array()[which].first.as_ref().unwrap();
    assert_eq!(first.coordinate, coordinate, "{tensor:?}");
}

/// The tensors as lines of JSON.
fn lines(report: &Report) -> String {
    json::lines(Path::new("model"), &Ok(report.clone()), Listed::All)
}
