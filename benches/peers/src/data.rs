//! The contents of inputs, and the right answers.

use half::{bf16, f16};
use nonfinite::{F8E4M3Fn, F8E5M2};

use crate::buffer::Buffer;
use crate::task::{Answer, Ask, Input, Question};

/// The NaN and infinities in the data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Data {
    Clean,
    /// One of this number of elements is special, at random places.
    Dirty(u64),
    /// A NaN at a random place within this many bytes, and nothing special elsewhere.
    Early(usize),
    /// Runs of 1 to 200 special elements, about an eighth of the data. Shorter runs in short data.
    Runs,
    /// All patterns of bits alike: signalling NaN, subnormals, both signs.
    Random,
    AllNan,
}

impl Data {
    /// Data by its name in a cell. `dirty` means the same as in `benches/common`.
    pub const NAMED: [(&str, Self); 8] = [
        ("clean", Self::Clean),
        ("line", Self::Early(64)),
        ("kib", Self::Early(1024)),
        ("dirty3", Self::Dirty(3)),
        ("dirty16", Self::Dirty(16)),
        ("dirty100", Self::Dirty(100)),
        ("dirty", Self::Dirty(1000)),
        ("runs", Self::Runs),
    ];

    pub fn name(self) -> &'static str {
        Self::NAMED
            .iter()
            .find(|(_, data)| *data == self)
            .map_or("bits at random", |(name, _)| name)
    }

    /// By its name, or as `1/16`.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::NAMED
            .into_iter()
            .find(|(known, data)| match data {
                Self::Dirty(k) => name == *known || name == format!("1/{k}"),
                _ => name == *known,
            })
            .map(|(_, data)| data)
    }

    pub fn make<T: Element>(self, n: usize) -> Buffer<T> {
        // Other places for each type and length, so that means are over several.
        let seed = T::NAME.bytes().fold(n as u64, |seed, byte| seed * 31 + u64::from(byte));
        let mut state = 0x9E37_79B9_7F4A_7C15 ^ seed;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let mut buffer = Buffer::new(n);
        for element in &mut *buffer {
            let random = random();
            *element = match self {
                Self::AllNan => T::NAN,
                Self::Random => T::from_random(random),
                Self::Dirty(k) if random.is_multiple_of(k) => special(random / k),
                _ => T::FINITE[random as usize / 4000 % 4],
            };
        }
        if let Self::Early(bytes) = self {
            buffer[(random() >> 20) as usize % n.min(bytes / size_of::<T>())] = T::NAN;
        }
        if self == Self::Runs {
            let longest = (n / 8).clamp(1, 200) as u64;
            // Half a gap, seven times as long as a run, so that short data has a run too.
            let mut at = (random() % (7 * longest)) as usize;
            while at < n {
                let end = n.min(at + 1 + (random() % longest) as usize);
                buffer[at..end].fill_with(|| special(random()));
                at = end + 1 + (random() % (14 * longest)) as usize;
            }
        }
        buffer
    }
}

/// NaN, +Inf and -Inf alike; half of the NaN are signalling.
fn special<T: Element>(random: u64) -> T {
    let signalling = (random / 3).is_multiple_of(2);
    [if signalling { T::SIGNALLING } else { T::NAN }, T::INF, T::NEG_INF][random as usize % 3]
}

pub trait Element: nonfinite::Element + Default + 'static {
    const NAME: &'static str;
    const FINITE: [Self; 4];
    const NAN: Self;
    /// A signalling NaN; another NaN where there is none.
    const SIGNALLING: Self;
    /// NaN where there is no infinity.
    const INF: Self;
    const NEG_INF: Self;
    const HAS_INF: bool = true;
    /// These bits, the exponent all ones in one of four.
    fn from_random(bits: u64) -> Self;
    fn holds(self, question: Question) -> bool;
    /// The same by comparing the bits as integers.
    fn holds_by_bits(self, question: Question) -> bool;
    /// Whether this is that infinity; false where there is none.
    fn is(self, infinity: Self) -> bool;
    fn input(x: &[Self]) -> Input<'_>;
}

macro_rules! element {
    ($($t:ty, $name:literal, $bits:ty, $exponent:literal, $input:ident;)*) => { $(
        impl Element for $t {
            const NAME: &'static str = $name;
            const FINITE: [Self; 4] = [<$t>::MAX, <$t>::MIN, <$t>::MIN_POSITIVE, <$t>::EPSILON];
            const NAN: Self = <$t>::NAN;
            const SIGNALLING: Self = <$t>::from_bits($exponent + 1);
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
                    Question::Inf => self.is_infinite(),
                }
            }
            #[inline(always)]
            fn holds_by_bits(self, question: Question) -> bool {
                let magnitude = self.to_bits() & (<$bits>::MAX >> 1);
                match question {
                    Question::Finite => magnitude < $exponent,
                    Question::Nan => magnitude > $exponent,
                    Question::Inf => magnitude == $exponent,
                }
            }
            #[inline(always)]
            fn is(self, infinity: Self) -> bool {
                self == infinity
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

/// Formats of one byte: `$top` is infinity or, where there is none, the only NaN.
macro_rules! byte {
    ($($t:ty, $name:literal, $top:literal, $has_inf:literal, $input:ident;)*) => { $(
        impl Element for $t {
            const NAME: &'static str = $name;
            const FINITE: [Self; 4] = [
                Self::from_bits(0x01),
                Self::from_bits(0x81),
                Self::from_bits($top - 1),
                Self::from_bits(0x38),
            ];
            const NAN: Self = Self::from_bits(0x7F);
            const SIGNALLING: Self = Self::from_bits(if $has_inf { 0xFD } else { 0xFF });
            const INF: Self = Self::from_bits($top);
            const NEG_INF: Self = Self::from_bits(0x80 | $top);
            const HAS_INF: bool = $has_inf;
            fn from_random(bits: u64) -> Self {
                Self::from_bits((bits >> 3) as u8 | if bits >> 60 < 4 { 0x7C } else { 0 })
            }
            #[inline(always)]
            fn holds(self, question: Question) -> bool {
                let magnitude = self.to_bits() & 0x7F;
                match question {
                    Question::Finite => magnitude < $top,
                    Question::Nan => magnitude > $top || magnitude == $top && !$has_inf,
                    Question::Inf => magnitude == $top && $has_inf,
                }
            }
            #[inline(always)]
            fn holds_by_bits(self, question: Question) -> bool {
                self.holds(question)
            }
            #[inline(always)]
            fn is(self, infinity: Self) -> bool {
                $has_inf && self.to_bits() == infinity.to_bits()
            }
            fn input(x: &[Self]) -> Input<'_> {
                Input::$input(x)
            }
        }
    )* };
}
byte! {
    F8E4M3Fn, "f8e4m3fn", 0x7F, false, E4m3fn;
    F8E5M2, "f8e5m2", 0x7C, true, E5m2;
}

/// The answer of the standard library (or `half`) for each element.
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
        Ask::Census => {
            let count = |infinity| x.iter().filter(|x| x.is(infinity)).count();
            [x.iter().filter(|x| nan(x)).count(), count(T::INF), count(T::NEG_INF)].into()
        }
    }
}
