//! Text in the columns of a terminal: a Chinese, Japanese or Korean character takes two.

use console::{Alignment, pad_str, truncate_str};

/// The indentation of lines that belong to the line above.
pub const INDENT: usize = 2;

/// The sign for the middle that was left out.
const LEFT_OUT: &str = "…";

/// The columns that a text takes. It has no control characters, as [`visible`] returns it.
///
/// [`visible`]: nonfinite_report::lines::visible
pub use console::measure_text_width as width;

/// The text in at most `columns` columns. Of a longer one the start and the end stay, and the end
/// gets the odd column: `model.layers.12…q_proj.weight`.
#[must_use]
pub fn shorten(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let Some(room) = columns.checked_sub(width(LEFT_OUT)) else { return String::new() };
    let backwards = |text: &str| text.chars().rev().collect::<String>();
    let tail = backwards(&truncate_str(&backwards(text), room.div_ceil(2), ""));
    [&truncate_str(text, room / 2, ""), LEFT_OUT, &tail].concat()
}

/// The text, shortened or filled up with spaces to exactly `columns` columns.
#[must_use]
pub fn pad(text: &str, columns: usize, right: bool) -> String {
    let side = if right { Alignment::Right } else { Alignment::Left };
    pad_str(&shorten(text, columns), columns, side, None).into_owned()
}

/// Lines of at most `columns` columns with as many pieces as fit, two spaces between them. A longer
/// piece has lines of its own, and is broken at spaces. Each line is indented and ends with a line
/// feed.
#[must_use]
pub fn fill(pieces: &[String], indent: usize, columns: usize) -> String {
    let room = columns.saturating_sub(indent).max(1);
    let is_long = |piece: &String| width(piece) > room;
    let runs = pieces.chunk_by(|piece, next| !is_long(piece) && !is_long(next));
    let filled = runs.flat_map(|run| match run {
        [long] if is_long(long) => lines(long.split(' '), " ", room),
        short => lines(short.iter(), "  ", room),
    });
    indented(&filled.collect::<Vec<_>>(), [indent, indent])
}

/// A text in lines of at most `columns` columns, broken at spaces. All lines except the first are
/// indented. Each ends with a line feed.
#[must_use]
pub fn wrap(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return format!("{text}\n");
    }
    let room = columns.saturating_sub(INDENT).max(1);
    indented(&lines(text.split(' '), " ", room), [0, INDENT])
}

/// Joins pieces to lines of at most `room` columns, with a gap between two pieces. A piece that is
/// longer than a line is shortened.
fn lines<Piece: AsRef<str>>(
    pieces: impl Iterator<Item = Piece>,
    gap: &str,
    room: usize,
) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for piece in pieces {
        let piece = shorten(piece.as_ref(), room);
        match lines.last_mut() {
            Some(line) if width(line) + gap.len() + width(&piece) <= room => {
                line.push_str(gap);
                line.push_str(&piece);
            }
            Some(_) | None => lines.push(piece),
        }
    }
    lines
}

/// The lines, each indented and ended by a line feed.
fn indented(lines: &[String], [first, later]: [usize; 2]) -> String {
    let indents = [first].into_iter().chain(std::iter::repeat(later));
    lines.iter().zip(indents).map(|(line, indent)| format!("{:indent$}{line}\n", "")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_stay() {
        let name = "model.layers.12.self_attn.q_proj.weight";
        assert_eq!(shorten(name, 39), name);
        assert_eq!(shorten(name, 24), "model.layer…_proj.weight");
        assert_eq!(shorten("層層層層層", 6), "層…層");
        assert_eq!(shorten("層層層層層", 7), "層…層");
        assert_eq!(shorten("ab", 1), "…");
        assert_eq!(shorten("ab", 0), "");
        for columns in 0..12 {
            assert!(width(&shorten("a層b層c層", columns)) <= columns);
            assert_eq!(width(&pad("a層b層c層", columns, true)), columns);
        }
        assert_eq!((pad("ab", 4, false), pad("ab", 4, true)), ("ab  ".into(), "  ab".into()));
    }

    #[test]
    fn lines_of_pieces() {
        let pieces = ["one", "two", "three-and-more"].map(str::to_owned);
        assert_eq!(fill(&pieces, 2, 10), "  one  two\n  thr…more\n");
        assert_eq!(fill(&pieces, 2, 80), "  one  two  three-and-more\n");
        assert_eq!(fill(&[], 2, 80), "");
        // A statement that is longer than a line keeps all its words.
        let statement = ["first".to_owned(), "spread over 285 of 300 rows".to_owned()];
        assert_eq!(fill(&statement, 2, 18), "  first\n  spread over 285\n  of 300 rows\n");
        assert_eq!(wrap("one two three four", 9), "one two\n  three\n  four\n");
        assert_eq!(wrap("one two three four", 3), "…\n  …\n  …\n  …\n");
    }
}
