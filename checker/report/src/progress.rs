//! The progress bar of a long check.

use std::env;
use std::io::{self, IsTerminal};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use nonfinite_check::Observer;

/// Checks that are shorter get no bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// The width of a terminal that is enough for the bar, the bytes, the speed and the time.
const WIDE: u16 = 80;

/// A bar on standard error, if that is a terminal.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    start: Instant,
}

impl Progress {
    /// A new bar. It appears after the check has taken some time, and never without a terminal.
    ///
    /// # Panics
    /// If the template of the bar is not valid. It is a constant and valid.
    #[must_use]
    pub fn new() -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        let columns = Term::stderr().size_checked().map_or(WIDE, |(_, columns)| columns);
        let template = if columns < WIDE {
            "{wide_bar} {decimal_bytes}/{decimal_total_bytes} ETA {eta}"
        } else {
            "{bar:30} {decimal_bytes}/{decimal_total_bytes} {decimal_bytes_per_sec} ETA {eta}"
        };
        bar.set_style(ProgressStyle::with_template(template).expect("a good template"));
        Self { bar, start: Instant::now() }
    }

    /// Calls a function while the bar is hidden.
    pub fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Default for Progress {
    fn default() -> Self {
        Self::new()
    }
}

impl Observer for Progress {
    fn started(&self, bytes: u64) {
        self.bar.inc_length(bytes);
    }

    fn advanced(&self, bytes: u64) -> ControlFlow<()> {
        self.bar.inc(bytes);
        if self.bar.is_hidden() && self.start.elapsed() > PATIENCE {
            // Stays hidden if standard error is no terminal.
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        ControlFlow::Continue(())
    }
}

/// Whether there is a terminal on standard error on which a progress bar can be drawn.
#[must_use]
pub fn has_bar() -> bool {
    io::stderr().is_terminal() && !is_dumb()
}

/// Whether the terminal knows neither colours nor a cursor that moves.
#[must_use]
pub fn is_dumb() -> bool {
    env::var_os("TERM").is_some_and(|term| term == "dumb")
}
