//! The one table of paths, and the choice among them.

use core::marker::PhantomData;
use core::sync::atomic::{AtomicU8, Ordering};

use crate::isa::{Blocks, Isa, Kernel};
use crate::lane::Lane;
use crate::rule::{Equal, Greater, Ones, Op, Test, Width};
use crate::strided::{Scatter, Target, scatter};

/// The tests that a sink is asked for: loops are compiled for no others.
pub(crate) enum Tests {
    /// All.
    All,
    /// None that negates.
    Positive,
    /// `Operation::Greater`, not negated.
    Greater,
}

/// A question about a tensor, answered by every path.
pub(crate) trait Sink {
    const TESTS: Tests;
    /// Where results go, unless they are returned.
    type Out<'o>;
    type Output;

    /// With the blocks of an instruction set. Must be `#[inline(always)]`; `x` has at least one block.
    fn vector<L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool>(
        isa: I,
        x: &[L::Raw],
        test: &Test,
        out: Self::Out<'_>,
    ) -> Self::Output;

    /// Element by element.
    fn scalar<L: Lane>(x: &[L::Raw], test: &Test, out: Self::Out<'_>) -> Self::Output;
}

/// A sink with all its choices made.
struct Loop<S, L, O, const NEGATE: bool>(PhantomData<(S, L, O)>);

impl<S: Sink, L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool> Kernel<I> for Loop<S, L, O, NEGATE> {
    type Out<'o> = S::Out<'o>;
    type Output = S::Output;

    #[inline(always)]
    fn run(isa: I, x: &[u8], test: &Test, out: S::Out<'_>) -> S::Output {
        S::vector::<L, I, O, NEGATE>(isa, L::lanes(x), test, out)
    }
}

fn run<S: Sink, L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool>(
    isa: I,
    x: &[u8],
    test: &Test,
    out: S::Out<'_>,
) -> S::Output {
    isa.vectorize::<Loop<S, L, O, NEGATE>>(x, test, out)
}

type Run<S, I> = fn(I, &[u8], &Test, <S as Sink>::Out<'_>) -> <S as Sink>::Output;

/// All loops of a sink on one instruction set, by [`Test::index`].
struct Loops<S, I>(PhantomData<(S, I)>);

impl<S: Sink, I: Blocks<i8> + Blocks<i16> + Blocks<i32> + Blocks<i64>> Loops<S, I> {
    const ALL: [[Run<S, I>; 6]; 4] =
        [Self::of::<i8>(), Self::of::<i16>(), Self::of::<i32>(), Self::of::<i64>()];

    const fn of<L: Lane>() -> [Run<S, I>; 6]
    where
        I: Blocks<L>,
    {
        match S::TESTS {
            Tests::All => [
                run::<S, L, I, Ones, false>,
                run::<S, L, I, Ones, true>,
                run::<S, L, I, Equal, false>,
                run::<S, L, I, Equal, true>,
                run::<S, L, I, Greater, false>,
                run::<S, L, I, Greater, true>,
            ],
            Tests::Positive => {
                let [ones, equal, greater]: [Run<S, I>; 3] = [
                    run::<S, L, I, Ones, false>,
                    run::<S, L, I, Equal, false>,
                    run::<S, L, I, Greater, false>,
                ];
                [ones, ones, equal, equal, greater, greater]
            }
            Tests::Greater => [run::<S, L, I, Greater, false>; 6],
        }
    }

    #[inline(always)]
    fn run(isa: I, x: &[u8], test: &Test, out: S::Out<'_>) -> S::Output {
        Self::ALL.as_flattened()[test.index()](isa, x, test, out)
    }
}

/// The scalar loop for a test.
#[inline(always)]
pub(crate) fn scalar<S: Sink>(x: &[u8], test: &Test, out: S::Out<'_>) -> S::Output {
    match test.width() {
        Width::One => S::scalar::<i8>(i8::lanes(x), test, out),
        Width::Two => S::scalar::<i16>(i16::lanes(x), test, out),
        Width::Four => S::scalar::<i32>(i32::lanes(x), test, out),
        Width::Eight => S::scalar::<i64>(i64::lanes(x), test, out),
    }
}

/// Declares the table, best path first: a name, and the token that proves it can run. The scalar path ends it.
macro_rules! paths {
    ($($(#[$cfg:meta])* $name:literal $token:ident in $module:ident;)*) => {
        #[derive(Clone, Copy, Debug)]
        enum Token {
            $($(#[$cfg])* $token(crate::$module::$token),)*
            Scalar,
        }

        #[repr(u8)]
        enum Code {
            $($(#[$cfg])* $token,)*
            Scalar,
        }

        /// Names and tokens of all paths that this build knows, best first.
        const PATHS: &[(&str, fn() -> Option<Token>)] = &[
            $($(#[$cfg])* ($name, || crate::$module::$token::detect().map(Token::$token)),)*
            ("scalar", || Some(Token::Scalar)),
        ];

        /// The path with this number in the table, if the CPU has it.
        #[inline]
        fn decode(code: u8) -> Option<Token> {
            $($(#[$cfg])* if code == Code::$token as u8 {
                return crate::$module::$token::detect().map(Token::$token);
            })*
            (code == Code::Scalar as u8).then_some(Token::Scalar)
        }

        impl Token {
            fn code(self) -> u8 {
                match self {
                    $($(#[$cfg])* Self::$token(_) => Code::$token as u8,)*
                    Self::Scalar => Code::Scalar as u8,
                }
            }

            #[inline(always)]
            fn run<S: Sink>(self, x: &[u8], test: &Test, out: S::Out<'_>) -> S::Output {
                match self {
                    $($(#[$cfg])* Self::$token(isa) => Loops::<S, _>::run(isa, x, test, out),)*
                    Self::Scalar => scalar::<S>(x, test, out),
                }
            }

            fn scatter(self, bytes: &[u8], test: &Test, mut target: Target<'_>) {
                match self {
                    $($(#[$cfg])* Self::$token(isa) => isa.vectorize::<Scatter>(bytes, test, target),)*
                    Self::Scalar => scatter(bytes, &mut target),
                }
            }
        }
    };
}
paths! {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    "avx512" Avx512 in avx512;
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    "avx2" Avx2 in avx2;
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    "neon" Neon in neon;
    #[cfg(any(
        feature = "portable",
        not(any(
            target_arch = "x86",
            target_arch = "x86_64",
            all(target_arch = "aarch64", target_endian = "little")
        ))
    ))]
    "portable" Portable in portable;
}

/// A way to run the kernels that the CPU at hand has.
///
/// Whoever has a `Path` may use it: it can only be had for instructions that were detected.
#[derive(Clone, Copy, Debug)]
pub struct Path(Token);

impl PartialEq for Path {
    fn eq(&self, other: &Self) -> bool {
        self.0.code() == other.0.code()
    }
}

impl Eq for Path {}

/// No path chosen yet.
const UNCHOSEN: u8 = u8::MAX;
static ACTIVE: AtomicU8 = AtomicU8::new(UNCHOSEN);

impl Path {
    /// The path that is used where none is named: the one given to [`Path::activate`], else (feature `std`) the one
    /// that the environment variable `NONFINITE_PATH` names, if the CPU has it, else the best.
    #[inline]
    pub fn active() -> Self {
        match decode(ACTIVE.load(Ordering::Relaxed)) {
            Some(token) => Self(token),
            None => Self::choose(),
        }
    }

    #[cold]
    fn choose() -> Self {
        let path = Self::named_by_environment().unwrap_or_else(Self::best);
        // Another thread may have called `activate` meanwhile: that stays.
        match ACTIVE.compare_exchange(UNCHOSEN, path.0.code(), Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => path,
            Err(code) => decode(code).map_or(path, Self),
        }
    }

    #[cfg(feature = "std")]
    fn named_by_environment() -> Option<Self> {
        Self::by_name(std::env::var("NONFINITE_PATH").ok()?.as_str())
    }

    #[cfg(not(feature = "std"))]
    fn named_by_environment() -> Option<Self> {
        None
    }

    fn best() -> Self {
        PATHS.iter().find_map(|(_, detect)| detect()).map_or(Self(Token::Scalar), Self)
    }

    /// From now on this path is used where none is named. It works without `std` too.
    pub fn activate(self) {
        ACTIVE.store(self.0.code(), Ordering::Relaxed);
    }

    /// The names of all paths that this build knows, best first, each with the path if the CPU has it.
    pub fn all() -> impl ExactSizeIterator<Item = (&'static str, Option<Self>)> {
        PATHS.iter().map(|(name, detect)| (*name, detect().map(Self)))
    }

    /// The path of this name, if this build knows it and the CPU has it.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::all().find_map(|(known, path)| path.filter(|_| known == name))
    }

    /// The name in the table: `avx512`, `avx2`, `neon`, `portable` or `scalar`.
    pub fn name(self) -> &'static str {
        PATHS[usize::from(self.0.code())].0
    }

    /// Runs the loop of a sink for one test.
    #[inline(always)]
    pub(crate) fn run<S: Sink>(self, x: &[u8], test: &Test, out: S::Out<'_>) -> S::Output {
        self.0.run::<S>(x, test, out)
    }

    /// Brings the mask bytes of a tile to their places.
    pub(crate) fn scatter(self, bytes: &[u8], test: &Test, target: Target<'_>) {
        self.0.scatter(bytes, test, target);
    }
}
