//! `nonfinite check`: runs the check and prints what it finds.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use nonfinite_check::{Error, LookedAt, Options, Report, json};

use crate::args::{Check, Form, When};
use crate::inputs;
use crate::interrupt::{self, Watch, interrupted};
use crate::progress::Progress;
use crate::report::{Line, OneLine, Totals};
use crate::status::{CLEAN, FAILED, FOUND, complain, finish};
use crate::table::Table;

/// A check of all files.
#[derive(Debug)]
pub struct Run<'a> {
    check: &'a Check,
    form: Form,
    colors: bool,
    width: usize,
    options: Options,
    progress: Option<Arc<Progress>>,
    totals: Totals,
    /// Tensors that were printed.
    printed: usize,
    /// What goes into the JSON document.
    results: Vec<(PathBuf, Result<Report, Error>)>,
}

impl<'a> Run<'a> {
    /// A check by these arguments. From now on Ctrl-C ends it.
    #[must_use]
    pub fn new(check: &'a Check) -> Self {
        let term = console::Term::stdout();
        let progress = (!check.no_progress && io::stderr().is_terminal()).then(Arc::default);
        interrupt::watch(false, progress.clone());
        let options = Options {
            stats: check.stats,
            fail_on: check.fail_on,
            allow: check.allow.clone(),
            threads: check.threads,
            observer: Some(Arc::new(Watch(progress.clone()))),
            raw: check.raw_dtype.clone(),
            expansion: NonZeroU64::new(check.max_expansion),
        };
        Self {
            check,
            form: check.form(term.is_term()),
            colors: match check.color {
                When::Auto => {
                    term.is_term() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
                }
                When::Always => true,
                When::Never => false,
            },
            width: term.size_checked().map_or(120, |(_, columns)| usize::from(columns)),
            options,
            progress,
            totals: Totals::default(),
            printed: 0,
            results: Vec::new(),
        }
    }

    /// Checks all files, prints what was found, and returns the exit status.
    pub fn all(mut self, out: &mut impl Write) -> u8 {
        let start = Instant::now();
        let mut written = self.files(out);
        if let Some(progress) = &self.progress {
            progress.finish();
        }
        if interrupted() {
            complain(format_args!("interrupted"));
            return interrupt::STATUS;
        }
        if written.is_ok() && !self.check.quiet {
            let backend = nonfinite::Backend::active().name();
            written = match self.form {
                Form::Json => writeln!(out, "{}", json::document(&self.results, json::Listed::All)),
                Form::Jsonl => Ok(()),
                Form::Auto | Form::Table | Form::Lines => {
                    writeln!(out, "{}", self.totals.summary(start.elapsed(), backend))
                }
            };
        }
        let status = match self.totals {
            Totals { failed: 1.., .. } => FAILED,
            Totals { bad: 1.., .. } => FOUND,
            _ => CLEAN,
        };
        finish(written, status)
    }

    /// An error is one of output; those of files are counted and complained of.
    fn files(&mut self, out: &mut impl Write) -> io::Result<()> {
        for argument in &self.check.files {
            match inputs::files(argument) {
                Ok(files) => files
                    .iter()
                    .take_while(|_| !interrupted())
                    .try_for_each(|file| self.file(file, out))?,
                Err(error) => self.result(argument, Err(Error::Io(error)), out)?,
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, out: &mut impl Write) -> io::Result<()> {
        let result = if path == Path::new("-") {
            nonfinite_check::check_stream(io::stdin().lock(), &self.options)
        } else {
            nonfinite_check::check_file(path, &self.options)
        };
        if interrupted() { Ok(()) } else { self.result(path, result, out) }
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
                self.totals.failed += 1;
                let option = if matches!(error, Error::Expansion { .. }) {
                    " (--max-expansion)"
                } else {
                    ""
                };
                self.complain(format_args!(
                    "{}: {}{option}",
                    OneLine(path.display()),
                    OneLine(error)
                ));
            }
        }
        let text = match (&result, self.form) {
            _ if self.check.quiet => String::new(),
            (_, Form::Jsonl) => json::lines(path, &result, json::Listed::All),
            (Ok(report), Form::Table) => self.table(path, report),
            (Ok(report), Form::Lines | Form::Auto) => self.lines(path, report),
            (_, Form::Json) | (Err(_), _) => String::new(),
        };
        if self.form == Form::Json {
            self.results.push((path.to_owned(), result));
        }
        match &self.progress {
            _ if text.is_empty() => Ok(()),
            Some(progress) => progress.suspend(|| out.write_all(text.as_bytes())),
            None => out.write_all(text.as_bytes()),
        }
    }

    fn count(&mut self, path: &Path, report: &Report) {
        self.totals.failed += usize::from(!report.is_complete());
        for tensor in &report.tensors {
            self.totals.add(tensor);
            if let LookedAt::Unreadable(why) = &tensor.looked_at {
                let name = tensor
                    .name
                    .as_ref()
                    .map_or_else(String::new, |name| format!("tensor {name:?}: "));
                self.complain(format_args!("{}: {name}{}", OneLine(path.display()), OneLine(why)));
            }
        }
    }

    /// The tensors to print, and that they have been.
    fn select<'r>(&mut self, report: &'r Report) -> Vec<&'r nonfinite_check::TensorReport> {
        let shown =
            report.tensors.iter().filter(|tensor| tensor.is_bad() || tensor.range.is_some());
        let left = self.check.max_reports.map_or(usize::MAX, |most| most - self.printed);
        let shown: Vec<_> = shown.take(left).collect();
        self.printed += shown.len();
        shown
    }

    fn lines(&mut self, path: &Path, report: &Report) -> String {
        self.select(report)
            .into_iter()
            .map(|tensor| format!("{}\n", Line::new(path, tensor)))
            .collect()
    }

    fn table(&mut self, path: &Path, report: &Report) -> String {
        let table =
            Table::new(self.select(report), self.check.stats, self.colors, self.width).text();
        if table.is_empty() { table } else { format!("{}\n{table}\n", OneLine(path.display())) }
    }

    /// A line on standard error, above the progress bar.
    fn complain(&self, message: std::fmt::Arguments<'_>) {
        match &self.progress {
            Some(progress) => progress.suspend(|| complain(message)),
            None => complain(message),
        }
    }
}
