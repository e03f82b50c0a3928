//! The one table of paths, and the choice among them.

use core::marker::PhantomData;
use core::sync::atomic::{AtomicU8, Ordering};

use crate::isa::{Isa, Kernel};
use crate::lane::Lane;
use crate::replace::Select;
use crate::rule::{Equal, Greater, Ones, Op, Test, Width};
use crate::scale::{self, Float, Scale};
use crate::strided::{Scatter, Target, scatter};

/// The tests that a sink is asked for: loops are compiled for no others.
pub(crate) enum Tests {
    /// All.
    All,
    /// None that negates.
    Positive,
    /// `Operation::Greater`, not negated.
    Greater,
    /// `Operation::Ones`, and for lanes of a byte `Operation::Equal`, not negated.
    Masked,
}

/// A question about a tensor, answered by every path.
pub(crate) trait Sink: 'static {
    const TESTS: Tests;
    /// Where results go, unless they are returned.
    type Out<'o>;
    type Output;

    /// With the blocks of an instruction set. Must be `#[inline(always)]`; `x` has at least one block, but for short masks.
    fn vector<L: Lane, I: Select<L>, O: Op, const NEGATE: bool>(
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

impl<S: Sink, L: Lane, I: Select<L>, O: Op, const NEGATE: bool> Kernel<I> for Loop<S, L, O, NEGATE> {
    type Out<'o> = S::Out<'o>;
    type Output = S::Output;

    #[inline(always)]
    fn run(isa: I, x: &[u8], test: &Test, out: S::Out<'_>) -> S::Output {
        S::vector::<L, I, O, NEGATE>(isa, L::lanes(x), test, out)
    }
}

/// A loop of a path. It may only be called if there is that path.
type Run<S> = unsafe fn(&[u8], &Test, <S as Sink>::Out<'_>) -> <S as Sink>::Output;

/// All loops of a sink on one path, by [`Test::index`].
type Row<S> = [Run<S>; Test::INDICES];

/// All loops of a sink on one instruction set.
struct Loops<S, I>(PhantomData<(S, I)>);

impl<S: Sink, I: Select<i8> + Select<i16> + Select<i32> + Select<i64>> Loops<S, I> {
    const ROW: Row<S> = {
        let widths = [Self::of::<i8>(), Self::of::<i16>(), Self::of::<i32>(), Self::of::<i64>()];
        let mut row = [widths[0][0]; Test::INDICES];
        let mut i = 0;
        while i < row.len() {
            row[i] = widths[i / 6][i % 6];
            i += 1;
        }
        row
    };

    const fn of<L: Lane>() -> [Run<S>; 6]
    where
        I: Select<L>,
    {
        match S::TESTS {
            Tests::All => [
                I::vectorize::<Loop<S, L, Ones, false>>,
                I::vectorize::<Loop<S, L, Ones, true>>,
                I::vectorize::<Loop<S, L, Equal, false>>,
                I::vectorize::<Loop<S, L, Equal, true>>,
                I::vectorize::<Loop<S, L, Greater, false>>,
                I::vectorize::<Loop<S, L, Greater, true>>,
            ],
            Tests::Positive => {
                let [ones, equal, greater]: [Run<S>; 3] = [
                    I::vectorize::<Loop<S, L, Ones, false>>,
                    I::vectorize::<Loop<S, L, Equal, false>>,
                    I::vectorize::<Loop<S, L, Greater, false>>,
                ];
                [ones, ones, equal, equal, greater, greater]
            }
            Tests::Masked if size_of::<L>() > 1 => [I::vectorize::<Loop<S, L, Ones, false>>; 6],
            Tests::Masked => {
                let [ones, equal]: [Run<S>; 2] =
                    [I::vectorize::<Loop<S, L, Ones, false>>, I::vectorize::<Loop<S, L, Equal, false>>];
                [ones, ones, equal, equal, equal, equal]
            }
            Tests::Greater => [I::vectorize::<Loop<S, L, Greater, false>>; 6],
        }
    }
}

/// All loops of a sink.
struct Table<S>(PhantomData<S>);

/// The scalar path: not inlined, as it needs registers that the others do not.
#[inline(never)]
fn run_scalar<S: Sink>(x: &[u8], test: &Test, out: S::Out<'_>) -> S::Output {
    scalar::<S>(x, test, out)
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

        /// The path with this number in the table, if it was detected.
        #[inline(always)]
        fn decode(code: u8) -> Option<Token> {
            $($(#[$cfg])* if code == Code::$token as u8 {
                return crate::$module::$token::detected().map(Token::$token);
            })*
            (code == Code::Scalar as u8).then_some(Token::Scalar)
        }

        impl<S: Sink> Table<S> {
            /// The row of each path, by its code.
            const ROWS: &[Row<S>] = &[
                $($(#[$cfg])* Loops::<S, crate::$module::$token>::ROW,)*
                [run_scalar::<S>; Test::INDICES],
            ];
        }

        impl Token {
            #[inline(always)]
            fn code(self) -> u8 {
                match self {
                    $($(#[$cfg])* Self::$token(_) => Code::$token as u8,)*
                    Self::Scalar => Code::Scalar as u8,
                }
            }

            fn scatter(self, bytes: &[u8], test: &Test, mut target: Target<'_>) {
                match self {
                    $($(#[$cfg])* Self::$token(isa) => isa.run::<Scatter>(bytes, test, target),)*
                    Self::Scalar => scatter(bytes, &mut target),
                }
            }

            /// See [`crate::scale()`].
            #[inline(always)]
            fn scale(self, x: &mut [u8], float: Float, factor: f64) -> bool {
                match self {
                    $($(#[$cfg])* Self::$token(isa) => isa.scale(x, float, factor),)*
                    Self::Scalar => scale::scalar(x, float, factor),
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
        Self::chosen().unwrap_or_else(Self::choose)
    }

    /// As `active`, if the choice was made before.
    #[inline(always)]
    fn chosen() -> Option<Self> {
        decode(ACTIVE.load(Ordering::Relaxed)).map(Self)
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

    /// Runs the loop of a sink for one test, on the active path if `path` is `None`: one jump, and no register is saved,
    /// as there is nothing else to call and no panic.
    #[inline(always)]
    pub(crate) fn run<S: Sink>(path: Option<Self>, x: &[u8], test: &Test, out: S::Out<'_>) -> S::Output {
        let code = path.map_or_else(|| ACTIVE.load(Ordering::Relaxed), |path| path.0.code());
        match Table::<S>::ROWS.get(usize::from(code)).and_then(|row| row.get(test.index())) {
            // SAFETY: `code` is that of `path`, or was stored in `ACTIVE`. That is private to this module, where all that is
            // ever stored is the code of a `Path`, and a `Path` is a token, which proves that its loops may run. (A code
            // that stands for no path, `UNCHOSEN`, has no row.)
            Some(run) => unsafe { run(x, test, out) },
            None => Self::choose_and_run::<S>(x, test, out),
        }
    }

    #[cold]
    #[inline(never)]
    fn choose_and_run<S: Sink>(x: &[u8], test: &Test, out: S::Out<'_>) -> S::Output {
        let row = Table::<S>::ROWS.get(usize::from(Self::choose().0.code()));
        match row.and_then(|row| row.get(test.index())) {
            // SAFETY: as in `run`, the path that was chosen is a token.
            Some(run) => unsafe { run(x, test, out) },
            None => run_scalar::<S>(x, test, out),
        }
    }

    /// Brings the mask bytes of a tile to their places.
    pub(crate) fn scatter(self, bytes: &[u8], test: &Test, target: Target<'_>) {
        self.0.scatter(bytes, test, target);
    }

    /// Runs the loop that scales.
    #[inline(always)]
    pub(crate) fn scale(self, x: &mut [u8], float: Float, factor: f64) -> bool {
        self.0.scale(x, float, factor)
    }
}

#[cfg(test)]
mod tests;
