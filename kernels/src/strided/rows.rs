//! One answer for each row, along any dimension.

use crate::Occurrences;
use crate::backend::Backend;
use crate::rule::Rule;

use super::answers::{Question, Rows, TILE, earlier};
use super::block::{self, Loader, ROOM, Room, word};
use super::cut::{Cut, Limits, Tiles};
use super::dims::{Dim, Dims, Tile, first_of, line, sort, walk};
use super::{Source, across, dense};

/// One answer for each row that runs along dimension `axis`, counted from the innermost; the rows
/// are in row-major order of the other dimensions. `search` must hold wherever one of `rules` does.
/// `None` means the active backend.
///
/// # Panics
/// If there are not three rules for a census, or one rule for another question, or if there is not
/// one place for each row. Nothing is written then. For a tensor without elements, any number of
/// places is accepted.
pub fn rows(
    backend: Option<Backend>,
    x: &Source<'_>,
    axis: usize,
    search: &Rule,
    rules: &[&Rule],
    mut out: Rows<'_>,
) {
    assert!(rules.len() == if matches!(out, Rows::Census(_)) { 3 } else { 1 }, "other rules");
    let (mut dims, mut size, mut distance) = (Dims::new(), 1, 1);
    let mut question =
        Question { backend: backend.unwrap_or_else(Backend::active), search, rules, repeats: 1 };
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
    assert!(
        x.is_empty() || out.len() == x.len / size,
        "{} rows, but {} places",
        x.len / size,
        out.len()
    );
    out.clear();
    if x.is_empty() || matches!(search, Rule::Constant { answer: false, .. }) {
        return;
    }
    dims.forwards();
    // In the order of memory. Broadcast rows are answered more than once.
    sort(dims.list_mut(), |dim| dim.input.wrapping_sub(1) as usize);
    dims.merge();
    if dims.first().is_none_or(|dim| dim.row != 0) {
        along(x, &dims, question, &mut out);
    } else {
        across::across(x, &dims, question, &mut out);
    }
}

/// Bytes of the packed results of a tile, plus the bytes that a read of a word reaches beyond them.
const BITS: usize = TILE / 8 + 16;

/// Answers rows with adjacent elements.
fn along(x: &Source<'_>, dims: &Dims, question: Question<'_>, out: &mut Rows<'_>) {
    let Question { backend, search, rules, repeats } = question;
    let element = x.element;
    // If a row runs backwards, its first hit is the last one in memory.
    let backwards = dims.first().is_some_and(|dim| dim.row < 0);
    let one = rules.len() == 1 && !matches!(out, Rows::Count(_));
    let lines = !backwards || matches!(out, Rows::Any(_) | Rows::Count(_));
    let gather = TILE.min(ROOM / element);
    let limits = Limits { span: TILE, gather, element, gaps: x.gaps, once: false, lines };
    let cut = Cut::whole(dims, limits);
    let mut loader = Loader { start: x.start, element, span: cut.span, room: Room::new() };
    let mut found = Room::<BITS>::new();
    let mut rooms = [const { Room::<BITS>::new() }; 3];
    // The pattern of bits of a row that begins at bit 0, and the size and step that it was made
    // for.
    let (mut pattern, mut known) = ([0; TILE / 64], (0, 0));
    let mut tiles = Tiles::new(dims, &cut);
    while let Some(tile) = tiles.next() {
        let done = !backwards && out.is_answered(tile.output as usize);
        if done && tile.iter().all(|dim| dim.row != 0) {
            continue;
        }
        // SAFETY: a tile of elements of the source, within the limits.
        let block = unsafe { loader.load(tile) };
        let Some(hit) = dense::position(backend, block, search) else { continue };
        let line = tile.split();
        let (others, rank) = (&**tile, tile.len());
        // Answers one row after the other, and reads only as much as the answer needs.
        if lines
            && line.input == 1
            && (rank == 0 || rank == 1 && line.size >= if one { 256 } else { 512 })
        {
            let distance = others.first().map_or(line.size, |row| row.input.unsigned_abs());
            if distance >= line.size {
                by_row(tile, line, others, distance, block, hit, one, question, out);
                continue;
            }
        }
        let words = ((line.size - 1) * line.input.unsigned_abs() + 1).div_ceil(64);
        if known != (line.size, line.input) {
            block::pattern(&[line], &mut pattern[..words]);
            known = (line.size, line.input);
        }
        let results = Results {
            rows: others,
            pattern: &pattern[..words],
            line,
            row: tile.row,
            output: tile.output,
        };
        let bytes = (block.len() / element).div_ceil(64) * 8 + 16;
        let found = found.filled(bytes, 0);
        dense::bits(backend, block, search, found, 0);
        if let [_] = rules {
            results.bring(found, &[found], repeats, out);
        } else {
            let mut classes = [&*found; 3];
            for ((room, rule), class) in rooms.iter_mut().zip(rules).zip(&mut classes) {
                let bits = room.filled(bytes, 0);
                dense::bits(backend, block, rule, bits, 0);
                *class = bits;
            }
            results.bring(found, &classes, repeats, out);
        }
    }
}

/// Answers rows of adjacent elements, `distance` elements apart, from the first hit on.
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "what its only caller has")]
fn by_row(
    tile: &Tile,
    line: Dim,
    rows: &[Dim],
    distance: usize,
    block: &[u8],
    mut at: usize,
    one: bool,
    question: Question<'_>,
    out: &mut Rows<'_>,
) {
    let Question { backend, search, rules, repeats } = question;
    let element = search.size();
    let step = rows.first().map_or(0, |row| row.output);
    loop {
        let (row, index) = (at / distance, at % distance);
        if index < line.size {
            let rest = &block[at * element..][..(line.size - index) * element];
            for (class, rule) in rules.iter().enumerate() {
                let Occurrences { count, first } = match one {
                    true => Occurrences { count: 1, first: Some(0) },
                    false => dense::occurrences(backend, rest, rule),
                };
                if let Some(first) = first {
                    let first = (tile.row + line.row * (index + first) as isize) as usize;
                    out.add(
                        (tile.output + row as isize * step) as usize,
                        class,
                        count * repeats,
                        first,
                    );
                }
            }
        }
        let next = (row + 1) * distance;
        let rest = block.get(next * element..).filter(|rest| !rest.is_empty());
        let Some(hit) = rest.and_then(|rest| dense::position(backend, rest, search)) else {
            return;
        };
        at = next + hit;
    }
}

/// The number of ones in a byte. A table, for CPUs without an instruction for this.
const ONES: [u8; 256] = {
    let mut ones = [0; 256];
    let mut i = 1;
    while i < 256 {
        ones[i] = ones[i / 2] + i as u8 % 2;
        i += 1;
    }
    ones
};

/// Packed results of rows.
struct Results<'r> {
    /// The rows. The input is the first bit of a row.
    rows: &'r [Dim],
    /// The pattern of bits of a row that begins at bit 0.
    pattern: &'r [u64],
    line: Dim,
    row: isize,
    output: isize,
}

impl Results<'_> {
    /// Adds the results to their rows. `found` has the bits for any of the rules, and `classes` the
    /// bits for each rule.
    #[inline(never)]
    fn bring(&self, found: &[u8], classes: &[&[u8]], repeats: usize, out: &mut Rows<'_>) {
        let (rows, others) = first_of(self.rows);
        let pattern = self.pattern[0];
        let short = self.pattern.len() == 1;
        walk(others, &mut |input, output| {
            let hits = |at| word(found, (input + at) as usize) & pattern;
            let row = |output_| (self.output + output + output_) as usize;
            match &mut *out {
                Rows::Any(out) if short => {
                    line(rows, |at, output| out[row(output)] |= hits(at) != 0)
                }
                Rows::Count(out) if short && pattern < 256 => line(rows, |at, output| {
                    out[row(output)] += ONES[hits(at) as usize % 256] as usize * repeats;
                }),
                Rows::Count(out) if short => line(rows, |at, output| {
                    out[row(output)] += hits(at).count_ones() as usize * repeats;
                }),
                Rows::Position(out) if short => line(rows, |at, output| {
                    let hits = hits(at);
                    if hits != 0 {
                        earlier(&mut out[row(output)], self.first(0, hits));
                    }
                }),
                out => line(rows, |at, output| {
                    if short && hits(at) == 0 {
                        return;
                    }
                    for (class, bits) in classes.iter().enumerate() {
                        let (count, first) = self.row(bits, (input + at) as usize);
                        if count > 0 {
                            out.add(row(output), class, count * repeats, first);
                        }
                    }
                }),
            }
        });
    }

    /// The number of hits in the row whose bits begin here, and the first hit.
    #[inline(always)]
    fn row(&self, bits: &[u8], at: usize) -> (usize, usize) {
        let (mut count, mut first) = (0, usize::MAX);
        for (i, pattern) in self.pattern.iter().enumerate() {
            let hits = word(bits, at + 64 * i) & pattern;
            if hits != 0 {
                count += hits.count_ones() as usize;
                first = first.min(self.first(64 * i, hits));
            }
        }
        (count, first)
    }

    /// The index, along the row, of the first of these hits. If rows run backwards, this is the
    /// last one in memory.
    #[inline(always)]
    fn first(&self, base: usize, hits: u64) -> usize {
        let bit = if self.line.row < 0 { hits.ilog2() } else { hits.trailing_zeros() };
        let at = (base + bit as usize) / self.line.input.unsigned_abs();
        (self.row + self.line.row * at as isize) as usize
    }
}
