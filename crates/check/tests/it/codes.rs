//! Special numbers of each format, literally.

use nonfinite_check::{KindReport, TensorReport};

/// The bits of numbers of a format.
#[derive(Clone, Copy)]
pub(crate) struct Codes {
    /// Bytes of a number.
    pub(crate) size: usize,
    /// A NaN, +Inf and -Inf.
    pub(crate) special: [u64; 3],
    /// How many of these the format has.
    pub(crate) kinds: usize,
    /// A large finite number.
    pub(crate) finite: u64,
}

const fn codes(size: usize, special: [u64; 3], kinds: usize, finite: u64) -> Codes {
    Codes { size, special, kinds, finite }
}

pub(crate) const F16: Codes = codes(2, [0x7C01, 0x7C00, 0xFC00], 3, 0x7BFF);
pub(crate) const BF16: Codes = codes(2, [0xFF81, 0x7F80, 0xFF80], 3, 0x7F7F);
pub(crate) const F32: Codes = codes(4, [0xFFA0_0001, 0x7F80_0000, 0xFF80_0000], 3, 0x7F7F_FFFF);
pub(crate) const F64: Codes =
    codes(8, [0x7FF0 << 48 | 1, 0x7FF0 << 48, 0xFFF0 << 48], 3, 0x7FEF << 48);
pub(crate) const E5M2: Codes = codes(1, [0x7D, 0x7C, 0xFC], 3, 0x7B);
pub(crate) const E4M3: Codes = codes(1, [0xFF, 0, 0], 1, 0x7E);
pub(crate) const FNUZ: Codes = codes(1, [0x80, 0, 0], 1, 0x7F);
pub(crate) const E8M0: Codes = codes(1, [0xFF, 0, 0], 1, 0xFE);

/// Asserts that there is exactly one number of one kind, at this place.
#[track_caller]
pub(crate) fn assert_one(
    tensor: &TensorReport,
    kind: usize,
    coordinate: &[usize],
    bits: u64,
    context: &str,
) {
    for (index, of_kind) in tensor.found.as_ref().into_array().into_iter().enumerate() {
        if index != kind {
            assert_eq!(
                of_kind,
                &KindReport::default(),
                "{context}: kind {index} instead of {kind}"
            );
            continue;
        }
        let first =
            of_kind.first.as_ref().unwrap_or_else(|| panic!("{context}: nothing of kind {kind}"));
        let found = (of_kind.count, &first.coordinate[..], first.bits);
        assert_eq!(found, (1, coordinate, bits), "{context}");
    }
}
