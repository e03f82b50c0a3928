//! The output as lines: a line for each bad tensor, and the summary.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::path::Path;
use std::time::Duration;

use nonfinite_check::{
    ByKind, Error, Extreme, Large, LookedAt, Report, Stats, TensorReport, TotalStats, Totals,
};

use crate::grid::{Column, Grid};
use crate::status::{CLEAN, FAILED, FOUND};
use crate::wording;

/// Prepares text from a file for a terminal: one line without control characters. Long text is
/// shortened.
#[derive(Clone, Copy, Debug)]
pub struct OneLine<T>(pub T);

/// Bounds messages with long names from the file.
const LONGEST: usize = 400;

impl<T: fmt::Display> fmt::Display for OneLine<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = Cut { f, left: LONGEST };
        match write!(line, "{}", self.0) {
            Err(_) if line.left == 0 => f.write_str("..."),
            result => result,
        }
    }
}

struct Cut<'a, 'f> {
    f: &'a mut fmt::Formatter<'f>,
    left: usize,
}

impl fmt::Write for Cut<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for char in text.chars() {
            self.left = self.left.checked_sub(1).ok_or(fmt::Error)?;
            self.f.write_str(&visible(char.encode_utf8(&mut [0; 4])))?;
        }
        Ok(())
    }
}

/// Text from a file without control characters, in full length.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\'' | '"' | '\\' => visible.push(char),
            _ => visible.extend(char.escape_debug()),
        }
    }
    visible
}

/// The line for a bad tensor.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    path: &'a Path,
    tensor: &'a TensorReport,
}

impl<'a> Line<'a> {
    /// The line for a tensor of this file.
    #[must_use]
    pub fn new(path: &'a Path, tensor: &'a TensorReport) -> Self {
        Self { path: tensor.file.as_deref().unwrap_or(path), tensor }
    }
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, tensor } = self;
        write!(f, "{}: {}", OneLine(path.display()), Facts(tensor))
    }
}

/// The findings in a tensor, without the path of its file.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a>(pub &'a TensorReport);

impl fmt::Display for Facts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(tensor) = self;
        if let Some(name) = &tensor.name {
            write!(f, "{name:?} ")?;
        }
        let ByKind { nan, pos_inf, neg_inf } = tensor.found.as_ref().map(|finding| finding.count);
        write!(
            f,
            "{} {:?}: {nan} NaN, {pos_inf} +Inf, {neg_inf} -Inf",
            tensor.dtype, tensor.shape
        )?;
        if let LookedAt::Scales { fields, .. } = &tensor.looked_at {
            write!(f, " in scales ({})", fields.join(", "))?;
        }
        let found = ByKind::NAMES.zip(tensor.found.as_ref()).into_array().into_iter();
        let firsts = found.filter_map(|(kind, finding)| Some((kind, finding.first.as_ref()?)));
        for (index, (kind, first)) in firsts.enumerate() {
            let first_word = if index == 0 { "first " } else { "" };
            write!(f, ", {first_word}{kind} at {:?}", first.coordinate)?;
        }
        if let Some(statement) = tensor.statement() {
            write!(f, "; {statement}")?;
        }
        if let Some(large) = &tensor.large {
            write!(f, "; {}", above(large))?;
        }
        match measured(tensor) {
            Some(measured) => write!(f, "; {measured}"),
            None => Ok(()),
        }
    }
}

/// The numbers above the bound on magnitudes: `3 above 65504, max |x| 7e4 at [2, 5]`.
#[must_use]
pub fn above(large: &Large) -> String {
    let Large { count, bound, largest, .. } = large;
    format!("{count} above {bound}, max |x| {:e} at {}", largest.value, place(largest))
}

/// The finite numbers of a tensor, if [`Options::stats`](nonfinite_check::Options::stats) asked for
/// them and there are any: `all zeros`, or `finite from -2e0 to 1.5e0, max |x| at [2]` and the
/// counts of zeros and subnormal numbers.
#[must_use]
pub fn measured(tensor: &TensorReport) -> Option<String> {
    let Stats { min, max, max_abs, zeros, subnormals, .. } = tensor.stats.as_ref()?;
    if tensor.is_all_zeros() {
        return Some("all zeros".to_owned());
    }
    let [min, max, max_abs] = [min.as_ref()?, max.as_ref()?, max_abs.as_ref()?];
    let mut text =
        format!("finite from {:e} to {:e}, max |x| at {}", min.value, max.value, place(max_abs));
    match zeros {
        0 => {}
        1 => text.push_str(", 1 zero"),
        zeros => text.push_str(&format!(", {zeros} zeros")),
    }
    if *subnormals > 0 {
        text.push_str(&format!(", {subnormals} subnormal"));
    }
    Some(text)
}

/// The coordinate of a number, and its part of the element.
#[must_use]
pub fn place(extreme: &Extreme) -> String {
    match extreme.part {
        Some(part) => format!("{:?} {part}", extreme.coordinate),
        None => format!("{:?}", extreme.coordinate),
    }
}

/// The parts of a file that were not looked at, with a message for each.
pub fn not_looked_at(path: &Path, report: &Report) -> impl Iterator<Item = String> {
    report.not_looked_at().map(move |(tensor, why)| {
        let kind = if why.is_of_part() { "" } else { "tensor " };
        let name = tensor.name.as_ref().map(|name| format!("{kind}{name:?}: "));
        let name = name.unwrap_or_default();
        let path = tensor.file.as_deref().unwrap_or(path);
        format!("{}: {name}{}", OneLine(path.display()), OneLine(wording::reason(why)))
    })
}

/// A file that could not be checked, with the reason and advice.
#[derive(Clone, Copy, Debug)]
pub struct Complaint<'a> {
    /// The path as it was given or found.
    pub path: &'a Path,
    /// The reason.
    pub error: &'a Error,
}

impl fmt::Display for Complaint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, error } = self;
        write!(f, "{}: {}{}", OneLine(path.display()), OneLine(error), wording::hint(error))?;
        match error {
            Error::NotAFile if is_pipe(path) => {
                f.write_str(" but a pipe: use cmd | nonfinite check -")
            }
            _ => Ok(()),
        }
    }
}

/// Whether the path leads to a pipe: a FIFO, or the path that a shell makes for `<(cmd)`.
#[cfg(unix)]
fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    path.metadata().is_ok_and(|metadata| metadata.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_pipe(_: &Path) -> bool {
    false
}

/// Counts over all files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// The sums over all tensors.
    pub totals: Totals,
    /// The sums for each dtype.
    pub by_dtype: BTreeMap<String, Totals>,
    /// Tensors whose scales were looked at.
    pub scales: usize,
    /// Tensors that hold NaN, infinities or numbers above the bound on magnitudes, all of them
    /// allowed.
    pub allowed: usize,
    /// Files that could not be checked, because they are damaged or cannot be read.
    pub failed: usize,
    /// Files that were not looked at, or not as a whole, because there is no reader for them.
    pub unknown: usize,
    /// Text and empty files that the search of a folder found. They hold no tensors.
    pub text: usize,
    /// Pictures and documents that the search of a folder found. They hold no tensors.
    pub pictures: usize,
    /// Folders of version control that the search of a folder left out.
    pub version_control: usize,
}

impl Summary {
    /// Counts a tensor.
    pub fn add(&mut self, tensor: &TensorReport) {
        self.totals.add(tensor);
        match self.by_dtype.get_mut(&tensor.dtype) {
            Some(totals) => totals.add(tensor),
            None => self.by_dtype.entry(tensor.dtype.clone()).or_default().add(tensor),
        }
        self.scales += usize::from(matches!(tensor.looked_at, LookedAt::Scales { .. }));
        let has_some = tensor.first().is_some() || tensor.large.is_some();
        self.allowed += usize::from(!tensor.is_bad() && has_some);
    }

    /// Counts a file with a report, and its tensors.
    pub fn count(&mut self, report: &Report) {
        let is_damaged = report.is_damaged();
        self.failed += usize::from(is_damaged);
        self.unknown += usize::from(!is_damaged && !report.is_complete());
        report.tensors.iter().for_each(|tensor| self.add(tensor));
    }

    /// The exit status of a check. `skip` is `--skip-unknown`. Even with this option, a run that
    /// has looked at nothing is an error.
    #[must_use]
    pub fn status(&self, skip: bool) -> u8 {
        let is_failed =
            self.failed > 0 || self.unknown > 0 && !skip || skip && self.totals.is_empty();
        match self.totals.bad {
            _ if is_failed => FAILED,
            0 => CLEAN,
            _ => FOUND,
        }
    }

    /// Counts a file without a report.
    pub fn fail(&mut self, error: &Error) {
        if error.is_unknown() {
            self.unknown += 1;
        } else {
            self.failed += 1;
        }
    }

    /// The summary in a line.
    #[must_use]
    pub fn line(&self, time: Duration, backend: &str) -> String {
        let Totals { tensors, elements, bytes, bad, not_float, always_finite, .. } = self.totals;
        let seconds = time.as_secs_f64();
        let speed = if seconds > 0.0 { bytes as f64 / seconds / 1e9 } else { 0.0 };
        let mut line = format!(
            "checked {}, {}, {} in {seconds:.6} s, {speed:.2} GB/s, backend {backend}: {bad} bad; \
             skipped {not_float} without floats, {always_finite} always finite",
            count(tensors, "tensor"),
            count(elements, "element"),
            count(bytes, "byte"),
        );
        let mut say = |what: &str, count: usize| {
            if count > 0 {
                line.push_str(&format!("; {what}: {count}"));
            }
        };
        say("scales only", self.scales);
        say("allowed", self.allowed);
        say("all zeros", self.totals.stats.map_or(0, |stats| stats.all_zeros));
        say("text files", self.text);
        say("pictures and documents", self.pictures);
        say("folders of version control", self.version_control);
        say("files not looked at, or in part", self.unknown);
        say("files in error", self.failed);
        line
    }

    /// A line for each dtype, with a line feed at the end.
    #[must_use]
    pub fn dtype_lines(&self) -> String {
        let line = |(dtype, totals): (&String, &Totals)| {
            let Totals { tensors, elements, bytes, bad, .. } = totals;
            let ByKind { nan, pos_inf, neg_inf } = totals.found;
            format!(
                "{}: {}, {}, {}, {nan} NaN, {pos_inf} +Inf, {neg_inf} -Inf: {bad} bad; \
                 skipped {}{}\n",
                visible(dtype),
                count(*tensors, "tensor"),
                count(*elements, "element"),
                count(*bytes, "byte"),
                skipped(totals),
                totals.stats.as_ref().map(sums).unwrap_or_default()
            )
        };
        self.by_dtype.iter().map(line).collect()
    }

    /// The columns of finite numbers. None without statistics.
    fn dtype_stats(&self) -> Vec<Column> {
        if self.totals.stats.is_none() {
            return Vec::new();
        }
        let column = |head, words, of: &dyn Fn(&TotalStats) -> Option<String>| Column {
            right: true,
            words,
            ..Column::new(
                head,
                self.by_dtype
                    .values()
                    .map(|totals| totals.stats.as_ref().and_then(of).unwrap_or_default()),
            )
        };
        let number = |number: Option<f64>| number.map(|number| format!("{number:.4e}"));
        vec![
            column("min", ["min ", ""], &|stats| number(stats.min)),
            column("max", ["max ", ""], &|stats| number(stats.max)),
            column("max |x|", ["max |x| ", ""], &|stats| number(stats.max_abs)),
            column("zeros", ["zeros ", ""], &|stats| Some(stats.zeros.to_string())),
            column("subnormal", ["", " subnormal"], &|stats| Some(stats.subnormals.to_string())),
            column("all zeros", ["", " all zeros"], &|stats| Some(stats.all_zeros.to_string())),
        ]
    }

    /// A table of the dtypes. No line is wider than the terminal.
    #[must_use]
    pub fn dtype_table(&self, colors: bool, width: usize) -> String {
        let column = |head, words, of: &dyn Fn(&Totals) -> u64| Column {
            right: true,
            words,
            ..Column::new(head, self.by_dtype.values().map(|totals| of(totals).to_string()))
        };
        // Nouns stand before a number, which may be one.
        let mut columns = vec![
            Column::new("dtype", self.by_dtype.keys().map(|dtype| visible(dtype))),
            column("tensors", ["tensors ", ""], &|totals| totals.tensors as u64),
            column("elements", ["elements ", ""], &|totals| totals.elements as u64),
            column("bytes", ["bytes ", ""], &|totals| totals.bytes as u64),
            column("NaN", ["", " NaN"], &|totals| totals.found.nan),
            column("+Inf", ["", " +Inf"], &|totals| totals.found.pos_inf),
            column("-Inf", ["", " -Inf"], &|totals| totals.found.neg_inf),
            column("bad", ["", " bad"], &|totals| totals.bad as u64),
            column("skipped", ["", " skipped"], &|totals| skipped(totals) as u64),
        ];
        let red = self.by_dtype.values().map(|totals| totals.bad > 0).collect();
        columns.extend(self.dtype_stats());
        Grid { columns, facts: 1, red, colors, width }.text()
    }
}

/// The finite numbers of the tensors of a dtype, behind a semicolon.
fn sums(stats: &TotalStats) -> String {
    let TotalStats { min, max, max_abs, zeros, subnormals, all_zeros, .. } = stats;
    let range = match (min, max, max_abs) {
        (Some(min), Some(max), Some(max_abs)) => {
            format!("finite from {min:e} to {max:e}, max |x| {max_abs:e}, ")
        }
        _ => String::new(),
    };
    let tensors = count(*all_zeros, "tensor");
    let zeros = if *zeros == 1 { "1 zero".to_owned() } else { format!("{zeros} zeros") };
    format!("; {range}{zeros}, {subnormals} subnormal, {tensors} all zeros")
}

/// Tensors that were not looked at.
fn skipped(totals: &Totals) -> usize {
    totals.not_float + totals.always_finite + totals.unreadable
}

/// A number of things, such as `1 tensor` and `2 tensors`.
#[must_use]
pub fn count(number: usize, one: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {one}{s}")
}
