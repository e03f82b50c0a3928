//! Collects the places of bad numbers while a tensor is scanned.

use super::axes::Indices;
use super::bits;
use super::map::Draft;
use super::{AxisPlaces, Places};
use crate::model::{Layout, Tensor};

/// Collects the places of one tensor. A unit is the elements that belong to one number: a single
/// element, or the elements of a quantised block that share a scale. A unit lies along the axis
/// that runs fastest.
pub(crate) struct Collector {
    /// Elements of a unit.
    unit: u64,
    /// The axes, from the one that runs slowest to the one that runs fastest.
    order: Vec<usize>,
    /// The shape, in units.
    shape: Vec<u64>,
    /// The indices of bad units, by axis.
    indices: Vec<Indices>,
    draft: Option<Draft>,
    /// The number of units that were added, and the last of them.
    count: u64,
    last: Option<u64>,
    /// Whether a unit was added that the tensor does not have.
    wrong: bool,
}

impl Collector {
    /// A collector for a tensor with units of `unit` elements. None for tensors without places.
    pub(crate) fn new(tensor: &Tensor, unit: u64, map: bool) -> Option<Self> {
        let mut shape = tensor.shape.clone();
        let order = order(&tensor.layout, shape.len())?;
        if unit > 1 {
            let fastest = shape.get_mut(*order.last()?)?;
            // The unit of a map is a part of a row.
            if order.last() != Some(&(order.len() - 1)) || *fastest % unit != 0 {
                return None;
            }
            *fastest /= unit;
        }
        let most = tensor.shape.iter().try_fold(0u64, |sum, extent| sum.checked_add(*extent));
        if tensor.elements() == 0 || most.is_none_or(|most| most > Places::MOST_INDICES) {
            return None;
        }
        Some(Self {
            unit,
            order,
            indices: shape.iter().map(|&extent| Indices::new(extent)).collect(),
            draft: map.then(|| Draft::new(&shape)),
            shape,
            count: 0,
            last: None,
            wrong: false,
        })
    }

    /// Adds a unit. Units must come in rising order. A unit that is added twice counts once.
    pub(crate) fn add(&mut self, unit: u64) {
        if self.last != Some(unit) {
            self.add_bits(unit, &[1], 1);
        }
    }

    /// Adds the unit `first + i` for each bit `i` of `bits` bits that is set. These units must come
    /// after all units that were added before.
    pub(crate) fn add_bits(&mut self, first: u64, words: &[u64], count: usize) {
        let row = self.order.last().map_or(1, |&axis| self.shape[axis]).max(1);
        let units: u64 = self.shape.iter().product();
        let in_shape = first.checked_add(count as u64).is_some_and(|end| end <= units);
        if !in_shape || self.last.is_some_and(|last| first <= last) {
            self.wrong = true;
            return;
        }
        let mut coordinate = vec![0; self.shape.len()];
        let mut at = 0;
        while let Some(next) = bits::next(words, at, count, true) {
            at = next;
            let start = first + at as u64;
            // At most `count`.
            let length = (row - start % row).min((count - at) as u64) as usize;
            self.add_row(start, (words, at, length), &mut coordinate);
            at += length;
        }
    }

    /// Adds the units for `length` bits from bit `from` on. The units differ only in the index of
    /// the fastest axis.
    fn add_row(
        &mut self,
        start: u64,
        (words, from, length): (&[u64], usize, usize),
        coordinate: &mut [u64],
    ) {
        let mut is_placed = false;
        for done in (0..length).step_by(64) {
            let word = bits_at(words, from + done, (length - done).min(64));
            if word == 0 {
                continue;
            }
            if !is_placed {
                is_placed = true;
                self.place(start, coordinate);
            }
            let start = start + done as u64;
            self.last = Some(start + u64::from(63 - word.leading_zeros()));
            self.count += u64::from(word.count_ones());
            self.add_word(start, word, coordinate);
        }
    }

    /// Computes the coordinate of a unit, and inserts its indices for all axes except the fastest.
    fn place(&mut self, unit: u64, coordinate: &mut [u64]) {
        let Some((&fastest, slower)) = self.order.split_last() else { return };
        let mut rest = unit / self.shape[fastest].max(1);
        for &axis in slower.iter().rev() {
            let extent = self.shape[axis].max(1);
            coordinate[axis] = rest % extent;
            rest /= extent;
            self.indices[axis].insert(coordinate[axis]);
        }
    }

    /// Adds units of a row: `unit + i` for each bit `i` that is set.
    fn add_word(&mut self, unit: u64, mut word: u64, coordinate: &mut [u64]) {
        let Some(&fastest) = self.order.last() else {
            // A scalar.
            return self.draft.iter_mut().for_each(|draft| draft.add(coordinate, 1));
        };
        let index = unit % self.shape[fastest].max(1);
        self.indices[fastest].insert_word(index, word);
        let Some(draft) = &mut self.draft else { return };
        let step = draft.step(fastest);
        while word != 0 {
            let at = index + u64::from(word.trailing_zeros());
            let beyond = (at / step + 1) * step - index;
            let cell = if beyond < 64 { word & ((1 << beyond) - 1) } else { word };
            coordinate[fastest] = at;
            draft.add(coordinate, cell.count_ones().into());
            word &= !cell;
        }
    }

    /// Adds the places of another part of the same tensor.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.wrong |= other.wrong;
        self.count += other.count;
        self.indices.iter_mut().zip(&other.indices).for_each(|(own, other)| own.merge(other));
        self.draft.iter_mut().zip(&other.draft).for_each(|(own, other)| own.merge(other));
    }

    /// The places. None if there are no bad units, or if a unit was added that the tensor does not
    /// have.
    pub(crate) fn finish(self) -> Option<Places> {
        let Self { unit, order, shape, indices, draft, count, wrong, .. } = self;
        if wrong || count == 0 {
            return None;
        }
        let axes = indices.iter().enumerate();
        let axes = axes
            .map(|(axis, indices)| {
                indices.places(if order.last() == Some(&axis) { unit } else { 1 })
            })
            .collect::<Vec<AxisPlaces>>();
        let of = shape.iter().product::<u64>();
        Some(Places {
            elements: count * unit,
            of: of * unit,
            axes,
            map: draft.map(|draft| draft.finish(unit)),
        })
    }
}

/// The axes from the slowest to the fastest. None if the layout does not fit the rank.
fn order(layout: &Layout, rank: usize) -> Option<Vec<usize>> {
    let order: Vec<usize> = match layout {
        Layout::RowMajor => (0..rank).collect(),
        Layout::ColumnMajor => (0..rank).rev().collect(),
        Layout::Axes(axes) => axes.to_vec(),
    };
    let mut sorted = order.clone();
    sorted.sort_unstable();
    sorted.into_iter().eq(0..rank).then_some(order)
}

/// Up to 64 bits from a bit on.
fn bits_at(words: &[u64], from: usize, length: usize) -> u64 {
    let (at, shift) = (from / 64, from % 64);
    let low = words[at] >> shift;
    let high = words.get(at + 1).map_or(0, |word| (word << 1) << (63 - shift));
    (low | high) & (u64::MAX >> (64 - length))
}

#[cfg(test)]
mod tests {
    use nonfinite::Format;

    use super::*;
    use crate::model::{ByteOrder, Content, Data};

    /// A collector for a tensor of 70 rows and 2 columns.
    fn collector() -> Collector {
        let content = Content::Floats { format: Format::F32, parts: 1, order: ByteOrder::NATIVE };
        let tensor = Tensor::new(String::new(), "", vec![70, 2], content, Data::Input(0..560));
        Collector::new(&tensor, 1, true).expect("a tensor with places")
    }

    fn elements(collector: Collector) -> Option<u64> {
        collector.finish().map(|places| places.elements)
    }

    /// Places that are wrong would be worse than none.
    #[test]
    fn no_places_for_units_out_of_order_or_out_of_the_tensor() {
        let with = |units: &[(u64, &[u64], usize)]| {
            let mut collector = collector();
            units.iter().for_each(|&(first, words, count)| collector.add_bits(first, words, count));
            elements(collector)
        };
        assert_eq!(with(&[]), None);
        assert_eq!(with(&[(0, &[u64::MAX, u64::MAX, 0xFFF], 140)]), Some(140));
        assert_eq!(with(&[(3, &[1], 1), (139, &[1], 1)]), Some(2));
        for wrong in [(140, 1), (139, 2), (u64::MAX, 1), (3, 1), (2, 5)] {
            assert_eq!(with(&[(3, &[1], 1), (wrong.0, &[1], wrong.1)]), None, "{wrong:?}");
        }
    }

    #[test]
    fn units_that_are_added_twice_count_once() {
        let mut collector = collector();
        [5, 5, 6].into_iter().for_each(|unit| collector.add(unit));
        assert_eq!(elements(collector), Some(2));
    }
}
