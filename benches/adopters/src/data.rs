//! What is asked about: elements of one type, and which of them are null.

use half::f16;

/// A type of elements.
pub trait Float: nonfinite::Element + PartialEq + Send + Sync + 'static {
    /// Bits as large as the type: sign, exponent, fraction.
    fn from_bits(sign: u64, exponent: u64, fraction: u64) -> Self;
    /// How many bits the exponent and the fraction have.
    const BITS: (u32, u32);
    fn nan(self) -> bool;
    fn finite(self) -> bool;
    fn number(self) -> f64;
}

impl Float for f16 {
    const BITS: (u32, u32) = (5, 10);
    fn from_bits(sign: u64, exponent: u64, fraction: u64) -> Self {
        Self::from_bits((sign << 15 | exponent << 10 | fraction) as u16)
    }
    fn nan(self) -> bool {
        self.is_nan()
    }
    fn finite(self) -> bool {
        self.is_finite()
    }
    fn number(self) -> f64 {
        self.into()
    }
}

impl Float for f32 {
    const BITS: (u32, u32) = (8, 23);
    fn from_bits(sign: u64, exponent: u64, fraction: u64) -> Self {
        Self::from_bits((sign << 31 | exponent << 23 | fraction) as u32)
    }
    fn nan(self) -> bool {
        self.is_nan()
    }
    fn finite(self) -> bool {
        self.is_finite()
    }
    fn number(self) -> f64 {
        self.into()
    }
}

impl Float for f64 {
    const BITS: (u32, u32) = (11, 52);
    fn from_bits(sign: u64, exponent: u64, fraction: u64) -> Self {
        Self::from_bits(sign << 63 | exponent << 52 | fraction)
    }
    fn nan(self) -> bool {
        self.is_nan()
    }
    fn finite(self) -> bool {
        self.is_finite()
    }
    fn number(self) -> f64 {
        self
    }
}

/// What the elements are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Data {
    /// Finite elements only.
    Clean,
    /// One element in 1000 is NaN, +Inf or -Inf, at random places.
    Dirty,
    /// Random bits, every fourth element special.
    Random,
    /// NaN only.
    AllNan,
}

/// Elements, and which of them are null.
#[derive(Clone)]
pub struct Values<T> {
    pub values: Vec<T>,
    /// Whether each element is valid; nothing if none is null.
    pub valid: Option<Vec<bool>>,
}

impl<T> Values<T> {
    /// Whether there are elements, none of them null, and all are finite. Others order NaN as they
    /// like.
    pub fn is_clean(&self) -> bool
    where
        T: Float,
    {
        let all_finite = self.values.iter().all(|x| x.finite());
        all_finite && self.valid.is_none() && !self.values.is_empty()
    }

    /// The validity bitmap of Apache Arrow.
    pub fn bitmap(&self) -> Option<Vec<u8>> {
        let byte = |valid: &[bool]| {
            valid.iter().enumerate().fold(0, |byte, (bit, valid)| byte | u8::from(*valid) << bit)
        };
        self.valid.as_ref().map(|valid| valid.chunks(8).map(byte).collect())
    }
}

/// A column of one of the types that are measured.
#[derive(Clone)]
pub enum Column {
    F16(Values<f16>),
    F32(Values<f32>),
    F64(Values<f64>),
}

/// An element type by its name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Type {
    F16,
    F32,
    F64,
}

impl Type {
    pub const ALL: [(Self, &str, usize); 3] =
        [(Self::F16, "f16", 2), (Self::F32, "f32", 4), (Self::F64, "f64", 8)];

    /// `len` elements. With `nulls` every second element is null, at random places. The value under
    /// a null is drawn like all others.
    pub fn column(self, data: Data, len: usize, nulls: bool) -> Column {
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        let valid = nulls.then(|| (0..len).map(|_| random.below(2) == 1).collect());
        match self {
            Self::F16 => Column::F16(Values { values: elements(data, len, &mut random), valid }),
            Self::F32 => Column::F32(Values { values: elements(data, len, &mut random), valid }),
            Self::F64 => Column::F64(Values { values: elements(data, len, &mut random), valid }),
        }
    }
}

fn elements<T: Float>(data: Data, len: usize, random: &mut Random) -> Vec<T> {
    (0..len).map(|_| element(data, random)).collect()
}

fn element<T: Float>(data: Data, random: &mut Random) -> T {
    let (exponent, fraction) = T::BITS;
    let special = match data {
        Data::Clean => false,
        Data::Dirty => random.below(1000) == 0,
        Data::Random => random.below(4) == 0,
        Data::AllNan => true,
    };
    let all_ones = (1 << exponent) - 1;
    let sign = random.below(2);
    let nan = special && (data == Data::AllNan || random.below(3) == 0);
    match (special, nan) {
        // A quiet NaN: some float types cannot pass on a signalling one unchanged.
        (_, true) => T::from_bits(sign, all_ones, 1 << (fraction - 1)),
        (true, false) => T::from_bits(sign, all_ones, 0),
        (false, false) => T::from_bits(sign, random.below(all_ones), random.below(1 << fraction)),
    }
}

/// Xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }
}
