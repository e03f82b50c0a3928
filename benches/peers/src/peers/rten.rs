//! `rten-simd`, the SIMD layer of the RTen runtime, f32 only. (RTen's own IsNaN is a `map` that
//! writes four bytes an element; it can be reached by running a model only.)

use rten_simd::ops::{BitOps, FloatOps, MaskOps, NarrowSaturate, NumOps};
use rten_simd::{Isa, SimdOp};

use crate::task::{Ask, Input, Question, Task};

/// The mask of the elements that are NaN, or that are not finite.
macro_rules! bad {
    ($isa:expr, $nan:expr, $v:expr) => {{
        let (f32, v) = ($isa.f32(), $v);
        // Neither comparison holds for NaN.
        let good = if $nan { f32.eq(v, v) } else { f32.le(f32.abs(v), f32.splat(f32::MAX)) };
        $isa.i32().select($isa.i32().zero(), $isa.i32().one(), good)
    }};
}

struct Mask<'a, const NAN: bool>(&'a [f32], &'a mut [u8]);

impl<const NAN: bool> SimdOp for Mask<'_, NAN> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let (f32, i32, i16, u8) = (isa.f32(), isa.i32(), isa.i16(), isa.u8());
        let (len, flip) = (f32.len(), u8.splat(u8::from(!NAN)));
        let (blocks, outs) = (self.0.chunks_exact(4 * len), self.1.chunks_exact_mut(4 * len));
        let rest = blocks.remainder();
        for (x, out) in blocks.zip(outs) {
            let [a, b, c, d] = f32.load_many::<4>(x);
            let (a, b) = (bad!(isa, NAN, a), bad!(isa, NAN, b));
            let (c, d) = (bad!(isa, NAN, c), bad!(isa, NAN, d));
            let bytes = i16.narrow_saturate(i32.narrow_saturate(a, b), i32.narrow_saturate(c, d));
            u8.store(u8.xor(bytes, flip), out);
        }
        let done = self.0.len() - rest.len();
        for (x, out) in rest.iter().zip(&mut self.1[done..]) {
            *out = u8::from(if NAN { x.is_nan() } else { x.is_finite() });
        }
    }
}

/// The first NaN, or the first element that is not finite.
struct First<'a, const NAN: bool>(&'a [f32]);

impl<const NAN: bool> SimdOp for First<'_, NAN> {
    type Output = Option<usize>;

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) -> Option<usize> {
        let (f32, i32) = (isa.f32(), isa.i32());
        let step = 8 * f32.len();
        let mut from = 0;
        // Loops, not closures: a closure that is not inlined lacks the CPU's instructions.
        for x in self.0.chunks_exact(step) {
            let mut any = i32.zero();
            for v in f32.load_many::<8>(x) {
                any = i32.or(any, bad!(isa, NAN, v));
            }
            if isa.m32().any(i32.gt(any, i32.zero())) {
                break;
            }
            from += step;
        }
        let is_bad = |x: &f32| if NAN { x.is_nan() } else { !x.is_finite() };
        self.0[from..].iter().position(is_bad).map(|i| from + i)
    }
}

struct CountNan<'a>(&'a [f32]);

impl SimdOp for CountNan<'_> {
    type Output = usize;

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) -> usize {
        let (f32, i32) = (isa.f32(), isa.i32());
        let step = 4 * f32.len();
        let mut count = 0;
        // Chunks that a lane of 32 bits can count.
        for x in self.0.chunks(1 << 30) {
            let blocks = x.chunks_exact(step);
            count += blocks.remainder().iter().filter(|x| x.is_nan()).count();
            let mut sums = [i32.zero(); 4];
            for block in blocks {
                for (sum, v) in sums.iter_mut().zip(f32.load_many::<4>(block)) {
                    *sum = i32.add(*sum, bad!(isa, true, v));
                }
            }
            for sum in sums {
                count += i32.sum(sum) as usize;
            }
        }
        count
    }
}

pub fn tasks(ask: Ask, x: Input<'_>) -> Vec<Task<'_>> {
    let name = if super::has_avx512() { "rten-simd avx512" } else { "rten-simd" };
    let Input::F32(x) = x else { return Vec::new() };
    vec![match ask {
        Ask::Mask(Question::Nan) => {
            Task::mask(name, x.len(), |out| Mask::<true>(x, out).dispatch())
        }
        Ask::Mask(Question::Finite) => {
            Task::mask(name, x.len(), |out| Mask::<false>(x, out).dispatch())
        }
        Ask::AllFinite => Task::value(name, || First::<false>(x).dispatch().is_none()),
        Ask::AnyNan => Task::value(name, || First::<true>(x).dispatch().is_some()),
        Ask::CountNan => Task::value(name, || CountNan(x).dispatch()),
        Ask::FirstNonFinite => Task::value(name, || First::<false>(x).dispatch()),
        // It has no packed bits.
        _ => return Vec::new(),
    }]
}
