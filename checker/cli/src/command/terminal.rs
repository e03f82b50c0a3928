//! The abilities of the terminal.

use std::env;
use std::io::{self, IsTerminal};

use console::Term;

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

/// Whether there is a terminal on standard error on which a progress bar can be drawn.
#[must_use]
pub fn has_bar() -> bool {
    io::stderr().is_terminal() && !is_dumb()
}

/// Whether the terminal knows neither colours nor a cursor that moves.
fn is_dumb() -> bool {
    env::var_os("TERM").is_some_and(|term| term == "dumb")
}
