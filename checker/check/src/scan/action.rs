//! What a scanner does with numbers: count the NaN and infinities, or mark the places of bad
//! numbers.

use nonfinite::{Format, Predicate, TensorView};

use super::tally::Tally;
use crate::options::Asked;
use crate::places::Collector;

/// Bytes for each call of a kernel. The masks of this many bytes stay in a near cache.
const CHUNK: usize = 64 << 10;

/// What a scanner does with numbers.
pub(super) enum Action {
    /// Counts NaN and infinities in a tally, and measures finite numbers as it is asked.
    Count(Asked),
    /// Marks the places of bad numbers.
    Mark(Box<Marks>),
}

impl Action {
    /// Takes numbers in the byte order of the machine. `start` is the place in the tensor of the
    /// first of them.
    pub(super) fn numbers(
        &mut self,
        tally: &mut Tally,
        numbers: &[u8],
        format: Format,
        start: u64,
    ) -> Result<(), nonfinite::Error> {
        match self {
            Self::Count(asked) => tally.numbers(numbers, format, start, *asked),
            Self::Mark(marks) => marks.numbers(numbers, format, start),
        }
    }

    /// Whether finite numbers count too, so that none may be left out.
    pub(super) fn needs_finite(&self) -> bool {
        match self {
            Self::Count(asked) => asked.is_any(),
            Self::Mark(_) => false,
        }
    }
}

/// Marks the places of the bad numbers of a tensor. The numbers must come in order.
pub(super) struct Marks {
    pub(super) collector: Collector,
    /// A number is bad if one of these predicates holds.
    pub(super) predicates: Vec<Predicate>,
    /// Consecutive numbers of the tensor that belong to the same element or block.
    pub(super) shared: usize,
    /// The packed answers of a predicate.
    mask: Vec<u8>,
    /// A bit for each number.
    words: Vec<u64>,
}

impl Marks {
    pub(super) fn new(collector: Collector, predicates: Vec<Predicate>, shared: usize) -> Self {
        let (mask, words) = Default::default();
        Self { collector, predicates, shared, mask, words }
    }

    fn numbers(
        &mut self,
        numbers: &[u8],
        format: Format,
        start: u64,
    ) -> Result<(), nonfinite::Error> {
        let size = format.size_in_bytes();
        for (chunk, numbers) in numbers.chunks(CHUNK).enumerate() {
            if self.mark(numbers, format)? {
                self.add(start + (chunk * (CHUNK / size)) as u64, numbers.len() / size);
            }
        }
        Ok(())
    }

    /// Sets the bits of the bad numbers, and returns whether there are any.
    fn mark(&mut self, numbers: &[u8], format: Format) -> Result<bool, nonfinite::Error> {
        let view = TensorView::from_bytes(numbers, format)?;
        if !self.predicates.iter().any(|&predicate| view.any(predicate)) {
            return Ok(false);
        }
        let words = view.len().div_ceil(64);
        self.words.clear();
        self.words.resize(words, 0);
        for &predicate in &self.predicates {
            self.mask.clear();
            self.mask.resize(words * 8, 0);
            view.bits(predicate, &mut self.mask, 0)?;
            let answers = self.mask.as_chunks().0.iter().copied().map(u64::from_le_bytes);
            self.words.iter_mut().zip(answers).for_each(|(word, answer)| *word |= answer);
        }
        Ok(true)
    }

    /// Adds the marked numbers among `count` numbers of the tensor.
    fn add(&mut self, first: u64, count: usize) {
        let shared = self.shared;
        if shared == 1 {
            return self.collector.add_bits(first, &self.words, count);
        }
        let units = count.div_ceil(shared);
        let mut words = vec![0u64; units.div_ceil(64)];
        for index in ones(&self.words) {
            let unit = index / shared;
            words[unit / 64] |= 1 << (unit % 64);
        }
        self.collector.add_bits(first / shared as u64, &words, units);
    }
}

/// The indices of the bits that are set.
fn ones(words: &[u64]) -> impl Iterator<Item = usize> {
    words.iter().enumerate().flat_map(|(at, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(at * 64 + bit)
        })
    })
}
