//! The order of the bytes of a number.

use serde::{Deserialize, Serialize};

/// Which byte of a number comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ByteOrder {
    /// The least significant byte.
    Little,
    /// The most significant byte.
    Big,
}

impl ByteOrder {
    /// The order of this machine.
    pub(crate) const NATIVE: Self =
        if cfg!(target_endian = "big") { Self::Big } else { Self::Little };
}

/// Reverses the bytes of each number. Numbers have 1, 2, 4 or 8 bytes.
pub(crate) fn swap_bytes(numbers: &mut [u8], size: usize) {
    match size {
        2 => swap_each::<2>(numbers),
        4 => swap_each::<4>(numbers),
        8 => swap_each::<8>(numbers),
        _ => debug_assert_eq!(size, 1, "bytes of a number"),
    }
}

fn swap_each<const SIZE: usize>(numbers: &mut [u8]) {
    numbers.as_chunks_mut::<SIZE>().0.iter_mut().for_each(|number| number.reverse());
}
