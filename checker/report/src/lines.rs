//! The output as lines: a line for each bad tensor, and the summary.

use std::fmt::{self, Display, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nonfinite_check::{
    ByKind, Error, Extreme, First, Large, LookedAt, Report, Stats, TensorReport, Totals, rounded,
};

use crate::status::{CLEAN, FAILED, FOUND};

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

/// A tensor and its numbers that are not finite, without the path of its file.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a>(pub &'a TensorReport);

impl fmt::Display for Facts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(tensor) = self;
        if let Some(name) = tensor.title() {
            write!(f, "{name:?} ")?;
        }
        let ByKind { nan, pos_inf, neg_inf } = tensor.found.as_ref().map(|of_kind| of_kind.count);
        write!(
            f,
            "{} {:?}: {nan} NaN, {pos_inf} +Inf, {neg_inf} -Inf",
            tensor.dtype, tensor.shape
        )?;
        if let LookedAt::Scales { fields, .. } = &tensor.looked_at {
            write!(f, " in scales ({})", fields.join(", "))?;
        }
        let found = ByKind::NAMES.zip(tensor.found.as_ref()).into_array().into_iter();
        let firsts = found.filter_map(|(kind, of_kind)| Some((kind, of_kind.first.as_ref()?)));
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

/// How many numbers of each kind there are: `2 NaN`, `1 +Inf`.
#[must_use]
pub fn counts(tensor: &TensorReport) -> Vec<String> {
    let found = ByKind::NAMES.zip(tensor.found.as_ref()).into_array().into_iter();
    let found = found.filter(|(_, of_kind)| of_kind.count > 0);
    found.map(|(kind, of_kind)| format!("{} {kind}", of_kind.count)).collect()
}

/// The place and the bits of the first number of each kind: `first NaN at [2, 5], 0x7fc0 quiet`.
#[must_use]
pub fn firsts(tensor: &TensorReport) -> Vec<String> {
    let found = ByKind::NAMES.zip(tensor.found.as_ref()).into_array().into_iter();
    let firsts = found.filter_map(|(kind, of_kind)| Some((kind, of_kind.first.as_deref()?)));
    let text = |(kind, first): (&str, &First)| {
        let part = first.part.map(|part| format!(" {part}")).unwrap_or_default();
        let quiet = match first.quiet() {
            Some(true) => " quiet",
            Some(false) => " signalling",
            None => "",
        };
        format!("first {kind} at {:?}{part}, {}{quiet}", first.coordinate, first.hex())
    };
    firsts.map(text).collect()
}

/// The numbers above the bound on magnitudes: `3 above 65504, max |x| 70000 at [2, 5]`.
#[must_use]
pub fn above(large: &Large) -> String {
    let Large { count, bound, largest, .. } = large;
    // A number that is hardly above the bound does not look like the bound.
    let value = match rounded(largest.value) {
        text if text == rounded(*bound) => largest.value.to_string(),
        text => text,
    };
    format!("{count} above {bound}, max |x| {value} at {}", place(largest))
}

/// What a tensor holds beside NaN and infinity: `a mask: zeros and -Inf`, and the finite numbers,
/// if [`Options::stats`](nonfinite_check::Options::stats) asked for them and there are any:
/// `all zeros`, or `finite from -2 to 1.5, max |x| at [2]` and the counts of zeros and subnormal
/// numbers.
#[must_use]
pub fn measured(tensor: &TensorReport) -> Option<String> {
    let mask = tensor.mask.map(|number| match number.is_finite() {
        true => format!("a mask: zeros and {}, the least number", rounded(number)),
        false => "a mask: zeros and -Inf".to_owned(),
    });
    let texts: Vec<_> = mask.into_iter().chain(finite(tensor)).collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

fn finite(tensor: &TensorReport) -> Option<String> {
    let Stats { min, max, max_abs, zeros, subnormals, .. } = tensor.stats.as_deref()?;
    if tensor.is_all_zeros() {
        return Some("all zeros".to_owned());
    }
    let [min, max, max_abs] = [min.as_ref()?, max.as_ref()?, max_abs.as_ref()?];
    let [least, largest] = [min, max].map(|extreme| rounded(extreme.value));
    let mut text = format!("finite from {least} to {largest}, max |x| at {}", place(max_abs));
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
        let name = tensor.title().map(|name| format!("{kind}{name:?}: "));
        let name = name.unwrap_or_default();
        let path = tensor.file.as_deref().unwrap_or(path);
        format!("{}: {name}{}", OneLine(path.display()), OneLine(why))
    })
}

/// The flag that would let the check go on, in parentheses behind a space. Empty if there is none.
#[must_use]
pub fn hint(error: &Error) -> &'static str {
    if error.exceeds_max_bytes() { " (--max-bytes)" } else { "" }
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
        write!(f, "{}: {}{}", OneLine(path.display()), OneLine(error), hint(error))?;
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
    /// Tensors whose scales were looked at.
    pub scales: usize,
    /// Tensors that hold NaN, infinities or numbers above the bound on magnitudes, all of them
    /// allowed.
    pub allowed: usize,
    /// Files that could not be checked, because they are damaged or cannot be read.
    pub failed: usize,
    /// Files that were not looked at, or not as a whole, because there is no reader for them.
    pub unknown: usize,
    /// Files of no known format that the search of a folder found.
    pub no_format: usize,
    /// Text and empty files that the search of a folder found. They hold no tensors.
    pub text: usize,
    /// Pictures and documents that the search of a folder found. They hold no tensors.
    pub pictures: usize,
    /// Folders of version control that the search of a folder left out.
    pub version_control: usize,
}

impl Summary {
    /// Counts these files, and files of no known format.
    #[must_use]
    pub fn of(files: &[(PathBuf, Result<Report, Error>)], no_format: usize) -> Self {
        let mut summary = Self { no_format, ..Self::default() };
        for (_, result) in files {
            match result {
                Ok(report) => summary.count(report),
                Err(error) => summary.fail(error),
            }
        }
        summary
    }

    /// Counts a tensor.
    pub fn add(&mut self, tensor: &TensorReport) {
        self.totals.add(tensor);
        self.scales += usize::from(matches!(tensor.looked_at, LookedAt::Scales { .. }));
        let has_some = tensor.first().is_some() || tensor.large.is_some();
        self.allowed += usize::from(!tensor.is_bad() && has_some && tensor.mask.is_none());
    }

    /// Counts a file with a report, and its tensors.
    pub fn count(&mut self, report: &Report) {
        let is_damaged = report.is_damaged();
        self.failed += usize::from(is_damaged);
        self.unknown += usize::from(!is_damaged && !report.is_complete());
        report.tensors.iter().for_each(|tensor| self.add(tensor));
    }

    /// The exit status of a check. What was not looked at counts if nothing is bad. With `strict`
    /// (`--strict`), it counts in any case, and so do files of no known format. Masks are bad then.
    #[must_use]
    pub fn status(&self, strict: bool) -> u8 {
        let unknown = self.unknown + if strict { self.no_format } else { 0 };
        match self.totals.bad + if strict { self.totals.masks } else { 0 } {
            _ if self.failed > 0 => FAILED,
            bad if unknown > 0 && (strict || bad == 0) => FAILED,
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
        say("masks", self.totals.masks);
        say("all zeros", self.totals.stats.map_or(0, |stats| stats.all_zeros));
        say("text files", self.text);
        say("pictures and documents", self.pictures);
        say("folders of version control", self.version_control);
        say("files of no known format", self.no_format);
        say("files not looked at, or in part", self.unknown);
        say("files in error", self.failed);
        line
    }
}

/// A number of things, such as `1 tensor` and `2 tensors`.
#[must_use]
pub fn count<N: Display + PartialEq + From<u8>>(number: N, one: &str) -> String {
    let s = if number == 1.into() { "" } else { "s" };
    format!("{number} {one}{s}")
}

/// The most names of files of no known format that are listed.
const MOST_LISTED: usize = 8;

/// Files of no known format in one line: `2 files of no known format: a.bin, b.bin`. None without
/// such a file.
#[must_use]
pub fn of_no_format(files: &[PathBuf]) -> Option<String> {
    let names = files.iter().take(MOST_LISTED).filter_map(|file| file.file_name());
    let names = names.map(|name| OneLine(name.display()).to_string()).collect::<Vec<_>>();
    let more = if files.len() > MOST_LISTED { ", ..." } else { "" };
    let count = count(files.len(), "file");
    (!files.is_empty()).then(|| format!("{count} of no known format: {}{more}", names.join(", ")))
}
