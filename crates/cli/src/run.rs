//! `nonfinite check`: runs the check and prints what it finds.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nonfinite_check::{Error, Options, Report, TensorReport, json};

use crate::args::{Check, Form};
use crate::columns::{shorten, wrap};
use crate::inputs::Inputs;
use crate::interrupt::{self, Watch, interrupted};
use crate::map::{self, Blocks};
use crate::patterns::Patterns;
use crate::progress::Progress;
use crate::report::{Complaint, Line, OneLine, Summary, not_looked_at, of_no_format, visible};
use crate::status::{CLEAN, FAILED, complain, finish};
use crate::table::Table;
use crate::terminal::{Terminal, has_bar};
use crate::{github, html, natural};

/// A check of all files.
#[derive(Debug)]
pub struct Run<'a> {
    check: &'a Check,
    form: Form,
    /// Whether standard output is a terminal.
    is_terminal: bool,
    colors: bool,
    /// The characters of maps, if maps are drawn.
    blocks: Option<Blocks>,
    width: usize,
    options: Options,
    progress: Option<Arc<Progress>>,
    summary: Summary,
    /// The patterns of `--allow` and `--as`.
    patterns: Patterns,
    /// The results for a document.
    results: Vec<html::Checked>,
    /// Files of no known format in folders.
    no_format: Vec<PathBuf>,
}

impl<'a> Run<'a> {
    /// A check with these arguments. From now on Ctrl-C stops it.
    #[must_use]
    pub fn new(check: &'a Check) -> Self {
        let terminal = Terminal::of_output();
        let progress = (!check.quiet && has_bar()).then(Arc::default);
        interrupt::watch(progress.clone());
        let mut options = check.how.options(check.stats, Arc::new(Watch(progress.clone())));
        options.max_abs = check.max_abs;
        options.places = !check.quiet;
        options.draw = check.map && !check.quiet || check.html.is_some();
        Self {
            check,
            form: check.form(terminal.is_terminal),
            is_terminal: terminal.is_terminal,
            colors: terminal.colors(),
            blocks: check.map.then(Blocks::of_environment),
            width: terminal.width,
            options,
            progress,
            summary: Summary::default(),
            patterns: Patterns::new(&check.how),
            results: Vec::new(),
            no_format: Vec::new(),
        }
    }

    /// Checks all files, prints the results, and returns the exit status. Ends early if the run is
    /// interrupted.
    pub fn all(mut self, out: &mut impl Write) -> u8 {
        let start = Instant::now();
        if let Some(Err(error)) = self.check.html.as_deref().map(html::may_write) {
            return self.page_failed(&error);
        }
        let mut written = self.files(out);
        if let Some(progress) = &self.progress {
            progress.finish();
        }
        if interrupted() {
            return FAILED;
        }
        if let Some(path) = &self.check.html
            && let Err(error) = html::write(path, &html::document(&self.results))
        {
            return self.page_failed(&error);
        }
        if interrupted() {
            return FAILED;
        }
        if written.is_ok() && !self.check.quiet {
            written = self.end(start.elapsed(), out);
        }
        let status = match (&written, self.summary.status(self.check.how.limits.strict)) {
            // Nobody reads on, so the other files were not looked at.
            (Err(_), CLEAN) => FAILED,
            (_, status) => status,
        };
        finish(written, status)
    }

    fn page_failed(&self, error: &io::Error) -> u8 {
        let path = self.check.html.as_deref().unwrap_or(Path::new(""));
        complain(format_args!("{}: {error}", OneLine(path.display())));
        FAILED
    }

    /// The map of a tensor, if maps are asked for.
    fn map(&self, tensor: &TensorReport) -> String {
        self.blocks.map(|blocks| map::drawn(tensor, blocks, usize::MAX)).unwrap_or_default()
    }

    /// Prints the document, or the summary.
    fn end(&self, time: Duration, out: &mut impl Write) -> io::Result<()> {
        let summary = || self.summary.line(time, nonfinite::Backend::active().name());
        match self.form {
            Form::Json => {
                let listed = self.check.listed();
                writeln!(out, "{}", json::document(&self.results, &self.no_format, listed))
            }
            Form::Jsonl => Ok(()),
            Form::Auto | Form::Lines | Form::Github => writeln!(out, "{}", summary()),
            Form::Table => out.write_all(wrap(&summary(), self.width).as_bytes()),
        }
    }

    /// An error here is an error of output. Errors of files are counted and printed.
    fn files(&mut self, out: &mut impl Write) -> io::Result<()> {
        let (mut inputs, options) = (Inputs::default(), self.options.clone());
        for argument in &self.check.files {
            inputs.check(argument, &options, |path, result| self.result(path, result, out))?;
        }
        inputs.finish(|path, result| self.result(path, result, out))?;
        if let Some(listed) = of_no_format(&inputs.no_format).filter(|_| !self.check.quiet) {
            self.complain(format_args!("{listed}"));
        }
        self.summary.text = inputs.text;
        self.summary.no_format = inputs.no_format.len();
        self.summary.pictures = inputs.pictures;
        self.summary.version_control = inputs.version_control;
        self.no_format = inputs.no_format;
        if !interrupted() {
            self.patterns.unused().for_each(|pattern| self.complain(format_args!("{pattern}")));
        }
        Ok(())
    }

    /// Counts and prints a result.
    fn result(
        &mut self,
        path: &Path,
        result: Result<Report, Error>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        match &result {
            Ok(report) => self.count(path, report),
            Err(error) => {
                self.summary.fail(error);
                self.complain(format_args!("{}", Complaint { path, error }));
            }
        }
        let text = match (&result, self.form) {
            _ if self.check.quiet => String::new(),
            (_, Form::Jsonl) => json::lines(path, &result, self.check.listed()),
            (_, Form::Github) => github::annotations(path, &result),
            (Ok(report), Form::Table) => self.table(path, report),
            (Ok(report), Form::Lines | Form::Auto) => self.lines(path, report),
            (Err(_), Form::Table | Form::Lines | Form::Auto) | (_, Form::Json) => String::new(),
        };
        if self.form == Form::Json || self.check.html.is_some() {
            self.results.push((path.to_owned(), result));
        }
        match &self.progress {
            _ if text.is_empty() => Ok(()),
            // The bar is locked while it is hidden. If the output is a pipe whose reader does not
            // read, the thread that handles Ctrl-C would wait for this lock.
            Some(progress) if self.is_terminal => {
                progress.suspend(|| out.write_all(text.as_bytes()))
            }
            Some(_) | None => out.write_all(text.as_bytes()),
        }
    }

    fn count(&mut self, path: &Path, report: &Report) {
        self.summary.count(report);
        let names = report.tensors.iter().map(|tensor| tensor.name.as_deref());
        names.for_each(|name| self.patterns.see(name.unwrap_or_default()));
        not_looked_at(path, report).for_each(|why| self.complain(format_args!("{why}")));
    }

    /// The tensors to print.
    fn select<'r>(&self, report: &'r Report) -> Vec<&'r TensorReport> {
        let clean_too = !self.check.bad_only;
        let has_finite =
            |tensor: &TensorReport| tensor.stats.as_ref().is_some_and(|stats| stats.min.is_some());
        let shown = |tensor: &&TensorReport| {
            tensor.is_bad()
                || clean_too && has_finite(tensor)
                || tensor.is_of_trainer() && tensor.first().is_some()
        };
        if !report.tensors.iter().any(|tensor| shown(&tensor)) {
            return Vec::new();
        }
        natural::ordered(&report.tensors).into_iter().filter(shown).collect()
    }

    fn lines(&self, path: &Path, report: &Report) -> String {
        let tensors = self.select(report).into_iter();
        tensors.map(|tensor| format!("{}\n{}", Line::new(path, tensor), self.map(tensor))).collect()
    }

    fn table(&self, path: &Path, report: &Report) -> String {
        let tensors = self.select(report);
        let maps =
            self.blocks.map(|blocks| map::named(&tensors, blocks, self.width)).unwrap_or_default();
        let table = Table::new(tensors, self.check.stats, self.colors, self.width).text();
        if table.is_empty() {
            return table;
        }
        format!("{}\n{table}{maps}\n", shorten(&visible(&path.to_string_lossy()), self.width))
    }

    /// A line on standard error, above the progress bar.
    fn complain(&self, message: std::fmt::Arguments<'_>) {
        match &self.progress {
            Some(progress) => progress.suspend(|| complain(message)),
            None => complain(message),
        }
    }
}
