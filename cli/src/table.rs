//! The table of bad tensors, for a terminal.

use std::fmt::Write as _;

use console::{Style, measure_text_width, pad_str, truncate_str};
use nonfinite_check::{First, LookedAt, TensorReport};

use crate::report::OneLine;

/// Narrower than this a name says nothing.
const NARROWEST_NAME: usize = 12;

/// A table of tensors that fits a width.
#[derive(Debug)]
pub struct Table<'a> {
    tensors: Vec<&'a TensorReport>,
    stats: bool,
    colors: bool,
    width: usize,
}

impl<'a> Table<'a> {
    /// A table of these tensors, for a terminal of so many columns.
    #[must_use]
    pub fn new(tensors: Vec<&'a TensorReport>, stats: bool, colors: bool, width: usize) -> Self {
        Self { tensors, stats, colors, width }
    }

    /// The rows, each ended by a line feed; nothing for no tensors.
    #[must_use]
    pub fn text(&self) -> String {
        if self.tensors.is_empty() {
            return String::new();
        }
        let mut head = vec!["tensor", "dtype", "shape", "NaN", "+Inf", "-Inf", "first"];
        if self.stats {
            head.extend(["min", "max"]);
        }
        let head: Vec<_> = head.into_iter().map(str::to_owned).collect();
        let rows: Vec<_> = self.tensors.iter().map(|tensor| self.row(tensor)).collect();
        let mut widths: Vec<usize> = (0..head.len())
            .map(|column| {
                rows.iter()
                    .chain([&head])
                    .map(|row| measure_text_width(&row[column]))
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        self.fit(&mut widths);
        let mut text = String::new();
        self.line(&mut text, &head, &widths, Some(&Style::new().bold()));
        for (row, tensor) in rows.iter().zip(&self.tensors) {
            let style = if tensor.is_bad() { Style::new().red() } else { Style::new() };
            self.line(&mut text, row, &widths, Some(&style));
        }
        text
    }

    fn row(&self, tensor: &TensorReport) -> Vec<String> {
        let name =
            tensor.name.as_deref().map_or_else(|| "-".to_owned(), |name| OneLine(name).to_string());
        let dtype = match tensor.looked_at {
            LookedAt::Scales { .. } => format!("{} scales", tensor.dtype),
            LookedAt::Values
            | LookedAt::AlwaysFinite
            | LookedAt::NotFloat
            | LookedAt::Unreadable(_) => tensor.dtype.clone(),
        };
        let mut row = vec![name, dtype, format!("{:?}", tensor.shape)];
        let counts = tensor.found.as_ref().map(|finding| finding.count).into_array();
        row.extend(counts.map(|count| if count == 0 { ".".to_owned() } else { count.to_string() }));
        row.push(tensor.first().map(|(kind, first)| describe(kind, first)).unwrap_or_default());
        if self.stats {
            row.push(tensor.range.map(|range| format!("{:.4e}", range.min)).unwrap_or_default());
            row.push(tensor.range.map(|range| format!("{:.4e}", range.max)).unwrap_or_default());
        }
        row.iter().map(|cell| OneLine(cell).to_string()).collect()
    }

    /// Takes from the widest of the columns that can be cut, the name, the shape and the first,
    /// until all fit.
    fn fit(&self, widths: &mut [usize]) {
        const CUT: [usize; 3] = [0, 2, 6];
        let gaps = 2 * (widths.len() - 1);
        while widths.iter().sum::<usize>() + gaps > self.width {
            let widest = CUT.into_iter().max_by_key(|&column| widths[column]).unwrap_or(0);
            if widths[widest] <= NARROWEST_NAME {
                break;
            }
            widths[widest] -= 1;
        }
    }

    fn line(&self, text: &mut String, cells: &[String], widths: &[usize], style: Option<&Style>) {
        let mut line = String::new();
        for (column, (cell, &width)) in cells.iter().zip(widths).enumerate() {
            let cell = truncate_str(cell, width, "…");
            let align = match column {
                3..=5 | 7.. => console::Alignment::Right,
                _ => console::Alignment::Left,
            };
            let gap = if column == 0 { "" } else { "  " };
            // Writing to a string cannot fail.
            let _ = write!(line, "{gap}{}", pad_str(&cell, width, align, None));
        }
        let line = line.trim_end();
        match style.filter(|_| self.colors) {
            Some(style) => {
                text.push_str(&style.clone().force_styling(true).apply_to(line).to_string())
            }
            None => text.push_str(line),
        }
        text.push('\n');
    }
}

/// The kind, the coordinate, which part of the element, and the bits.
#[must_use]
pub fn describe(kind: &str, first: &First) -> String {
    let mut text = format!("{kind} {:?}", first.coordinate);
    // Writing to a string cannot fail.
    if let Some(part) = first.part {
        let _ = write!(text, " {part}");
    }
    let _ = write!(text, " {}", first.hex());
    match first.quiet() {
        Some(true) => text.push_str(" quiet"),
        Some(false) => text.push_str(" signalling"),
        None => {}
    }
    text
}
