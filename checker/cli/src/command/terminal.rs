//! The abilities of the terminal.

use std::env;

use console::Term;
use nonfinite_report::progress::is_dumb;

/// The width that is assumed without a terminal.
const COLUMNS: usize = 120;

/// Standard output as a terminal.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    /// Whether the stream is a terminal.
    pub is_terminal: bool,
    /// The number of its columns.
    pub width: usize,
}

impl Terminal {
    /// The terminal of standard output.
    #[must_use]
    pub fn of_output() -> Self {
        let term = Term::stdout();
        let width = term.size_checked().map_or(COLUMNS, |(_, columns)| usize::from(columns));
        // Some terminals report 0 columns.
        let width = if width == 0 { COLUMNS } else { width };
        Self { is_terminal: term.is_term(), width }
    }

    /// Whether to use colours. NO_COLOR decides before CLICOLOR_FORCE.
    #[must_use]
    pub fn colors(self) -> bool {
        let value = |name| env::var_os(name).filter(|value| !value.is_empty());
        let is_forced = value("CLICOLOR_FORCE").is_some_and(|value| value != "0");
        value("NO_COLOR").is_none() && (is_forced || self.is_terminal && !is_dumb())
    }
}
