//! Structured arrays of numpy: they are named, and not read.

use nonfinite_check::{Error, FileFormat, Options, check_bytes};

use crate::write::npy_text;
use crate::zip::zip_with;

/// An array of one record with a NaN.
fn structured() -> Vec<u8> {
    let text = "{'descr': [('a', '<f4'), ('b', '<i4')], 'fortran_order': False, 'shape': (1,), }\n";
    npy_text(text, &[f32::NAN.to_le_bytes(), [0; 4]].concat())
}

const WHY: &str = "a structured dtype, which is not read";

#[test]
fn arrays_are_refused() {
    let checked = check_bytes(&structured(), FileFormat::NPY, &Options::default());
    let Err(Error::Refused { format: FileFormat::NPY, error }) = checked else {
        panic!("{checked:?}")
    };
    assert!(error.to_string().starts_with(WHY), "{error}");
}

#[test]
fn members_are_named() {
    for deflate in [false, true] {
        let bytes = zip_with(&[("m.npy", &structured(), deflate)]);
        let report = check_bytes(&bytes, FileFormat::NPZ, &Options::default()).unwrap();
        let [(tensor, why)] = &report.not_looked_at().collect::<Vec<_>>()[..] else {
            panic!("{report:?}")
        };
        assert_eq!(tensor.name.as_deref(), Some("m"));
        assert!(why.text().starts_with(WHY), "{why}");
        assert!(!report.is_bad() && !report.is_damaged());
    }
}
