//! Rows that lie side by side: one answer for each column of memory.

use super::answers::{Question, Rows, TILE};
use super::block::{Loader, ROOM, Room};
use super::cut::{Cut, Limits, Order, Tiles};
use super::dims::{Dim, Dims, Tile, first_of, line, walk};
use super::{Source, dense};

/// Answers adjacent rows together. The mask bytes of consecutive tiles along the rows are added up,
/// at most 255 times, and then added to the rows.
pub(super) fn across(x: &Source<'_>, dims: &Dims, question: Question<'_>, out: &mut Rows<'_>) {
    let Question { backend, search, rules, .. } = question;
    let element = x.element;
    // Sorts the dimension along the rows first.
    let axis = dims.iter().position(|dim| dim.row != 0);
    let mut turned = Dims::at(dims.input, dims.output, dims.row);
    axis.into_iter().for_each(|i| turned.push(dims[i]));
    dims.iter().filter(|dim| dim.row == 0).for_each(|dim| turned.push(*dim));
    let dims = &turned;
    let (inner, size) = axis.map_or((0, 1), |axis| (axis, dims[0].size));
    // A tile takes enough of a row to be worth a call. It takes little more of a long row, since
    // adding up the results of tiles is cheaper.
    let columns =
        dims.iter().skip(1).take(inner).fold(1, |all: usize, dim| all.saturating_mul(dim.size));
    let most = 512usize.div_ceil(columns).max((2048 / columns).min(size / 8));
    let kept = usize::from(axis.is_some());
    let mut order = Order::new().all(kept..kept + inner, usize::MAX);
    if kept > 0 {
        order = order.push(0, most);
    }
    if most >= size {
        order = order.all(kept + inner..dims.len(), usize::MAX);
    }
    let gather = TILE.min(ROOM / element);
    let limits = Limits { span: TILE, gather, element, gaps: x.gaps, once: false, lines: false };
    let cut = Cut::new(dims, &order, limits);
    let mut loader = Loader { start: x.start, element, span: cut.span, room: Room::new() };

    let taken = cut.sizes[..kept].first().copied().unwrap_or(1);
    // Elements of a row are added up one by one if many columns are adjacent, or if a tile holds
    // all of some short rows.
    let apart = columns >= 64 || taken == size && (2..=32).contains(&size);
    let backwards = dims.first().is_some_and(|dim| dim.row < 0);
    let mut scratch = Room::<TILE>::new();
    let mut sums = Sums {
        tile: None,
        unit: if apart { 1 } else { taken },
        backwards,
        stamped: matches!(out, Rows::Position(_) | Rows::Census(_)),
        any: [false; 3],
        counts: [const { Room::new() }; 3],
        stamps: [const { Room::new() }; 3],
    };
    // Few long rows may all have their answers soon.
    let few = columns <= 64
        && taken < size
        && !backwards
        && matches!(out, Rows::Any(_) | Rows::Position(_));
    // If hits are dense, searching for the first one does not pay.
    let mut clean = true;
    let (mut dirty, mut answered) = (false, None);
    let mut tiles = Tiles::new(dims, &cut);
    while let Some(tile) = tiles.next() {
        if few {
            // Adds the sums to the rows from time to time.
            if dirty && (tile.row as usize / taken).is_power_of_two() {
                sums.finish(question, out);
                answered = out.are_answered(tile).then_some(tile.output);
            }
            if answered == Some(tile.output) {
                continue;
            }
        }
        // SAFETY: a tile of elements of the source, within the limits.
        let block = unsafe { loader.load(tile) };
        if clean && dense::position(backend, block, search).is_none() {
            continue;
        }
        (clean, dirty) = (true, true);
        let results = block.len() / element;
        // The dimensions of the tile after loading.
        let line = if apart { tile.forget_rows() } else { Dim::ONE };
        let distance = line.input.unsigned_abs();
        let places = results - (line.size - 1) * distance;
        let step = sums.begin(tile, line.size, places, question, out);
        for (class, rule) in rules.iter().enumerate() {
            if rules.len() > 1 && dense::position(backend, block, rule).is_none() {
                continue;
            }
            let mask = dense::mask(backend, block, rule, scratch.slots(results));
            for i in 0..line.size {
                clean &= !sums.add(class, step + i, &mask[i * distance..][..places]);
            }
        }
    }
    sums.finish(question, out);
}

/// The sums of mask bytes of consecutive tiles along the rows.
struct Sums {
    /// The first of these tiles.
    tile: Option<Tile>,
    /// The distance along the row between two additions, in elements, and whether rows run
    /// backwards.
    unit: usize,
    backwards: bool,
    /// Whether the question asks for the first hit.
    stamped: bool,
    /// For each rule, whether it holds anywhere.
    any: [bool; 3],
    /// For each rule, the number of hits in each place.
    counts: [Room<TILE>; 3],
    /// For each rule and place, the number of the first addition with a hit. Additions are counted
    /// from the first, or from the last if rows run backwards.
    stamps: [Room<TILE>; 3],
}

/// The most additions, since the counts are bytes.
const MOST: usize = 255;

impl Sums {
    /// Prepares for `additions` additions of this tile. Returns the number of the first one.
    #[inline(never)]
    fn begin(
        &mut self,
        tile: &Tile,
        additions: usize,
        places: usize,
        question: Question<'_>,
        out: &mut Rows<'_>,
    ) -> usize {
        if let Some(first) = &self.tile {
            let step = tile.row.abs_diff(first.row) / self.unit;
            // If dimensions overlap, a smaller tile may have another element in the same place.
            if tile.output == first.output
                && tile.elements() == first.elements()
                && step + additions <= MOST
            {
                return step;
            }
            self.finish(question, out);
        }
        (self.tile, self.any) = (Some(tile.clone()), [false; 3]);
        let classes = self.counts.iter_mut().zip(&mut self.stamps).take(question.rules.len());
        for (counts, stamps) in classes {
            counts.filled(places, 0);
            stamps.filled(places, u8::MAX);
        }
        0
    }

    /// Adds mask bytes. Returns whether there is a hit.
    #[inline(never)]
    fn add(&mut self, class: usize, step: usize, mask: &[bool]) -> bool {
        // Earlier elements of the row get smaller numbers.
        let stamp = if self.backwards { MOST - 1 - step } else { step } as u8;
        let mut any = 0;
        for (&hit, count) in mask.iter().zip(self.counts[class].bytes(mask.len())) {
            any |= u8::from(hit);
            *count += u8::from(hit);
        }
        if self.stamped && any != 0 {
            for (&hit, first) in mask.iter().zip(self.stamps[class].bytes(mask.len())) {
                *first = (*first).min(stamp | u8::from(hit).wrapping_sub(1));
            }
        }
        self.any[class] |= any != 0;
        any != 0
    }

    /// Adds the sums to their rows.
    #[inline(never)]
    fn finish(&mut self, question: Question<'_>, out: &mut Rows<'_>) {
        let Some(mut tile) = self.tile.take() else { return };
        let places = tile.span();
        let along = tile.split();
        let (inner, others) = first_of(&tile);
        let in_one_piece = along.size == 1 && inner.input == 1;
        let repeats = question.repeats;
        let Self { unit, backwards, stamped, .. } = *self;
        let sums = self.counts.iter_mut().zip(&mut self.stamps).take(question.rules.len());
        for (class, (counts, stamps)) in sums.enumerate() {
            if !self.any[class] {
                continue;
            }
            let (counts, stamps) = (&*counts.bytes(places), &*stamps.bytes(places));
            walk(others, &mut |input, output| {
                let first_row = (tile.output + output) as usize;
                if in_one_piece && inner.output == 1 {
                    let columns = counts[input as usize..][..inner.size].iter();
                    match &mut *out {
                        Rows::Any(out) => {
                            let rows = out[first_row..][..inner.size].iter_mut();
                            return rows.zip(columns).for_each(|(any, count)| *any |= *count > 0);
                        }
                        Rows::Count(out) => {
                            let rows = out[first_row..][..inner.size].iter_mut();
                            return rows
                                .zip(columns)
                                .for_each(|(sum, count)| *sum += usize::from(*count) * repeats);
                        }
                        Rows::Position(_) | Rows::Census(_) => {}
                    }
                }
                let mut column = 0;
                while column < inner.size as isize {
                    let mut at = (input + column * inner.input) as usize;
                    let row = first_row.wrapping_add_signed(column * inner.output);
                    // Usually there are few hits.
                    if in_one_piece && counts[at] == 0 {
                        let none = counts[at..].first_chunk() == Some(&[0; 16]);
                        column += if none { 16 } else { 1 };
                        continue;
                    }
                    column += 1;
                    let (mut count, mut first, mut ahead) = (0, usize::MAX, 0);
                    line(along, |_, _| {
                        if counts[at] > 0 {
                            count += usize::from(counts[at]);
                            if stamped {
                                let stamp = usize::from(stamps[at]);
                                let steps = if backwards { MOST - 1 - stamp } else { stamp };
                                let ahead = (steps * unit) as isize + ahead;
                                let index =
                                    if backwards { tile.row - ahead } else { tile.row + ahead };
                                first = first.min(index as usize);
                            }
                        }
                        at = at.wrapping_add_signed(along.input);
                        ahead += 1;
                    });
                    if count > 0 {
                        out.add(row, class, count * repeats, first);
                    }
                }
            });
        }
    }
}
