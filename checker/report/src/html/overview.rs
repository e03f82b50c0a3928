//! The overview of a file: its tensors by kind and layer.

use std::collections::BTreeMap;

use nonfinite_check::{FileFormat, LookedAt, TensorReport};

use super::layers::{Layers, parse, row};
use super::text::{Budget, breakable};
use crate::lines::count;

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

/// The table of a file of this format. `entry` returns the number of the entry of a tensor, by the
/// index of the tensor, if the tensor has an entry.
pub(super) fn table(
    tensors: &[&TensorReport],
    format: FileFormat,
    entry: impl Fn(usize) -> Option<usize>,
    budget: &mut Budget,
) -> String {
    let is_numbered = format == FileFormat::ONNX;
    let parse = |tensor: &&TensorReport| parse(tensor.name.as_deref(), is_numbered);
    let parsed: Vec<_> = tensors.iter().map(parse).collect();
    let layers = Layers::new(parsed.iter().filter_map(|(_, layer)| *layer).collect());
    let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
    for (index, (tensor, (kind, layer))) in tensors.iter().zip(&parsed).enumerate() {
        let order = rows.len();
        let row = rows.entry(kind).or_insert_with(|| Row { order, ..Row::default() });
        row.cells.entry(layers.column(*layer)).or_default().add(tensor, || entry(index));
    }
    let mut rows: Vec<_> = rows.into_iter().collect();
    rows.sort_unstable_by_key(|(_, row)| row.order);
    let width = layers.width();
    let lines: Vec<_> = rows.iter().map(|(kind, row)| (row, line(kind, row, width))).collect();

    let mut table = layers.head("Tensors by kind and layer", "kind");
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

fn line(kind: &str, of: &Row, width: usize) -> String {
    let cells = of.cells.iter().map(|(&column, cell)| {
        let cell = match cell {
            Cell { bad: 1.., entry: Some(entry), .. } => {
                format!("<td class=b><a href=#t{entry}>{}</a>", cell.bad)
            }
            Cell { bad: 1.., .. } => format!("<td class=b>{}", cell.bad),
            Cell { unreadable: 1.., .. } => "<td class=u>?".to_owned(),
            Cell { looked_at: 0, .. } => "<td>-".to_owned(),
            Cell { .. } => "<td>.".to_owned(),
        };
        (column, cell)
    });
    row(&breakable(kind), cells, width)
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
