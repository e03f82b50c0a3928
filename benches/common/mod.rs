//! The sizes, the data and the comparison loops of all benchmarks.

pub mod limits;
pub mod loops;

use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, SamplingMode, Throughput};
use nonfinite::{Backend, Element, Elements, Predicate};

/// Input sizes in bytes: short, in L1, L2, L3 and memory. `NONFINITE_BENCH_KIB=16,256` picks
/// others.
pub fn sizes() -> Vec<usize> {
    sizes_or(&[1 << 10, 4 << 10, 16 << 10, 256 << 10, 8 << 20, 256 << 20])
}

/// These sizes, unless the environment picks others.
pub fn sizes_or(sizes: &[usize]) -> Vec<usize> {
    match std::env::var("NONFINITE_BENCH_KIB") {
        Ok(list) => {
            list.split(',').map(|kib| kib.parse::<usize>().expect("sizes in KiB") << 10).collect()
        }
        Err(_) => sizes.to_vec(),
    }
}

/// [`nonfinite::is_finite`] in a function of its own, so that short inputs pay for a call.
#[inline(never)]
pub fn is_finite<T: Sample>(x: &[T], out: &mut [bool]) {
    nonfinite::is_finite(x, out);
}

/// Whether all elements are finite, in a function of its own.
#[inline(never)]
pub fn all_finite<T: Sample>(x: &[T]) -> bool {
    nonfinite::all(x, Predicate::Finite)
}

/// A size as part of the name of a group.
pub fn name(bytes: usize) -> String {
    match bytes {
        ..1024 => format!("{bytes}B"),
        1024..0x10_0000 => format!("{}KiB", bytes >> 10),
        _ => format!("{}MiB", bytes >> 20),
    }
}

/// The backends that this CPU has, except the scalar one.
pub fn backends() -> Vec<Backend> {
    Backend::available().filter(|backend| backend.name() != "scalar").collect()
}

/// The limits for elements of this type.
pub fn limits_for<T>() -> Vec<(&'static str, limits::Load, limits::Floor)> {
    limits_of(size_of::<T>())
}

/// The limits for elements of this size.
pub fn limits_of(size: usize) -> Vec<(&'static str, limits::Load, limits::Floor)> {
    match size {
        1 => limits::limits::<1>(),
        2 => limits::limits::<2>(),
        4 => limits::limits::<4>(),
        _ => limits::limits::<8>(),
    }
}

/// The floors of masks past the caches, for elements of this type.
pub fn past_for<T>() -> Vec<(&'static str, limits::Floor)> {
    match size_of::<T>() {
        1 => limits::past::<1>(),
        2 => limits::past::<2>(),
        4 => limits::past::<4>(),
        _ => limits::past::<8>(),
    }
}

/// A buffer for results, and the offset of its first multiple of 64 bytes.
pub fn aligned_slots(results: usize) -> (Vec<bool>, usize) {
    let slots = vec![false; results + 63];
    let begin = slots.as_ptr().align_offset(64);
    (slots, begin)
}

/// From this size of input on, a limit of masks is measured that writes past the caches.
pub const BEYOND_CACHES: usize = 64 << 20;

/// Whether the CPU has the features of the AVX-512 target of `multiversion`.
pub fn has_avx512() -> bool {
    Backend::by_name("avx512").is_some()
}

/// Short runs, since there are hundreds of cells.
pub fn criterion() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(400))
        .sample_size(20)
        .without_plots()
        .configure_from_args()
}

/// A group whose throughput counts the bytes of the input.
pub fn group<'c>(c: &'c mut Criterion, name: String, bytes: usize) -> BenchmarkGroup<'c, WallTime> {
    let mut group = c.benchmark_group(name);
    group.throughput(Throughput::Bytes(bytes as u64));
    if bytes >= BEYOND_CACHES {
        // Flat sampling: each sample has the same number of passes over memory.
        group
            .sampling_mode(SamplingMode::Flat)
            .sample_size(10)
            .measurement_time(Duration::from_millis(400));
    }
    group
}

/// The NaN and infinities in the data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Data {
    Clean,
    /// One of this number of elements is NaN or infinite, at random places.
    Dirty(u64),
    AllNan,
}

impl Data {
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Clean, "clean"), (Self::Dirty(1000), "dirty"), (Self::AllNan, "allnan")];
    const DENSE: [(Self, &'static str); 3] =
        [(Self::Dirty(3), "dirty3"), (Self::Dirty(16), "dirty16"), (Self::Dirty(100), "dirty100")];

    /// Data with more NaN and infinities, only for some sizes, since a run would take hours
    /// otherwise.
    pub fn dense(bytes: usize) -> &'static [(Self, &'static str)] {
        match bytes >> 10 {
            1 | 16 | 256 => &Self::DENSE,
            _ => &[],
        }
    }

    /// `bytes` of it.
    pub fn make<T: Sample>(self, bytes: usize) -> Vec<T> {
        let mut state = 0x9E37_79B9_7F4A_7C15u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let element = |random: u64| match self {
            Self::AllNan => T::NAN,
            Self::Dirty(k) if random.is_multiple_of(k) => {
                [T::NAN, T::INF, T::NEG_INF][(random / k) as usize % 3]
            }
            _ => T::FINITE[random as usize / 4000 % 4],
        };
        (0..bytes / size_of::<T>()).map(|_| element(random())).collect()
    }
}

/// `bytes` of numbers of a normal distribution around 0 (Box and Muller).
pub fn normal<T: Sample>(bytes: usize) -> Vec<T> {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    };
    let mut number = || (-2.0 * random().ln()).sqrt() * (std::f64::consts::TAU * random()).cos();
    (0..bytes / size_of::<T>()).map(|_| T::from_f64(number())).collect()
}

/// The bytes of some elements.
pub fn bytes_of<T: Element>(x: &[T]) -> &[u8] {
    Elements::from(x).as_bytes()
}

/// An element type of benchmark data, with the three predicates of the standard library (or
/// `half`).
pub trait Sample: Element + PartialOrd {
    const NAME: &'static str;
    const FINITE: [Self; 4];
    const NAN: Self;
    const INF: Self;
    const NEG_INF: Self;
    /// The nearest number.
    fn from_f64(x: f64) -> Self;
    fn nan(self) -> bool;
    fn infinite(self) -> bool;
    fn finite(self) -> bool;
    /// Whether the exponent is not all ones.
    fn finite_bits(self) -> bool;
    /// Whether the bits without the sign are above infinity.
    fn nan_bits(self) -> bool;
}

macro_rules! sample {
    ($($t:ty, $name:literal, $bits:ty, $exponent:literal, $from:expr;)*) => { $(
        impl Sample for $t {
            const NAME: &'static str = $name;
            const FINITE: [Self; 4] = [<$t>::MAX, <$t>::MIN, <$t>::MIN_POSITIVE, <$t>::EPSILON];
            const NAN: Self = <$t>::NAN;
            const INF: Self = <$t>::INFINITY;
            const NEG_INF: Self = <$t>::NEG_INFINITY;
            fn from_f64(x: f64) -> Self {
                ($from)(x)
            }
            #[inline(always)]
            fn nan(self) -> bool {
                self.is_nan()
            }
            #[inline(always)]
            fn infinite(self) -> bool {
                self.is_infinite()
            }
            #[inline(always)]
            fn finite(self) -> bool {
                self.is_finite()
            }
            #[inline(always)]
            fn finite_bits(self) -> bool {
                self.to_bits() & $exponent != $exponent as $bits
            }
            #[inline(always)]
            fn nan_bits(self) -> bool {
                self.to_bits() & <$bits>::MAX >> 1 > $exponent
            }
        }
    )* };
}
sample! {
    f32, "f32", u32, 0x7F80_0000, |x| x as f32;
    f64, "f64", u64, 0x7FF0_0000_0000_0000, |x| x;
    half::f16, "f16", u16, 0x7C00, Self::from_f64;
    half::bf16, "bf16", u16, 0x7F80, Self::from_f64;
}
