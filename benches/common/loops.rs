//! The loops that a user would write: with the standard library, with integer comparisons of the
//! bits, and both compiled for wide vectors (`multiversion`, `pulp`).

use std::marker::PhantomData;

use multiversion::multiversion;
use nonfinite::Predicate;

use crate::Sample;

/// A question as a type, so that each loop is compiled for one.
pub trait Ask: Copy {
    const PREDICATE: Predicate;
    const NAME: &'static str;
    fn ask<T: Sample>(x: T) -> bool;
}

macro_rules! ask {
    ($($ask:ident $predicate:ident $name:literal |$x:ident| $answer:expr;)*) => { $(
        #[derive(Clone, Copy)]
        pub struct $ask;
        impl Ask for $ask {
            const PREDICATE: Predicate = Predicate::$predicate;
            const NAME: &'static str = $name;
            #[inline(always)]
            fn ask<T: Sample>($x: T) -> bool {
                $answer
            }
        }
    )* };
}
ask! {
    Finite Finite "finite" |x| x.finite();
    FiniteBits Finite "finite" |x| x.finite_bits();
    Nan Nan "nan" |x| x.nan();
    NanBits Nan "nan" |x| x.nan_bits();
    Inf Inf "inf" |x| x.infinite();
    PositiveInf PositiveInf "posinf" |x| x == T::INF;
    NegativeInf NegativeInf "neginf" |x| x == T::NEG_INF;
}

/// A loop over all elements.
macro_rules! loops {
    ($(
        $name:ident, $wide:ident, $widest:ident, ($($arg:ident: $t:ty),*) -> $r:ty, $body:expr;
    )*) => { $(
        #[inline(never)]
        pub fn $name<T: Sample, A: Ask>($($arg: $t),*) -> $r {
            $body
        }

        #[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+fma+lzcnt+popcnt", "aarch64+neon"))]
        pub fn $wide<T: Sample, A: Ask>($($arg: $t),*) -> $r {
            $body
        }

        #[multiversion(targets(
            "x86_64+avx+avx2+avx512bw+avx512cd+avx512dq+avx512f+avx512vl+bmi1+bmi2+fma+lzcnt+popcnt"
        ))]
        pub fn $widest<T: Sample, A: Ask>($($arg: $t),*) -> $r {
            $body
        }
    )* };
}
loops! {
    mask, mask_avx2, mask_avx512, (x: &[T], out: &mut [bool]) -> (), mask_body::<T, A>(x, out);
    bits, bits_avx2, bits_avx512, (x: &[T], out: &mut [u64]) -> (), bits_body::<T, A>(x, out);
    all, all_avx2, all_avx512, (x: &[T]) -> bool, x.iter().all(|x| A::ask(*x));
    all_chunks, all_chunks_avx2, all_chunks_avx512, (x: &[T]) -> bool, all_chunks_body::<T, A>(x);
    count, count_avx2, count_avx512, (x: &[T]) -> usize, count_body::<T, A>(x);
    position, position_avx2, position_avx512, (x: &[T]) -> Option<usize>,
        x.iter().position(|x| A::ask(*x));
}

/// Loops that pulp compiles for the detected CPU.
macro_rules! pulped {
    ($($name:ident ($x:ident $(, $out:ident: $o:ty)?) -> $r:ty, $body:expr;)*) => { $(
        pub fn $name<T: Sample, A: Ask>(arch: pulp::Arch, $x: &[T] $(, $out: &mut [$o])?) -> $r {
            struct Run<'a, T, A> {
                $x: &'a [T],
                $($out: &'a mut [$o],)?
                ask: PhantomData<A>,
            }
            impl<T: Sample, A: Ask> pulp::WithSimd for Run<'_, T, A> {
                type Output = $r;
                #[inline(always)]
                fn with_simd<S: pulp::Simd>(self, _: S) -> $r {
                    let Run { $x, $($out,)? .. } = self;
                    $body
                }
            }
            arch.dispatch(Run { $x, $($out,)? ask: PhantomData::<A> })
        }
    )* };
}
pulped! {
    mask_pulp(x, out: bool) -> (), mask_body::<T, A>(x, out);
    bits_pulp(x, out: u64) -> (), bits_body::<T, A>(x, out);
    all_chunks_pulp(x) -> bool, all_chunks_body::<T, A>(x);
    count_pulp(x) -> usize, count_body::<T, A>(x);
}

#[inline(always)]
fn mask_body<T: Sample, A: Ask>(x: &[T], out: &mut [bool]) {
    // Refuses different lengths, like nonfinite.
    assert_eq!(x.len(), out.len());
    for (x, out) in x.iter().zip(out) {
        *out = A::ask(*x);
    }
}

#[inline(always)]
fn bits_body<T: Sample, A: Ask>(x: &[T], out: &mut [u64]) {
    for (x, out) in x.chunks(64).zip(out) {
        *out = x.iter().enumerate().fold(0, |bits, (i, x)| bits | u64::from(A::ask(*x)) << i);
    }
}

/// Without a branch for each element, so that the compiler can vectorise it.
#[inline(always)]
fn all_chunks_body<T: Sample, A: Ask>(x: &[T]) -> bool {
    x.chunks(1024).all(|chunk| chunk.iter().fold(true, |all, x| all & A::ask(*x)))
}

#[inline(always)]
fn count_body<T: Sample, A: Ask>(x: &[T]) -> usize {
    x.iter().filter(|x| A::ask(**x)).count()
}

/// As numpy does it: the least, the greatest, and whether all are finite, in three passes. NaN
/// stays out of the first two, which numpy would need `nanmin` for.
macro_rules! min_max_finite {
    ($x:ident) => {{
        let least = $x.iter().fold(T::INF, |least, &x| if x < least { x } else { least });
        let greatest = $x.iter().fold(T::NEG_INF, |most, &x| if x > most { x } else { most });
        (least, greatest, $x.iter().fold(true, |all, x| all & x.finite()))
    }};
}

#[inline(never)]
pub fn min_max_finite<T: Sample>(x: &[T]) -> (T, T, bool) {
    min_max_finite!(x)
}

#[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+fma+lzcnt+popcnt", "aarch64+neon"))]
pub fn min_max_finite_avx2<T: Sample>(x: &[T]) -> (T, T, bool) {
    min_max_finite!(x)
}
