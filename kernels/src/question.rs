//! What a loop answers, and the instructions that a loop is compiled for.
//!
//! A question is a type of `loops/`. Its file has two loops: one over registers ([`On::vector`]),
//! which is compiled for each backend with registers, and one over elements ([`Question::plain`]),
//! which defines the answer. A backend is a type that implements [`Compiled`].
#![expect(unsafe_code, reason = "a loop needs the CPU that its token proves")]

/// A question, or a change of elements.
pub(crate) trait Question: Sized + 'static {
    /// The elements.
    type Input<'x>;
    /// What is asked of each element, such as a rule.
    type Asked<'a>: Copy;
    /// What is written besides the answer.
    type Out<'o>;
    type Answer;

    /// The loop that defines the answer, for elements of `W` bytes. (A loop that may stop early may
    /// stop elsewhere, as its question says.) Where it looks for hits, it has one branch for each
    /// block of `BLOCK` elements, so that the compiler can vectorise the loop.
    ///
    /// `#[inline(always)]`, as [`On::vector`] is.
    fn plain<const W: usize, const BLOCK: usize>(
        x: Self::Input<'_>,
        asked: Self::Asked<'_>,
        out: Self::Out<'_>,
    ) -> Self::Answer;
}

/// The loop of a question for the backend `B`.
pub(crate) trait On<B>: Question {
    /// Whether the backend takes the plain loop, as compiled for the scalar backend.
    const PLAIN: bool = false;

    #[inline(always)]
    fn vector<const W: usize>(
        _: B,
        x: Self::Input<'_>,
        asked: Self::Asked<'_>,
        out: Self::Out<'_>,
    ) -> Self::Answer {
        Self::plain::<W, 1>(x, asked, out)
    }
}

/// A backend: a token, which proves that the CPU has its instructions.
///
/// # Safety
/// Where [`Compiled::detect`] returns true, the CPU has all that [`Compiled::answer`] needs.
pub(crate) unsafe trait Compiled: Sized + 'static {
    /// The name in `NONFINITE_BACKEND`.
    const NAME: &'static str;
    /// The length in bytes from which on byte masks skip groups without a hit. The faster a backend
    /// compares, the longer a mask must be for this to pay.
    const SKIPS_FROM: usize = usize::MAX;

    /// Whether the CPU has the instructions.
    fn detect() -> bool;

    /// The loop of a question, compiled for the instructions.
    ///
    /// # Safety
    /// [`Compiled::detect`] has returned true.
    unsafe fn answer<Q: On<Self>, const W: usize>(
        x: Q::Input<'_>,
        asked: Q::Asked<'_>,
        out: Q::Out<'_>,
    ) -> Q::Answer;
}
