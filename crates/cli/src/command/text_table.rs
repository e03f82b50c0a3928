//! Tables that fit the width of the terminal.

use console::Style;

use crate::command::text_width::{INDENT, fill, pad, width};

/// A name in a row is not shortened below this width. Tensor names are rarely longer, and two
/// layers must not look alike.
const NAME: usize = 60;
const GAP: &str = "  ";
/// The cell of a count of zero.
pub const ZERO: &str = ".";

/// A column.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its head.
    pub head: &'static str,
    /// Whether cells end at the right edge.
    pub right: bool,
    /// The most columns of the terminal for a cell in a row.
    pub most: usize,
    /// The text before and behind a cell in a line below the row, where the cell has no head.
    pub words: [&'static str; 2],
    /// The cells, without control characters.
    pub cells: Vec<String>,
}

impl Column {
    /// A column of any width, whose cells begin at the left edge.
    #[must_use]
    pub fn new(head: &'static str, cells: impl Iterator<Item = String>) -> Self {
        Self { head, right: false, most: usize::MAX, words: ["", ""], cells: cells.collect() }
    }

    fn width(&self) -> usize {
        self.cells.iter().map(|cell| width(cell)).fold(width(self.head), usize::max).min(self.most)
    }

    /// The cell, as part of a line below the row. None for an empty cell or a count of zero.
    fn piece(&self, row: usize) -> Option<String> {
        let cell = self.cells[row].as_str();
        let [before, behind] = self.words;
        (!cell.is_empty() && cell != ZERO).then(|| [before, cell, behind].concat())
    }
}

/// A table in which no line is wider than the terminal.
///
/// If a row is too wide, columns are moved or shortened in this order:
///
/// 1. Names, the first column, are shortened, to 60 columns at least.
/// 2. The columns behind the first [`Grid::facts`] move to lines below the row.
/// 3. All columns except the name move there.
///
/// A text that is longer than a line is shortened. Shortened texts lose their middle.
#[derive(Clone, Debug)]
pub struct Grid {
    /// The columns, at least a name. All have the same number of cells.
    pub columns: Vec<Column>,
    /// The number of columns that stay in the row as long as they fit.
    pub facts: usize,
    /// The rows that are red, if there are colours.
    pub red: Vec<bool>,
    /// Whether there are colours.
    pub colors: bool,
    /// The columns of the terminal.
    pub width: usize,
}

impl Grid {
    /// The lines, each ended by a line feed.
    #[must_use]
    pub fn text(&self) -> String {
        let columns = &self.columns;
        let room = |count: usize| {
            let others = columns[1..count].iter().map(|column| GAP.len() + column.width());
            self.width.saturating_sub(others.sum())
        };
        let name = columns[0].width();
        let fits = |count: &usize| room(*count) >= name.min(NAME);
        let count = [columns.len(), self.facts].into_iter().find(fits).unwrap_or(1);
        let (row, below) = columns.split_at(count);
        let mut widths: Vec<_> = row.iter().map(Column::width).collect();
        widths[0] = name.min(room(count));

        let mut text = String::new();
        if count > 1 {
            let heads: Vec<_> = row.iter().map(|column| column.head).collect();
            self.line(&mut text, row, &heads, &widths, &Style::new().bold());
        }
        for (index, red) in self.red.iter().enumerate() {
            let cells: Vec<_> = row.iter().map(|column| column.cells[index].as_str()).collect();
            let style = if *red { Style::new().red() } else { Style::new() };
            self.line(&mut text, row, &cells, &widths, &style);
            let pieces: Vec<_> = below.iter().filter_map(|column| column.piece(index)).collect();
            text.push_str(&fill(&pieces, INDENT, self.width));
        }
        text
    }

    fn line(
        &self,
        text: &mut String,
        columns: &[Column],
        cells: &[&str],
        widths: &[usize],
        style: &Style,
    ) {
        let cells = columns.iter().zip(cells).zip(widths);
        let cells = cells.map(|((column, cell), width)| pad(cell, *width, column.right));
        let line = cells.collect::<Vec<_>>().join(GAP);
        let line = line.trim_end();
        if self.colors {
            text.push_str(&style.clone().force_styling(true).apply_to(line).to_string());
        } else {
            text.push_str(line);
        }
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(name: &str, width: usize) -> String {
        let column = |head, cell: &str| Column::new(head, [cell.to_owned()].into_iter());
        let columns = vec![
            column("tensor", name),
            Column { most: 24, ..column("shape", &"1, ".repeat(20)) },
            Column { words: ["", " NaN"], right: true, ..column("NaN", "7") },
            Column { words: ["first ", ""], ..column("first", "[12345678]") },
        ];
        Grid { columns, facts: 3, red: vec![true], colors: false, width }.text()
    }

    /// A row has the width of all columns, with 60 for the name. If the terminal has one column
    /// less, the last column moves below the row, and so on.
    #[test]
    fn columns_give_way() {
        let name = "x".repeat(61);
        let short = format!("{}…{}", "x".repeat(29), "x".repeat(30));
        // 60 of the name, 24 of the shape, 3 of the count, 10 of the place, and three gaps.
        for (columns, lines) in [(103, 2), (102, 3), (91, 3), (90, 2)] {
            let text = grid(&name, columns);
            assert!(text.lines().all(|line| width(line) <= columns), "{columns}\n{text}");
            assert_eq!(text.lines().count(), lines, "{columns}\n{text}");
            assert_eq!(text.starts_with("tensor"), columns >= 91, "{columns}\n{text}");
            assert_eq!(text.contains(&short), [103, 91].contains(&columns), "{columns}\n{text}");
        }
        // A short name takes only its own width.
        assert_eq!(grid("x", 50).lines().count(), 2);
    }

    #[test]
    fn lines_below_a_row() {
        let below = grid("x", 20);
        assert!(below.starts_with("x\n  1, 1, 1,"), "{below}");
        assert!(below.contains("\n  7 NaN\n  first [12345678]\n"), "{below}");
    }
}
