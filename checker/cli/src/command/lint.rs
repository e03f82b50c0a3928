//! `nonfinite lint`: checks models, and prints what the rules find.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use nonfinite_check::Error;
use nonfinite_check::lint::{Finding, Linter, RULES, Severity};
use nonfinite_report::html::Checked;
use nonfinite_report::inputs::Inputs;
use nonfinite_report::lines::{Complaint, OneLine, count, not_looked_at, of_no_format, visible};
use nonfinite_report::linted::Linted;
use nonfinite_report::status::CLEAN;

use crate::command::args::{Form, Lint};
use crate::command::github;
use crate::command::session::Session;
use crate::command::text_width::wrap;
use crate::status::{complain, finish, finish_check};

/// The most findings of a rule that are printed. A document has all.
const MOST: usize = 10;

/// Why standard input is refused.
const STANDARD_INPUT: &str = "lint does not read standard input, since a model is a folder with a \
    config.json: give its path (nonfinite check - reads standard input)";

/// Checks the models, prints the findings, and returns the exit status. Ends early if the run is
/// interrupted.
pub fn lint(arguments: &Lint, out: &mut impl Write) -> u8 {
    if arguments.rules {
        return finish(rules(out), CLEAN);
    }
    check_and_print(arguments, out).unwrap_or_else(|status| status)
}

fn check_and_print(arguments: &Lint, out: &mut impl Write) -> Result<u8, u8> {
    let session = Session::new(arguments.quiet, arguments.html.as_deref());
    session.may_write_page()?;
    let options = arguments.options(session.observer());
    let (mut linter, mut inputs) = (Linter::new(options.clone()), Inputs::default());
    let mut files: Vec<Checked> = Vec::new();
    let mut take = |path: &Path, result| {
        files.push((path.to_owned(), result));
        Ok(())
    };
    for argument in &arguments.files {
        let check = |path: &Path| match path.to_str() {
            Some("-") => Err(Error::Io(io::Error::other(STANDARD_INPUT))),
            _ if arguments.headers => linter.check_header(path),
            _ => linter.check(path),
        };
        let taken = inputs.check_with(argument, &options, check, &mut take);
        // The closure returns no error.
        debug_assert!(taken.is_ok());
    }
    let _ = inputs.finish(&mut take);
    session.end_of_checks()?;
    let (findings, no_format) = (linter.findings(), inputs.searched.no_format);
    let mut linted = Linted::new(findings, &arguments.allow, arguments.least(), files, no_format);
    linted.headers = arguments.headers;
    complain_of(&linted, arguments.quiet);
    session.write_page(|| linted.page())?;
    let status = linted.summary.status(arguments.limits.strict);
    if arguments.quiet {
        return Ok(status);
    }
    let form = arguments.format.chosen(arguments.json, session.terminal.is_terminal);
    let written = match form {
        Form::Json | Form::Jsonl => writeln!(out, "{}", linted.json()),
        Form::Github => {
            let lines = linted.findings.iter().map(github::of_finding).collect::<String>();
            out.write_all(lines.as_bytes())
        }
        Form::Auto | Form::Lines | Form::Table => print(&linted, form, &session, out),
    };
    Ok(finish_check(written, status))
}

/// Complains about files that were not looked at.
fn complain_of(linted: &Linted, quiet: bool) {
    if linted.summary.totals.tensors == 0 && linted.files.iter().all(|(_, result)| result.is_ok()) {
        complain(format_args!("no tensor is in these files, so nothing was linted"));
    }
    for (path, result) in &linted.files {
        match result {
            Ok(report) => {
                not_looked_at(path, report).for_each(|why| complain(format_args!("{why}")));
            }
            Err(error) => complain(format_args!("{}", Complaint { path, error })),
        }
    }
    if let Some(listed) = of_no_format(&linted.no_format).filter(|_| !quiet) {
        complain(format_args!("{listed}"));
    }
}

/// Prints the findings as lines for people, and a line of totals.
fn print(
    linted: &Linted,
    form: Form,
    session: &Session<'_>,
    out: &mut impl Write,
) -> io::Result<()> {
    let Linted { findings, allowed, summary, .. } = linted;
    // By rule and severity: how many were printed, and how many there are.
    let mut counts: BTreeMap<(&str, Severity), (usize, usize)> = BTreeMap::new();
    for finding in findings {
        let (printed, found) = counts.entry((finding.rule.id, finding.severity)).or_default();
        *found += 1;
        if *printed < MOST {
            *printed += 1;
            let line = FindingLine(finding).to_string();
            match form {
                Form::Table => out.write_all(wrap(&line, session.terminal.width).as_bytes())?,
                _ => writeln!(out, "{line}")?,
            }
        }
    }
    for ((rule, severity), (printed, found)) in &counts {
        if found > printed {
            let more = count(found - printed, severity.name());
            writeln!(out, "{rule}: {more} more; --json lists all")?;
        }
    }
    let of = |severity| findings.iter().filter(|found| found.severity == severity).count();
    let bytes = match linted.headers {
        true => "headers only".to_owned(),
        false => count(summary.totals.bytes, "byte"),
    };
    let mut line = format!(
        "linted {}, {bytes} in {:.3} s: {}, {}",
        count(summary.totals.tensors, "tensor"),
        session.start.elapsed().as_secs_f64(),
        count(of(Severity::Error), "error"),
        count(of(Severity::Warning), "warning"),
    );
    let mut say = |what: &str, count: usize| {
        if count > 0 {
            let _ = write!(line, "; {what}: {count}");
        }
    };
    say("notes", of(Severity::Note));
    say("allowed", *allowed);
    say("files not looked at, or in part", summary.unknown);
    say("files in error", summary.failed);
    writeln!(out, "{line}")
}

/// A finding in a line: `error[scale-zero]: FILE: "TENSOR" [3, 0]: why`.
struct FindingLine<'a>(&'a Finding);

impl std::fmt::Display for FindingLine<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let finding = self.0;
        let (severity, rule) = (finding.severity.name(), finding.rule.id);
        write!(f, "{severity}[{rule}]: {}", OneLine(finding.file.display()))?;
        if let Some(tensor) = &finding.tensor {
            write!(f, ": {}", OneLine(format_args!("{tensor:?}")))?;
        }
        if let Some(coordinate) = &finding.coordinate {
            write!(f, " {coordinate:?}")?;
        }
        write!(f, ": {} ({})", visible(&finding.message), finding.rule.source)
    }
}

/// Prints the table of rules.
fn rules(out: &mut impl Write) -> io::Result<()> {
    RULES.iter().try_for_each(|rule| {
        writeln!(out, "{:<8} {:<24} {}", rule.severity.name(), rule.id, rule.finds)
    })
}
