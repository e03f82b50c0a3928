//! What the loops that change elements, and those of statistics, need of an instruction set.

use super::Isa;

/// The instructions that choose between lanes, order them and write registers back.
#[diagnostic::on_unimplemented(note = "or take the plain loop, as `loops/sse2.rs` does")]
pub(crate) trait Blend: Isa {
    /// Writes a register from byte `at` on.
    fn store(self, v: Self::V, bytes: &mut [u8], at: usize);

    /// Each lane from `b` where there is a hit, and from `a` elsewhere.
    fn blend<const W: usize>(self, a: Self::V, b: Self::V, hits: Self::Hits) -> Self::V;

    /// The lower lanes and the higher lanes, as signed integers.
    #[inline(always)]
    fn sort<const W: usize>(self, a: Self::V, b: Self::V) -> [Self::V; 2] {
        let above = self.greater::<W>(a, b);
        [self.blend::<W>(a, b, above), self.blend::<W>(b, a, above)]
    }
}

/// Further instructions for statistics.
#[cfg(feature = "stats")]
#[diagnostic::on_unimplemented(note = "or take the plain loop, as `loops/sse2.rs` does")]
pub(crate) trait Extremes: Blend {
    /// A hit in lane `i` where bit `i` is 1. Bits after the last lane may be anything.
    fn lanes_of<const W: usize>(self, bits: u64) -> Self::Hits;

    /// The magnitudes `m` of `x`, negated where the top bit of `x` is set. Where `x` is 0, `m` must
    /// be 0.
    fn signed<const W: usize>(self, x: Self::V, m: Self::V) -> Self::V;

    /// The bytes from byte `N` on, moved to byte 0. What follows these may be anything. `N` is a
    /// power of two.
    fn moved<const N: usize>(self, v: Self::V) -> Self::V;
}

/// A register in which lane `i`, of `W` bytes, has only bit `i % (8 * W)` set.
#[cfg(feature = "stats")]
#[cfg_attr(
    not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")),
    expect(dead_code, reason = "no registers")
)]
pub(crate) const fn powers<const W: usize, const BYTES: usize>() -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    let mut lane = 0;
    while lane < BYTES / W {
        let bit = lane % (8 * W);
        bytes[lane * W + bit / 8] = 1 << (bit % 8);
        lane += 1;
    }
    bytes
}

/// Floating-point multiplication.
#[diagnostic::on_unimplemented(note = "or take the plain loop, as `loops/sse2.rs` does")]
pub(crate) trait Products: Blend {
    /// The products of the elements of a [format](crate::soft_float::format). `factor` holds an f64
    /// in every lane for `F64`, and an f32 for all other formats.
    fn times<const F: usize>(self, x: Self::V, factor: Self::V) -> Self::V;

    /// The bits of the factor for elements of bf16.
    #[inline(always)]
    fn factor_of_bf16(factor: f32) -> u32 {
        factor.to_bits()
    }
}
