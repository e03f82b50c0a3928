//! The portable backend: plain loops over blocks, for the compiler to vectorise. It is used on
//! targets without a hand-written backend, such as wasm. With the feature `portable` it is
//! available beside the others, on x86 with AVX2 by the crate pulp.

#[cfg(feature = "replace")]
mod replace;
#[cfg(feature = "scale")]
mod scale;
#[cfg(feature = "stats")]
mod stats;

use core::mem::MaybeUninit;
use core::slice;

use crate::rule::{Comparison, Operation, Screen};
use crate::scalar;
use crate::simd::{Block, Counting, Line, Loop, Simd, Slots, op};

/// Runs everywhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable(());

impl Portable {
    pub(crate) fn detect() -> Option<Self> {
        Some(Self(()))
    }
}

/// The arguments of a loop, for pulp.
#[cfg(all(feature = "portable", any(target_arch = "x86", target_arch = "x86_64")))]
struct Run<'a, 'o, L: Loop> {
    x: &'a [u8],
    comparison: &'a Comparison,
    out: L::Out<'o>,
}

#[cfg(all(feature = "portable", any(target_arch = "x86", target_arch = "x86_64")))]
impl<L: Loop> pulp::WithSimd for Run<'_, '_, L> {
    type Output = L::Output;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> L::Output {
        L::vector(Portable(()), self.x, self.comparison, self.out)
    }
}

/// The elements of some lines.
#[inline(always)]
fn elements<const W: usize>(lines: &[Line]) -> &[[u8; W]] {
    lines.as_flattened().as_chunks().0
}

/// Elements take the low bytes of mask and bound.
#[derive(Clone, Copy)]
pub(crate) struct With {
    mask: u64,
    bound: u64,
    negate: bool,
}

/// The comparison, in integers with the width of the element, so that the compiler can vectorise
/// it.
#[inline(always)]
fn hit<const W: usize, const OP: u8>(element: &[u8; W], with: With) -> bool {
    let (mask, bound) = (with.mask, with.bound);
    match W {
        1 => compare::<_, OP>(i8::from_ne_bytes(lane(element)) & mask as i8, bound as i8),
        2 => compare::<_, OP>(i16::from_ne_bytes(lane(element)) & mask as i16, bound as i16),
        4 => compare::<_, OP>(i32::from_ne_bytes(lane(element)) & mask as i32, bound as i32),
        _ => compare::<_, OP>(i64::from_ne_bytes(lane(element)) & mask as i64, bound as i64),
    }
}

/// The bytes of an element whose width is `N`.
#[inline(always)]
fn lane<const N: usize>(element: &[u8]) -> [u8; N] {
    let mut lane = [0; N];
    lane.copy_from_slice(element);
    lane
}

#[inline(always)]
fn compare<T: Ord, const OP: u8>(masked: T, bound: T) -> bool {
    match OP {
        op::GREATER => masked > bound,
        op::ONES_NOT => masked != bound,
        _ => masked == bound,
    }
}

/// The number of hits. Wide elements are counted a line at a time, which is less code. Narrow ones
/// would not be vectorised so.
#[inline(always)]
fn count<const W: usize, const OP: u8>(pairs: &[[Line; 2]], with: With) -> usize {
    let mut total = 0;
    if W >= 4 {
        for line in pairs.as_flattened() {
            total += few_hits::<W, OP>(slice::from_ref(line), with);
        }
    } else {
        for pair in pairs {
            total += few_hits::<W, OP>(pair, with);
        }
    }
    total
}

/// The number of hits among at most 128 elements.
#[inline(always)]
fn few_hits<const W: usize, const OP: u8>(lines: &[Line], with: With) -> usize {
    let hits = elements::<W>(lines).iter().map(|element| u8::from(hit::<W, OP>(element, with)));
    usize::from(hits.sum::<u8>())
}

#[expect(unsafe_code, reason = "`Simd::vectorize` is unsafe")]
impl Simd for Portable {
    /// On x86, uses AVX2 if pulp detects it. Elsewhere, uses the instructions of the target. Not
    /// inlined, since every codegen unit would get its own loops.
    #[inline(never)]
    unsafe fn vectorize<L: Loop>(x: &[u8], comparison: &Comparison, out: L::Out<'_>) -> L::Output {
        // Not `pulp::Arch`: it compiles all loops again for each feature of pulp that any other
        // crate turns on.
        #[cfg(all(feature = "portable", any(target_arch = "x86", target_arch = "x86_64")))]
        if let Some(simd) = pulp::x86::V3::try_new() {
            return pulp::Simd::vectorize(simd, Run::<L> { x, comparison, out });
        }
        L::vector(Self(()), x, comparison, out)
    }

    #[inline(always)]
    unsafe fn call<L: Loop>(x: &[u8], comparison: &Comparison, out: L::Out<'_>) -> L::Output {
        // SAFETY: the caller guarantees it.
        unsafe { Self::vectorize::<L>(x, comparison, out) }
    }

    type With = With;

    #[inline(always)]
    fn with<const W: usize>(self, comparison: &Comparison) -> With {
        With { mask: comparison.mask(), bound: comparison.bound(), negate: comparison.negate() }
    }

    const STORES_NEGATED: bool = true;

    #[inline(always)]
    fn store<const W: usize, const OP: u8>(self, block: &Block<W>, with: With, out: &mut Slots) {
        // `ONES_NOT` negates by itself.
        let negate = with.negate && OP != op::ONES_NOT;
        for (slot, element) in out.iter_mut().zip(elements::<W>(block)) {
            slot.write(hit::<W, OP>(element, with) != negate);
        }
    }

    #[inline(always)]
    fn store_few<const W: usize>(
        self,
        x: &[u8],
        comparison: &Comparison,
        out: &mut [MaybeUninit<bool>],
    ) -> bool {
        scalar::mask::<W>(x, comparison, out);
        true
    }

    #[inline(always)]
    fn word<const W: usize, const OP: u8>(self, lines: &[Line], with: With) -> u64 {
        let mut bytes = [0; 64];
        for (byte, element) in bytes.iter_mut().zip(elements::<W>(lines)) {
            *byte = u8::from(hit::<W, OP>(element, with));
        }
        let mut word = [0; 8];
        for (out, eight) in word.iter_mut().zip(bytes.as_chunks().0) {
            *out = scalar::packed(*eight) as u8;
        }
        u64::from_le_bytes(word)
    }

    #[inline(always)]
    fn bits_few<const W: usize>(self, x: &[u8], comparison: &Comparison) -> u64 {
        scalar::bits_few::<W>(x, comparison)
    }

    #[inline(always)]
    fn find<const W: usize>(self, line: &Line, comparison: &Comparison, with: With) -> usize {
        let mut elements = elements::<W>(core::slice::from_ref(line)).iter();
        let found = match comparison.operation() {
            Operation::Greater => {
                elements.position(|x| hit::<W, { op::GREATER }>(x, with) != with.negate)
            }
            _ => elements.position(|x| hit::<W, { op::EQUAL }>(x, with) != with.negate),
        };
        found.unwrap_or(64)
    }

    /// A comparison that holds exactly where the screen does.
    type Screen = With;

    #[inline(always)]
    fn screen<const W: usize>(self, screen: Screen) -> With {
        let (mask, bound) = match screen {
            // A comparison that always holds.
            Screen::None => (0, u64::MAX),
            Screen::Masked { mask, least } => (mask, least.wrapping_sub(1)),
            Screen::Flipped { flip } => (0xFF, !flip & 0xFF),
        };
        With { mask, bound, negate: false }
    }

    type Accumulator = bool;

    #[inline(always)]
    fn accumulator(self) -> bool {
        false
    }

    #[inline(always)]
    fn accumulate<const W: usize, const FLIP: bool>(
        self,
        seen: bool,
        lines: &[Line; 2],
        screen: With,
    ) -> bool {
        elements::<W>(lines).iter().fold(seen, |seen, element| {
            seen | if FLIP {
                hit::<W, { op::EQUAL }>(element, screen)
            } else {
                hit::<W, { op::GREATER }>(element, screen)
            }
        })
    }

    #[inline(always)]
    fn any_hit<const W: usize>(self, seen: bool, _: With) -> bool {
        seen
    }
}

impl Counting for Portable {
    #[inline(always)]
    fn count<const W: usize, const OP: u8>(
        self,
        pairs: &[[Line; 2]],
        comparison: &Comparison,
    ) -> usize {
        count::<W, OP>(pairs, With { negate: false, ..self.with::<W>(comparison) })
    }

    #[inline(always)]
    fn classify<const W: usize>(self, pairs: &[[Line; 2]], nan: &Comparison) -> [usize; 3] {
        let nan = self.with::<W>(nan);
        let neg = With { mask: u64::MAX, bound: nan.bound | (nan.mask + 1), negate: false };
        // A loop, so that its code exists once.
        let mut infinite = [0; 2];
        for (total, with) in infinite.iter_mut().zip([nan, neg]) {
            *total = count::<W, { op::EQUAL }>(pairs, with);
        }
        [count::<W, { op::GREATER }>(pairs, nan), infinite[0], infinite[1]]
    }
}
