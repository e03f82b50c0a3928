//! The table of bad tensors, for a terminal.

use std::fmt::Write as _;

use nonfinite_check::{ByKind, Extreme, First, KindReport, LookedAt, Stats, TensorReport, rounded};

use crate::command::text_table::{Column, Grid, ZERO};
use crate::report::{above, place, visible};

/// A dtype or a shape in a row is shortened to this width.
const CELL: usize = 24;
/// The number of columns before the first places: name, dtype, shape and three counts.
const FACTS: usize = 6;

/// A table of tensors that fits the width of a terminal. On a narrow terminal, the first places and
/// the range move to lines below the row, as [`Grid`] describes.
#[derive(Debug)]
pub struct Table<'a> {
    tensors: Vec<&'a TensorReport>,
    stats: bool,
    colors: bool,
    width: usize,
}

impl<'a> Table<'a> {
    /// A table of these tensors, for a terminal of `width` columns.
    #[must_use]
    pub fn new(tensors: Vec<&'a TensorReport>, stats: bool, colors: bool, width: usize) -> Self {
        Self { tensors, stats, colors, width }
    }

    /// The rows, each with a line feed at the end. Empty without tensors.
    #[must_use]
    pub fn text(&self) -> String {
        if self.tensors.is_empty() {
            return String::new();
        }
        let red = self.tensors.iter().map(|tensor| tensor.is_bad()).collect();
        let Self { colors, width, .. } = *self;
        Grid { columns: self.columns(), facts: FACTS, red, colors, width }.text()
    }

    fn columns(&self) -> Vec<Column> {
        let column = |head, of: &dyn Fn(&TensorReport) -> String| {
            Column::new(head, self.tensors.iter().map(|tensor| visible(&of(tensor))))
        };
        let mut columns = vec![
            column("tensor", &|tensor| tensor.title().unwrap_or_else(|| "-".to_owned())),
            Column { most: CELL, ..column("dtype", &dtype) },
            Column { most: CELL, ..column("shape", &|tensor| format!("{:?}", tensor.shape)) },
        ];
        columns.extend(KINDS.iter().enumerate().map(|(kind, words)| Column {
            right: true,
            words: ["", words.behind],
            ..column(words.name, &|tensor| match of_kind(tensor, kind).count {
                0 => ZERO.to_owned(),
                count => count.to_string(),
            })
        }));
        let occurs = |kind| self.tensors.iter().any(|tensor| of_kind(tensor, kind).count > 0);
        let kinds = KINDS.iter().enumerate().filter(|(kind, _)| occurs(*kind));
        columns.extend(kinds.map(|(kind, words)| Column {
            words: [words.before, ""],
            ..column(words.first, &|tensor| {
                let first = of_kind(tensor, kind).first.as_deref();
                first.map(|first| describe(kind, first)).unwrap_or_default()
            })
        }));
        if self.tensors.iter().any(|tensor| tensor.statement().is_some()) {
            columns.push(column("where", &|tensor| tensor.statement().unwrap_or_default()));
        }
        if self.tensors.iter().any(|tensor| tensor.large.is_some()) {
            let large = |tensor: &TensorReport| tensor.large.as_deref().map(above);
            columns.push(column("large", &|tensor| large(tensor).unwrap_or_default()));
        }
        if self.stats {
            columns.extend(self.stats());
        }
        columns
    }

    /// The columns of finite numbers.
    fn stats(&self) -> [Column; 5] {
        let column = |head, words, of: &dyn Fn(&Stats) -> Option<String>| Column {
            right: true,
            words,
            ..Column::new(
                head,
                self.tensors
                    .iter()
                    .map(|tensor| tensor.stats.as_deref().and_then(of).unwrap_or_default()),
            )
        };
        let number = |extreme: &Option<Extreme>| Some(rounded(extreme.as_ref()?.value));
        let count = |count: u64| match count {
            0 => ZERO.to_owned(),
            count => count.to_string(),
        };
        [
            column("min", ["min ", ""], &|stats| number(&stats.min)),
            column("max", ["max ", ""], &|stats| number(&stats.max)),
            column("max |x| at", ["max |x| at ", ""], &|stats| stats.max_abs.as_ref().map(place)),
            column("zeros", ["zeros ", ""], &|stats| Some(count(stats.zeros))),
            column("subnormal", ["", " subnormal"], &|stats| Some(count(stats.subnormals))),
        ]
    }
}

/// The words of a kind: the heads of its two columns, and the text beside their cells in a line
/// without heads.
struct Words {
    name: &'static str,
    behind: &'static str,
    first: &'static str,
    before: &'static str,
}

/// In the order of `ByKind::into_array`.
const KINDS: [Words; 3] = [
    Words { name: "NaN", behind: " NaN", first: "first NaN", before: "first NaN " },
    Words { name: "+Inf", behind: " +Inf", first: "first +Inf", before: "first +Inf " },
    Words { name: "-Inf", behind: " -Inf", first: "first -Inf", before: "first -Inf " },
];

fn of_kind(tensor: &TensorReport, kind: usize) -> &KindReport {
    tensor.found.as_ref().into_array()[kind]
}

fn dtype(tensor: &TensorReport) -> String {
    match tensor.looked_at {
        LookedAt::Scales { .. } => format!("{} scales", tensor.dtype),
        LookedAt::Values
        | LookedAt::AlwaysFinite
        | LookedAt::NotFloat
        | LookedAt::Unreadable(_)
        | LookedAt::Damaged(_) => tensor.dtype.clone(),
    }
}

/// The coordinate and the part of the element. For a NaN also the bits, since NaNs differ.
fn describe(kind: usize, first: &First) -> String {
    let mut text = format!("{:?}", first.coordinate);
    // Writing to a string cannot fail.
    if let Some(part) = first.part {
        let _ = write!(text, " {part}");
    }
    if KINDS[kind].name == ByKind::NAMES.nan {
        let _ = write!(text, " {}", first.hex());
    }
    match first.quiet() {
        Some(true) => text + " quiet",
        Some(false) => text + " signalling",
        None => text,
    }
}
