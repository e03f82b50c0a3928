//! How the lanes of each width are loaded, compared and counted on `Avx2`.

use super::{Avx2, Constants, Layout, V};
use crate::rule::{Op, Operation, Pair};

impl Layout for i8 {
    const PARTS: usize = 2;
    const BLEND_TO_SEARCH: bool = true;

    #[inline(always)]
    fn subtract(isa: Avx2, a: V, b: V) -> V {
        isa.subtract_i8(a, b)
    }

    #[inline(always)]
    fn constants(isa: Avx2, pair: Pair<Self>) -> Constants {
        let mask = isa.splat_i8(pair.mask);
        Constants { mask, bound: isa.splat_i8(pair.bound), top: mask, one: isa.splat_i8(pair.one) }
    }

    #[inline(always)]
    fn tops(isa: Avx2, bytes: &[u8], part: usize) -> V {
        isa.load(bytes, 32 * part)
    }

    #[inline(always)]
    fn compare<O: Op>(isa: Avx2, lanes: V, with: Constants) -> V {
        match O::OP {
            Operation::Greater => isa.greater_i8(lanes, with.bound),
            _ => isa.equal_i8(lanes, with.bound),
        }
    }

    #[inline(always)]
    fn verdicts<O: Op>(isa: Avx2, bytes: &[u8], part: usize, with: Constants) -> V {
        Self::verdict::<O>(isa, bytes, 32 * part, with)
    }

    #[inline(always)]
    fn max_tops(isa: Avx2, a: V, b: V) -> V {
        isa.max_u8(a, b)
    }

    #[inline(always)]
    fn equal_tops(isa: Avx2, a: V, b: V) -> V {
        isa.equal_i8(a, b)
    }

    #[inline(always)]
    fn packed<O: Op>(isa: Avx2, bytes: &[u8], half: usize, with: Constants) -> V {
        match O::OP {
            Operation::Ones => isa.not_and(Self::tops(isa, bytes, half), with.top),
            _ => Self::verdicts::<O>(isa, bytes, half, with),
        }
    }

    #[inline(always)]
    fn restore<O: Op>(_: Avx2, packed: V) -> V {
        packed
    }
}

impl Layout for i16 {
    const PARTS: usize = 4;
    const BLEND_TO_SEARCH: bool = true;

    #[inline(always)]
    fn subtract(isa: Avx2, a: V, b: V) -> V {
        isa.subtract_i16(a, b)
    }

    #[inline(always)]
    fn constants(isa: Avx2, pair: Pair<Self>) -> Constants {
        let mask = isa.splat_i16(pair.mask);
        Constants { mask, bound: isa.splat_i16(pair.bound), top: mask, one: isa.splat_i8(pair.one) }
    }

    #[inline(always)]
    fn tops(isa: Avx2, bytes: &[u8], part: usize) -> V {
        isa.load(bytes, 32 * part)
    }

    #[inline(always)]
    fn compare<O: Op>(isa: Avx2, lanes: V, with: Constants) -> V {
        match O::OP {
            Operation::Greater => isa.greater_i16(lanes, with.bound),
            _ => isa.equal_i16(lanes, with.bound),
        }
    }

    #[inline(always)]
    fn verdicts<O: Op>(isa: Avx2, bytes: &[u8], part: usize, with: Constants) -> V {
        Self::verdict::<O>(isa, bytes, 32 * part, with)
    }

    #[inline(always)]
    fn restore<O: Op>(isa: Avx2, packed: V) -> V {
        isa.unpack_halves(packed)
    }
}

impl Layout for i32 {
    const PARTS: usize = 4;
    const BLEND_TO_SEARCH: bool = true;

    #[inline(always)]
    fn subtract(isa: Avx2, a: V, b: V) -> V {
        isa.subtract_i32(a, b)
    }

    #[inline(always)]
    fn constants(isa: Avx2, pair: Pair<Self>) -> Constants {
        let top = isa.splat_i16((pair.mask >> 16) as i16);
        Constants {
            mask: isa.splat_i32(pair.mask),
            bound: isa.splat_i32(pair.bound),
            top,
            one: isa.splat_i8(pair.one),
        }
    }

    /// Elements 0 8 1 9 .. 7 15. An even 16-bit lane of a load two bytes further on is the top of a 32-bit lane; an odd
    /// one is that without an offset.
    #[inline(always)]
    fn tops(isa: Avx2, bytes: &[u8], part: usize) -> V {
        isa.blend_odd(isa.load(bytes, 64 * part + 2), isa.load(bytes, 64 * part + 32))
    }

    #[inline(always)]
    fn compare<O: Op>(isa: Avx2, lanes: V, with: Constants) -> V {
        match O::OP {
            Operation::Greater => isa.greater_i32(lanes, with.bound),
            _ => isa.equal_i32(lanes, with.bound),
        }
    }

    #[inline(always)]
    fn verdicts<O: Op>(isa: Avx2, bytes: &[u8], part: usize, with: Constants) -> V {
        let at = 64 * part;
        isa.pack_i32(Self::verdict::<O>(isa, bytes, at, with), Self::verdict::<O>(isa, bytes, at + 32, with))
    }

    #[inline(always)]
    fn restore<O: Op>(isa: Avx2, packed: V) -> V {
        if O::OP != Operation::Ones {
            return isa.permute_i32(packed, isa.lanes_i32([0, 4, 1, 5, 2, 6, 3, 7]));
        }
        isa.shuffle(
            isa.unpack_halves(packed),
            isa.bytes16([0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15]),
        )
    }
}

impl Layout for i64 {
    const PARTS: usize = 4;
    const BLEND_TO_SEARCH: bool = false;

    #[inline(always)]
    fn subtract(isa: Avx2, a: V, b: V) -> V {
        isa.subtract_i64(a, b)
    }

    #[inline(always)]
    fn constants(isa: Avx2, pair: Pair<Self>) -> Constants {
        let top = isa.splat_i16((pair.mask >> 48) as i16);
        Constants {
            mask: isa.splat_i64(pair.mask),
            bound: isa.splat_i64(pair.bound),
            top,
            one: isa.splat_i8(pair.one),
        }
    }

    /// Elements 0 4 8 12, 1 5 9 13, ..: 16-bit lane `4 * i + j` is the top of 64-bit lane `i` of register `j`, brought
    /// into place by the offset of the load.
    #[inline(always)]
    fn tops(isa: Avx2, bytes: &[u8], part: usize) -> V {
        let at = 128 * part;
        let a = isa.blend_second(isa.load(bytes, at + 6), isa.load(bytes, at + 36));
        let b = isa.blend_fourth(isa.load(bytes, at + 66), isa.load(bytes, at + 96));
        isa.blend_upper(a, b)
    }

    #[inline(always)]
    fn compare<O: Op>(isa: Avx2, lanes: V, with: Constants) -> V {
        match O::OP {
            Operation::Greater => isa.greater_i64(lanes, with.bound),
            _ => isa.equal_i64(lanes, with.bound),
        }
    }

    #[inline(always)]
    fn verdicts<O: Op>(isa: Avx2, bytes: &[u8], part: usize, with: Constants) -> V {
        let at = 128 * part;
        let a = isa.blend_second(
            Self::verdict::<O>(isa, bytes, at, with),
            Self::verdict::<O>(isa, bytes, at + 32, with),
        );
        let b = isa.blend_fourth(
            Self::verdict::<O>(isa, bytes, at + 64, with),
            Self::verdict::<O>(isa, bytes, at + 96, with),
        );
        isa.blend_upper(a, b)
    }

    #[inline(always)]
    fn restore<O: Op>(isa: Avx2, packed: V) -> V {
        isa.shuffle(
            isa.unpack_halves(packed),
            isa.bytes16([0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15]),
        )
    }
}
