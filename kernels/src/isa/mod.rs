//! What the loops need of an instruction set: [`Isa`], and [`lanes`] for changes and statistics.
//! The loops of `loops/` are written over these traits, and each folder below implements them.
//!
//! All methods are `#[inline(always)]`. They take slices and arrays, never pointers.

pub(crate) mod lanes;
#[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
pub(crate) mod neon;
#[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"))]
pub(crate) mod x86;

use core::mem::MaybeUninit;

use crate::lines::{Block, Line, Places};
use crate::rule::{Rule, Screen};

/// A comparison, as a constant, so that a loop is compiled for one comparison.
pub(crate) mod op {
    /// Without flip and tilt: `(bits & mask) > limit`.
    pub(crate) const GREATER: u8 = 0;
    /// `(bits & mask) == code`.
    pub(crate) const EQUAL: u8 = 1;
    /// Without tilt: `((bits & mask) ^ flip) > limit`.
    pub(crate) const FLIPPED: u8 = 2;
    /// Any comparison of a rule.
    pub(crate) const TILTED: u8 = 3;
    /// `(bits & mask) == mask`, where [`Rule::ones`](super::Rule::ones), and its opposite.
    pub(crate) const ONES: u8 = 4;
    pub(crate) const NOT_ONES: u8 = 5;
}

/// The numbers of a comparison, in every lane. The compiler drops what a loop does not use.
#[derive(Clone, Copy)]
pub(crate) struct With<V> {
    pub(crate) mask: V,
    pub(crate) flip: V,
    pub(crate) limit: V,
    /// What [`op::EQUAL`] compares with.
    pub(crate) code: V,
    /// What a tilted rule subtracts from elements with a sign: 1, or 0 if the rule is not tilted.
    pub(crate) tilt: V,
    pub(crate) one: V,
    /// 1 in every byte.
    pub(crate) one_byte: V,
    /// All ones if the answer is yes for the elements that are no hits, else 0.
    pub(crate) opposite: u64,
    /// The top 16 bits of the mask in every 16-bit lane; for `W` of 1, the mask in every byte.
    pub(crate) top: V,
}

/// An instruction set: a token, which proves that the CPU has the instructions.
pub(crate) trait Isa: Copy + 'static {
    /// A register of lanes.
    type V: Copy;
    /// One answer for each lane.
    type Hits: Copy;
    /// Bytes of a register.
    const BYTES: usize;
    /// Whether loops take groups of several lines, count in registers and have code for each kind
    /// of rule. Otherwise code is small: line by line.
    const GROUPS: bool = true;
    /// Whether a comparison makes a mask register. Then `FLIPPED` takes the same time as `GREATER`
    /// and `ONES` in counts and packed bits, and a group of elements of 8 bytes has 8 lines, not 4.
    const MASK_REGISTERS: bool = false;
    /// From this many bytes on, hits are counted in registers. To add up the counters takes as long
    /// as a few lines.
    const COUNTERS_FROM: usize = 512;

    /// The register at byte `at`.
    fn load(self, bytes: &[u8], at: usize) -> Self::V;
    /// The low `W` bytes of a number in every lane.
    fn splat<const W: usize>(self, bits: u64) -> Self::V;
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    fn xor(self, a: Self::V, b: Self::V) -> Self::V;
    fn equal<const W: usize>(self, a: Self::V, b: Self::V) -> Self::Hits;
    /// `a > b`, as signed integers.
    fn greater<const W: usize>(self, a: Self::V, b: Self::V) -> Self::Hits;
    /// `masked` minus `tilt` in the lanes where the sign bit of `x` is set, else `masked`.
    fn tilt<const W: usize>(self, masked: Self::V, x: Self::V, tilt: Self::V) -> Self::V;

    /// Adds one to the counters of the lanes that are hits.
    fn add<const W: usize>(self, counts: Self::V, hits: Self::Hits, one: Self::V) -> Self::V;
    /// The sum of the counters in two registers, one a byte, which have counted at most 4 KiB.
    fn sum(self, counts: [Self::V; 2]) -> usize;

    /// Mask, flip and limit of a [`Screen`], in every lane. Call this once, outside of the loop.
    fn screen<const W: usize>(self, screen: Screen) -> [Self::V; 3];
    /// Whether an element of some lines may pass the screen. May say yes if only the upper bits of
    /// an element reach the limit. `FLIP` is for screens with a flip.
    fn may_hit<'x, const W: usize, const FLIP: bool>(
        self,
        lines: impl IntoIterator<Item = &'x Line>,
        screen: [Self::V; 3],
    ) -> bool;

    /// Bit `i` for element `i` of a line. The other bits are 0.
    fn line_bits<const W: usize, const OP: u8>(self, line: &Line, with: &With<Self::V>) -> u64;
    /// Bit `i` for element `i` of a block, low byte first: line by line, unless a backend has a
    /// faster way.
    #[inline(always)]
    fn pack<const W: usize, const OP: u8>(
        self,
        block: &Block<W>,
        with: &With<Self::V>,
        out: &mut [u8; 8],
    ) {
        for (line, bits) in block.iter().zip(out.chunks_exact_mut(8 / W)) {
            bits.copy_from_slice(&self.line_bits::<W, OP>(line, with).to_le_bytes()[..8 / W]);
        }
    }

    /// Writes the answers for a group: line by line, unless a backend has a faster way. `ONES`,
    /// `NOT_ONES` and `GREATER` are faster than `FLIPPED`.
    #[inline(always)]
    fn answer_group<const W: usize, const OP: u8>(
        self,
        lines: &[Line],
        with: &With<Self::V>,
        out: &mut Places,
    ) {
        for (i, line) in lines.iter().enumerate() {
            self.answer_line::<W, OP>(line, with, out, i * (64 / W));
        }
    }
    /// Writes the answers for a line from place `at` on, or to the last `64 / W` places.
    fn answer_line<const W: usize, const OP: u8>(
        self,
        line: &Line,
        with: &With<Self::V>,
        out: &mut Places,
        at: usize,
    );
    /// Writes the same answer for 64 elements. `answer` has it in every byte.
    fn fill(self, answer: Self::V, out: &mut [MaybeUninit<bool>; 64]);

    /// The numbers of the comparison for hits. Call this once, outside of the loop.
    #[inline(always)]
    fn with<const W: usize>(self, rule: &Rule) -> With<Self::V> {
        With {
            flip: self.splat::<W>(rule.flip.cast_unsigned()),
            limit: self.splat::<W>(rule.limit.cast_unsigned()),
            tilt: self.splat::<W>(rule.tilted.into()),
            one: self.splat::<W>(1),
            // `min(byte, 1)` would do, but the compiler turns it into two instructions when it
            // knows the 1. So the 1 comes from memory.
            one_byte: self.splat::<1>(rule.one.into()),
            top: match W {
                1 => self.splat::<1>(rule.mask),
                _ => self.splat::<2>(rule.mask >> (8 * W - 16)),
            },
            ..self.with_code::<W>(rule.mask, 0)
        }
    }

    /// The numbers of the comparison for the answer.
    #[inline(always)]
    fn with_answer<const W: usize>(self, rule: &Rule) -> With<Self::V> {
        let [flip, limit] = rule.answer.map(i64::cast_unsigned);
        With {
            flip: self.splat::<W>(flip),
            limit: self.splat::<W>(limit),
            opposite: if rule.opposite { u64::MAX } else { 0 },
            ..self.with::<W>(rule)
        }
    }

    /// The numbers for [`op::EQUAL`] alone.
    #[inline(always)]
    fn with_code<const W: usize>(self, mask: u64, code: u64) -> With<Self::V> {
        let [mask, code, zero] = [mask, code, 0].map(|bits| self.splat::<W>(bits));
        let (flip, limit, tilt, one, one_byte, top) = (zero, zero, zero, zero, zero, zero);
        With { mask, flip, limit, code, tilt, one, one_byte, opposite: 0, top }
    }

    /// The lanes of a register for which a comparison holds.
    #[inline(always)]
    fn hits<const W: usize, const OP: u8>(self, x: Self::V, with: &With<Self::V>) -> Self::Hits {
        let masked = self.and(x, with.mask);
        match OP {
            op::GREATER => self.greater::<W>(masked, with.limit),
            op::EQUAL => self.equal::<W>(masked, with.code),
            op::FLIPPED => self.greater::<W>(self.xor(masked, with.flip), with.limit),
            _ => {
                let tilted = self.tilt::<W>(masked, x, with.tilt);
                self.greater::<W>(self.xor(tilted, with.flip), with.limit)
            }
        }
    }
}

/// Registers of 16 bytes that every CPU of the target has.
pub(crate) trait Register: Isa<Hits = <Self as Isa>::V> {
    /// The token.
    const HERE: Self;
    /// The low and the high eight bytes.
    fn pair(self, low: u64, high: u64) -> Self::V;
    /// The hits of both.
    fn either(self, a: Self::Hits, b: Self::Hits) -> Self::Hits;
    fn is_any(self, hits: Self::Hits) -> bool;
    /// Bit `i` for lane `i`. The other bits are 0.
    fn lane_bits<const W: usize>(self, hits: Self::Hits) -> u64;
    /// 1 or 0 for each lane, in the low `16 / W` bytes.
    fn ones<const W: usize>(self, hits: Self::Hits) -> Self::V;
    /// The low 8 bytes.
    fn low(self, v: Self::V) -> u64;
    /// Writes [`Register::ones`] of 16 lanes.
    fn write(self, ones: Self::V, out: &mut [MaybeUninit<bool>; 16]);
}
