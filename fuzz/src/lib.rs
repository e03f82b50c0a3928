//! What the fuzz targets share: the input, and an oracle that has nothing in common with the crate.
//!
//! The oracle asks the standard library for `f32` and `f64`, the crate `half` for `f16` and `bf16`, and lists of codes
//! for 8-bit formats (the tables of ml_dtypes). No mask, no bound and no table of the crate is in it.

pub mod read;
pub mod c;

use std::ops::RangeInclusive;

use arbitrary::{Arbitrary, Result, Unstructured};
use half::{bf16, f16};
use nonfinite::{Format, Predicate};

/// What an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Not a number.
    Nan,
    /// `+Inf`.
    PositiveInf,
    /// `-Inf`.
    NegativeInf,
    /// Anything else.
    Finite,
}

impl Kind {
    fn new(nan: bool, infinite: bool, negative: bool) -> Self {
        match (nan, infinite, negative) {
            (true, ..) => Self::Nan,
            (_, true, true) => Self::NegativeInf,
            (_, true, false) => Self::PositiveInf,
            _ => Self::Finite,
        }
    }

    /// The kind of one element, given its bytes in the byte order of the machine.
    #[must_use]
    pub fn of(format: Format, element: &[u8]) -> Self {
        macro_rules! ask {
            ($float:ty) => {{
                let x = <$float>::from_ne_bytes(element.try_into().unwrap());
                Self::new(x.is_nan(), x.is_infinite(), x.is_sign_negative())
            }};
        }
        match format {
            Format::F16 => ask!(f16),
            Format::Bf16 => ask!(bf16),
            Format::F32 => ask!(f32),
            Format::F64 => ask!(f64),
            _ => {
                let &[code] = element else { panic!("{format}: an element of {} bytes", element.len()) };
                Codes::of(format).kind(code)
            }
        }
    }
}

/// The codes of an 8-bit format that are not finite.
struct Codes {
    nan: &'static [RangeInclusive<u8>],
    /// `+Inf` and `-Inf`.
    infinite: Option<[u8; 2]>,
}

impl Codes {
    fn of(format: Format) -> Self {
        let (nan, infinite): (&'static [_], _) = match format {
            Format::F8E3M4 => (&[0x71..=0x7F, 0xF1..=0xFF], Some([0x70, 0xF0])),
            Format::F8E4M3 => (&[0x79..=0x7F, 0xF9..=0xFF], Some([0x78, 0xF8])),
            Format::F8E4M3Fn => (&[0x7F..=0x7F, 0xFF..=0xFF], None),
            Format::F8E4M3FnUz | Format::F8E4M3B11FnUz | Format::F8E5M2FnUz => (&[0x80..=0x80], None),
            Format::F8E5M2 => (&[0x7D..=0x7F, 0xFD..=0xFF], Some([0x7C, 0xFC])),
            Format::F8E8M0Fnu => (&[0xFF..=0xFF], None),
            Format::F4E2M1Fn | Format::F6E2M3Fn | Format::F6E3M2Fn => (&[], None),
            _ => panic!("no codes for {format}"),
        };
        Self { nan, infinite }
    }

    fn kind(&self, code: u8) -> Kind {
        match self.infinite {
            _ if self.nan.iter().any(|codes| codes.contains(&code)) => Kind::Nan,
            Some([positive, _]) if code == positive => Kind::PositiveInf,
            Some([_, negative]) if code == negative => Kind::NegativeInf,
            _ => Kind::Finite,
        }
    }
}

/// Whether the predicate holds for an element of this kind.
#[must_use]
pub fn holds(predicate: Predicate, kind: Kind) -> bool {
    match predicate {
        Predicate::Nan => kind == Kind::Nan,
        Predicate::Inf => matches!(kind, Kind::PositiveInf | Kind::NegativeInf),
        Predicate::PositiveInf => kind == Kind::PositiveInf,
        Predicate::NegativeInf => kind == Kind::NegativeInf,
        Predicate::Finite => kind == Kind::Finite,
        Predicate::NonFinite => kind != Kind::Finite,
        Predicate::Never => false,
        _ => panic!("no answer for {predicate:?}"),
    }
}

/// A question about a tensor at some address.
#[derive(Debug)]
pub struct Input {
    /// How the elements are read.
    pub format: Format,
    /// What is asked of them.
    pub predicate: Predicate,
    /// Bytes before the first element in [`Input::memory`].
    pub start: usize,
    /// The bit of the output that the first result goes to.
    pub bit: usize,
    /// Whole elements, from `start` on.
    pub memory: Vec<u8>,
}

/// More bytes than a group of every path takes, and little enough for many runs a second.
const LONGEST: usize = 8192;

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let (format, predicate) = (*u.choose(&Format::ALL)?, *u.choose(&Predicate::ALL)?);
        let (start, bit) = (u.int_in_range(0..=127)?, u.int_in_range(0..=127)?);
        let repeats = usize::from(u.arbitrary::<u8>()?) + 1;
        // Repeated, since finding long inputs byte by byte would take a fuzzer ages; changed at one place after that, so
        // that not all blocks are alike.
        let (at, value) = (usize::from(u.arbitrary::<u16>()?), u.arbitrary::<u8>()?);
        let mut elements = u.bytes(u.len())?.repeat(repeats);
        elements.truncate(LONGEST);
        elements.truncate(elements.len() / format.size_in_bytes() * format.size_in_bytes());
        if let Some(byte) = elements.get_mut(at) {
            *byte = value;
        }
        let mut memory = vec![0; start];
        memory.append(&mut elements);
        Ok(Self { format, predicate, start, bit, memory })
    }
}

impl Input {
    /// The elements as bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.memory[self.start..]
    }

    /// What each element is.
    #[must_use]
    pub fn kinds(&self) -> Vec<Kind> {
        let elements = self.bytes().chunks_exact(self.format.size_in_bytes());
        elements.map(|element| Kind::of(self.format, element)).collect()
    }

    /// The right answer for each element.
    #[must_use]
    pub fn answers(&self) -> Vec<bool> {
        self.kinds().into_iter().map(|kind| holds(self.predicate, kind)).collect()
    }
}
