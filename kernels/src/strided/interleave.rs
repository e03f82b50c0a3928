//! A register of sixteen bytes, and the interleaving of two of them.

#[cfg(any(
    target_feature = "sse2",
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little")
))]
pub(super) use vector::{Row, bytes_of, interleave, row_of};
#[cfg(not(any(
    target_feature = "sse2",
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little")
)))]
pub(super) use words::{Row, bytes_of, interleave, row_of};

#[cfg(any(
    target_feature = "sse2",
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little")
))]
mod vector {
    #[cfg(target_arch = "aarch64")]
    use core::arch::aarch64::{uint8x16_t as Vector, vzip1q_u8 as low, vzip2q_u8 as high};
    #[cfg(target_arch = "x86")]
    use core::arch::x86::{__m128i as Vector, _mm_unpackhi_epi8 as high, _mm_unpacklo_epi8 as low};
    #[cfg(target_arch = "x86_64")]
    use core::arch::x86_64::{
        __m128i as Vector, _mm_unpackhi_epi8 as high, _mm_unpacklo_epi8 as low,
    };

    pub(in super::super) type Row = Vector;

    #[inline(always)]
    pub(in super::super) fn row_of(bytes: [u8; 16]) -> Row {
        // SAFETY: both are 16 bytes of which every pattern is valid.
        unsafe { core::mem::transmute(bytes) }
    }

    #[inline(always)]
    pub(in super::super) fn bytes_of(row: Row) -> [u8; 16] {
        // SAFETY: both are 16 bytes of which every pattern is valid.
        unsafe { core::mem::transmute(row) }
    }

    #[inline(always)]
    pub(in super::super) fn interleave(a: Row, b: Row) -> [Row; 2] {
        // SAFETY: this module is only in builds that have SSE2 or NEON throughout, which is all
        // that these intrinsics ask for.
        unsafe { [low(a, b), high(a, b)] }
    }
}

/// For all other targets. Tests run this everywhere.
#[cfg(any(
    test,
    not(any(
        target_feature = "sse2",
        all(target_arch = "aarch64", target_feature = "neon", target_endian = "little")
    ))
))]
mod words {
    /// Little-endian, so that byte 0 is the lowest.
    pub(in super::super) type Row = [u64; 2];

    #[inline(always)]
    pub(in super::super) fn row_of(bytes: [u8; 16]) -> Row {
        let bits = u128::from_le_bytes(bytes);
        [bits as u64, (bits >> 64) as u64]
    }

    #[inline(always)]
    pub(in super::super) fn bytes_of([low, high]: Row) -> [u8; 16] {
        (u128::from(low) | u128::from(high) << 64).to_le_bytes()
    }

    #[inline(always)]
    pub(in super::super) fn interleave(a: Row, b: Row) -> [Row; 2] {
        let half = |i: usize, part: u32| {
            let (a, b) = (a[i] >> part & 0xFFFF_FFFF, b[i] >> part & 0xFFFF_FFFF);
            spread(a) | spread(b) << 8
        };
        [[half(0, 0), half(0, 32)], [half(1, 0), half(1, 32)]]
    }

    /// Spreads four bytes, with a zero byte behind each.
    #[inline(always)]
    fn spread(four: u64) -> u64 {
        let pairs = (four | four << 16) & 0x0000_FFFF_0000_FFFF;
        (pairs | pairs << 8) & 0x00FF_00FF_00FF_00FF
    }
}

#[cfg(test)]
mod tests {
    /// The implementation for this target and the one with words: bytes of `a` and `b` alternate.
    #[test]
    fn interleaves() {
        let a: [u8; 16] = core::array::from_fn(|i| (37 * i + 11) as u8 | 0x80);
        let b = a.map(|byte| byte.wrapping_mul(73) ^ 0x5A);
        let want: [u8; 32] = core::array::from_fn(|i| [a, b][i % 2][i / 2]);
        let here = super::interleave(super::row_of(a), super::row_of(b)).map(super::bytes_of);
        assert_eq!(here.as_flattened(), want);
        let words = |a, b| {
            let [low, high] =
                super::words::interleave(super::words::row_of(a), super::words::row_of(b));
            [super::words::bytes_of(low), super::words::bytes_of(high)]
        };
        assert_eq!(words(a, b).as_flattened(), want);
        // Every single bit.
        for bit in 0..128 {
            let (mut a, mut want) = ([0; 16], [0; 32]);
            a[bit / 8] = 1 << (bit % 8);
            want[bit / 8 * 2] = a[bit / 8];
            assert_eq!(words(a, [0; 16]).as_flattened(), want);
            want.rotate_right(1);
            assert_eq!(words([0; 16], a).as_flattened(), want);
        }
    }
}
