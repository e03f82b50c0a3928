//! Special numbers of each format, literally, and tensors that hold one.

use std::sync::Arc;

use nonfinite_check::{First, TensorReport};

use crate::pieces::Random;
use crate::places::{coordinate, wide};

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

/// The shape of planted tensors: enough elements for several vectors and a remainder.
pub(crate) const SHAPE: [usize; 3] = [5, 7, 61];
pub(crate) const ELEMENTS: usize = SHAPE[0] * SHAPE[1] * SHAPE[2];
/// The strides of its rows.
pub(crate) const STRIDES: [usize; 3] = [7 * 61, 61, 1];

/// Passes the data of a tensor with one special number, for each kind and for the first, the last
/// and a random element, and asserts that the report has the number.
pub(crate) fn plant(
    codes: &Codes,
    big: bool,
    context: &str,
    check: impl Fn(&[u8]) -> Arc<TensorReport>,
) {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for (kind, &code) in codes.special[..codes.kinds].iter().enumerate() {
        for place in [0, ELEMENTS - 1, 1 + random.below(ELEMENTS - 2)] {
            let mut data = Vec::new();
            for element in 0..ELEMENTS {
                let code = if element == place { code } else { codes.finite };
                let mut bytes = code.to_le_bytes()[..codes.size].to_vec();
                if big {
                    bytes.reverse();
                }
                data.extend(bytes);
            }
            let tensor = check(&data);
            let context = format!("{context}, element {place}: {tensor:?}");
            let first = assert_found(&tensor, kind, &coordinate(&SHAPE, false, place));
            assert_eq!(first.bits, code, "{context}");
            assert!(tensor.is_bad(), "{context}");
        }
    }
}

/// Asserts that the tensor holds exactly one special number, of this kind, at this place.
#[track_caller]
pub(crate) fn assert_found<'a>(
    tensor: &'a TensorReport,
    kind: usize,
    coordinate: &[usize],
) -> &'a First {
    let found = tensor.found.as_ref().into_array();
    for (index, of_kind) in found.into_iter().enumerate() {
        assert_eq!(of_kind.count, u64::from(index == kind), "{tensor:?}");
    }
    let first = found[kind].first.as_ref().expect("it was counted");
    assert_eq!(first.coordinate, wide(coordinate), "{tensor:?}");
    first
}
