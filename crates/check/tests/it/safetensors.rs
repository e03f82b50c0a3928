//! Invalid .safetensors files.

use nonfinite_check::FileFormat;

use crate::refused;

#[test]
fn lengths_of_headers() {
    let refused = |bytes: &[u8], message| refused(bytes, FileFormat::SAFETENSORS, message);
    refused(&[2, 0, 0], "too short");
    for (length, message) in [
        (100_000_000u64, "ends before its header"),
        (100_000_001, "100000001 bytes are too many"),
        (u64::MAX, "bytes are too many"),
    ] {
        refused(&[&length.to_le_bytes()[..], b"{}"].concat(), message);
    }
}
