//! Rows that lie side by side: one answer for each column of memory.

use super::block::{Loader, ROOM, Room};
use super::dims::{Cut, Dims, Limits, Order, Tile, Tiles, each, walk};
use super::rows::{Question, Rows, TILE, split};
use super::{Source, dense};

/// Rows that lie side by side. Mask bytes of tiles that follow each other along the rows are added up, at most 255 times, before they
/// go to their rows.
pub(super) fn across(x: &Source<'_>, dims: &Dims, question: Question<'_>, out: &mut Rows<'_>) {
    let Question { path, search, rules, .. } = question;
    let element = x.element;
    // Along the rows first.
    let axis = dims.iter().position(|dim| dim.row != 0);
    let mut turned = Dims::at(dims.input, dims.output, dims.row);
    axis.into_iter().chain((0..dims.len()).filter(|&i| Some(i) != axis)).for_each(|i| turned.push(dims[i]));
    let dims = &turned;
    let (inner, size) = axis.map_or((0, 1), |axis| (axis, dims[0].size));
    // So much of a row that a tile is worth a call; of a long row more, but little: what is added up is cheaper.
    let columns = dims.iter().skip(1).take(inner).fold(1, |all: usize, dim| all.saturating_mul(dim.size));
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

    let steps = size.div_ceil(cut.sizes[..kept].first().copied().unwrap_or(1));
    let mut scratch = Room::<TILE>::new();
    let mut sums = Sums {
        tile: None,
        step: 0,
        taken: cut.sizes[..kept].first().copied().unwrap_or(1) as isize,
        stamped: matches!(out, Rows::Position(_) | Rows::Census(_)),
        backwards: dims.first().is_some_and(|dim| dim.row < 0),
        any: [false; 3],
        counts: [const { Room::new() }; 3],
        stamps: [const { Room::new() }; 3],
    };
    // Where a tile has all of some short rows, it is taken as one tile for each element of a row, so that much is added at once.
    let apart = steps == 1 && (2..=32).contains(&size);
    if apart {
        sums.taken = 1;
    }
    // Few long rows may all be answered soon.
    let few = columns <= 64 && steps > 1 && !sums.backwards;
    // Where hits are dense, it is not worth to search for them.
    let (mut clean, mut step) = (true, 0);
    let (mut tiles, mut tile) = (Tiles::new(dims, &cut), Tile::new());
    while tiles.next(&mut tile) {
        if few && out.are_answered(&tile) {
            step = if step + 1 == steps { 0 } else { step + 1 };
            continue;
        }
        // SAFETY: a tile of elements of the source, within the limits.
        let block = unsafe { loader.load(&mut tile) };
        if !clean || dense::position(path, block, search).is_some() {
            let results = block.len() / element;
            let line = tile.iter().find(|dim| dim.row != 0).copied().filter(|_| apart);
            let (size, distance) = line.map_or((1, 0), |line| (line.size, line.input.unsigned_abs()));
            let places = results - (size - 1) * distance;
            tile.forget(|dim| apart && dim.row != 0);
            sums.begin(&tile, step * size, places, question, out);
            clean = true;
            for (class, rule) in rules.iter().enumerate() {
                if rules.len() > 1 && dense::position(path, block, rule).is_none() {
                    continue;
                }
                let mask = dense::mask(path, block, rule, scratch.slots(results));
                for i in 0..size {
                    clean &= !sums.add(class, step * size + i, &mask[i * distance..][..places]);
                }
            }
        }
        step += 1;
        if step == steps || few && step.is_power_of_two() {
            sums.finish(question, out);
            step %= steps;
        }
    }
}

/// Mask bytes of tiles that follow each other along the rows.
struct Sums {
    /// The first of them, and its number.
    tile: Option<Tile>,
    step: usize,
    /// From one tile to the next, along the rows; and whether that is backwards.
    taken: isize,
    backwards: bool,
    /// Whether it matters where the first hit is.
    stamped: bool,
    /// For each rule, whether it holds anywhere.
    any: [bool; 3],
    /// For each rule, how often it holds in each place.
    counts: [Room<TILE>; 3],
    /// For each rule, the number of the first tile in which it holds in that place, counted from the first of all; from the last of all
    /// backwards where rows run backwards.
    stamps: [Room<TILE>; 3],
}

/// Most tiles that are added up.
const TILES: usize = 255;

impl Sums {
    /// Makes ready for tile number `step`.
    fn begin(&mut self, tile: &Tile, step: usize, places: usize, question: Question<'_>, out: &mut Rows<'_>) {
        // Where dimensions overlap, a smaller tile may have an element in place of another one.
        let other = |first: &Tile| step - self.step >= TILES || first.elements() != tile.elements();
        if self.tile.as_ref().is_some_and(other) {
            self.finish(question, out);
        }
        if self.tile.is_none() {
            (self.tile, self.step, self.any) = (Some(tile.clone()), step, [false; 3]);
            for class in 0..question.rules.len() {
                self.counts[class].filled(places, 0);
                self.stamps[class].filled(places, u8::MAX);
            }
        }
    }

    /// Adds the mask bytes of tile number `step`; returns whether there is a hit.
    fn add(&mut self, class: usize, step: usize, mask: &[bool]) -> bool {
        let step = (step - self.step) as u8;
        // The earlier in the row, the less.
        let stamp = if self.backwards { TILES as u8 - 1 - step } else { step };
        let mut any = 0;
        for (&hit, count) in mask.iter().zip(self.counts[class].bytes(mask.len())) {
            any |= u8::from(hit);
            *count += u8::from(hit);
        }
        if self.stamped {
            for (&hit, first) in mask.iter().zip(self.stamps[class].bytes(mask.len())) {
                *first = (*first).min(stamp | u8::from(hit).wrapping_sub(1));
            }
        }
        self.any[class] |= any != 0;
        any != 0
    }

    /// Brings the sums to their rows.
    fn finish(&mut self, question: Question<'_>, out: &mut Rows<'_>) {
        let Some(tile) = self.tile.take() else { return };
        let (line, others, rank) = split(&tile);
        let others = &others[..rank];
        let backwards = self.backwards;
        let sign = if backwards { -1 } else { 1 };
        let any = self.any;
        for class in (0..question.rules.len()).filter(|&class| any[class]) {
            let places = tile.span();
            let (counts, stamps) = (self.counts[class].bytes(places), self.stamps[class].bytes(places));
            let (counts, stamps) = (&*counts, &*stamps);
            // For how many elements of a row the rule holds.
            let sum = |input: isize| -> usize {
                if line.size == 1 {
                    return usize::from(counts[input as usize]);
                }
                let places = (0..line.size as isize).map(|i| (input + i * line.input) as usize);
                places.map(|at| usize::from(counts[at])).sum()
            };
            let row = |output: isize| (tile.output + output) as usize;
            let add = |out: &mut Rows<'_>, input: isize, output: isize| {
                let count = sum(input);
                if count > 0 {
                    let first = (0..line.size as isize).map(|i| {
                        let at = (input + i * line.input) as usize;
                        let stamp = isize::from(stamps[at]);
                        let steps = if backwards { TILES as isize - 1 - stamp } else { stamp };
                        (counts[at] > 0, (tile.row + (steps * self.taken + i) * sign) as usize)
                    });
                    let first = first.filter(|(hit, _)| *hit).map(|(_, index)| index).min();
                    out.add(row(output), class, count * question.repeats, first.unwrap_or(0));
                }
            };
            match (others, &mut *out) {
                ([inner, others @ ..], out) if line.size == 1 && inner.input == 1 => {
                    walk(others, &mut |input, output| {
                        let counts = &counts[input as usize..][..inner.size];
                        match &mut *out {
                            Rows::Any(out) if inner.output == 1 => {
                                let out = out[row(output)..][..inner.size].iter_mut();
                                out.zip(counts).for_each(|(any, count)| *any |= *count > 0);
                            }
                            Rows::Count(out) if inner.output == 1 => {
                                let out = out[row(output)..][..inner.size].iter_mut();
                                let repeats = question.repeats;
                                out.zip(counts)
                                    .for_each(|(sum, count)| *sum += usize::from(*count) * repeats);
                            }
                            out => each_hit(counts, |i| {
                                add(out, input + i as isize, output + i as isize * inner.output);
                            }),
                        }
                    });
                }
                (_, Rows::Any(out)) => each(others, |input, output| out[row(output)] |= sum(input) > 0),
                (_, Rows::Count(out)) => {
                    each(others, |input, output| out[row(output)] += sum(input) * question.repeats);
                }
                (_, out) => each(others, |input, output| add(out, input, output)),
            }
        }
    }
}

/// Calls `f` with the index of each byte that is not 0: most often there are few.
fn each_hit(counts: &[u8], mut f: impl FnMut(usize)) {
    for (i, counts) in counts.chunks(16).enumerate() {
        if counts.iter().fold(0, |any, count| any | count) > 0 {
            let hits = counts.iter().enumerate().filter(|(_, count)| **count > 0);
            hits.for_each(|(j, _)| f(16 * i + j));
        }
    }
}
