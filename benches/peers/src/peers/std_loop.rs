//! The loops that one writes first in Rust, as the compiler makes them for AVX2 and for AVX-512,
//! and on other machines for this build's target.

use super::each_type;
use crate::data::Element;
use crate::task::{Ask, Input, Question, Task};

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
    ($($name:ident $question:ident;)*) => { $(
        struct $name;
        impl Holds for $name {
            #[inline(always)]
            fn holds<T: Element>(x: T) -> bool {
                x.holds(Question::$question)
            }
        }
    )* };
}
holds! {
    Finite Finite;
    Nan Nan;
    Inf Inf;
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
    Census(x, _) -> [usize; 3] {
        let mut counts = [0; 3];
        for x in x {
            counts[0] += usize::from(Q::holds(*x));
            counts[1] += usize::from(x.is(T::INF));
            counts[2] += usize::from(x.is(T::NEG_INF));
        }
        counts
    }
}

#[inline(always)]
fn byte<T: Element, Q: Holds>(x: &[T]) -> u8 {
    x.iter().enumerate().fold(0, |bits, (i, x)| bits | u8::from(Q::holds(*x)) << i)
}

// Not inlined: a call, as everybody has it here.

#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt")]
fn avx2<T, L: Loop<T>>(x: &[T], out: &mut [u8]) -> L::R {
    L::run(x, out)
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt")]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
fn avx512<T, L: Loop<T>>(x: &[T], out: &mut [u8]) -> L::R {
    L::run(x, out)
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(never)]
fn target<T, L: Loop<T>>(x: &[T], out: &mut [u8]) -> L::R {
    L::run(x, out)
}

/// Compiled for what, and whether that runs here.
#[derive(Clone, Copy)]
struct Build {
    name: &'static str,
    avx512: bool,
}

impl Build {
    fn of<T, L: Loop<T>>(self) -> impl Fn(&[T], &mut [u8]) -> L::R {
        #[cfg(not(target_arch = "x86_64"))]
        return target::<T, L>;
        #[cfg(target_arch = "x86_64")]
        {
            type Compiled<T, R> = unsafe fn(&[T], &mut [u8]) -> R;
            let compiled: Compiled<T, L::R> =
                if self.avx512 { avx512::<T, L> } else { avx2::<T, L> };
            // SAFETY: `tasks` makes builds only for what the CPU has.
            move |x, out| unsafe { compiled(x, out) }
        }
    }

    fn mask<T: Element, Q: Holds>(self, x: &[T]) -> Task<'_> {
        let run = self.of::<T, Mask<Q>>();
        Task::mask(self.name, x.len(), move |out| run(x, out))
    }

    fn bits<T: Element, Q: Holds>(self, x: &[T]) -> Task<'_> {
        let run = self.of::<T, Bits<Q>>();
        Task::bits(self.name, x.len(), move |out| run(x, out))
    }

    fn value<T, L: Loop<T, R: Copy + Into<crate::task::Answer>>>(self, x: &[T]) -> Task<'_> {
        let run = self.of::<T, L>();
        Task::value(self.name, move || run(x, &mut []))
    }
}

fn task<T: Element>(build: Build, ask: Ask, x: &[T]) -> Task<'_> {
    match ask {
        Ask::Mask(Question::Finite) => build.mask::<T, Finite>(x),
        Ask::Mask(Question::Nan) => build.mask::<T, Nan>(x),
        Ask::Mask(Question::Inf) => build.mask::<T, Inf>(x),
        Ask::Bits(Question::Finite) => build.bits::<T, Finite>(x),
        Ask::Bits(Question::Nan) => build.bits::<T, Nan>(x),
        Ask::Bits(Question::Inf) => build.bits::<T, Inf>(x),
        Ask::AllFinite => build.value::<T, All<Finite>>(x),
        Ask::AnyNan => build.value::<T, Any<Nan>>(x),
        Ask::CountNan => build.value::<T, Count<Nan>>(x),
        Ask::FirstNonFinite => build.value::<T, Position<Finite>>(x),
        Ask::Census => build.value::<T, Census<Nan>>(x),
    }
}

pub fn tasks(ask: Ask, x: Input<'_>) -> Vec<Task<'_>> {
    let mut builds = Vec::new();
    if cfg!(not(target_arch = "x86_64")) {
        builds.push(Build { name: "std", avx512: false });
    } else if nonfinite::Backend::by_name("avx2").is_some() {
        builds.push(Build { name: "std avx2", avx512: false });
    }
    if super::has_avx512() {
        builds.push(Build { name: "std avx512", avx512: true });
    }
    builds.into_iter().map(|build| each_type!(x, x => task(build, ask, x))).collect()
}
