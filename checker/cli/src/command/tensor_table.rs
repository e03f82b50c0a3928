//! The table of bad tensors, for a terminal.

use console::Style;
use nonfinite_check::{ByKind, LookedAt, TensorReport};
use nonfinite_report::lines::{above, counts, firsts, measured, visible};

use crate::command::text_width::{INDENT, fill, pad, width};

/// A name in a row is not shortened below this width. Tensor names are rarely longer, and two
/// layers must not be confused.
const NAME: usize = 60;
/// A dtype or a shape in a row is shortened to this width.
const CELL: usize = 24;
const GAP: &str = "  ";
const HEADS: [&str; 6] =
    ["tensor", "dtype", "shape", ByKind::NAMES.nan, ByKind::NAMES.pos_inf, ByKind::NAMES.neg_inf];

/// A table of tensors in which no line is wider than the terminal of `columns` columns. Each line
/// ends with a line feed. Empty without tensors.
///
/// A row has the name, dtype, shape and counts of a tensor. What else is known stands behind the
/// row if it fits, and otherwise in lines below. If the rows are too wide, names are shortened, to
/// 60 columns at least. If the rows are too wide even so, only the name stands in the row.
#[must_use]
pub fn table(tensors: &[&TensorReport], colors: bool, columns: usize) -> String {
    if tensors.is_empty() {
        return String::new();
    }
    let rows: Vec<_> = tensors.iter().map(|tensor| cells(tensor)).collect();
    let widths = widths(&rows, columns);
    let line = |cells: &[String], style: Style| {
        let cells = cells.iter().zip(&widths).enumerate();
        // Counts are at the right edge.
        let cells = cells.map(|(at, (cell, width))| pad(cell, *width, at > 2));
        let line = cells.collect::<Vec<_>>().join(GAP);
        if colors {
            style.force_styling(true).apply_to(line.trim_end()).to_string()
        } else {
            line.trim_end().to_owned()
        }
    };
    let mut text = String::new();
    if widths.len() > 1 {
        text += &line(&HEADS.map(str::to_owned), Style::new().bold());
        text.push('\n');
    }
    for (tensor, cells) in tensors.iter().zip(&rows) {
        let style = if tensor.is_bad() { Style::new().red() } else { Style::new() };
        let row = line(&cells[..widths.len()], style);
        let mut more = Vec::new();
        if widths.len() == 1 {
            more.extend(cells[1..3].iter().cloned().chain(counts(tensor)));
        }
        more.extend(firsts(tensor));
        more.extend(tensor.statement());
        more.extend(tensor.large.as_deref().map(above));
        more.extend(measured(tensor));
        let behind = more.iter().map(|text| format!("{GAP}{text}")).collect::<String>();
        if width(&row) + width(&behind) <= columns {
            text += &format!("{row}{behind}\n");
        } else {
            text += &format!("{row}\n{}", fill(&more, INDENT, columns));
        }
    }
    text
}

/// The widths of the cells of a row: of all, or of the name only.
fn widths(rows: &[[String; 6]], columns: usize) -> Vec<usize> {
    let mut widths = HEADS.map(width);
    for (at, widest) in widths.iter_mut().enumerate() {
        *widest = rows.iter().map(|row| width(&row[at])).fold(*widest, usize::max);
    }
    widths[1..3].iter_mut().for_each(|width| *width = CELL.min(*width));
    let name = widths[0];
    let room = columns.saturating_sub(widths[1..].iter().map(|other| GAP.len() + other).sum());
    widths[0] = name.min(room);
    if room >= name.min(NAME) { widths.into() } else { vec![name.min(columns)] }
}

/// The cells of a row, without control characters.
fn cells(tensor: &TensorReport) -> [String; 6] {
    let scales = match tensor.looked_at {
        LookedAt::Scales { .. } => " scales",
        _ => "",
    };
    let [nan, pos_inf, neg_inf] =
        tensor.found.as_ref().into_array().map(|found| match found.count {
            0 => ".".to_owned(),
            count => count.to_string(),
        });
    [
        visible(tensor.title().as_deref().unwrap_or("-")),
        visible(&format!("{}{scales}", tensor.dtype)),
        format!("{:?}", tensor.shape),
        nan,
        pos_inf,
        neg_inf,
    ]
}
