//! Plain loops in Rust, as the compiler makes them for this build's target (on x86-64 the
//! baseline), for AVX2 and for AVX-512.
//!
//! `std` is what one writes first. `tuned` asks by the bits, and searches and the census look at 64
//! elements at a time without a branch, so that the compiler makes vectors of them; `multiversion`
//! compiles that loop for more instructions and picks at run time.

#[cfg(target_arch = "x86_64")]
use multiversion::multiversion;

use super::each_type;
use crate::data::Element;
use crate::task::{Answer, Ask, Input, Question, Task};

/// A loop, to be compiled for some instructions. Reductions leave `out` alone.
trait Loop<T>: 'static {
    type R: 'static;
    fn run(x: &[T], out: &mut [u8]) -> Self::R;
}

/// A question as a type, so that each loop is compiled for one.
trait Holds: 'static {
    fn holds<T: Element>(x: T) -> bool;
}

macro_rules! holds {
    ($($name:ident $by_bits:ident $question:ident;)*) => { $(
        struct $name;
        impl Holds for $name {
            #[inline(always)]
            fn holds<T: Element>(x: T) -> bool {
                x.holds(Question::$question)
            }
        }
        struct $by_bits;
        impl Holds for $by_bits {
            #[inline(always)]
            fn holds<T: Element>(x: T) -> bool {
                x.holds_by_bits(Question::$question)
            }
        }
    )* };
}
holds! {
    Finite FiniteBits Finite;
    Nan NanBits Nan;
    Inf InfBits Inf;
}

macro_rules! loops {
    ($($name:ident($x:ident, $out:tt) -> $r:ty $body:block)*) => { $(
        struct $name<Q>(Q);
        impl<T: Element, Q: Holds> Loop<T> for $name<Q> {
            type R = $r;
            #[inline(always)]
            fn run($x: &[T], $out: &mut [u8]) -> $r $body
        }
    )* };
}
loops! {
    Mask(x, out) -> () {
        for (x, out) in x.iter().zip(out) {
            *out = u8::from(Q::holds(*x));
        }
    }
    Bits(x, out) -> () {
        let (bytes, rest) = x.as_chunks::<8>();
        for (x, out) in bytes.iter().zip(&mut *out) {
            *out = byte::<T, Q>(x);
        }
        if !rest.is_empty() {
            out[bytes.len()] = byte::<T, Q>(rest);
        }
    }
    All(x, _) -> bool { x.iter().all(|x| Q::holds(*x)) }
    Any(x, _) -> bool { x.iter().any(|x| Q::holds(*x)) }
    Count(x, _) -> usize { x.iter().filter(|x| Q::holds(**x)).count() }
    Position(x, _) -> Option<usize> { x.iter().position(|x| !Q::holds(*x)) }
    Census(x, _) -> [usize; 3] { census::<T, Q>(x) }
    TunedAll(x, _) -> bool {
        let (chunks, rest) = x.as_chunks::<64>();
        chunks.iter().all(|chunk| all::<T, Q>(chunk)) && all::<T, Q>(rest)
    }
    TunedAny(x, _) -> bool {
        let (chunks, rest) = x.as_chunks::<64>();
        chunks.iter().any(|chunk| any::<T, Q>(chunk)) || any::<T, Q>(rest)
    }
    TunedPosition(x, _) -> Option<usize> {
        let (chunks, _) = x.as_chunks::<64>();
        let clean = chunks.iter().take_while(|chunk| all::<T, Q>(*chunk)).count() * 64;
        x[clean..].iter().position(|x| !Q::holds(*x)).map(|at| clean + at)
    }
    TunedCensus(x, _) -> [usize; 3] {
        let mut counts = [0; 3];
        for chunk in x.chunks(64) {
            if !all::<T, FiniteBits>(chunk) {
                let more = census::<T, Q>(chunk);
                counts = std::array::from_fn(|i| counts[i] + more[i]);
            }
        }
        counts
    }
}

#[inline(always)]
fn byte<T: Element, Q: Holds>(x: &[T]) -> u8 {
    x.iter().enumerate().fold(0, |bits, (i, x)| bits | u8::from(Q::holds(*x)) << i)
}

#[inline(always)]
fn all<T: Element, Q: Holds>(x: &[T]) -> bool {
    x.iter().fold(true, |all, x| all & Q::holds(*x))
}

#[inline(always)]
fn any<T: Element, Q: Holds>(x: &[T]) -> bool {
    x.iter().fold(false, |any, x| any | Q::holds(*x))
}

#[inline(always)]
fn census<T: Element, Q: Holds>(x: &[T]) -> [usize; 3] {
    let mut counts = [0; 3];
    for x in x {
        counts[0] += usize::from(Q::holds(*x));
        counts[1] += usize::from(x.is(T::INF));
        counts[2] += usize::from(x.is(T::NEG_INF));
    }
    counts
}

/// For what a loop is compiled.
trait Build: 'static {
    const NAME: &'static str;
    /// Called only where the CPU has the instructions, which `tasks` sees to.
    fn call<T: Element, L: Loop<T>>(x: &[T], out: &mut [u8]) -> L::R;
}

macro_rules! builds {
    ($($(#[$attribute:meta])* $name:ident $text:literal;)*) => { $(
        struct $name;
        impl Build for $name {
            const NAME: &'static str = $text;
            #[inline(always)]
            fn call<T: Element, L: Loop<T>>(x: &[T], out: &mut [u8]) -> L::R {
                $(#[$attribute])*
                unsafe fn compiled<T: Element, L: Loop<T>>(x: &[T], out: &mut [u8]) -> L::R {
                    L::run(x, out)
                }
                // SAFETY: the CPU has the instructions, see the trait.
                unsafe { compiled::<T, L>(x, out) }
            }
        }
    )* };
}
builds! {
    #[inline(always)]
    Target "std";
    #[inline(always)]
    Tuned "tuned";
}
#[cfg(target_arch = "x86_64")]
builds! {
    #[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt")]
    Avx2 "std avx2";
    #[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt")]
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
    Avx512 "std avx512";
    #[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
    MultiversionAvx2 "multiversion avx2";
    #[multiversion(targets(
        "x86_64+avx+avx2+avx512bw+avx512cd+avx512dq+avx512f+avx512vl+bmi1+bmi2+fma+lzcnt+popcnt"
    ))]
    MultiversionAvx512 "multiversion avx512";
}

fn mask<B: Build, T: Element, Q: Holds>(x: &[T]) -> Task<'_> {
    Task::mask(B::NAME, x.len(), move |out| B::call::<T, Mask<Q>>(x, out))
}

fn bits<B: Build, T: Element, Q: Holds>(x: &[T]) -> Task<'_> {
    Task::bits(B::NAME, x.len(), move |out| B::call::<T, Bits<Q>>(x, out))
}

fn value<B: Build, T: Element, L: Loop<T, R: Copy + Into<Answer>>>(x: &[T]) -> Task<'_> {
    Task::value(B::NAME, move || B::call::<T, L>(x, &mut []))
}

fn first<B: Build, T: Element>(ask: Ask, x: &[T]) -> Task<'_> {
    match ask {
        Ask::Mask(Question::Finite) => mask::<B, T, Finite>(x),
        Ask::Mask(Question::Nan) => mask::<B, T, Nan>(x),
        Ask::Mask(Question::Inf) => mask::<B, T, Inf>(x),
        Ask::Bits(Question::Finite) => bits::<B, T, Finite>(x),
        Ask::Bits(Question::Nan) => bits::<B, T, Nan>(x),
        Ask::Bits(Question::Inf) => bits::<B, T, Inf>(x),
        Ask::AllFinite => value::<B, T, All<Finite>>(x),
        Ask::AnyNan => value::<B, T, Any<Nan>>(x),
        Ask::CountNan => value::<B, T, Count<Nan>>(x),
        Ask::FirstNonFinite => value::<B, T, Position<Finite>>(x),
        Ask::Census => value::<B, T, Census<Nan>>(x),
    }
}

fn tuned<B: Build, T: Element>(ask: Ask, x: &[T]) -> Task<'_> {
    match ask {
        Ask::Mask(Question::Finite) => mask::<B, T, FiniteBits>(x),
        Ask::Mask(Question::Nan) => mask::<B, T, NanBits>(x),
        Ask::Mask(Question::Inf) => mask::<B, T, InfBits>(x),
        Ask::Bits(Question::Finite) => bits::<B, T, FiniteBits>(x),
        Ask::Bits(Question::Nan) => bits::<B, T, NanBits>(x),
        Ask::Bits(Question::Inf) => bits::<B, T, InfBits>(x),
        Ask::AllFinite => value::<B, T, TunedAll<FiniteBits>>(x),
        Ask::AnyNan => value::<B, T, TunedAny<NanBits>>(x),
        Ask::CountNan => value::<B, T, Count<NanBits>>(x),
        Ask::FirstNonFinite => value::<B, T, TunedPosition<FiniteBits>>(x),
        Ask::Census => value::<B, T, TunedCensus<NanBits>>(x),
    }
}

pub fn tasks(ask: Ask, x: Input<'_>) -> Vec<Task<'_>> {
    each_type!(x, x => {
        let mut tasks = vec![first::<Target, _>(ask, x), tuned::<Tuned, _>(ask, x)];
        #[cfg(target_arch = "x86_64")]
        {
            if nonfinite::Backend::by_name("avx2").is_some() {
                tasks.push(first::<Avx2, _>(ask, x));
                tasks.push(tuned::<MultiversionAvx2, _>(ask, x));
            }
            if super::has_avx512() {
                tasks.push(first::<Avx512, _>(ask, x));
                tasks.push(tuned::<MultiversionAvx512, _>(ask, x));
            }
        }
        tasks
    })
}
