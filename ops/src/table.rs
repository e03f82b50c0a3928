//! What the tables of element types have in common.

use nonfinite::Format;

use crate::Unknown;

/// One element type of a standard: the value of the enum, its name, the format of its elements if
/// they are floating-point numbers, and what else the standard says about it.
#[derive(Clone, Copy)]
pub(crate) struct Row<T, More = ()>(
    pub(crate) T,
    pub(crate) &'static str,
    pub(crate) Option<Format>,
    pub(crate) More,
);

/// The first column. The rows stand in the order of the enum, as its values are their indices;
/// `tests/ops/texts.rs` checks this for every table.
pub(crate) const fn types<T: Copy, More: Copy, const N: usize>(
    table: &[Row<T, More>; N],
) -> [T; N] {
    let mut types = [table[0].0; N];
    let mut i = 1;
    while i < N {
        types[i] = table[i].0;
        i += 1;
    }
    types
}

/// The type of the first row with this format.
pub(crate) fn with_format<T: Copy, More>(table: &[Row<T, More>], format: Format) -> Option<T> {
    table.iter().find(|row| row.2 == Some(format)).map(|row| row.0)
}

/// The type of the first row that `matches`, which compares the names of a row with `name`. The
/// error says that `owner` has no `kind` of this name.
pub(crate) fn named<T: Copy, More>(
    table: &[Row<T, More>],
    matches: impl Fn(&Row<T, More>) -> bool,
    (owner, kind): (&'static str, &'static str),
    name: &str,
) -> Result<T, Unknown> {
    let found = table.iter().find(|row| matches(row)).map(|row| row.0);
    found.ok_or(Unknown::name(owner, kind, name))
}
