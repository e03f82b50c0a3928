//! `nonfinite check`: runs the check and prints what it finds.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use nonfinite_check::{Error, Options, Report, TensorReport, json};
use nonfinite_report::inputs::Inputs;
use nonfinite_report::lines::{Complaint, Line, not_looked_at, of_no_format, visible};
use nonfinite_report::summary::Summary;
use nonfinite_report::{html, natural};

use crate::command::args::{Check, Form};
use crate::command::draw_map::{self, Blocks};
use crate::command::github;
use crate::command::interrupt::interrupted;
use crate::command::patterns::Patterns;
use crate::command::session::Session;
use crate::command::tensor_table::table;
use crate::command::terminal::Terminal;
use crate::command::text_width::{shorten, wrap};
use crate::status::finish_check;

/// A check of all files.
#[derive(Debug)]
pub struct Run<'a> {
    check: &'a Check,
    session: Session<'a>,
    form: Form,
    /// The characters of maps, if maps are drawn.
    blocks: Option<Blocks>,
    options: Options,
    summary: Summary,
    /// The patterns of `--allow`.
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
        let session = Session::new(check.quiet, check.html.as_deref());
        let mut options = check.how.options(check.stats, session.observer());
        options.max_abs = check.max_abs;
        options.places = !check.quiet;
        options.draw = check.map && !check.quiet || check.html.is_some();
        Self {
            check,
            form: check.format.chosen(check.json, session.terminal.is_terminal),
            session,
            blocks: check.map.then(Blocks::of_environment),
            options,
            summary: Summary { has_bound: check.max_abs.is_some(), ..Summary::default() },
            patterns: Patterns::new(&check.how.allow),
            results: Vec::new(),
            no_format: Vec::new(),
        }
    }

    /// Checks all files, prints the results, and returns the exit status. Ends early if the run is
    /// interrupted.
    pub fn all(mut self, out: &mut impl Write) -> u8 {
        self.try_all(out).unwrap_or_else(|status| status)
    }

    fn try_all(&mut self, out: &mut impl Write) -> Result<u8, u8> {
        self.session.may_write_page()?;
        let mut written = self.files(out);
        self.session.end_of_checks()?;
        self.session.write_page(|| html::document(&self.results))?;
        if written.is_ok() && !self.check.quiet {
            written = self.end(out);
        }
        Ok(finish_check(written, self.summary.status(self.check.how.limits.strict)))
    }

    /// The map of a tensor, if maps are asked for.
    fn map(&self, tensor: &TensorReport) -> String {
        self.blocks.map(|blocks| draw_map::drawn(tensor, blocks, usize::MAX)).unwrap_or_default()
    }

    /// Prints the document, or the summary.
    fn end(&self, out: &mut impl Write) -> io::Result<()> {
        let time = self.session.start.elapsed();
        let summary = || self.summary.line(time, nonfinite::Backend::active().name());
        match self.form {
            Form::Json => {
                let listed = self.check.listed();
                writeln!(out, "{}", json::document(&self.results, &self.no_format, listed))
            }
            Form::Jsonl => Ok(()),
            Form::Auto | Form::Lines | Form::Github => writeln!(out, "{}", summary()),
            Form::Table => out.write_all(wrap(&summary(), self.session.terminal.width).as_bytes()),
        }
    }

    /// An error here is an error of output. Errors of files are counted and printed.
    fn files(&mut self, out: &mut impl Write) -> io::Result<()> {
        let (mut inputs, options) = (Inputs::default(), self.options.clone());
        for argument in &self.check.files {
            inputs.check(argument, &options, |path, result| self.result(path, result, out))?;
        }
        inputs.finish(|path, result| self.result(path, result, out))?;
        if let Some(listed) = of_no_format(&inputs.searched.no_format).filter(|_| !self.check.quiet)
        {
            self.session.complain(format_args!("{listed}"));
        }
        self.summary.text = inputs.searched.text;
        self.summary.no_format = inputs.searched.no_format.len();
        self.summary.pictures = inputs.searched.pictures;
        self.summary.version_control = inputs.version_control;
        self.no_format = inputs.searched.no_format;
        if !interrupted() {
            self.patterns
                .unused()
                .for_each(|pattern| self.session.complain(format_args!("{pattern}")));
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
                self.session.complain(format_args!("{}", Complaint { path, error }));
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
        self.session.print(&text, out)
    }

    fn count(&mut self, path: &Path, report: &Report) {
        self.summary.count(path, report);
        let names = report.tensors.iter().map(|tensor| tensor.name.as_deref());
        names.for_each(|name| self.patterns.see(name.unwrap_or_default()));
        not_looked_at(path, report).for_each(|why| self.session.complain(format_args!("{why}")));
    }

    /// The tensors to print.
    fn select<'r>(&self, report: &'r Report) -> Vec<&'r TensorReport> {
        let clean_too = !self.check.bad_only;
        let has_finite =
            |tensor: &TensorReport| tensor.stats.as_ref().is_some_and(|stats| stats.min.is_some());
        let has_more = |tensor: &TensorReport| tensor.mask.is_some() || has_finite(tensor);
        let shown = |tensor: &&TensorReport| tensor.is_bad() || clean_too && has_more(tensor);
        if !report.tensors.iter().any(|tensor| shown(&&**tensor)) {
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
        let Terminal { width, .. } = self.session.terminal;
        let table = table(&tensors, self.session.terminal.colors(), width);
        if table.is_empty() {
            return table;
        }
        let maps = self.blocks.map(|blocks| draw_map::named(&tensors, blocks, width));
        let path = shorten(&visible(&path.to_string_lossy()), width);
        format!("{path}\n{table}{}\n", maps.unwrap_or_default())
    }
}
