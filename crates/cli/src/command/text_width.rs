//! Text in the columns of a terminal: a Chinese, Japanese or Korean character takes two.

use unicode_width::UnicodeWidthChar;

/// The indentation of lines that belong to the line above.
pub const INDENT: usize = 2;

/// The sign for the middle that was left out.
const LEFT_OUT: &str = "…";

/// The columns that a text takes. It has no control characters, as [`visible`] returns it.
///
/// [`visible`]: crate::report::visible
#[must_use]
pub fn width(text: &str) -> usize {
    text.chars().map(of_char).sum()
}

fn of_char(char: char) -> usize {
    char.width().unwrap_or(0)
}

/// The text in at most `columns` columns. Of a longer one the start and the end stay, and the end
/// gets the odd column: `model.layers.12…q_proj.weight`.
#[must_use]
pub fn shorten(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let Some(room) = columns.checked_sub(width(LEFT_OUT)) else { return String::new() };
    let head = fitting(text.chars(), room / 2);
    let tail = fitting(text.chars().rev(), room.div_ceil(2));
    let skipped = text.chars().count() - tail;
    let head: String = text.chars().take(head).collect();
    let tail: String = text.chars().skip(skipped).collect();
    [&head, LEFT_OUT, &tail].concat()
}

/// How many of the first characters fit.
fn fitting(chars: impl Iterator<Item = char>, columns: usize) -> usize {
    let mut taken = 0;
    let fits = |char: &char| {
        taken += of_char(*char);
        taken <= columns
    };
    chars.take_while(fits).count()
}

/// The text, shortened or filled up with spaces to exactly `columns` columns.
#[must_use]
pub fn pad(text: &str, columns: usize, right: bool) -> String {
    let text = shorten(text, columns);
    let spaces = " ".repeat(columns - width(&text));
    if right { spaces + &text } else { text + &spaces }
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

/// A text in lines of at most `columns` columns, broken behind commas, colons and semicolons, and
/// at spaces where that is not enough. A colon and the single word behind it stay together: `text
/// files: 2`. All lines except the first are indented. Each ends with a line feed.
#[must_use]
pub fn wrap(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return format!("{text}\n");
    }
    let room = columns.saturating_sub(INDENT).max(1);
    let clauses = text.split_inclusive([',', ';']).map(str::trim);
    let parts = clauses.flat_map(|clause| match clause.split_once(": ") {
        Some((label, rest)) if rest.contains(' ') => vec![&clause[..=label.len()], rest],
        Some(_) | None => vec![clause],
    });
    let pieces = parts.flat_map(|part| match width(part) <= room {
        true => vec![part],
        false => part.split(' ').collect(),
    });
    indented(&lines(pieces, " ", room), [0, INDENT])
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
        assert_eq!(wrap("1 s, 2 GB, 3: 4 bad", 10), "1 s,\n  2 GB, 3:\n  4 bad\n");
        // A count stays with what it counts.
        assert_eq!(
            wrap("4 bad; text files: 1; in error: 2", 18),
            "4 bad;\n  text files: 1;\n  in error: 2\n"
        );
        assert_eq!(wrap("one two three four", 3), "…\n  …\n  …\n  …\n");
    }
}
