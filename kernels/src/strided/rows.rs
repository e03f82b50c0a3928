//! One answer for each row, along any dimension.
//!
//! Tiles with hits are found in the order of memory. Long rows of such a tile are asked one by one.
//! Else the mask of the tile is added to the answers in runs, along one row or across several.
//!
//! ```text
//! rows along memory     rows across memory      mask bytes of a tile
//! row 0  a b c d        a b c d                 0 1 0 0 | 0 0 0 0 | 1 0 0 1
//! row 1  e f g h        e f g h
//! row 2  i j k l        i j k l                 one run:  0 1 0 0
//!        -->            | row 0, and so on
//! ```

use super::dims::{Dim, MEMORY, Tile, all_steps, output_of, steps};
use super::tensor::{ROOM, Room, Tensor, Tiles, Walk};
use crate::backend::Backend;
use crate::rule::Rule;
use crate::{Census, Occurrences};

/// The output, with one place for each row.
#[derive(Debug)]
pub enum Rows<'o> {
    /// Whether the rule holds for any element.
    Any(&'o mut [bool]),
    /// The number of elements for which the rule holds.
    Count(&'o mut [usize]),
    /// The index along the row of the first element for which the rule holds.
    Position(&'o mut [Option<usize>]),
    /// How many elements a rule holds for, and the first, for three rules: NaN, +Inf and -Inf.
    Census(&'o mut [Census]),
}

impl Rows<'_> {
    /// Sets the answers to those of rows without hits.
    pub fn clear(&mut self) {
        match self {
            Self::Any(out) => out.fill(false),
            Self::Count(out) => out.fill(0),
            Self::Position(out) => out.fill(None),
            Self::Census(out) => out.fill(Census::default()),
        }
    }

    /// Counts each element this many times.
    fn repeat(&mut self, times: usize) {
        match self {
            Self::Count(out) => out.iter_mut().for_each(|count| *count *= times),
            Self::Census(out) => out.iter_mut().for_each(|row| {
                row.nan.count *= times;
                row.pos_inf.count *= times;
                row.neg_inf.count *= times;
            }),
            Self::Any(_) | Self::Position(_) => {}
        }
    }

    /// Whether the answers of all rows of a tile are final: no later element can change them.
    fn are_answered(&self, tile: &Tile) -> bool {
        match self {
            Self::Any(out) => all_rows(tile, |row| out[row]),
            Self::Position(out) => all_rows(tile, |row| out[row].is_some()),
            Self::Count(_) | Self::Census(_) => false,
        }
    }

    /// Records that the rule number `class` holds for `count` more elements of a row. `first`
    /// returns the index of the first of them, which all later calls exceed.
    ///
    /// # Panics
    /// If there is no such row, or no such class.
    #[inline]
    pub fn add(&mut self, row: usize, class: usize, count: usize, first: impl FnOnce() -> usize) {
        match self {
            Self::Any(out) => out[row] = true,
            Self::Count(out) => out[row] += count,
            Self::Position(out) => _ = out[row].get_or_insert_with(first),
            Self::Census(out) => {
                let Census { nan, pos_inf, neg_inf } = &mut out[row];
                let found = &mut *[nan, pos_inf, neg_inf][class];
                found.count += count;
                found.first.get_or_insert_with(first);
            }
        }
    }
}

/// Whether `f` holds for all rows of a tile.
#[inline(always)]
fn all_rows(tile: &Tile, f: impl Fn(usize) -> bool) -> bool {
    let mut rows = Tile::at(0, 0, 0);
    tile.iter().filter(|dim| dim.row == 0).for_each(|dim| rows.push(*dim));
    let (inner, others) = rows.split_first().map_or((Dim::ONE, &[][..]), |(a, b)| (*a, b));
    (0..others.iter().map(|dim| dim.size).product()).all(|i| {
        let first = tile.output + output_of(others, i);
        (0..inner.size as isize).all(|j| f((first + j * inner.output) as usize))
    })
}

/// One answer for each row that runs along dimension `axis`; the rows are in row-major order of the
/// other dimensions. A census has three rules, another question has one. `search` must hold where
/// one of the rules does. `None` means the active backend.
///
/// # Panics
/// If a row with a hit has no place. Places behind those of the rows get the answer without hits.
pub fn rows(
    backend: Option<Backend>,
    x: &Tensor<'_>,
    axis: usize,
    search: &Rule,
    rules: &[&Rule],
    mut out: Rows<'_>,
) {
    let mut distance = 1usize;
    let mut walk = Walk::new(x);
    walk.place(|dimension, dim| {
        if dimension == axis {
            return (dim.input != 0).then_some((0, 1));
        }
        let output = distance as isize;
        distance = distance.wrapping_mul(dim.size);
        Some((output, 0))
    });
    out.clear();
    // The first hit of a row comes first, since rows keep their direction. Broadcast rows, which
    // come last, are answered more than once.
    walk.sort(MEMORY);
    let most = TILE.min(ROOM / walk.element());
    let mut tiles = Tiles::new(&walk, most, most);
    let mut scratch = Room::<TILE>::NEW;
    // Rows of at least this many elements in a tile are answered one by one.
    let long = if matches!(out, Rows::Any(_) | Rows::Position(_)) { 64 } else { 256 };
    let mut repeats = 1;
    while let Some(hit) = tiles.next_hit(backend, search, &mut |tile| out.are_answered(tile)) {
        repeats = walk.repeats();
        let (block, tile) = (tiles.block(), tiles.tile());
        if let [run, rows @ ..] = &**tile
            && run.row != 0
            && run.size >= long
            && rows.iter().all(|dim| dim.input != 0)
        {
            by_row(backend, block, tile, hit, search, rules, &mut out);
            continue;
        }
        for (class, rule) in rules.iter().enumerate() {
            if rules.len() == 1 || crate::position(backend, block, rule).is_some() {
                let slots = &mut scratch.0[..block.len() / walk.element()];
                let mask = crate::mask_uninit(backend, block, rule, slots);
                add_mask(mask, tile.in_block(), class, &mut out);
            }
        }
    }
    if repeats != 1 {
        out.repeat(repeats);
    }
}

/// The most elements of a tile. Sums of a column in one tile fit into a byte: see [`columns`].
const TILE: usize = 4096;

/// Answers the rows of a tile one by one, from the first hit on. Reads only what the answers need.
fn by_row(
    backend: Option<Backend>,
    block: &[u8],
    tile: &Tile,
    mut at: usize,
    search: &Rule,
    rules: &[&Rule],
    out: &mut Rows<'_>,
) {
    let (element, run, rows) = (search.size(), tile[0], &tile[1..]);
    let one = matches!(out, Rows::Any(_) | Rows::Position(_));
    loop {
        let (row, index) = (at / run.size, at % run.size);
        let end = (row + 1) * run.size;
        let rest = &block[at * element..end * element];
        for (class, rule) in rules.iter().enumerate() {
            let Occurrences { count, first } = match one {
                true => Occurrences { count: 1, first: Some(0) },
                false => crate::occurrences(backend, rest, rule),
            };
            if let Some(first) = first {
                let place = (tile.output + output_of(rows, row)) as usize;
                let first = tile.row as usize + index + first;
                out.add(place, class, count, || first);
            }
        }
        match crate::position(backend, &block[end * element..], search) {
            Some(hit) => at = end + hit,
            None => return,
        }
    }
}

/// Adds the mask bytes of a block to the answers of its rows.
fn add_mask(mask: &[bool], mut block: Tile, class: usize, out: &mut Rows<'_>) {
    if let [rows, along, others @ ..] = &*block
        && (rows.row, rows.input, along.input) == (0, 1, rows.size as isize)
        && along.row != 0
    {
        return all_steps(others, &mut |input, output, _| {
            let mask = &mask[input as usize..][..rows.size * along.size];
            columns(mask, *rows, block.output + output, class, block.row as usize, out);
        });
    }
    // A long dimension becomes the innermost.
    if block.first().is_some_and(|dim| dim.size < 16)
        && let Some(longest) = (0..block.len()).max_by_key(|&i| block[i].size)
    {
        block.list_mut().swap(0, longest);
    }
    let (inner, others) = block.split_first().map_or((Dim::ONE, &[][..]), |(a, b)| (*a, b));
    all_steps(others, &mut |input, output, row| {
        let (mask, place) = (&mask[input as usize..], (block.output + output) as usize);
        let row = (block.row + row) as usize;
        if inner.row != 0 {
            let (count, first) = hits_of(mask, inner);
            if count > 0 {
                out.add(place, class, count, || row + first);
            }
            return;
        }
        match &mut *out {
            Rows::Any(out) => steps(inner, |at, output| {
                out[place.wrapping_add_signed(output)] |= mask[at as usize];
            }),
            Rows::Count(out) => steps(inner, |at, output| {
                out[place.wrapping_add_signed(output)] += usize::from(mask[at as usize]);
            }),
            out => steps(inner, |at, output| {
                if mask[at as usize] {
                    out.add(place.wrapping_add_signed(output), class, 1, || row);
                }
            }),
        }
    });
}

/// The number of hits in a run, and the number of elements before the first.
#[inline(always)]
fn hits_of(mask: &[bool], along: Dim) -> (usize, usize) {
    let (mut count, mut first) = (0, usize::MAX);
    if along.input != 1 {
        let mut i = 0;
        steps(along, |at, _| {
            let hit = mask[at as usize];
            count += usize::from(hit);
            first = first.min(if hit { i } else { usize::MAX });
            i += 1;
        });
        return (count, first);
    }
    let (words, rest) = mask[..along.size].as_chunks::<8>();
    for (i, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(word.map(u8::from));
        if word != 0 {
            first = first.min(8 * i + word.trailing_zeros() as usize / 8);
            // The sum of all bytes.
            count += (word.wrapping_mul(0x0101_0101_0101_0101) >> 56) as usize;
        }
    }
    for (i, &hit) in rest.iter().enumerate() {
        if hit {
            first = first.min(8 * words.len() + i);
            count += 1;
        }
    }
    (count, first)
}

/// Adds adjacent columns, each of which is part of one row. The compiler vectorises the sums. If
/// there are few columns, a sum takes several runs at once:
///
/// ```text
/// mask   0 1 0  0 0 0  1 1 0  0 1 0      four runs of three columns
/// sums   0 1 0  0 0 0  +  1 1 0  0 1 0  =  1 2 0  0 1 0, that is 1 3 0
/// ```
fn columns(mask: &[bool], rows: Dim, place: isize, class: usize, row: usize, out: &mut Rows<'_>) {
    let width = rows.size * (64 / rows.size).max(1);
    let mut room = [0u8; TILE];
    let sums = &mut room[..width.min(TILE)];
    // `width` is at least 33, so a tile has at most 4096 / 33 chunks, and a sum fits into a byte.
    for chunk in mask.chunks(width) {
        sums.iter_mut().zip(chunk).for_each(|(sum, hit)| *sum += u8::from(*hit));
    }
    if width == rows.size && rows.output == 1 {
        let places = place as usize..place as usize + width;
        match out {
            Rows::Any(out) => {
                return out[places].iter_mut().zip(sums).for_each(|(any, sum)| *any |= *sum > 0);
            }
            Rows::Count(out) => {
                let counts = out[places].iter_mut().zip(sums);
                return counts.for_each(|(count, sum)| *count += usize::from(*sum));
            }
            Rows::Position(_) | Rows::Census(_) => {}
        }
    }
    let mut column = 0;
    while column < rows.size {
        if width == rows.size && sums[column..].first_chunk() == Some(&[0; 16]) {
            column += 16;
            continue;
        }
        let count: usize = sums[column..].iter().step_by(rows.size).map(|&sum| sum as usize).sum();
        if count > 0 {
            let place = (place + rows.output * column as isize) as usize;
            let first =
                || mask[column..].iter().step_by(rows.size).take_while(|hit| !**hit).count();
            out.add(place, class, count, || row + first());
        }
        column += 1;
    }
}
