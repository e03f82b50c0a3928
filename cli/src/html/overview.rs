//! The overview of a file: its tensors by kind and layer.
//!
//! The layer of a tensor is the first number in its name. Its kind is the name with `*` for each
//! number: `blk.7.attn_q.weight` is of layer 7 and of the kind `blk.*.attn_q.weight`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use nonfinite_check::{LookedAt, TensorReport};

use super::text::{Budget, escaped};
use crate::report::count;

/// The most columns. If there are more layers, several layers share a column.
const COLUMNS: usize = 256;

const END: &str = "</table></div>\n";

/// The content of a cell.
#[derive(Clone, Copy, Default)]
struct Cell {
    tensors: usize,
    bad: usize,
    unreadable: usize,
    /// Tensors that were looked at.
    looked_at: usize,
    /// The number of the entry in the page, of a bad tensor.
    entry: Option<usize>,
}

/// The tensors of a kind, by column.
#[derive(Default)]
struct Row {
    /// The order of the kinds.
    order: usize,
    cells: BTreeMap<usize, Cell>,
}

/// The table of a file. `entry` returns the number of the entry of a tensor, if the tensor has an
/// entry.
pub(super) fn table(
    tensors: &[TensorReport],
    entry: impl Fn(usize) -> Option<usize>,
    budget: &mut Budget,
) -> String {
    let parsed: Vec<_> = tensors.iter().map(|tensor| parse(tensor.name.as_deref())).collect();
    let layers: BTreeSet<u64> = parsed.iter().filter_map(|(_, layer)| *layer).collect();
    let layers: Vec<u64> = layers.into_iter().collect();
    let step = layers.len().div_ceil(COLUMNS - 1).max(1);
    // Column 0 is for tensors without a layer.
    let column = |layer: Option<u64>| {
        layer.and_then(|layer| layers.binary_search(&layer).ok()).map_or(0, |at| 1 + at / step)
    };
    let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
    for (index, (tensor, (kind, layer))) in tensors.iter().zip(&parsed).enumerate() {
        let order = rows.len();
        let row = rows.entry(kind).or_insert_with(|| Row { order, ..Row::default() });
        row.cells.entry(column(*layer)).or_default().add(tensor, || entry(index));
    }
    let mut rows: Vec<_> = rows.into_iter().collect();
    rows.sort_unstable_by_key(|(_, row)| row.order);
    let width = 1 + layers.len().div_ceil(step);
    let lines: Vec<_> = rows.iter().map(|(kind, row)| (row, line(kind, row, width))).collect();

    let mut table = head(&layers, step);
    if !budget.take(&table, END.len()) {
        return left_out(&rows.iter().map(|(_, row)| row).collect::<Vec<_>>());
    }
    // Kinds with findings come first, so that they get the space.
    let mut is_in: Vec<bool> = lines.iter().map(|_| false).collect();
    for first in [true, false] {
        for ((row, line), is_in) in lines.iter().zip(&mut is_in) {
            *is_in = *is_in || (row.is_clean() != first && budget.take(line, 0));
        }
    }
    let mut out = Vec::new();
    for ((row, line), is_in) in lines.iter().zip(is_in) {
        if is_in { table.push_str(line) } else { out.push(*row) }
    }
    table.push_str(END);
    table + &left_out(&out)
}

impl Cell {
    fn add(&mut self, tensor: &TensorReport, entry: impl Fn() -> Option<usize>) {
        self.tensors += 1;
        self.bad += usize::from(tensor.is_bad());
        match tensor.looked_at {
            LookedAt::Unreadable(_) | LookedAt::Damaged(_) => self.unreadable += 1,
            LookedAt::Values | LookedAt::Scales { .. } => self.looked_at += 1,
            LookedAt::AlwaysFinite | LookedAt::NotFloat => {}
        }
        if tensor.is_bad() {
            self.entry = self.entry.or_else(entry);
        }
    }
}

impl Row {
    fn sum(&self, of: impl Fn(&Cell) -> usize) -> usize {
        self.cells.values().map(of).sum()
    }

    fn is_clean(&self) -> bool {
        self.sum(|cell| cell.bad + cell.unreadable) == 0
    }
}

/// The kind and the layer of a tensor, by its name. Digits are a number if no letter is adjacent.
fn parse(name: Option<&str>) -> (String, Option<u64>) {
    let Some(name) = name else { return ("(no name)".to_owned(), None) };
    let (mut kind, mut layer) = (String::new(), None);
    let mut rest = name;
    while !rest.is_empty() {
        let is_word = |char: char| char.is_alphanumeric();
        let end = rest.find(|char| !is_word(char)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        match word.parse::<u64>() {
            Ok(number) if word.bytes().all(|byte| byte.is_ascii_digit()) => {
                layer = layer.or(Some(number));
                kind.push('*');
            }
            _ => kind.push_str(word),
        }
        let end = behind.find(is_word).unwrap_or(behind.len());
        kind.push_str(&behind[..end]);
        rest = &behind[end..];
    }
    (kind, layer)
}

/// The beginning of a table, with the layers.
fn head(layers: &[u64], step: usize) -> String {
    let mut head =
        "<div class=wide tabindex=0 role=region aria-label=\"Tensors by kind and layer\">\
                    <table><thead><tr><th scope=col>kind<th scope=col>no layer"
            .to_owned();
    for some in layers.chunks(step) {
        // Writing to a string cannot fail.
        let _ = match some {
            [first, .., last] => write!(head, "<th scope=col>{first}-{last}"),
            [first] => write!(head, "<th scope=col>{first}"),
            [] => Ok(()),
        };
    }
    head + "<tbody>\n"
}

fn line(kind: &str, row: &Row, width: usize) -> String {
    let mut line = format!("<tr><th scope=row>{}", escaped(kind));
    let mut at = 0;
    let mut gap = |line: &mut String, to: usize, next: usize| {
        let _ = match to - at {
            0 => Ok(()),
            1 => write!(line, "<td>"),
            cells => write!(line, "<td colspan={cells}>"),
        };
        at = next;
    };
    for (&column, cell) in &row.cells {
        gap(&mut line, column, column + 1);
        let _ = match cell {
            Cell { bad: 1.., entry: Some(entry), .. } => {
                write!(line, "<td class=b><a href=#t{entry}>{}</a>", cell.bad)
            }
            Cell { bad: 1.., .. } => write!(line, "<td class=b>{}", cell.bad),
            Cell { unreadable: 1.., .. } => write!(line, "<td class=u>?"),
            Cell { looked_at: 0, .. } => write!(line, "<td>-"),
            Cell { .. } => write!(line, "<td>."),
        };
    }
    gap(&mut line, width, width);
    line.push('\n');
    line
}

/// The sentence about kinds that are left out, since the page would be too long.
fn left_out(rows: &[&Row]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let sum = |of: fn(&Cell) -> usize| rows.iter().map(|row| row.sum(of)).sum::<usize>();
    format!(
        "<p>Not in the table, for want of room: {} of {}, {} bad, {} that could not be \
         looked at.\n",
        count(rows.len(), "more kind"),
        count(sum(|cell| cell.tensors), "tensor"),
        sum(|cell| cell.bad),
        sum(|cell| cell.unreadable),
    )
}
