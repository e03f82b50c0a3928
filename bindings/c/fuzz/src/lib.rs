//! The C interface: memory, pointers into it, and the documented order of checks, in arithmetic
//! that cannot overflow.

mod runs;
mod views;

use std::ffi::CString;
use std::ops::Range;
use std::ptr::without_provenance_mut;
use std::sync::LazyLock;

use arbitrary::{Arbitrary, Result, Unstructured};
use nonfinite::{Format, Predicate};
use nonfinite_capi::{
    FormatCode, NF_ERR_FORMAT, NF_ERR_LENGTH, NF_ERR_MISALIGNED, NF_ERR_NULL, NF_ERR_OUTPUT_LENGTH,
    NF_ERR_OUTPUT_STRIDES, NF_ERR_OVERLAP, NF_ERR_PREDICATE, NF_NONE, NF_OK, Occurrences,
    PredicateCode, Status, nf_format_from_name,
};
use nonfinite_oracle::{Kind, holds};

pub use runs::Run;
pub use views::View;

/// Formats by the numbers that their names have in C.
static FORMATS: LazyLock<Vec<(FormatCode, Format)>> = LazyLock::new(|| {
    let code = |format: Format| {
        let (name, mut code) = (CString::new(format.name()).expect("no NUL"), 0);
        // SAFETY: a string of C, and a slot.
        #[expect(unsafe_code, reason = "a function for C")]
        let status = unsafe { nf_format_from_name(name.as_ptr(), &mut code) };
        assert_eq!(status, NF_OK, "{format}");
        (code, format)
    };
    Format::ALL.iter().copied().map(code).collect()
});

/// The format of this number.
///
/// # Errors
/// `NF_ERR_FORMAT`
pub fn format(code: FormatCode) -> std::result::Result<Format, Status> {
    FORMATS.iter().find(|known| known.0 == code).map(|known| known.1).ok_or(NF_ERR_FORMAT)
}

/// The predicate of this number: they count from 1 in the order of the crate.
///
/// # Errors
/// `NF_ERR_PREDICATE`
pub fn predicate(code: PredicateCode) -> std::result::Result<Predicate, Status> {
    (code as usize)
        .checked_sub(1)
        .and_then(|i| Predicate::ALL.get(i))
        .copied()
        .ok_or(NF_ERR_PREDICATE)
}

/// A pointer for a call.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// The null pointer.
    Null,
    /// This byte of the memory.
    At(usize),
    /// Any address, which may be invalid.
    Address(usize),
}

impl<'a> Arbitrary<'a> for Place {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(match u.int_in_range(0..=31)? {
            0 => Self::Null,
            1 => Self::Address(usize::MAX - u.int_in_range(0..=600)?),
            2 => Self::Address(u.arbitrary()?),
            _ => Self::At(u.int_in_range(0..=Memory::BYTES - 1)?),
        })
    }
}

/// The memory of one run. Inputs and outputs are parts of it, and all other bytes must keep their
/// values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory(Vec<u64>);

impl<'a> Arbitrary<'a> for Memory {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let seed = u.bytes(u.len().min(Self::BYTES))?;
        let mut bytes: Vec<u8> = seed.iter().copied().cycle().take(Self::BYTES).collect();
        bytes.resize(Self::BYTES, 0xA5);
        Ok(Self(
            bytes
                .chunks_exact(8)
                .map(|word| u64::from_ne_bytes(word.try_into().unwrap()))
                .collect(),
        ))
    }
}

impl Memory {
    /// Its size.
    pub const BYTES: usize = 2048;

    /// Its content.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    /// The pointer for this place.
    pub fn pointer<T>(&mut self, place: Place) -> *mut T {
        match place {
            Place::Null => std::ptr::null_mut(),
            Place::At(i) => self.0.as_mut_ptr().wrapping_byte_add(i).cast(),
            Place::Address(address) => without_provenance_mut(address),
        }
    }

    /// A run of items that a call names.
    ///
    /// # Errors
    /// `NF_ERR_LENGTH` and `NF_ERR_NULL`.
    pub fn span(
        &mut self,
        place: Place,
        items: u128,
        item: usize,
    ) -> std::result::Result<Span, Status> {
        let bytes = items.saturating_mul(item as u128);
        let start = self.pointer::<u8>(place).addr() as u128;
        if bytes > isize::MAX as u128 {
            return Err(NF_ERR_LENGTH);
        }
        if bytes > 0 && start == 0 {
            return Err(NF_ERR_NULL);
        }
        if bytes > 0 && start + bytes > usize::MAX as u128 {
            return Err(NF_ERR_LENGTH);
        }
        Ok(Span { start, bytes, base: self.0.as_ptr().addr() as u128 })
    }

    /// The part of a bitmap that gets results, and the bit of the memory of the first.
    ///
    /// # Errors
    /// Those of [`Memory::span`], and `NF_ERR_OUTPUT_LENGTH`.
    pub fn bitmap(
        &mut self,
        place: Place,
        bytes: usize,
        offset: usize,
        results: u128,
    ) -> std::result::Result<Span, Status> {
        let all = self.span(place, bytes as u128, 1)?;
        let (first, end) = (offset as u128 / 8, (offset as u128 + results).div_ceil(8));
        if end > bytes as u128 {
            return Err(NF_ERR_OUTPUT_LENGTH);
        }
        Ok(Span { start: all.start + first, bytes: end - first, ..all })
    }

    /// Where a single result goes.
    ///
    /// # Errors
    /// `NF_ERR_NULL` and `NF_ERR_MISALIGNED`.
    pub fn slot<T>(&mut self, place: Place) -> std::result::Result<Span, Status> {
        let pointer = self.pointer::<T>(place);
        if pointer.is_null() {
            return Err(NF_ERR_NULL);
        }
        if !pointer.is_aligned() {
            return Err(NF_ERR_MISALIGNED);
        }
        let (start, bytes) = (pointer.addr() as u128, size_of::<T>() as u128);
        Ok(Span { start, bytes, base: self.0.as_ptr().addr() as u128 })
    }
}

/// Bytes that a call names.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    start: u128,
    bytes: u128,
    base: u128,
}

impl Span {
    /// Which bytes of the memory they are; none if they are not all inside.
    #[must_use]
    pub fn range(&self) -> Option<Range<usize>> {
        if self.bytes == 0 {
            return Some(0..0);
        }
        let start = usize::try_from(self.start.checked_sub(self.base)?).ok()?;
        let end = start.checked_add(usize::try_from(self.bytes).ok()?)?;
        (end <= Memory::BYTES).then_some(start..end)
    }

    /// No byte in common.
    ///
    /// # Errors
    /// `NF_ERR_OVERLAP`.
    pub fn apart_from(&self, other: &Self) -> std::result::Result<(), Status> {
        let apart = self.bytes == 0
            || other.bytes == 0
            || self.start + self.bytes <= other.start
            || other.start + other.bytes <= self.start;
        if apart { Ok(()) } else { Err(NF_ERR_OVERLAP) }
    }
}

/// The writes of a call: bytes of the memory and their new content. None if the call would touch
/// other memory, so that it must not be made.
type Effect = Option<Vec<(usize, u8)>>;

/// A call with any arguments.
pub trait Call: std::fmt::Debug {
    /// The memory that pointers of the call lead into.
    fn memory(&mut self) -> &mut Memory;

    /// What the call writes, by the header; or the status that it returns. Whether output strides
    /// that name no byte twice are refused is left open, with `true`.
    ///
    /// # Errors
    /// The status.
    fn promise(&mut self) -> std::result::Result<(Effect, bool), Status>;

    /// Makes the call.
    ///
    /// # Safety
    /// The call must be refused, or all of its pointers must lead into the memory.
    #[allow(unsafe_code, reason = "C functions")]
    unsafe fn make(&mut self) -> Status;
}

/// Makes a call: it returns the status that the header promises and the right results, and writes
/// nothing else.
///
/// # Panics
/// If it does not.
#[allow(unsafe_code, reason = "C functions")]
pub fn check(mut call: impl Call) {
    let promise = call.promise();
    let (old, mut new) = (call.memory().bytes(), call.memory().bytes());
    let (status, open) = match promise {
        Ok((None, _)) => return,
        Ok((Some(effect), open)) => {
            effect.into_iter().for_each(|(at, byte)| new[at] = byte);
            (NF_OK, open)
        }
        Err(status) => (status, false),
    };
    // SAFETY: refused, or all inside the memory.
    let got = unsafe { call.make() };
    if open && got == NF_ERR_OUTPUT_STRIDES {
        return assert!(call.memory().bytes() == old, "{call:?}");
    }
    assert_eq!(got, status, "{call:?}");
    assert!(call.memory().bytes() == new, "{call:?}");
}

/// What a function of one result writes to `at`. The functions have numbers: 1 bits (from bit
/// `shift` of the first byte on), 2 any, 3 all, 4 count, 5 first, 6 census. A null has no kind.
fn results(
    function: u8,
    memory: &[u8],
    at: &Range<usize>,
    shift: usize,
    kinds: &[Option<Kind>],
    predicate: Predicate,
) -> Vec<(usize, u8)> {
    let hit = |kind: Option<Kind>| kind.is_some_and(|kind| holds(predicate, kind));
    let asked = class(kinds.iter().map(|&kind| hit(kind)));
    let bytes = match function {
        1 => {
            let mut bytes = memory[at.clone()].to_vec();
            for (bit, &kind) in (shift..).zip(kinds) {
                let hit = u8::from(hit(kind));
                bytes[bit / 8] = bytes[bit / 8] & !(1 << (bit % 8)) | hit << (bit % 8);
            }
            bytes
        }
        2 => vec![(asked.count > 0).into()],
        3 => vec![(asked.count == kinds.iter().flatten().count() as u64).into()],
        4 => asked.count.to_ne_bytes().to_vec(),
        5 => asked.first.to_ne_bytes().to_vec(),
        _ => {
            let of = |kind| class(kinds.iter().map(|&other| other == Some(kind)));
            let classes = [of(Kind::Nan), of(Kind::PosInf), of(Kind::NegInf)];
            let words = classes.iter().flat_map(|class| [class.count, class.first]);
            words.flat_map(u64::to_ne_bytes).collect()
        }
    };
    at.clone().zip(bytes).collect()
}

/// The number of true answers, and the first.
fn class(mut answers: impl Iterator<Item = bool> + Clone) -> Occurrences {
    let count = answers.clone().filter(|&answer| answer).count() as u64;
    let first = answers.position(|answer| answer);
    Occurrences { count, first: first.map_or(NF_NONE, |first| first as u64) }
}
