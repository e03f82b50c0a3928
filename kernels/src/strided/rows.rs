//! One answer a row, along any dimension.

use crate::path::Path;
use crate::rule::Rule;
use crate::{Census, Class};

use super::block::{self, Loader, ROOM, Room, word};
use super::dims::{Cut, Dim, Dims, Limits, TILE_DIMS, Tile, Tiles, each};
use super::{Source, dense};

/// Where answers go, one for each row.
#[derive(Debug)]
pub enum Rows<'o> {
    /// Whether the rule holds for an element.
    Any(&'o mut [bool]),
    /// For how many it holds.
    Count(&'o mut [usize]),
    /// The first for which it holds, counted along the row.
    Position(&'o mut [Option<usize>]),
    /// For how many each of three rules holds, and the first: NaN, +Inf, -Inf.
    Census(&'o mut [Census]),
}

impl Rows<'_> {
    /// How many places there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Any(out) => out.len(),
            Self::Count(out) => out.len(),
            Self::Position(out) => out.len(),
            Self::Census(out) => out.len(),
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn clear(&mut self) {
        match self {
            Self::Any(out) => out.fill(false),
            Self::Count(out) => out.fill(0),
            Self::Position(out) => out.fill(None),
            Self::Census(out) => out.fill(Census::default()),
        }
    }

    /// The rule of number `class` holds for `count` more elements of a row, the first of which is `first`.
    #[inline(always)]
    fn add(&mut self, row: usize, class: usize, count: usize, first: usize) {
        let earlier = |slot: &mut Option<usize>| *slot = Some(slot.map_or(first, |slot| slot.min(first)));
        match self {
            Self::Any(out) => out[row] = true,
            Self::Count(out) => out[row] += count,
            Self::Position(out) => earlier(&mut out[row]),
            Self::Census(out) => {
                let Census { nan, pos_inf, neg_inf } = &mut out[row];
                let Class { count: all, first: slot } = [nan, pos_inf, neg_inf][class];
                *all += count;
                earlier(slot);
            }
        }
    }
}

/// What is asked of each row.
#[derive(Clone, Copy, Debug)]
struct Question<'q> {
    path: Path,
    search: &'q Rule,
    rules: &'q [&'q Rule],
    /// How often each element of a row stands there.
    repeats: usize,
}

/// One answer for each row that runs along dimension `axis`, counted from the innermost; the rows are in row-major order of the other
/// dimensions. Wherever one of `rules` holds, `search` must hold too. `path` is the active one if `None`.
///
/// # Panics
/// If there are not three rules for a census and else one, or not one place for each row; nothing is written then. Of a tensor
/// without elements any number of places is right.
pub fn rows(
    path: Option<Path>,
    x: &Source<'_>,
    axis: usize,
    search: &Rule,
    rules: &[&Rule],
    mut out: Rows<'_>,
) {
    assert!(rules.len() == if matches!(out, Rows::Census(_)) { 3 } else { 1 }, "other rules");
    let (mut dims, mut size, mut distance) = (Dims::new(), 1, 1);
    let mut question = Question { path: path.unwrap_or_else(Path::active), search, rules, repeats: 1 };
    for dim in &*x.dims {
        if dim.row == axis as isize {
            size = dim.size;
            match dim.input {
                0 => question.repeats = size,
                _ => dims.push(Dim { output: 0, row: 1, ..*dim }),
            }
        } else {
            dims.push(Dim { output: distance as isize, row: 0, ..*dim });
            distance *= dim.size;
        }
    }
    assert!(x.is_empty() || out.len() == x.len / size, "{} rows, but {} places", x.len / size, out.len());
    out.clear();
    if x.is_empty() || matches!(search, Rule::Constant { answer: false, .. }) {
        return;
    }
    dims.forwards();
    // In the order of memory. Rows that are broadcast are asked more than once.
    dims.list_mut().sort_unstable_by_key(|dim| dim.input.wrapping_sub(1) as usize);
    dims.merge();
    if dims.first().is_none_or(|dim| dim.row != 0) {
        along(x, &dims, question, &mut out);
    } else {
        across(x, &dims, question, &mut out);
    }
}

/// Elements of a tile.
const TILE: usize = 4096;

/// Rows whose elements are next to each other.
fn along(x: &Source<'_>, dims: &Dims, question: Question<'_>, out: &mut Rows<'_>) {
    let Question { path, search, rules, repeats } = question;
    let element = x.element;
    // The first hit is the last in memory where a row runs backwards.
    let backwards = dims.first().is_some_and(|dim| dim.row < 0);
    let one = rules.len() == 1 && !matches!(out, Rows::Count(_));
    let lines = !backwards || matches!(out, Rows::Any(_) | Rows::Count(_));
    let gather = TILE.min(ROOM / element);
    let limits = Limits { span: TILE, gather, element, gaps: x.gaps, once: false, lines };
    let cut = Cut::new(dims, (0..dims.len()).map(|i| (i, usize::MAX)), limits);
    let mut loader = Loader { start: x.start, element, span: cut.span, room: Room::new() };
    let mut room = Room::<{ TILE / 8 + 16 }>::new();
    // Which bits are those of a row that begins at the first, and of what size and step.
    let (mut pattern, mut known) = ([0; TILE / 64], (0, 0));
    for mut tile in Tiles::new(dims, &cut) {
        // SAFETY: a tile of elements of the source, within the limits.
        let block = unsafe { loader.load(&mut tile) };
        let Some(hit) = dense::position(path, block, search) else { continue };
        let (line, others, rank) = split(&tile);
        if lines && rank == 0 && line.input == 1 {
            let rest = &block[hit * element..];
            for (class, rule) in rules.iter().enumerate() {
                let Class { count, first } = match one {
                    true => Class { count: 1, first: Some(0) },
                    false => dense::tally(path, rest, rule),
                };
                if let Some(first) = first {
                    let first = (tile.row + line.row * (hit + first) as isize) as usize;
                    out.add(tile.output as usize, class, count * repeats, first);
                }
            }
            continue;
        }
        let words = ((line.size - 1) * line.input.unsigned_abs() + 1).div_ceil(64);
        if known != (line.size, line.input) {
            block::pattern(&[line], &mut pattern[..words]);
            known = (line.size, line.input);
        }
        for (class, rule) in rules.iter().enumerate() {
            let bits = room.filled((block.len() / element).div_ceil(64) * 8 + 16, 0);
            dense::bits(path, block, rule, bits, 0);
            each(&others[..rank], |input, output| {
                let (mut count, mut first) = (0, usize::MAX);
                for (i, pattern) in pattern[..words].iter().enumerate() {
                    let hits = word(bits, input as usize + 64 * i) & pattern;
                    if hits != 0 {
                        count += hits.count_ones() as usize;
                        let bit = if backwards { hits.ilog2() } else { hits.trailing_zeros() };
                        let at = (64 * i + bit as usize) / line.input.unsigned_abs();
                        first = first.min((tile.row + line.row * at as isize) as usize);
                    }
                }
                if count > 0 {
                    out.add((tile.output + output) as usize, class, count * repeats, first);
                }
            });
        }
    }
}

/// The dimension of a tile that rows run along, and the others.
fn split(tile: &Tile) -> (Dim, [Dim; TILE_DIMS], usize) {
    let mut line = Dim { size: 1, input: 1, output: 0, row: 1 };
    let (mut others, mut rank) = ([Dim::default(); TILE_DIMS], 0);
    for &dim in &**tile {
        if dim.row != 0 {
            line = dim;
        } else {
            others[rank] = dim;
            rank += 1;
        }
    }
    (line, others, rank)
}

/// Rows that lie side by side. Mask bytes of tiles that follow each other along the rows are added up, at most 255 times, before they
/// go to their rows.
fn across(x: &Source<'_>, dims: &Dims, question: Question<'_>, out: &mut Rows<'_>) {
    let Question { path, search, rules, .. } = question;
    let element = x.element;
    // Along the rows first.
    let axis = dims.iter().position(|dim| dim.row != 0);
    let mut turned = Dims::at(dims.input, dims.output, dims.row);
    axis.into_iter().chain((0..dims.len()).filter(|&i| Some(i) != axis)).for_each(|i| turned.push(dims[i]));
    let dims = &turned;
    let (inner, size) = axis.map_or((0, 1), |axis| (axis, dims[0].size));
    // So much of a row that a tile is worth a call, and no more: what is added up is cheaper.
    let columns = dims.iter().skip(1).take(inner).fold(1, |all: usize, dim| all.saturating_mul(dim.size));
    let most = 512usize.div_ceil(columns);
    let whole = |i| (i, usize::MAX);
    let kept = usize::from(axis.is_some());
    let others = if most < size { 0..0 } else { kept + inner..dims.len() };
    let order = (kept..kept + inner).map(whole).chain((0..kept).map(|i| (i, most))).chain(others.map(whole));
    let gather = TILE.min(ROOM / element);
    let limits = Limits { span: TILE, gather, element, gaps: x.gaps, once: false, lines: false };
    let cut = Cut::new(dims, order, limits);
    let mut loader = Loader { start: x.start, element, span: cut.span, room: Room::new() };

    let steps = size.div_ceil(cut.sizes[..kept].first().copied().unwrap_or(1));
    let mut scratch = Room::<TILE>::new();
    let mut sums = Sums {
        tile: None,
        step: 0,
        taken: cut.sizes[..kept].first().copied().unwrap_or(1) as isize,
        backwards: dims.first().is_some_and(|dim| dim.row < 0),
        counts: [const { Room::new() }; 3],
        stamps: [const { Room::new() }; 3],
    };
    // Where hits are dense, it is not worth to search for them.
    let (mut clean, mut step) = (true, 0);
    for mut tile in Tiles::new(dims, &cut) {
        // SAFETY: a tile of elements of the source, within the limits.
        let block = unsafe { loader.load(&mut tile) };
        if !clean || dense::position(path, block, search).is_some() {
            let results = block.len() / element;
            sums.begin(&tile, step, results, question, out);
            clean = true;
            for (class, rule) in rules.iter().enumerate() {
                let mask = dense::mask(path, block, rule, scratch.slots(results));
                clean &= !sums.add(class, step, mask);
            }
        }
        step += 1;
        if step == steps {
            sums.finish(question, out);
            step = 0;
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
            (self.tile, self.step) = (Some(tile.clone()), step);
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
        let counts = self.counts[class].bytes(mask.len());
        let stamps = self.stamps[class].bytes(mask.len());
        let mut any = 0;
        for ((&hit, count), first) in mask.iter().zip(counts).zip(stamps) {
            any |= u8::from(hit);
            *count += u8::from(hit);
            *first = (*first).min(stamp | u8::from(hit).wrapping_sub(1));
        }
        any != 0
    }

    /// Brings the sums to their rows.
    fn finish(&mut self, question: Question<'_>, out: &mut Rows<'_>) {
        let Some(tile) = self.tile.take() else { return };
        let (line, others, rank) = split(&tile);
        let backwards = self.backwards;
        let sign = if backwards { -1 } else { 1 };
        for class in 0..question.rules.len() {
            let places = tile.span();
            let (counts, stamps) = (self.counts[class].bytes(places), self.stamps[class].bytes(places));
            each(&others[..rank], |input, output| {
                let (mut count, mut first) = (0, usize::MAX);
                for i in 0..line.size as isize {
                    let at = (input + i * line.input) as usize;
                    if counts[at] > 0 {
                        count += usize::from(counts[at]);
                        let steps =
                            isize::from(if backwards { TILES as u8 - 1 - stamps[at] } else { stamps[at] });
                        first = first.min((tile.row + (steps * self.taken + i) * sign) as usize);
                    }
                }
                if count > 0 {
                    out.add((tile.output + output) as usize, class, count * question.repeats, first);
                }
            });
        }
    }
}
