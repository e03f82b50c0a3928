//! How the lanes of each width are loaded, compared and counted on `Neon`.

use super::{Constants, Layout, Neon, V};
use crate::rule::{Op, Operation, Pair};

impl Layout for i8 {
    const PARTS: usize = 4;

    #[inline(always)]
    fn subtract(isa: Neon, a: V, b: V) -> V {
        isa.subtract_i8(a, b)
    }

    #[inline(always)]
    fn constants(isa: Neon, pair: Pair<Self>) -> Constants {
        let mask = isa.splat_i8(pair.mask);
        Constants { mask, bound: isa.splat_i8(pair.bound), top: mask, one: isa.splat_i8(pair.one) }
    }

    #[inline(always)]
    fn tops(isa: Neon, bytes: &[u8], part: usize) -> V {
        isa.load(bytes, 16 * part)
    }

    #[inline(always)]
    fn compare<O: Op>(isa: Neon, lanes: V, with: Constants) -> V {
        match O::OP {
            Operation::Greater => isa.greater_i8(lanes, with.bound),
            _ => isa.equal_i8(lanes, with.bound),
        }
    }

    #[inline(always)]
    fn verdicts<O: Op>(isa: Neon, bytes: &[u8], part: usize, with: Constants) -> V {
        Self::verdict::<O>(isa, bytes, 16 * part, with)
    }

    #[inline(always)]
    fn max_tops(isa: Neon, a: V, b: V) -> V {
        isa.max_u8(a, b)
    }

    #[inline(always)]
    fn equal_tops(isa: Neon, a: V, b: V) -> V {
        isa.equal_i8(a, b)
    }

    #[inline(always)]
    fn packed<O: Op>(isa: Neon, bytes: &[u8], quarter: usize, with: Constants) -> V {
        Self::results::<O>(isa, bytes, quarter, with)
    }
}

impl Layout for i16 {
    const PARTS: usize = 8;

    #[inline(always)]
    fn subtract(isa: Neon, a: V, b: V) -> V {
        isa.subtract_i16(a, b)
    }

    #[inline(always)]
    fn constants(isa: Neon, pair: Pair<Self>) -> Constants {
        let mask = isa.splat_i16(pair.mask);
        Constants { mask, bound: isa.splat_i16(pair.bound), top: mask, one: isa.splat_i8(pair.one) }
    }

    #[inline(always)]
    fn tops(isa: Neon, bytes: &[u8], part: usize) -> V {
        isa.load(bytes, 16 * part)
    }

    #[inline(always)]
    fn compare<O: Op>(isa: Neon, lanes: V, with: Constants) -> V {
        match O::OP {
            Operation::Greater => isa.greater_i16(lanes, with.bound),
            _ => isa.equal_i16(lanes, with.bound),
        }
    }

    #[inline(always)]
    fn verdicts<O: Op>(isa: Neon, bytes: &[u8], part: usize, with: Constants) -> V {
        Self::verdict::<O>(isa, bytes, 16 * part, with)
    }
}

impl Layout for i32 {
    const PARTS: usize = 8;

    #[inline(always)]
    fn subtract(isa: Neon, a: V, b: V) -> V {
        isa.subtract_i32(a, b)
    }

    #[inline(always)]
    fn constants(isa: Neon, pair: Pair<Self>) -> Constants {
        let top = isa.splat_i16((pair.mask >> 16) as i16);
        Constants {
            mask: isa.splat_i32(pair.mask),
            bound: isa.splat_i32(pair.bound),
            top,
            one: isa.splat_i8(pair.one),
        }
    }

    #[inline(always)]
    fn tops(isa: Neon, bytes: &[u8], part: usize) -> V {
        isa.high_u32(isa.load(bytes, 32 * part), isa.load(bytes, 32 * part + 16))
    }

    #[inline(always)]
    fn compare<O: Op>(isa: Neon, lanes: V, with: Constants) -> V {
        match O::OP {
            Operation::Greater => isa.greater_i32(lanes, with.bound),
            _ => isa.equal_i32(lanes, with.bound),
        }
    }

    #[inline(always)]
    fn verdicts<O: Op>(isa: Neon, bytes: &[u8], part: usize, with: Constants) -> V {
        let at = 32 * part;
        isa.low_u32(Self::verdict::<O>(isa, bytes, at, with), Self::verdict::<O>(isa, bytes, at + 16, with))
    }
}

impl Layout for i64 {
    const PARTS: usize = 8;

    #[inline(always)]
    fn subtract(isa: Neon, a: V, b: V) -> V {
        isa.subtract_i64(a, b)
    }

    #[inline(always)]
    fn constants(isa: Neon, pair: Pair<Self>) -> Constants {
        let top = isa.splat_i16((pair.mask >> 48) as i16);
        Constants {
            mask: isa.splat_i64(pair.mask),
            bound: isa.splat_i64(pair.bound),
            top,
            one: isa.splat_i8(pair.one),
        }
    }

    #[inline(always)]
    fn tops(isa: Neon, bytes: &[u8], part: usize) -> V {
        let at = 64 * part;
        let a = isa.high_u64(isa.load(bytes, at), isa.load(bytes, at + 16));
        let b = isa.high_u64(isa.load(bytes, at + 32), isa.load(bytes, at + 48));
        isa.high_u32(a, b)
    }

    #[inline(always)]
    fn compare<O: Op>(isa: Neon, lanes: V, with: Constants) -> V {
        match O::OP {
            Operation::Greater => isa.greater_i64(lanes, with.bound),
            _ => isa.equal_i64(lanes, with.bound),
        }
    }

    #[inline(always)]
    fn verdicts<O: Op>(isa: Neon, bytes: &[u8], part: usize, with: Constants) -> V {
        let at = 64 * part;
        isa.low_u32(
            isa.low_u64(
                Self::verdict::<O>(isa, bytes, at, with),
                Self::verdict::<O>(isa, bytes, at + 16, with),
            ),
            isa.low_u64(
                Self::verdict::<O>(isa, bytes, at + 32, with),
                Self::verdict::<O>(isa, bytes, at + 48, with),
            ),
        )
    }
}
