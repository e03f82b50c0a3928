//! The one table of paths, and the choice among them.

use core::marker::PhantomData;
use core::sync::atomic::{AtomicU8, Ordering};

use crate::isa::{Blocks, Isa, Kernel};
use crate::lane::Lane;
use crate::rule::{Op, Test};

/// A question about a tensor, answered by every path.
pub(crate) trait Sink: Sized {
    type Output;

    /// With the blocks of an instruction set. Must be `#[inline(always)]`; `x` has at least one block.
    fn vector<L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool>(
        self,
        isa: I,
        x: &[L::Raw],
        test: Test,
    ) -> Self::Output;

    /// Element by element.
    fn scalar<L: Lane>(self, x: &[L::Raw], test: Test) -> Self::Output;
}

struct Job<'a, S, L: Lane, I, O, const NEGATE: bool> {
    sink: S,
    isa: I,
    op: PhantomData<O>,
    x: &'a [L::Raw],
    test: Test,
}

impl<S: Sink, L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool> Kernel for Job<'_, S, L, I, O, NEGATE> {
    type Output = S::Output;

    #[inline(always)]
    fn run(self) -> S::Output {
        self.sink.vector::<L, I, O, NEGATE>(self.isa, self.x, self.test)
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
            fn run<S: Sink, L: Vector, O: Op, const NEGATE: bool>(
                self,
                sink: S,
                x: &[L::Raw],
                test: Test,
            ) -> S::Output {
                let op = PhantomData::<O>;
                match self {
                    $($(#[$cfg])* Self::$token(isa) => {
                        isa.vectorize(Job::<S, L, _, O, NEGATE> { sink, isa, op, x, test })
                    })*
                    Self::Scalar => sink.scalar::<L>(x, test),
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

/// A lane that every path of the table can handle.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
pub(crate) trait Vector: crate::avx2::Layout + crate::avx512::Layout {}
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
pub(crate) trait Vector: crate::neon::Layout {}
#[cfg(not(any(
    target_arch = "x86",
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_endian = "little")
)))]
pub(crate) trait Vector: Lane {}
impl Vector for i8 {}
impl Vector for i16 {}
impl Vector for i32 {}
impl Vector for i64 {}

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
        path.activate();
        path
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

    /// Runs `sink` for one comparison.
    #[inline(always)]
    pub(crate) fn run<S: Sink, L: Vector, O: Op, const NEGATE: bool>(
        self,
        sink: S,
        x: &[L::Raw],
        test: Test,
    ) -> S::Output {
        self.0.run::<S, L, O, NEGATE>(sink, x, test)
    }
}
