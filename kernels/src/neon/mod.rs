//! NEON: 16 bytes a register, on every AArch64 CPU.
#![expect(unsafe_code, reason = "intrinsics, which a token of this module allows")]

#[cfg(any(feature = "replace", feature = "stats"))]
mod blend;
mod layout;
#[cfg(feature = "scale")]
mod scale;
#[cfg(feature = "stats")]
mod stats;

use core::arch::aarch64::*;
use core::mem::MaybeUninit;

use crate::registers::Registers;
#[cfg(any(feature = "replace", feature = "scale", feature = "stats"))]
use crate::registers::Write;
use crate::rule::{Comparison, Operation, Screen};
use crate::simd::{Block, Line, Loop, Simd, Slots, op};

/// Proves that the target has NEON.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neon(());

impl Neon {
    pub(crate) fn detect() -> Option<Self> {
        cfg!(target_feature = "neon").then_some(Self(()))
    }
}

type V = uint8x16_t;

/// The registers of a comparison.
#[derive(Clone, Copy)]
pub(crate) struct With {
    mask: V,
    bound: V,
    /// [`Registers::top`]
    top: V,
    /// 0, or -1 where answers are negated.
    negation: V,
}

// SAFETY of all blocks below, unless they say more: `self` proves NEON, which is all that the
// intrinsics ask for. Loads and stores ask for no alignment; each reads or writes one array, as
// long as a register.
impl Registers for Neon {
    type V = V;
    /// -1 in every lane that is a hit, else 0.
    type Hits = V;
    const BYTES: usize = 16;

    #[inline(always)]
    fn load(self, bytes: &[u8], at: usize) -> V {
        let bytes: &[u8; 16] = bytes[at..].first_chunk().unwrap();
        // SAFETY: see above.
        unsafe { vld1q_u8(bytes.as_ptr()) }
    }

    #[inline(always)]
    fn splat<const W: usize>(self, bits: u64) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => vdupq_n_u8(bits as u8),
                2 => vreinterpretq_u8_u16(vdupq_n_u16(bits as u16)),
                4 => vreinterpretq_u8_u32(vdupq_n_u32(bits as u32)),
                _ => vreinterpretq_u8_u64(vdupq_n_u64(bits)),
            }
        }
    }

    #[inline(always)]
    fn and(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe { vandq_u8(a, b) }
    }

    #[inline(always)]
    fn equal<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => vceqq_u8(a, b),
                2 => vreinterpretq_u8_u16(vceqq_u16(
                    vreinterpretq_u16_u8(a),
                    vreinterpretq_u16_u8(b),
                )),
                4 => vreinterpretq_u8_u32(vceqq_u32(
                    vreinterpretq_u32_u8(a),
                    vreinterpretq_u32_u8(b),
                )),
                _ => vreinterpretq_u8_u64(vceqq_u64(
                    vreinterpretq_u64_u8(a),
                    vreinterpretq_u64_u8(b),
                )),
            }
        }
    }

    #[inline(always)]
    fn greater<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => vcgtq_s8(vreinterpretq_s8_u8(a), vreinterpretq_s8_u8(b)),
                2 => vreinterpretq_u8_u16(vcgtq_s16(
                    vreinterpretq_s16_u8(a),
                    vreinterpretq_s16_u8(b),
                )),
                4 => vreinterpretq_u8_u32(vcgtq_s32(
                    vreinterpretq_s32_u8(a),
                    vreinterpretq_s32_u8(b),
                )),
                _ => vreinterpretq_u8_u64(vcgtq_s64(
                    vreinterpretq_s64_u8(a),
                    vreinterpretq_s64_u8(b),
                )),
            }
        }
    }

    /// Subtracts -1, so `one` is not needed.
    #[inline(always)]
    fn add<const W: usize>(self, a: V, b: V, _: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => vsubq_u8(a, b),
                2 => vreinterpretq_u8_u16(vsubq_u16(
                    vreinterpretq_u16_u8(a),
                    vreinterpretq_u16_u8(b),
                )),
                4 => vreinterpretq_u8_u32(vsubq_u32(
                    vreinterpretq_u32_u8(a),
                    vreinterpretq_u32_u8(b),
                )),
                _ => vreinterpretq_u8_u64(vsubq_u64(
                    vreinterpretq_u64_u8(a),
                    vreinterpretq_u64_u8(b),
                )),
            }
        }
    }

    #[inline(always)]
    fn sum(self, [a, b]: [V; 2]) -> usize {
        // SAFETY: see above.
        unsafe { vaddlvq_u16(vpadalq_u8(vpaddlq_u8(a), b)) as usize }
    }
}

#[cfg(any(feature = "replace", feature = "scale", feature = "stats"))]
impl Write for Neon {
    #[inline(always)]
    fn write(self, v: V, bytes: &mut [u8], at: usize) {
        let bytes: &mut [u8; 16] = bytes[at..].first_chunk_mut().unwrap();
        // SAFETY: see above.
        unsafe { vst1q_u8(bytes.as_mut_ptr(), v) }
    }
}

impl Neon {
    /// The larger tops, compared as unsigned bytes, or as unsigned 16-bit lanes for wider elements.
    #[inline(always)]
    fn max<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => vmaxq_u8(a, b),
                _ => vreinterpretq_u8_u16(vmaxq_u16(
                    vreinterpretq_u16_u8(a),
                    vreinterpretq_u16_u8(b),
                )),
            }
        }
    }

    /// -1 in each lane at `at` for which `EQUAL` or `GREATER` holds.
    #[inline(always)]
    fn hits<const W: usize, const OP: u8>(self, bytes: &[u8], at: usize, with: With) -> V {
        self.compare::<W, OP>(self.load(bytes, at), with.mask, with.bound)
    }

    /// [`Neon::hits`] of a line.
    #[inline(always)]
    fn line_hits<const W: usize, const OP: u8>(self, line: &Line, with: With) -> [V; 4] {
        [
            self.hits::<W, OP>(line, 0, with),
            self.hits::<W, OP>(line, 16, with),
            self.hits::<W, OP>(line, 32, with),
            self.hits::<W, OP>(line, 48, with),
        ]
    }

    /// Whether a byte is not zero.
    #[inline(always)]
    fn any(self, [a, b, c, d]: [V; 4]) -> bool {
        // SAFETY: see above.
        unsafe { vmaxvq_u8(vorrq_u8(vorrq_u8(a, b), vorrq_u8(c, d))) != 0 }
    }
}

/// Fewer than 64 elements as a block, with zeros behind them.
#[inline(always)]
fn padded<const W: usize>(x: &[u8]) -> Block<W> {
    let mut block = [[0; 64]; W];
    block.as_flattened_mut()[..x.len()].copy_from_slice(x);
    block
}

impl Simd for Neon {
    /// A token exists only if the target has NEON. Not inlined, so that the compiler does not know
    /// mask and bound: for constants, LLVM makes inverted comparisons.
    #[target_feature(enable = "neon")]
    #[inline(never)]
    unsafe fn vectorize<L: Loop>(x: &[u8], comparison: &Comparison, out: L::Out<'_>) -> L::Output {
        L::vector(Self(()), x, comparison, out)
    }

    #[target_feature(enable = "neon")]
    #[inline]
    unsafe fn call<L: Loop>(x: &[u8], comparison: &Comparison, out: L::Out<'_>) -> L::Output {
        // SAFETY: the caller guarantees it.
        unsafe { Self::vectorize::<L>(x, comparison, out) }
    }

    type With = With;

    #[inline(always)]
    fn with<const W: usize>(self, comparison: &Comparison) -> With {
        With {
            mask: self.splat::<W>(comparison.mask()),
            bound: self.splat::<W>(comparison.bound()),
            top: self.top::<W>(comparison),
            negation: self.splat::<1>(comparison.usual_bits()),
        }
    }

    const STORES_NEGATED: bool = true;

    #[inline(always)]
    fn store<const W: usize, const OP: u8>(self, block: &Block<W>, with: With, out: &mut Slots) {
        let bytes = block.as_flattened();
        for quarter in 0..4 {
            let hits = self.packed::<W, OP>(bytes, quarter, with);
            let to: &mut [MaybeUninit<bool>; 16] = &mut out.as_chunks_mut().0[quarter];
            // SAFETY: see above; `to` has 16 bytes.
            unsafe {
                // 1 where exactly one of both is -1, otherwise 0.
                let answers =
                    vabdq_s8(vreinterpretq_s8_u8(hits), vreinterpretq_s8_u8(with.negation));
                vst1q_s8(to.as_mut_ptr().cast(), answers);
            }
        }
    }

    #[inline(always)]
    fn word<const W: usize, const OP: u8>(self, lines: &[Line], with: With) -> u64 {
        let (bytes, mut hits) = (lines.as_flattened(), [self.splat::<1>(0); 4]);
        for (quarter, hits) in hits[..bytes.len() / (16 * W)].iter_mut().enumerate() {
            *hits = self.packed::<W, OP>(bytes, quarter, with);
        }
        self.signs(hits)
    }

    #[inline(always)]
    fn bits_few<const W: usize>(self, x: &[u8], comparison: &Comparison) -> u64 {
        if x.len() <= 8 * W {
            return crate::scalar::bits_few::<W>(x, comparison);
        }
        let (block, with) = (padded::<W>(x), self.with::<W>(comparison));
        let bits = match comparison.operation() {
            Operation::Greater => self.word::<W, { op::GREATER }>(&block, with),
            Operation::Ones | Operation::Equal => self.word::<W, { op::EQUAL }>(&block, with),
        };
        (bits ^ comparison.usual_bits()) & !u64::MAX.unbounded_shl((x.len() / W) as u32)
    }

    #[inline(always)]
    fn find<const W: usize>(self, line: &Line, comparison: &Comparison, with: With) -> usize {
        let hits = match comparison.operation() {
            Operation::Greater => self.line_hits::<W, { op::GREATER }>(line, with),
            Operation::Ones | Operation::Equal => self.line_hits::<W, { op::EQUAL }>(line, with),
        };
        if !comparison.negate() && !self.any(hits) {
            return 64;
        }
        let bytes = self.signs(hits) ^ comparison.usual_bits();
        if bytes == 0 { 64 } else { bytes.trailing_zeros() as usize / W }
    }

    /// The top 16 bits of the mask and of the least hit, in lanes of 16 bits. For elements of one
    /// byte: all 8 bits, in lanes of 8 bits.
    type Screen = (V, u16);

    /// Compares only the top bits: if they are below the top bits of the least hit, the element is
    /// no hit.
    #[inline(always)]
    fn screen<const W: usize>(self, screen: Screen) -> (V, u16) {
        let below = (8 * W).saturating_sub(16);
        match screen {
            Screen::None => (self.splat::<1>(0), 0),
            Screen::Masked { mask, least } if W == 1 => (self.splat::<1>(mask), least as u16),
            Screen::Masked { mask, least } => {
                (self.splat::<2>(mask >> below), (least >> below) as u16)
            }
            Screen::Flipped { flip } => (self.splat::<1>(flip), 0xFF),
        }
    }

    type Accumulator = V;

    #[inline(always)]
    fn accumulator(self) -> V {
        self.splat::<1>(0)
    }

    #[inline(always)]
    fn accumulate<const W: usize, const FLIP: bool>(
        self,
        seen: V,
        lines: &[Line; 2],
        (mask, _): (V, u16),
    ) -> V {
        self.max::<W>(seen, self.largest::<W, FLIP>(lines.as_flattened(), mask))
    }

    #[inline(always)]
    fn any_hit<const W: usize>(self, seen: V, (_, least): (V, u16)) -> bool {
        // SAFETY: see above.
        let largest = unsafe {
            match W {
                1 => vmaxvq_u8(seen).into(),
                _ => vmaxvq_u16(vreinterpretq_u16_u8(seen)),
            }
        };
        largest >= least
    }
}
