//! The places of bad numbers, for a terminal: the statement of a tensor, and its map.

use std::env;
use std::fmt::Write as _;

use nonfinite_check::{Map, Steps, TensorReport};
use nonfinite_report::lines::{OneLine, visible};

use crate::command::text_width::{shorten, wrap};

/// The largest size of a map, in characters. A character shows two by two blocks. A block shows one
/// step of the columns and one step of the rows, or two steps of the rows if there are many. So a
/// map of 64 by 64 steps is a square on most terminals.
const WIDTH: usize = Steps::MOST / 2;
const HEIGHT: usize = Steps::MOST / 4;

/// The number of row steps in a block.
fn rows_in_block(map: &Map) -> usize {
    map.rows.count().div_ceil(2 * HEIGHT)
}

/// The most groups of a tensor that are drawn.
const GROUPS: usize = 4;

/// The characters of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// The quadrant characters of Unicode.
    Quadrants,
    /// `#` where one of the four blocks of a character is lit.
    Ascii,
}

impl Blocks {
    /// The characters that the terminal can show, by TERM and the locale.
    #[must_use]
    pub fn of_environment() -> Self {
        let value = |name| env::var(name).ok().filter(|value| !value.is_empty());
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(value);
        Self::of(value("TERM").as_deref(), locale.as_deref())
    }

    fn of(term: Option<&str>, locale: Option<&str>) -> Self {
        let locale = locale.unwrap_or_default().to_ascii_lowercase().replace('-', "");
        let is_utf8 = cfg!(windows) || locale.contains("utf8");
        if is_utf8 && term != Some("dumb") { Self::Quadrants } else { Self::Ascii }
    }

    /// The character for four blocks: upper left, upper right, lower left, lower right.
    fn char(self, lit: [bool; 4]) -> char {
        const QUADRANTS: [char; 16] =
            [' ', '▘', '▝', '▀', '▖', '▌', '▞', '▛', '▗', '▚', '▐', '▜', '▄', '▙', '▟', '█'];
        match self {
            Self::Quadrants => {
                let bits = lit.iter().rev().fold(0, |bits, &lit| bits << 1 | usize::from(lit));
                QUADRANTS[bits]
            }
            Self::Ascii if lit.contains(&true) => '#',
            Self::Ascii => ' ',
        }
    }
}

/// The maps of tensors, each below the name of its tensor.
#[must_use]
pub fn named(tensors: &[&TensorReport], blocks: Blocks, width: usize) -> String {
    let maps = tensors.iter().map(|tensor| (tensor, drawn(tensor, blocks, width)));
    let maps = maps.filter(|(_, map)| !map.is_empty()).map(|(tensor, map)| {
        let name = visible(tensor.title().as_deref().unwrap_or("-"));
        format!("{}\n{map}", shorten(&name, width))
    });
    maps.collect()
}

/// The map of a tensor, in lines. Empty if there is no map.
#[must_use]
pub fn drawn(tensor: &TensorReport, blocks: Blocks, width: usize) -> String {
    let Some(places) = &tensor.places else { return String::new() };
    let Some(map) = &places.map else { return String::new() };
    let name = tensor.name.as_deref().unwrap_or_default();
    let lit: Vec<_> = map.lit.iter().map(|lit| map.steps_of(lit.cell)).collect();
    let legend = wrap(&legend(map, blocks), width.saturating_sub(2));
    let mut text: String = legend.lines().map(|line| format!("  {line}\n")).collect();
    let groups: Vec<_> = lit.chunk_by(|a, b| a.0 == b.0).collect();
    for group in groups.iter().take(GROUPS) {
        if map.groups.extent > 1 {
            let label = places.group(group[0].0, name).unwrap_or_default();
            let _ = writeln!(text, "  {}", OneLine(label));
        }
        draw(&mut text, map, group, blocks);
    }
    if groups.len() > GROUPS {
        let _ = writeln!(text, "  and {} more like these", groups.len() - GROUPS);
    }
    text
}

/// The state of a block.
fn legend(map: &Map, blocks: Blocks) -> String {
    let (rows, columns) = match blocks {
        Blocks::Quadrants => (rows_in_block(map) as u64, 1),
        Blocks::Ascii => (2 * rows_in_block(map) as u64, 2),
    };
    let of = |steps: &Steps, each: u64, one: &str| {
        let each = steps.step.saturating_mul(each).min(steps.extent);
        let s = if each == 1 { "" } else { "s" };
        format!("{each} {one}{s}")
    };
    let what = match blocks {
        Blocks::Quadrants => "quarter of a character",
        Blocks::Ascii => "character",
    };
    format!(
        "{} x {}; each {what} is {} x {}",
        of(&Steps { step: map.rows.extent, ..map.rows }, 1, "row"),
        of(&Steps { step: map.columns.extent, ..map.columns }, 1, "column"),
        of(&map.rows, rows, "row"),
        of(&map.columns, columns, "column"),
    )
}

/// Draws the lit cells of a group.
fn draw(text: &mut String, map: &Map, lit: &[(usize, usize, usize)], blocks: Blocks) {
    let mut chars = vec![[[false; 4]; WIDTH]; HEIGHT];
    let rows = rows_in_block(map);
    for &(_, row, column) in lit {
        let row = row / rows;
        chars[row / 2][column / 2][row % 2 * 2 + column % 2] = true;
    }
    let height = map.rows.count().div_ceil(2 * rows);
    let width = map.columns.count().div_ceil(2);
    for row in &chars[..height] {
        let line: String = row[..width].iter().map(|&lit| blocks.char(lit)).collect();
        let _ = writeln!(text, "  |{line}|");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_terminal_can_show() {
        let cases = [
            (Some("xterm"), Some("en_US.UTF-8"), Blocks::Quadrants),
            (None, Some("C.utf8"), Blocks::Quadrants),
            (Some("dumb"), Some("en_US.UTF-8"), Blocks::Ascii),
            #[cfg(not(windows))]
            (Some("xterm"), Some("C"), Blocks::Ascii),
            #[cfg(not(windows))]
            (Some("xterm"), None, Blocks::Ascii),
        ];
        for (term, locale, blocks) in cases {
            assert_eq!(Blocks::of(term, locale), blocks, "{term:?} {locale:?}");
        }
    }

    /// Compares each quadrant character with its name in Unicode, which lists the lit parts.
    #[test]
    fn quadrants() {
        let of = |lit: [u8; 4]| Blocks::Quadrants.char(lit.map(|lit| lit == 1));
        // U+2598 QUADRANT UPPER LEFT, and so on.
        assert_eq!(of([1, 0, 0, 0]), '\u{2598}');
        assert_eq!(of([0, 1, 0, 0]), '\u{259D}');
        assert_eq!(of([0, 0, 1, 0]), '\u{2596}');
        assert_eq!(of([0, 0, 0, 1]), '\u{2597}');
        assert_eq!(of([1, 1, 0, 0]), '\u{2580}');
        assert_eq!(of([0, 0, 1, 1]), '\u{2584}');
        assert_eq!(of([1, 0, 1, 0]), '\u{258C}');
        assert_eq!(of([0, 1, 0, 1]), '\u{2590}');
        assert_eq!(of([1, 0, 0, 1]), '\u{259A}');
        assert_eq!(of([0, 1, 1, 0]), '\u{259E}');
        assert_eq!(of([1, 0, 1, 1]), '\u{2599}');
        assert_eq!(of([1, 1, 1, 0]), '\u{259B}');
        assert_eq!(of([1, 1, 0, 1]), '\u{259C}');
        assert_eq!(of([0, 1, 1, 1]), '\u{259F}');
        assert_eq!((of([0; 4]), of([1; 4])), (' ', '\u{2588}'));
    }
}
