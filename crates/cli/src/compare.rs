//! `nonfinite diff`: compares two sides and prints what is new on the second one.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nonfinite_check::diff::{Pair, diff};
use nonfinite_check::{ByKind, Error, Options, Report, Stats, TensorReport, json, rounded};

use crate::args::Diff;
use crate::columns::{fitted, wrap};
use crate::inputs::Inputs;
use crate::interrupt::{self, Watch, interrupted};
use crate::patterns::Patterns;
use crate::progress::Progress;
use crate::report::{Complaint, OneLine, count, not_looked_at, of_no_format};
use crate::status::{CLEAN, FAILED, FOUND, complain, finish};
use crate::terminal::{Terminal, has_bar};

/// Checks both sides, prints what is new, and returns the exit status. Ends early if the run is
/// interrupted.
pub fn compare(arguments: &Diff, out: &mut impl Write) -> u8 {
    let progress: Option<Arc<Progress>> = (!arguments.quiet && has_bar()).then(Arc::default);
    interrupt::watch(false, progress.clone());
    let options = arguments.how.options(arguments.stats, Arc::new(Watch(progress.clone())));
    let mut patterns = Patterns::new(&arguments.how);
    let sides = [&arguments.a, &arguments.b];
    let [a, b] = sides.map(|side| Side::read(side, &options, &mut patterns));
    if let Some(progress) = &progress {
        progress.finish();
    }
    if interrupted() {
        return FAILED;
    }
    patterns.unused().for_each(|pattern| complain(format_args!("{pattern}")));
    let complaints = [&a.failed, &a.unknown, &b.failed, &b.unknown];
    complaints.into_iter().flatten().for_each(|complaint| complain(format_args!("{complaint}")));
    for listed in [&a, &b].iter().filter_map(|side| of_no_format(&side.no_format)) {
        if !arguments.quiet {
            complain(format_args!("{listed}"));
        }
    }
    let pairs = match diff(&a.reports, &b.reports) {
        Ok(pairs) => pairs,
        Err(error) => {
            complain(format_args!("{}", OneLine(error)));
            return FAILED;
        }
    };
    let sides = [&a, &b];
    let is_failed = sides.iter().any(|side| !side.failed.is_empty());
    let strict = arguments.how.limits.strict;
    let is_unknown =
        sides.iter().any(|side| !side.unknown.is_empty() || strict && !side.no_format.is_empty());
    let complete = sides.iter().all(|side| side.failed.is_empty() && side.unknown.is_empty());
    // A renamed prefix would make every comparison a success.
    if !pairs.is_empty() && pairs.iter().all(|pair| pair.a.is_none() || pair.b.is_none()) {
        // A side that could not be read has its own message.
        if !a.is_unread() && !b.is_unread() {
            complain(format_args!("A and B have no tensor in common"));
        }
        return FAILED;
    }
    let status = match pairs.iter().any(|pair| !pair.new.is_empty()) {
        _ if is_failed || strict && is_unknown => FAILED,
        true => FOUND,
        // If a side was not read as a whole, the comparison cannot say that nothing is new.
        false if is_unknown => FAILED,
        false => CLEAN,
    };
    if arguments.quiet {
        return status;
    }
    let written = if arguments.json {
        writeln!(out, "{}", json::comparison(&pairs, complete))
    } else {
        print(arguments, &pairs, complete, out)
    };
    finish(written, status)
}

/// The reports of a side, with the paths in its folder, and its errors.
#[derive(Default)]
struct Side {
    reports: Vec<(PathBuf, Report)>,
    /// Complaints about files and tensors without a reader.
    unknown: Vec<String>,
    /// Complaints about files that are damaged or cannot be read.
    failed: Vec<String>,
    /// Files of no known format in a folder.
    no_format: Vec<PathBuf>,
}

impl Side {
    fn read(side: &Path, options: &Options, patterns: &mut Patterns) -> Self {
        let mut read = Self::default();
        let mut take = |path: &Path, result| {
            match result {
                Ok(report) => {
                    read.add(path.strip_prefix(side).unwrap_or(path), path, report, patterns)
                }
                Err(error) => read.fail(path, &error),
            }
            Ok(())
        };
        let mut inputs = Inputs::default();
        let taken = inputs.check(side, options, &mut take).and_then(|()| inputs.finish(&mut take));
        // The closure returns no error.
        debug_assert!(taken.is_ok());
        read.no_format = inputs.no_format;
        read
    }

    /// Adds the report of a file. `inside` is the path in the folder of the side. It is empty for a
    /// side with one file. Files of a pattern have different paths.
    fn add(&mut self, inside: &Path, path: &Path, report: Report, patterns: &mut Patterns) {
        let list = if report.is_damaged() { &mut self.failed } else { &mut self.unknown };
        list.extend(not_looked_at(path, &report));
        let names = report.tensors.iter().map(|tensor| tensor.name.as_deref());
        names.for_each(|name| patterns.see(name.unwrap_or_default()));
        self.reports.push((inside.to_owned(), report));
    }

    fn fail(&mut self, path: &Path, error: &Error) {
        let list = if error.is_unknown() { &mut self.unknown } else { &mut self.failed };
        list.push(Complaint { path, error }.to_string());
    }

    /// Whether nothing on this side could be looked at, for a reason that is a complaint. A side
    /// without tensors has none.
    fn is_unread(&self) -> bool {
        let tensors = self.reports.iter().flat_map(|(_, report)| &report.tensors);
        let has_complaint = !self.failed.is_empty() || !self.unknown.is_empty();
        has_complaint && tensors.into_iter().all(|tensor| tensor.looked_at.is_missing())
    }
}

fn print(
    arguments: &Diff,
    pairs: &[Pair<'_>],
    complete: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    let [a, b] = [&arguments.a, &arguments.b].map(|side| OneLine(side.display()));
    let room = Terminal::of_output().room();
    let (mut compared, mut only_a, mut only_b) = (0, 0, 0);
    for pair in pairs {
        let mut write = |kind, facts| out.write_all(line(pair, kind, facts, room).as_bytes());
        match [pair.a, pair.b] {
            [Some(old), Some(new)] => {
                compared += 1;
                let magnitude = magnitude([old, new]);
                if pair.is_changed() || old.shape != new.shape || magnitude.is_some() {
                    let mut facts = changes(pair, new);
                    facts.extend(magnitude);
                    let dtype = change(&old.dtype, &new.dtype);
                    let shape = change(&format!("{:?}", old.shape), &format!("{:?}", new.shape));
                    write(format!("{dtype} {shape}"), facts)?;
                }
            }
            [Some(old), None] => {
                only_a += 1;
                let dtype = OneLine(&old.dtype);
                write(format!("{dtype} {:?}", old.shape), vec![format!("only in {a}")])?;
            }
            [None, Some(new)] => {
                only_b += 1;
                let mut facts = changes(pair, new);
                match facts.first_mut() {
                    Some(first) => first.insert_str(0, &format!("only in {b}, ")),
                    None => facts.push(format!("only in {b}")),
                }
                write(format!("{} {:?}", OneLine(&new.dtype), new.shape), facts)?;
            }
            [None, None] => {}
        }
    }
    let new = pairs.iter().filter(|pair| !pair.new.is_empty()).count();
    let mut summary = format!(
        "compared {}, {only_a} only in {a}, {only_b} only in {b}: {new} with new NaN or infinity",
        count(compared, "tensor")
    );
    if !complete {
        summary.push_str("; not all of A and B was looked at");
    }
    let by_counts = pairs.iter().filter(|pair| !pair.exact).count();
    if by_counts > 0 {
        summary.push_str(&format!("; compared by counts: {by_counts}"));
    }
    out.write_all(wrap(&summary, room).as_bytes())
}

/// The line of a pair: its name, dtype and shape, and what is new or changed. In a terminal that is
/// too narrow, the lines of it.
fn line(pair: &Pair<'_>, kind: String, facts: Vec<String>, room: usize) -> String {
    let label = label(pair);
    let space = if label.is_empty() { "" } else { " " };
    let colon = if facts.is_empty() { "" } else { ": " };
    let line = format!("{label}{space}{kind}{colon}{}", facts.join("; "));
    let heads = [label, kind].into_iter().filter(|head| !head.is_empty());
    fitted(&line, &heads.chain(facts).collect::<Vec<_>>(), room)
}

/// The name of a tensor, or the path of its file on its side. Empty for a single file without
/// names.
fn label(pair: &Pair<'_>) -> String {
    match pair.name() {
        Some(name) => format!("{name:?}"),
        None if pair.file == Path::new("") => String::new(),
        None => OneLine(pair.file.display()).to_string(),
    }
}

fn change(old: &str, new: &str) -> String {
    let [old, new] = [old, new].map(OneLine);
    if old.0 == new.0 { old.to_string() } else { format!("{old} -> {new}") }
}

/// The maximum magnitudes of both sides, if statistics were asked for and a side has one.
fn magnitude(sides: [&TensorReport; 2]) -> Option<String> {
    let largest = |stats: &Stats| stats.max_abs.as_ref().map(|extreme| extreme.value);
    let [old, new] = sides.map(|tensor| tensor.stats.as_ref().and_then(largest));
    old.or(new)?;
    let text = |value: Option<f64>| value.map_or("none".to_owned(), rounded);
    Some(format!("max |x| {} -> {}", text(old), text(new)))
}

/// The counts of each kind that one of the sides holds.
fn changes(pair: &Pair<'_>, new: &TensorReport) -> Vec<String> {
    let count = |tensor: &TensorReport| tensor.found.as_ref().map(|finding| finding.count);
    let old = pair.a.map(count).unwrap_or_default();
    let kinds = ByKind::NAMES.zip(old).zip(new.found.as_ref()).zip(pair.new).into_array();
    let found = kinds.into_iter().filter(|(((_, old), new), _)| *old > 0 || new.count > 0);
    let of_kind = found.map(|(((name, old), new), is_new)| {
        let counts = format!("{name} {old} -> {}", new.count);
        match &new.first {
            Some(first) if is_new => format!("{counts} new, first at {:?}", first.coordinate),
            Some(_) | None => counts,
        }
    });
    of_kind.collect()
}
