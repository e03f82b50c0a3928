//! The command `nonfinite`.
#![forbid(unsafe_code)]

use std::env;
use std::io::{self, IsTerminal, Write};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use clap::{CommandFactory, Parser};
use nonfinite_check::{Error, LookedAt, Options, Report, is_url, json};
use nonfinite_cli::args::{Arguments, Check, Command, Form, When};
use nonfinite_cli::fix::Fix;
use nonfinite_cli::inputs;
use nonfinite_cli::interrupt::{self, Watch, interrupted};
use nonfinite_cli::progress::Progress;
use nonfinite_cli::report::{Line, OneLine, Totals};
use nonfinite_cli::table::Table;

const CLEAN: u8 = 0;
const FOUND: u8 = 1;
const FAILED: u8 = 2;

fn main() -> ExitCode {
    let status = match Arguments::try_parse() {
        Ok(arguments) => run(arguments.command),
        // Help and version, which belong on standard output.
        Err(error) if !error.use_stderr() => finish(error.print(), CLEAN),
        Err(error) => {
            complain(format_args!("{}; see nonfinite --help", OneLine(what_is_wrong(&error))));
            FAILED
        }
    };
    ExitCode::from(status)
}

/// What is wrong with the arguments, on one line.
fn what_is_wrong(error: &clap::Error) -> String {
    if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return "no command".to_owned();
    }
    let text = error.to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    // What is wrong, and perhaps what was meant; the usage follows, or where to find it.
    let words = ["\n\nUsage", "\n\nFor more"]
        .iter()
        .fold(text, |text, end| text.split(end).next().unwrap_or(text));
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn run(command: Command) -> u8 {
    let mut out = io::stdout().lock();
    match command {
        Command::Backends | Command::Check(_) | Command::Fix(_) if !backend_exists() => FAILED,
        Command::Backends => finish(backends(&mut out), CLEAN),
        Command::Check(check) => Run::new(&check).all(&mut out),
        Command::Fix(fix) => mend(&fix, &mut out),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "nonfinite", &mut script);
            finish(out.write_all(&script), CLEAN)
        }
        Command::Man { command } => manual(command.as_deref(), &mut out),
    }
}

fn mend(fix: &Fix, out: &mut impl Write) -> u8 {
    interrupt::watch(true, None);
    match fix.run(&Watch(None), out) {
        Ok(Ok(())) => CLEAN,
        Ok(Err(_)) if interrupted() => {
            complain(format_args!("interrupted"));
            interrupt::STATUS
        }
        Ok(Err(message)) => {
            complain(format_args!("{message}"));
            FAILED
        }
        Err(error) => finish(Err(error), FAILED),
    }
}

/// Prints the page of a command, or that of the whole program.
fn manual(name: Option<&str>, out: &mut impl Write) -> u8 {
    let program = Arguments::command();
    let (title, command) = match name {
        None => ("nonfinite".to_owned(), program),
        Some(name) => match program.find_subcommand(name) {
            Some(command) => (format!("nonfinite-{name}"), command.clone()),
            None => {
                complain(format_args!("no command {name:?}"));
                return FAILED;
            }
        },
    };
    let mut page = Vec::new();
    let written = clap_mangen::Man::new(command).title(title).render(&mut page);
    finish(written.and_then(|()| out.write_all(&page)), CLEAN)
}

/// Whether the backend that the environment asks for can be had: the library would pass over one
/// that cannot.
fn backend_exists() -> bool {
    let Some(name) = env::var_os("NONFINITE_BACKEND").filter(|name| !name.is_empty()) else {
        return true;
    };
    let exists = name.to_str().and_then(nonfinite::Backend::by_name).is_some();
    if !exists {
        let known = nonfinite::Backend::available().map(nonfinite::Backend::name);
        let known = known.collect::<Vec<_>>().join(", ");
        complain(format_args!("NONFINITE_BACKEND: no backend {name:?} here, only {known}"));
    }
    exists
}

fn backends(out: &mut impl Write) -> io::Result<()> {
    for backend in nonfinite::backends() {
        let available = if backend.available { "available" } else { "unavailable" };
        let active = if backend.active { " active" } else { "" };
        writeln!(out, "{:<8} {available}{active}", backend.name)?;
    }
    Ok(())
}

/// A check of all files.
struct Run<'a> {
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
    fn new(check: &'a Check) -> Self {
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
            download: NonZeroU64::new(check.max_download),
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

    fn all(mut self, out: &mut impl Write) -> u8 {
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
                Form::Json => writeln!(out, "{}", json::document(&self.results)),
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
        } else if let Some(url) = path.to_str().filter(|path| is_url(path)) {
            nonfinite_check::check_url(url, &self.options)
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
                let option = match error {
                    Error::Expansion { .. } => " (--max-expansion)",
                    Error::Download { .. } => " (--max-download)",
                    _ => "",
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

/// The status, unless the output could not be written. A reader that has enough, such as `head`, is
/// no error.
fn finish(written: io::Result<()>, status: u8) -> u8 {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            complain(format_args!("standard output: {error}"));
            FAILED
        }
        _ => status,
    }
}

/// A line on standard error. If even that cannot be written, the exit status has to do.
fn complain(message: std::fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr(), "nonfinite: {message}");
}
