//! What the commands that check files share: the progress, the end by Ctrl-C, and the page.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use nonfinite_check::Observer;
use nonfinite_report::html;
use nonfinite_report::lines::OneLine;
use nonfinite_report::progress::{Progress, has_bar};
use nonfinite_report::status::FAILED;

use crate::command::interrupt::{self, Watch, interrupted};
use crate::command::terminal::Terminal;
use crate::status::complain;

/// A run of a command over files.
#[derive(Debug)]
pub struct Session<'a> {
    /// Standard output.
    pub terminal: Terminal,
    /// When the run began.
    pub start: Instant,
    progress: Option<Arc<Progress>>,
    page: Option<&'a Path>,
}

impl<'a> Session<'a> {
    /// A run that may write a page. From now on Ctrl-C stops it.
    #[must_use]
    pub fn new(quiet: bool, page: Option<&'a Path>) -> Self {
        let progress = (!quiet && has_bar()).then(Arc::default);
        interrupt::watch(progress.clone());
        Self { terminal: Terminal::of_output(), start: Instant::now(), progress, page }
    }

    /// The observer of the checks.
    #[must_use]
    pub fn observer(&self) -> Arc<dyn Observer> {
        Arc::new(Watch(self.progress.clone()))
    }

    /// Checks that the page can be written, before the work.
    ///
    /// # Errors
    /// The exit status if not, after a message.
    pub fn may_write_page(&self) -> Result<(), u8> {
        self.with_page(html::may_write)
    }

    /// Writes the page, if one is asked for.
    ///
    /// # Errors
    /// The exit status if it cannot be written, after a message, or if the run was interrupted.
    pub fn write_page(&self, text: impl FnOnce() -> String) -> Result<(), u8> {
        self.with_page(|path| html::write(path, &text()))?;
        if interrupted() { Err(FAILED) } else { Ok(()) }
    }

    fn with_page(&self, act: impl FnOnce(&Path) -> io::Result<()>) -> Result<(), u8> {
        let Some(path) = self.page else { return Ok(()) };
        act(path).map_err(|error| {
            complain(format_args!("{}: {error}", OneLine(path.display())));
            FAILED
        })
    }

    /// Removes the progress bar when all files are checked.
    ///
    /// # Errors
    /// The exit status if the run was interrupted.
    pub fn end_of_checks(&self) -> Result<(), u8> {
        if let Some(progress) = &self.progress {
            progress.finish();
        }
        if interrupted() { Err(FAILED) } else { Ok(()) }
    }

    /// Prints text above the progress bar.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn print(&self, text: &str, out: &mut impl Write) -> io::Result<()> {
        match &self.progress {
            _ if text.is_empty() => Ok(()),
            // The bar is locked while it is hidden. If the output is a pipe whose reader does not
            // read, the thread that handles Ctrl-C would wait for this lock.
            Some(progress) if self.terminal.is_terminal => {
                progress.suspend(|| out.write_all(text.as_bytes()))
            }
            Some(_) | None => out.write_all(text.as_bytes()),
        }
    }

    /// Prints a line on standard error, above the progress bar.
    pub fn complain(&self, message: std::fmt::Arguments<'_>) {
        match &self.progress {
            Some(progress) => progress.suspend(|| complain(message)),
            None => complain(message),
        }
    }
}
