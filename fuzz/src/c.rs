//! Shared by the targets of the C interface: memory, pointers into it, and the documented order of
//! checks, in arithmetic that cannot overflow.

use std::ffi::CString;
use std::ops::Range;
use std::ptr::without_provenance_mut;
use std::sync::LazyLock;

use arbitrary::{Arbitrary, Result, Unstructured};
use nonfinite::{Format, Predicate};
use nonfinite_capi::{
    FormatCode, NF_ERR_FORMAT, NF_ERR_LENGTH, NF_ERR_MISALIGNED, NF_ERR_NULL, NF_ERR_OUTPUT_LENGTH,
    NF_ERR_OVERLAP, NF_ERR_PREDICATE, NF_NONE, NF_OK, Occurrences, PredicateCode, Status,
    nf_format_from_name,
};

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

/// A number for a call: mostly a valid one, otherwise one at a limit or any number.
///
/// # Errors
/// Those of the input.
pub fn number(u: &mut Unstructured<'_>, likely: Range<isize>) -> Result<isize> {
    Ok(match u.int_in_range(0..=31)? {
        0 => u.arbitrary()?,
        1 => (isize::MAX >> u.int_in_range(0..=4)?).wrapping_add(u.int_in_range(-2..=2)?),
        2 => u.int_in_range(-8..=8)?,
        _ => u.int_in_range(likely.start..=likely.end - 1)?,
    })
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
pub type Effect = Option<Vec<(usize, u8)>>;

/// A result of more than one byte.
#[must_use]
pub fn write(at: &Range<usize>, value: &[u8]) -> Vec<(usize, u8)> {
    at.clone().zip(value.iter().copied()).collect()
}

/// Byte masks.
#[must_use]
pub fn write_mask(at: impl Iterator<Item = usize>, answers: &[bool]) -> Vec<(usize, u8)> {
    at.zip(answers.iter().map(|&answer| answer.into())).collect()
}

/// Packed bits, from bit `shift` of the first byte on.
#[must_use]
pub fn write_bits(memory: &[u8], at: usize, shift: usize, answers: &[bool]) -> Vec<(usize, u8)> {
    let mut bytes = memory.to_vec();
    for (i, &answer) in answers.iter().enumerate() {
        let (byte, bit) = (at + (shift + i) / 8, (shift + i) % 8);
        bytes[byte] = bytes[byte] & !(1 << bit) | u8::from(answer) << bit;
    }
    let end = at + (shift + answers.len()).div_ceil(8);
    (at..end).map(|i| (i, bytes[i])).collect()
}

/// The number of true answers, and the first.
#[must_use]
pub fn class(answers: impl Iterator<Item = bool>) -> Occurrences {
    let mut class = Occurrences { count: 0, first: NF_NONE };
    for (i, answer) in answers.enumerate() {
        if answer && class.count == 0 {
            class.first = i as u64;
        }
        class.count += u64::from(answer);
    }
    class
}
