//! A selection among the numbers of a chunk: the numbers that are not null.

use nonfinite::{Format, Predicate, TensorView};

/// The packed mask of a predicate. Keeps its memory.
#[derive(Default)]
pub(super) struct Mask(Vec<u8>);

impl Mask {
    /// Combines the bits of a predicate with words that have a bit for each number.
    pub(super) fn ask(
        &mut self,
        view: TensorView<'_>,
        predicate: Predicate,
        words: &mut [u64],
        combine: impl Fn(&mut u64, u64),
    ) -> Result<(), nonfinite::Error> {
        self.0.clear();
        self.0.resize(words.len() * 8, 0);
        view.bits(predicate, &mut self.0, 0)?;
        let answers = self.0.as_chunks().0.iter().copied().map(u64::from_le_bytes);
        words.iter_mut().zip(answers).for_each(|(word, answer)| combine(word, answer));
        Ok(())
    }
}

/// A bit for each number.
#[derive(Default)]
pub(crate) struct Selection {
    words: Vec<u64>,
    mask: Mask,
}

impl Selection {
    /// Selects the numbers, among `count` numbers, whose bits the function sets.
    pub(crate) fn select(&mut self, count: usize, set: impl FnOnce(&mut [u64])) {
        self.words.clear();
        self.words.resize(count.div_ceil(64), 0);
        set(&mut self.words);
    }

    /// Deselects the numbers for which the predicate does not hold. Their count must be that of the
    /// last call of [`Selection::select`].
    pub(crate) fn keep(
        &mut self,
        numbers: &[u8],
        format: Format,
        predicate: Predicate,
    ) -> Result<(), nonfinite::Error> {
        let view = TensorView::from_bytes(numbers, format)?;
        self.mask.ask(view, predicate, &mut self.words, |word, answer| *word &= answer)
    }

    /// Copies the selected numbers into `out`, one behind the other. A number has `size` bytes.
    pub(crate) fn gather(&self, numbers: &[u8], size: usize, out: &mut Vec<u8>) {
        out.clear();
        match size {
            1 => self.gather_each::<1>(numbers, out),
            2 => self.gather_each::<2>(numbers, out),
            4 => self.gather_each::<4>(numbers, out),
            _ => self.gather_each::<8>(numbers, out),
        }
    }

    fn gather_each<const SIZE: usize>(&self, numbers: &[u8], out: &mut Vec<u8>) {
        let numbers = numbers.as_chunks::<SIZE>().0;
        for (&word, numbers) in self.words.iter().zip(numbers.chunks(64)) {
            if word == u64::MAX {
                out.extend_from_slice(numbers.as_flattened());
                continue;
            }
            let mut rest = word;
            while rest != 0 {
                out.extend_from_slice(&numbers[rest.trailing_zeros() as usize]);
                rest &= rest - 1;
            }
        }
    }

    /// The index of the selected number with this many selected numbers before it. An index behind
    /// all numbers if there is no such number.
    pub(crate) fn nth(&self, index: usize) -> usize {
        let mut left = index;
        for (place, &word) in self.words.iter().enumerate() {
            let ones = word.count_ones() as usize;
            if left < ones {
                let rest = (0..left).fold(word, |rest, _| rest & (rest - 1));
                return place * 64 + rest.trailing_zeros() as usize;
            }
            left -= ones;
        }
        self.words.len() * 64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Selects every third of 200 halves, and of these the NaNs. Every fifth half is a NaN.
    #[test]
    fn those_that_are_selected() {
        let numbers: Vec<u16> =
            (0..200u16).map(|i| if i % 5 == 0 { 0x7E00 | i } else { i }).collect();
        let data: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
        let mut selection = Selection::default();
        let third =
            |bits: &mut [u64]| (0..200).step_by(3).for_each(|i| bits[i / 64] |= 1 << (i % 64));
        let mut out = Vec::new();
        let mut check = |selection: &Selection, expected: Vec<usize>| {
            selection.gather(&data, 2, &mut out);
            let expected_bytes: Vec<u8> =
                expected.iter().flat_map(|&i| numbers[i].to_ne_bytes()).collect();
            assert_eq!(out, expected_bytes);
            let places: Vec<_> = (0..expected.len()).map(|index| selection.nth(index)).collect();
            assert_eq!(places, expected);
            assert_eq!(selection.nth(expected.len()), 256);
        };
        selection.select(200, third);
        check(&selection, (0..200).step_by(3).collect());
        selection.keep(&data, Format::F16, Predicate::Nan).expect("whole numbers");
        check(&selection, (0..200).step_by(15).collect());
        selection.select(200, |bits| bits[..3].fill(u64::MAX));
        check(&selection, (0..192).collect());
        selection.select(200, |_| {});
        check(&selection, Vec::new());
    }

    /// Numbers of every size are copied whole.
    #[test]
    fn sizes_of_numbers() {
        let data: Vec<u8> = (0..=255).collect();
        for size in [1, 2, 4, 8] {
            let count = data.len() / size;
            let mut selection = Selection::default();
            selection.select(count, |bits| {
                [1, count - 1].into_iter().for_each(|index| bits[index / 64] |= 1 << (index % 64));
            });
            let mut out = Vec::new();
            selection.gather(&data, size, &mut out);
            assert_eq!(out, [&data[size..2 * size], &data[256 - size..]].concat(), "{size}");
        }
    }
}
