//! `nonfinite check`: runs the check and prints what it finds.

use std::collections::BTreeSet;
use std::env;
use std::io::{self, IsTerminal, Write};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use nonfinite_check::{Error, Options, Report, json};

use crate::args::{Check, Form, When};
use crate::html;
use crate::inputs::{self, Found};
use crate::interrupt::{self, Watch, interrupted};
use crate::map::{self, Blocks};
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
    /// What maps are drawn with, if they are.
    blocks: Option<Blocks>,
    width: usize,
    options: Options,
    progress: Option<Arc<Progress>>,
    totals: Totals,
    /// Tensors that were printed.
    printed: usize,
    /// What goes into the JSON document or the page.
    results: Vec<(PathBuf, Result<Report, Error>)>,
    /// Files that hold data of other files, by their real paths.
    used: BTreeSet<PathBuf>,
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
            map: check.mmap,
            observer: Some(Arc::new(Watch(progress.clone()))),
            raw: check.raw_dtype.clone(),
            expansion: NonZeroU64::new(check.max_expansion),
            places: !check.quiet,
            draw: check.map && !check.quiet || check.html.is_some(),
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
            blocks: check.map.then(Blocks::of_environment),
            width: term.size_checked().map_or(120, |(_, columns)| usize::from(columns)),
            options,
            progress,
            totals: Totals::default(),
            printed: 0,
            results: Vec::new(),
            used: BTreeSet::new(),
        }
    }

    /// Checks all files, prints what was found, and returns the exit status.
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
            complain(format_args!("interrupted"));
            return interrupt::STATUS;
        }
        if let Some(path) = &self.check.html
            && let Err(error) = html::write(path, &self.results)
        {
            return self.page_failed(&error);
        }
        if written.is_ok() && !self.check.quiet {
            let backend = nonfinite::Backend::active().name();
            written = match self.form {
                Form::Json => writeln!(out, "{}", json::document(&self.results)),
                Form::Jsonl => Ok(()),
                Form::Auto | Form::Table | Form::Lines => {
                    writeln!(out, "{}", self.totals.summary(start.elapsed(), backend))
                }
            };
        }
        let status = match self.totals {
            Totals { failed: 1.., .. } => FAILED,
            Totals { unknown: 1.., .. } if !self.check.skip_unknown => FAILED,
            Totals { bad: 1.., .. } => FOUND,
            _ => CLEAN,
        };
        finish(written, status)
    }

    fn page_failed(&self, error: &io::Error) -> u8 {
        let path = self.check.html.as_deref().unwrap_or(Path::new(""));
        complain(format_args!("{}: {error}", OneLine(path.display())));
        FAILED
    }

    /// An error is one of output; those of files are counted and complained of.
    fn files(&mut self, out: &mut impl Write) -> io::Result<()> {
        for argument in &self.check.files {
            match inputs::files(argument) {
                Ok(files) => self.all_of(argument, files, out)?,
                Err(error) => self.result(argument, Err(Error::Io(error)), out)?,
            }
        }
        Ok(())
    }

    /// Checks the files of an argument. Files that no reader knows come last: another file may have
    /// named them as its data.
    fn all_of(
        &mut self,
        argument: &Path,
        files: Vec<Found>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let mut unknown = Vec::new();
        let mut nothing = true;
        for mut found in files {
            let result = found.error.take().map_or_else(|| self.check(&found.path), Err);
            match result {
                _ if interrupted() => return Ok(()),
                Err(error) if found.holds_nothing(&error) => self.totals.text += 1,
                Err(error) if found.searched && error.is_unknown() => {
                    unknown.push((found.path, error));
                }
                result => {
                    nothing = false;
                    if let Ok(report) = &result {
                        self.used.extend(report.other_files.iter().filter_map(real));
                    }
                    self.result(&found.path, result, out)?;
                }
            }
        }
        if nothing && unknown.is_empty() {
            return self.result(argument, Err(Error::Io(inputs::nothing())), out);
        }
        unknown.retain(|(path, _)| !real(path).is_some_and(|path| self.used.contains(&path)));
        unknown.into_iter().try_for_each(|(path, error)| self.result(&path, Err(error), out))
    }

    fn check(&self, path: &Path) -> Result<Report, Error> {
        if path == Path::new("-") {
            nonfinite_check::check_stream(io::stdin().lock(), &self.options)
        } else {
            nonfinite_check::check_file(path, &self.options)
        }
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
                let counter = if error.is_unknown() {
                    &mut self.totals.unknown
                } else {
                    &mut self.totals.failed
                };
                *counter += 1;
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
            (_, Form::Jsonl) => json::lines(path, &result),
            (Ok(report), Form::Table) => self.table(path, report),
            (Ok(report), Form::Lines | Form::Auto) => self.lines(path, report),
            (_, Form::Json) | (Err(_), _) => String::new(),
        };
        if self.form == Form::Json || self.check.html.is_some() {
            self.results.push((path.to_owned(), result));
        }
        match &self.progress {
            _ if text.is_empty() => Ok(()),
            Some(progress) => progress.suspend(|| out.write_all(text.as_bytes())),
            None => out.write_all(text.as_bytes()),
        }
    }

    fn count(&mut self, path: &Path, report: &Report) {
        report.tensors.iter().for_each(|tensor| self.totals.add(tensor));
        self.totals.unknown += usize::from(!report.is_complete());
        for (tensor, why) in report.not_looked_at() {
            let name =
                tensor.name.as_ref().map_or_else(String::new, |name| format!("tensor {name:?}: "));
            self.complain(format_args!("{}: {name}{}", OneLine(path.display()), OneLine(why)));
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
            .map(|tensor| {
                let map = self.blocks.map(|blocks| map::drawn(tensor, blocks)).unwrap_or_default();
                format!("{}\n{map}", Line::new(path, tensor))
            })
            .collect()
    }

    fn table(&mut self, path: &Path, report: &Report) -> String {
        let tensors = self.select(report);
        let places = map::section(&tensors, self.blocks);
        let table = Table::new(tensors, self.check.stats, self.colors, self.width).text();
        if table.is_empty() {
            return table;
        }
        let places = if places.is_empty() { places } else { format!("where\n{places}") };
        format!("{}\n{table}{places}\n", OneLine(path.display()))
    }

    /// A line on standard error, above the progress bar.
    fn complain(&self, message: std::fmt::Arguments<'_>) {
        match &self.progress {
            Some(progress) => progress.suspend(|| complain(message)),
            None => complain(message),
        }
    }
}

/// The path of a file without links; none if the file is gone.
fn real(path: impl AsRef<Path>) -> Option<PathBuf> {
    path.as_ref().canonicalize().ok()
}
