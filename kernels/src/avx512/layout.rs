//! How the lanes of each width are loaded, compared and counted on `Avx512`.

use super::{Avx512, Constants, Layout, V};
use crate::rule::{Op, Operation, Pair};

impl Layout for i8 {
    #[inline(always)]
    fn count(isa: Avx512, counts: V, hits: u64) -> V {
        isa.count_i8(counts, hits, counts, isa.splat_i8(-1))
    }

    #[inline(always)]
    fn constants(isa: Avx512, pair: Pair<Self>) -> Constants {
        let mask = isa.splat_i8(pair.mask);
        Constants { mask, bound: isa.splat_i8(pair.bound), top: mask, one: isa.splat_i8(pair.one) }
    }

    #[inline(always)]
    fn tops(isa: Avx512, bytes: &[u8], part: usize) -> V {
        isa.load(bytes, 64 * part)
    }

    #[inline(always)]
    fn compare<O: Op, const NEGATE: bool>(isa: Avx512, lanes: V, with: Constants) -> u64 {
        match (O::OP, NEGATE) {
            (Operation::Greater, false) => isa.greater_i8(lanes, with.bound),
            (Operation::Greater, true) => isa.at_most_i8(lanes, with.bound),
            (_, false) => isa.equal_i8(lanes, with.bound),
            (_, true) => isa.unequal_i8(lanes, with.bound),
        }
    }

    #[inline(always)]
    fn max_tops(isa: Avx512, a: V, b: V) -> V {
        isa.max_u8(a, b)
    }

    #[inline(always)]
    fn equal_tops(isa: Avx512, a: V, b: V) -> bool {
        isa.equal_i8(a, b) != 0
    }

    #[inline(always)]
    fn lacking(isa: Avx512, bytes: &[u8], with: Constants) -> V {
        isa.not_and(Self::tops(isa, bytes, 0), with.top)
    }

    #[inline(always)]
    fn restore(_: Avx512, packed: V) -> V {
        packed
    }
}

impl Layout for i16 {
    #[inline(always)]
    fn count(isa: Avx512, counts: V, hits: u64) -> V {
        isa.count_i16(counts, hits as u32, counts, isa.splat_i8(-1))
    }

    #[inline(always)]
    fn constants(isa: Avx512, pair: Pair<Self>) -> Constants {
        let mask = isa.splat_i16(pair.mask);
        Constants { mask, bound: isa.splat_i16(pair.bound), top: mask, one: isa.splat_i8(pair.one) }
    }

    #[inline(always)]
    fn tops(isa: Avx512, bytes: &[u8], part: usize) -> V {
        isa.load(bytes, 64 * part)
    }

    #[inline(always)]
    fn compare<O: Op, const NEGATE: bool>(isa: Avx512, lanes: V, with: Constants) -> u64 {
        u64::from(match (O::OP, NEGATE) {
            (Operation::Greater, false) => isa.greater_i16(lanes, with.bound),
            (Operation::Greater, true) => isa.at_most_i16(lanes, with.bound),
            (_, false) => isa.equal_i16(lanes, with.bound),
            (_, true) => isa.unequal_i16(lanes, with.bound),
        })
    }

    /// Each quarter of `packed` has 8 elements of either part.
    #[inline(always)]
    fn restore(isa: Avx512, packed: V) -> V {
        let index = isa.lanes_i32([0, 0, 2, 0, 4, 0, 6, 0, 1, 0, 3, 0, 5, 0, 7, 0]);
        isa.permute_i64(index, packed)
    }
}

impl Layout for i32 {
    #[inline(always)]
    fn count(isa: Avx512, counts: V, hits: u64) -> V {
        isa.count_i32(counts, hits as u16, counts, isa.splat_i8(-1))
    }

    #[inline(always)]
    fn constants(isa: Avx512, pair: Pair<Self>) -> Constants {
        let top = isa.splat_i16((pair.mask >> 16) as i16);
        Constants {
            mask: isa.splat_i32(pair.mask),
            bound: isa.splat_i32(pair.bound),
            top,
            one: isa.splat_i8(pair.one),
        }
    }

    /// Elements 0 16 1 17 .. 15 31: the odd 16-bit lanes of two registers, those of the first shifted down. (A load two
    /// bytes further on would do without the shift, but each such load crosses cache lines.)
    #[inline(always)]
    fn tops(isa: Avx512, bytes: &[u8], part: usize) -> V {
        let at = 128 * part;
        isa.select(isa.splat_i32(!0 << 16), isa.load(bytes, at + 64), isa.down_16(isa.load(bytes, at)))
    }

    #[inline(always)]
    fn compare<O: Op, const NEGATE: bool>(isa: Avx512, lanes: V, with: Constants) -> u64 {
        u64::from(match (O::OP, NEGATE) {
            (Operation::Greater, false) => isa.greater_i32(lanes, with.bound),
            (Operation::Greater, true) => isa.at_most_i32(lanes, with.bound),
            (_, false) => isa.equal_i32(lanes, with.bound),
            (_, true) => isa.unequal_i32(lanes, with.bound),
        })
    }

    /// Quarter `k` of `packed` has elements `4 * k ..` and `16 + 4 * k ..` of either part, four each, alternating.
    #[inline(always)]
    fn restore(isa: Avx512, packed: V) -> V {
        let fours = isa.quarters([0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15]);
        let index = isa.lanes_i32([0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15]);
        isa.permute_i32(index, isa.shuffle(packed, fours))
    }
}

impl Layout for i64 {
    #[inline(always)]
    fn count(isa: Avx512, counts: V, hits: u64) -> V {
        isa.count_i64(counts, hits as u8, counts, isa.splat_i8(-1))
    }

    #[inline(always)]
    fn constants(isa: Avx512, pair: Pair<Self>) -> Constants {
        let top = isa.splat_i16((pair.mask >> 48) as i16);
        Constants {
            mask: isa.splat_i64(pair.mask),
            bound: isa.splat_i64(pair.bound),
            top,
            one: isa.splat_i8(pair.one),
        }
    }

    /// Elements 0 8 16 24, 1 9 17 25, ..: 16-bit lane `4 * i + j` is the top of 64-bit lane `i` of register `j`, shifted
    /// into place.
    #[inline(always)]
    fn tops(isa: Avx512, bytes: &[u8], part: usize) -> V {
        let at = 256 * part;
        let first = isa.down_48(isa.load(bytes, at));
        let second = isa.down_32(isa.load(bytes, at + 64));
        let third = isa.down_16_of_64(isa.load(bytes, at + 128));
        isa.select(
            isa.splat_i64(!0 << 32),
            isa.select(isa.splat_i64(!0 << 48), isa.load(bytes, at + 192), third),
            isa.select(isa.splat_i64(0xFFFF_0000), second, first),
        )
    }

    #[inline(always)]
    fn compare<O: Op, const NEGATE: bool>(isa: Avx512, lanes: V, with: Constants) -> u64 {
        u64::from(match (O::OP, NEGATE) {
            (Operation::Greater, false) => isa.greater_i64(lanes, with.bound),
            (Operation::Greater, true) => isa.at_most_i64(lanes, with.bound),
            (_, false) => isa.equal_i64(lanes, with.bound),
            (_, true) => isa.unequal_i64(lanes, with.bound),
        })
    }

    /// Eight masks of 8 results are joined in mask registers; left to itself the compiler takes them out one by one.
    #[inline(always)]
    fn bits<O: Op, const NEGATE: bool>(isa: Avx512, bytes: &[u8], with: Constants) -> u64 {
        let mut pairs = [0; 4];
        for (i, pair) in pairs.iter_mut().enumerate() {
            let low = Self::register::<O, NEGATE>(isa, bytes, 2 * i, with);
            let high = Self::register::<O, NEGATE>(isa, bytes, 2 * i + 1, with);
            *pair = isa.join_8(high as u16, low as u16);
        }
        let low = isa.join_16(u32::from(pairs[1]), u32::from(pairs[0]));
        let high = isa.join_16(u32::from(pairs[3]), u32::from(pairs[2]));
        isa.join_32(u64::from(high), u64::from(low))
    }

    /// Quarter `k` of `packed` has elements `2 * k + 8 * j` and the next of either part, `j` fastest.
    #[inline(always)]
    fn restore(isa: Avx512, packed: V) -> V {
        let twos = isa.quarters([0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15]);
        let index = isa.lanes_i16([
            0, 8, 16, 24, 1, 9, 17, 25, 2, 10, 18, 26, 3, 11, 19, 27, //
            4, 12, 20, 28, 5, 13, 21, 29, 6, 14, 22, 30, 7, 15, 23, 31,
        ]);
        isa.permute_i16(index, isa.shuffle(packed, twos))
    }
}
