//! The abilities of the terminal.

use std::env;
use std::io::{self, IsTerminal};

use clap::ValueEnum;
use console::Term;

/// The width that is assumed without a terminal.
const COLUMNS: usize = 120;

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Standard output or standard error as a terminal.
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
        Self::of(&Term::stdout())
    }

    /// The terminal of standard error.
    #[must_use]
    pub fn of_messages() -> Self {
        Self::of(&Term::stderr())
    }

    fn of(term: &Term) -> Self {
        let width = term.size_checked().map_or(COLUMNS, |(_, columns)| usize::from(columns));
        // Some terminals report 0 columns.
        let width = if width == 0 { COLUMNS } else { width };
        Self { is_terminal: term.is_term(), width }
    }

    /// The columns that a line may take. Lines of files and pipes have any length.
    #[must_use]
    pub fn room(self) -> usize {
        if self.is_terminal { self.width } else { usize::MAX }
    }

    /// Whether to use colours.
    #[must_use]
    pub fn colors(self, when: When) -> bool {
        match when {
            When::Auto => {
                let refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
                self.is_terminal && !refused && !is_dumb()
            }
            When::Always => true,
            When::Never => false,
        }
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
