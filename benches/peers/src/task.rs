//! The questions, and the tasks of a peer.

use std::hint::black_box;

use half::{bf16, f16};
use nonfinite::{F8E4M3Fn, F8E5M2};

use crate::buffer::Buffer;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Question {
    Finite,
    Nan,
    Inf,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ask {
    /// A byte for each element.
    Mask(Question),
    /// A bit for each element.
    Bits(Question),
    AllFinite,
    AnyNan,
    CountNan,
    FirstNonFinite,
    /// The counts of NaN, +Inf and -Inf.
    Census,
}

impl Ask {
    pub const ALL: [Self; 10] = [
        Self::Mask(Question::Finite),
        Self::Mask(Question::Nan),
        Self::Mask(Question::Inf),
        Self::Bits(Question::Finite),
        Self::Bits(Question::Nan),
        Self::CountNan,
        Self::Census,
        Self::AllFinite,
        Self::AnyNan,
        Self::FirstNonFinite,
    ];

    /// `mask/finite` and so on.
    pub fn name(self) -> String {
        let (ask, question) = match self {
            Self::Mask(question) => ("mask", question.name()),
            Self::Bits(question) => ("bits", question.name()),
            Self::AllFinite => ("all", "finite"),
            Self::AnyNan => ("any", "nan"),
            Self::CountNan => ("count", "nan"),
            Self::FirstNonFinite => ("position", "nonfinite"),
            Self::Census => ("census", "all"),
        };
        format!("{ask}/{question}")
    }

    /// Whether it ends at the first hit.
    pub fn is_search(self) -> bool {
        matches!(self, Self::AllFinite | Self::AnyNan | Self::FirstNonFinite)
    }
}

impl Question {
    fn name(self) -> &'static str {
        match self {
            Self::Finite => "finite",
            Self::Nan => "nan",
            Self::Inf => "inf",
        }
    }
}

#[derive(Clone, Copy)]
pub enum Input<'a> {
    F32(&'a [f32]),
    F64(&'a [f64]),
    F16(&'a [f16]),
    Bf16(&'a [bf16]),
    E4m3fn(&'a [F8E4M3Fn]),
    E5m2(&'a [F8E5M2]),
}

/// An answer in one form for all, to compare.
#[derive(Clone, PartialEq, Debug)]
pub enum Answer {
    /// 0 or 1 for each element, from bytes or from bits.
    Each(Vec<u8>),
    Flag(bool),
    Count(usize),
    First(Option<usize>),
    /// NaN, +Inf, -Inf.
    Census([usize; 3]),
    /// The task has not run.
    None,
}

impl Answer {
    /// From packed bits, the lowest first.
    pub fn unpack(bytes: &[u8], n: usize) -> Self {
        Self::Each((0..n).map(|i| bytes[i / 8] >> (i % 8) & 1).collect())
    }
}

impl From<bool> for Answer {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<usize> for Answer {
    fn from(count: usize) -> Self {
        Self::Count(count)
    }
}

impl From<Option<usize>> for Answer {
    fn from(first: Option<usize>) -> Self {
        Self::First(first)
    }
}

impl From<[usize; 3]> for Answer {
    fn from(counts: [usize; 3]) -> Self {
        Self::Census(counts)
    }
}

/// A function that can be called repeatedly, and that keeps its last result.
pub struct Task<'a> {
    pub name: &'static str,
    /// Makes the backend that the function needs the active one.
    activate: Option<Box<dyn Fn() + 'a>>,
    job: Box<dyn Job + 'a>,
}

trait Job {
    fn turn(&mut self);
    fn run(&mut self);
    fn answer(&self) -> Answer;
}

/// What a task keeps between calls.
trait State {
    /// Moves to another place in memory.
    fn turn(&mut self) {}
}

impl<T: Copy + Default> State for Buffer<T> {
    fn turn(&mut self) {
        self.turn();
    }
}

/// A result that is returned, not written.
impl<V> State for Option<V> {}

struct Parts<S, R, A> {
    state: S,
    run: R,
    answer: A,
}

impl<S: State, R: FnMut(&mut S), A: Fn(&S) -> Answer> Job for Parts<S, R, A> {
    fn turn(&mut self) {
        self.state.turn();
    }

    fn run(&mut self) {
        (self.run)(&mut self.state);
        black_box(&mut self.state);
    }

    fn answer(&self) -> Answer {
        (self.answer)(&self.state)
    }
}

impl<'a> Task<'a> {
    fn new<S: State + 'a>(
        name: &'static str,
        state: S,
        run: impl FnMut(&mut S) + 'a,
        answer: impl Fn(&S) -> Answer + 'a,
    ) -> Self {
        Self { name, activate: None, job: Box::new(Parts { state, run, answer }) }
    }

    /// Writes a byte, as `u8` or as `bool`, for each of `n` elements.
    pub fn mask<B: Copy + Default + Into<u8> + 'a>(
        name: &'static str,
        n: usize,
        mut f: impl FnMut(&mut [B]) + 'a,
    ) -> Self {
        let answer = |out: &Buffer<B>| Answer::Each(out.iter().map(|&out| out.into()).collect());
        Self::new(name, Buffer::output(n), move |out| f(out), answer)
    }

    /// Writes a bit for each of `n` elements.
    pub fn bits(name: &'static str, n: usize, mut f: impl FnMut(&mut [u8]) + 'a) -> Self {
        let out = Buffer::output(n.div_ceil(64) * 8);
        Self::new(name, out, move |out| f(out), move |out: &Buffer<u8>| Answer::unpack(out, n))
    }

    /// Returns something small.
    pub fn value<V: Copy + Into<Answer> + 'a>(
        name: &'static str,
        mut f: impl FnMut() -> V + 'a,
    ) -> Self {
        let read = |value: &Option<V>| value.map_or(Answer::None, Into::into);
        Self::new(name, None, move |value| *value = Some(f()), read)
    }

    /// Allocates its result. The time includes freeing the last result, as for a user.
    pub fn owned<O: 'a>(
        name: &'static str,
        mut f: impl FnMut() -> O + 'a,
        read: impl Fn(&O) -> Answer + 'a,
    ) -> Self {
        let run = move |last: &mut Option<O>| {
            *last = None;
            *last = Some(f());
        };
        Self::new(name, None, run, move |last: &Option<O>| {
            last.as_ref().map_or(Answer::None, &read)
        })
    }

    /// The same on a backend, which `activate` makes the active one.
    pub fn on(self, activate: impl Fn() + 'a) -> Self {
        Self { activate: Some(Box::new(activate)), ..self }
    }

    /// To be called before [`Task::run`], after other tasks: moves the output, for which see
    /// [`Buffer::output`], and activates the backend.
    pub fn prepare(&mut self) {
        self.job.turn();
        if let Some(activate) = &self.activate {
            activate();
        }
    }

    pub fn run(&mut self) {
        self.job.run();
    }

    pub fn answer(&self) -> Answer {
        self.job.answer()
    }
}
