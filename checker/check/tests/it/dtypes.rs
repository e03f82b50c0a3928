//! Dtypes of .npy and .safetensors files that hold no floats, or are not known.

use nonfinite_check::{FileFormat, LookedAt};

use crate::write::{Entry, npy, npy_text, safetensors, safetensors_text};
use crate::zip::{deflated, zip_with};
use crate::{check, refused, unread};

#[test]
fn texts_and_times_of_numpy() {
    for (descr, size) in [("<U3", 12), ("|S3", 3), ("<M8[ns]", 8), ("<m8", 8), ("|b1", 1)] {
        let report = check(&npy(descr, &[2], false, &vec![0xFF; 2 * size]), FileFormat::NPY);
        assert_eq!(report.tensors[0].looked_at, LookedAt::NotFloat, "{descr}");
        assert!(report.is_complete(), "{descr}");
    }
    for descr in [
        "<M9",
        "<m4[ns]",
        "<M8x",
        "<f16",
        "<f04",
        "<c32",
        "<i3",
        "<U",
        "<U-1",
        "<S+1",
        "<U4611686018427387905",
        "|S99999999999999999999999",
    ] {
        let message = format!("dtype '{descr}' is not supported");
        refused(&npy(descr, &[1], false, &[0; 16]), FileFormat::NPY, &message);
    }
}

/// numpy saves the dtypes of `ml_dtypes` as raw bytes. The reason says what looks at them.
#[test]
fn raw_bytes_of_numpy() {
    for (descr, size, advice) in [
        ("<V2", 2, "pass array.view(ml_dtypes.bfloat16) to nonfinite.all_finite"),
        (">V2", 2, "pass array.view(ml_dtypes.bfloat16) to nonfinite.all_finite"),
        ("|V1", 1, "such as array.view(ml_dtypes.float8_e4m3fn), to nonfinite.all_finite"),
        ("V8", 8, "pass array.view(DTYPE) to nonfinite.all_finite"),
        ("|V3", 3, "pass array.view(DTYPE) to nonfinite.all_finite"),
        ("<f1", 1, "numpy cannot load: save it as safetensors"),
    ] {
        let data = vec![0; 2 * size];
        let array = npy(descr, &[2], false, &data);
        let archive = deflated(&[("a.npy", &array)]);
        for (file, format) in [(array, FileFormat::NPY), (archive, FileFormat::NPZ)] {
            let report = check(&file, format);
            let (tensor, why) = report.not_looked_at().next().expect("a reason");
            assert_eq!(report.tensors.len(), 1);
            assert_eq!((&*tensor.dtype, tensor.bytes), (descr, 2 * size as u64));
            assert!(why.text().starts_with(&format!("dtype '{descr}' is ")), "{why}");
            assert!(why.text().ends_with(advice), "{why}");
            assert!(!why.is_of_part() && !report.is_complete() && !report.is_bad());
        }
    }
    refused(&npy("|V", &[1], false, &[0]), FileFormat::NPY, "dtype '|V' is not supported");
}

/// Structured arrays are named, and not read.
#[test]
fn structured_arrays() {
    let text = "{'descr': [('a', '<f4'), ('b', '<i4')], 'fortran_order': False, 'shape': (1,), }\n";
    let array = npy_text(text, &[f32::NAN.to_le_bytes(), [0; 4]].concat());
    let why = "a structured dtype, which is not read";
    refused(&array, FileFormat::NPY, why);
    for deflate in [false, true] {
        let report = check(&zip_with(&[("m.npy", &array, deflate)]), FileFormat::NPZ);
        let [("m", reason)] = unread(&report)[..] else { panic!("{report:?}") };
        assert!(reason.starts_with(why) && !report.is_bad() && !report.is_damaged(), "{reason}");
    }
}

#[test]
fn of_safetensors() {
    let kinds = [("BOOL", 1), ("U8", 1), ("I8", 1), ("I16", 2), ("U16", 2), ("I32", 4), ("U32", 4)];
    for (kind, size) in kinds.into_iter().chain([("I64", 8), ("U64", 8)]) {
        let data = vec![0xFF; 2 * size];
        let entry = Entry { name: "x", kind, shape: &[2], data: &data };
        let report = check(&safetensors(&[entry]), FileFormat::SAFETENSORS);
        assert_eq!(report.tensors[0].looked_at, LookedAt::NotFloat, "{kind}");
        assert!(report.is_complete(), "{kind}");
    }
    let entry = Entry { name: "x", kind: "F9_E4M4", shape: &[2, 8], data: &[0xFF; 18] };
    let report = check(&safetensors(&[entry]), FileFormat::SAFETENSORS);
    let tensor = &report.tensors[0];
    assert_eq!((&*tensor.dtype, &tensor.shape[..]), ("F9_E4M4", &[2, 8][..]));
    assert!(matches!(tensor.looked_at, LookedAt::Unreadable(_)) && !report.is_complete());
    refused(&safetensors_text("[]", &[]), FileFormat::SAFETENSORS, "expected a JSON object");
}

/// The name of the dtype of a tensor does not make it a part of an archive.
#[test]
fn a_dtype_with_the_name_of_bytes() {
    let inner = npy("<f4", &[1], false, &f32::NAN.to_le_bytes());
    let header =
        format!(r#"{{"w":{{"dtype":"bytes","shape":[1],"data_offsets":[0,{}]}}}}"#, inner.len());
    let report = check(&safetensors_text(&header, &inner), FileFormat::SAFETENSORS);
    let (tensor, why) = report.not_looked_at().next().expect("a reason");
    assert_eq!((tensor.name.as_deref(), report.tensors.len()), (Some("w"), 1));
    assert!(!why.is_of_part() && why.text().contains("not known"));
}
