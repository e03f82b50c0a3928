//! A tensor at some address, and a question about it.

use arbitrary::{Arbitrary, Result, Unstructured};
use nonfinite::{Elements, Format};
use nonfinite_oracle::Question;

/// A question about a tensor at some address.
///
/// `seeds.py` writes these in the bytes that [`Arbitrary`] takes them from: format, question,
/// asked, start, bit (a byte each, as an index), repeats - 1 (a byte), the place of a changed byte
/// (two bytes, little-endian), its new value (a byte), elements.
#[derive(Debug)]
pub struct Tensor {
    /// The format of the elements.
    pub format: Format,
    /// The question.
    pub question: Question,
    /// Which of the elements that an oracle knows to ask for.
    pub asked: usize,
    /// The bit of the output that the first result goes to.
    pub bit: usize,
    /// Bytes before the first element in `memory`.
    start: usize,
    /// `start` bytes, then whole elements up to the end.
    memory: Vec<u8>,
}

/// Longer than a group of any backend, and short enough for many runs in a second.
const MOST: usize = 5000;

impl<'a> Arbitrary<'a> for Tensor {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let (format, question) = (*u.choose(Format::ALL)?, *u.choose(Question::ALL)?);
        let asked = u.arbitrary::<u8>()?.into();
        let (start, bit) = (u.int_in_range(0..=127)?, u.int_in_range(0..=127)?);
        let repeats = usize::from(u.arbitrary::<u8>()?) + 1;
        // The elements are repeated, since a fuzzer would take ages to find long inputs byte by
        // byte. Then one byte is changed, so that not all blocks are equal.
        let (at, value) = (usize::from(u.arbitrary::<u16>()?), u.arbitrary::<u8>()?);
        let mut elements = u.bytes(u.len())?.repeat(repeats);
        let size = format.size_in_bytes();
        elements.truncate((elements.len() / size).min(MOST) * size);
        if let Some(byte) = elements.get_mut(at) {
            *byte = value;
        }
        // Of this size exactly, so that AddressSanitizer sees a read behind the end.
        let mut memory = Vec::with_capacity(start + elements.len());
        memory.resize(start, 0);
        memory.append(&mut elements);
        Ok(Self { format, question, asked, bit, start, memory })
    }
}

impl Tensor {
    /// The elements as bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.memory[self.start..]
    }

    /// The elements.
    ///
    /// # Panics
    /// Never: they are whole.
    #[must_use]
    pub fn elements(&self) -> Elements<'_> {
        Elements::from_bytes(self.bytes(), self.format).expect("whole elements")
    }
}
