//! Memory and what is in it.

use std::ops::{Deref, DerefMut};

use half::{bf16, f16};

use crate::task::{Answer, Ask, Input, Question};

/// Memory from a multiple of 64 bytes on, so that nobody has better or worse luck with the allocator than others.
pub struct Buffer<T> {
    memory: Vec<T>,
    start: usize,
    len: usize,
}

impl<T: Copy + Default> Buffer<T> {
    pub fn new(len: usize) -> Self {
        let spare = 64 / size_of::<T>();
        let memory = vec![T::default(); len + spare];
        let start = memory.as_ptr().align_offset(64);
        assert!(start <= spare);
        let mut buffer = Self { memory, start, len };
        // Zeroed memory may not be there before it is written.
        buffer.fill(T::default());
        buffer
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.memory[self.start..][..self.len]
    }
}

impl<T> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.memory[self.start..][..self.len]
    }
}

/// What the tensor holds besides finite elements; as in `benches/common`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Data {
    Clean,
    /// One element in a thousand is not finite.
    Dirty,
    /// All patterns of bits alike: signalling NaN, subnormals, both signs.
    Random,
    AllNan,
}

impl Data {
    pub fn name(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Dirty => "dirty",
            Self::Random => "random",
            Self::AllNan => "allnan",
        }
    }

    pub fn make<T: Element>(self, n: usize) -> Buffer<T> {
        let mut state = 0x9E37_79B9_7F4A_7C15u64;
        let mut buffer = Buffer::new(n);
        for element in &mut *buffer {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            *element = match self {
                Self::AllNan => T::NAN,
                Self::Random => T::from_random(state),
                Self::Dirty if state.is_multiple_of(1000) => {
                    [T::NAN, T::INF, T::NEG_INF][state as usize / 1000 % 3]
                }
                _ => T::FINITE[state as usize / 4000 % 4],
            };
        }
        buffer
    }
}

pub trait Element: Copy + Default + 'static {
    const NAME: &'static str;
    const FINITE: [Self; 4];
    const NAN: Self;
    const INF: Self;
    const NEG_INF: Self;
    /// These bits, the exponent all ones in one of four.
    fn from_random(bits: u64) -> Self;
    fn holds(self, question: Question) -> bool;
    fn input(x: &[Self]) -> Input<'_>;
}

macro_rules! element {
    ($($t:ty, $name:literal, $bits:ty, $exponent:literal, $input:ident;)*) => { $(
        impl Element for $t {
            const NAME: &'static str = $name;
            const FINITE: [Self; 4] = [<$t>::MAX, <$t>::MIN, <$t>::MIN_POSITIVE, <$t>::EPSILON];
            const NAN: Self = <$t>::NAN;
            const INF: Self = <$t>::INFINITY;
            const NEG_INF: Self = <$t>::NEG_INFINITY;
            fn from_random(bits: u64) -> Self {
                let exponent = if bits >> 60 < 4 { $exponent } else { 0 };
                <$t>::from_bits((bits >> 3) as $bits | exponent)
            }
            #[inline(always)]
            fn holds(self, question: Question) -> bool {
                match question {
                    Question::Finite => self.is_finite(),
                    Question::Nan => self.is_nan(),
                }
            }
            fn input(x: &[Self]) -> Input<'_> {
                Input::$input(x)
            }
        }
    )* };
}
element! {
    f32, "f32", u32, 0x7F80_0000, F32;
    f64, "f64", u64, 0x7FF0_0000_0000_0000, F64;
    f16, "f16", u16, 0x7C00, F16;
    bf16, "bf16", u16, 0x7F80, Bf16;
}

/// The answer by the standard library's (or `half`'s) functions, an element at a time.
pub fn expected<T: Element>(ask: Ask, x: &[T]) -> Answer {
    let finite = |x: &T| x.holds(Question::Finite);
    let nan = |x: &T| x.holds(Question::Nan);
    match ask {
        Ask::Mask(question) | Ask::Bits(question) => {
            Answer::Each(x.iter().map(|x| u8::from(x.holds(question))).collect())
        }
        Ask::AllFinite => x.iter().all(finite).into(),
        Ask::AnyNan => x.iter().any(nan).into(),
        Ask::CountNan => x.iter().filter(|x| nan(x)).count().into(),
        Ask::FirstNonFinite => x.iter().position(|x| !finite(x)).into(),
    }
}
