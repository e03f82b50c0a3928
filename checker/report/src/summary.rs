//! The answer of a check: counts over all files, in a sentence and as an exit status.

use std::path::{Path, PathBuf};
use std::time::Duration;

use nonfinite_check::{Error, LookedAt, Report, TensorReport, Totals};

use crate::lines::{OneLine, count};
use crate::natural;
use crate::status::{CLEAN, FAILED, FOUND};

/// Counts over all files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// The sums over all tensors.
    pub totals: Totals,
    /// The first bad tensor.
    pub first: Option<FirstBad>,
    /// Whether numbers above a bound on magnitudes are bad.
    pub has_bound: bool,
    /// Bad tensors without a bad NaN or infinity: they hold numbers above the bound on magnitudes.
    pub only_large: usize,
    /// Files with a report.
    pub files: usize,
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

/// The first bad tensor of a check.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstBad {
    /// The path of its file.
    pub file: PathBuf,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// The coordinate of its first bad number.
    pub coordinate: Vec<u64>,
}

impl FirstBad {
    fn of(path: &Path, report: &Report) -> Option<Self> {
        let tensor =
            natural::ordered(&report.tensors).into_iter().find(|tensor| tensor.is_bad())?;
        let place = match tensor.bad.is_empty() {
            true => &tensor.large.as_ref()?.largest.coordinate,
            false => &tensor.first()?.1.coordinate,
        };
        let file = tensor.file.as_deref().unwrap_or(path).to_owned();
        Some(Self { file, name: tensor.title(), coordinate: place.clone() })
    }

    /// The tensor and its place in words. The file is named if there are others.
    fn text(&self, is_alone: bool) -> String {
        let file = OneLine(self.file.display());
        let mut text = match &self.name {
            Some(name) if is_alone => OneLine(name).to_string(),
            Some(name) => format!("{} in {file}", OneLine(name)),
            None => file.to_string(),
        };
        if !self.coordinate.is_empty() {
            text.push_str(&format!(", at {:?}", self.coordinate));
        }
        text
    }
}

impl Summary {
    /// Counts these files, and files of no known format.
    #[must_use]
    pub fn of(files: &[(PathBuf, Result<Report, Error>)], no_format: usize) -> Self {
        let mut summary = Self { no_format, ..Self::default() };
        for (path, result) in files {
            match result {
                Ok(report) => summary.count(path, report),
                Err(error) => summary.fail(error),
            }
        }
        summary
    }

    /// Counts a tensor.
    pub fn add(&mut self, tensor: &TensorReport) {
        self.totals.add(tensor);
        self.scales += usize::from(matches!(tensor.looked_at, LookedAt::Scales { .. }));
        self.only_large += usize::from(tensor.is_bad() && tensor.bad.is_empty());
        let has_some = tensor.first().is_some() || tensor.large.is_some();
        self.allowed += usize::from(!tensor.is_bad() && has_some && tensor.mask.is_none());
    }

    /// Counts a file with a report, and its tensors.
    pub fn count(&mut self, path: &Path, report: &Report) {
        let is_damaged = report.is_damaged();
        self.files += 1;
        self.failed += usize::from(is_damaged);
        self.unknown += usize::from(!is_damaged && !report.is_complete());
        report.tensors.iter().for_each(|tensor| self.add(tensor));
        if self.first.is_none() && report.is_bad() {
            self.first = FirstBad::of(path, report);
        }
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

    /// The answer in a sentence, without the full stop: `3 of 11 tensors hold NaN or infinity; the
    /// first is layer.0.weight, at [2, 5]`.
    #[must_use]
    pub fn answer(&self) -> String {
        let Totals { tensors, bad, masks, always_finite, .. } = self.totals;
        let missed = self.failed + self.unknown;
        let what = match self.only_large {
            0 if bad > 0 || !self.has_bound => "NaN or infinity",
            large if large == bad && bad > 0 => "numbers above the bound",
            _ => "NaN, infinity or numbers above the bound",
        };
        let first = self.first.as_ref();
        let first = first.map(|first| first.text(self.files + missed == 1)).unwrap_or_default();
        let looked_at = if missed > 0 { " that were looked at" } else { "" };
        let mut text = match (tensors, bad) {
            (0, _) if missed + self.no_format > 0 => "Nothing was looked at".to_owned(),
            (0, _) if always_finite > 0 => {
                "All tensors have formats without NaN and infinity".to_owned()
            }
            (0, _) => "There is no tensor of floating-point numbers".to_owned(),
            (1, 0) if masks > 0 => "The one tensor that was looked at is a mask".to_owned(),
            (1, 0) if self.allowed > 0 => {
                format!("The one tensor that was looked at holds {what}, which is allowed")
            }
            (1, 0) => format!("The one tensor that was looked at holds no {what}"),
            (1, _) => format!("The one tensor that was looked at holds {what}: {first}"),
            (_, 0) => format!("None of the {tensors} tensors{looked_at} holds {what}"),
            (_, 1) => format!("1 of {tensors} tensors holds {what}: {first}"),
            _ => format!("{bad} of {tensors} tensors hold {what}; the first is {first}"),
        };
        let except = [(masks, "mask"), (self.allowed, "allowed tensor")];
        let except = except.into_iter().filter(|&(number, _)| number > 0);
        let except: Vec<_> = except.map(|(number, one)| count(number, one)).collect();
        if tensors > 1 && bad == 0 && !except.is_empty() {
            text.push_str(&format!(", except {}", except.join(" and ")));
        }
        if missed > 0 {
            let (files, were) = (count(missed, "file"), if missed == 1 { "was" } else { "were" });
            text.push_str(&format!("; {files} {were} not checked, or only in part"));
        }
        text
    }

    /// The summary in a line, which begins with the answer.
    #[must_use]
    pub fn line(&self, time: Duration, backend: &str) -> String {
        let Totals { elements, bytes, not_float, always_finite, .. } = self.totals;
        let seconds = time.as_secs_f64();
        let speed = if seconds > 0.0 { bytes as f64 / seconds / 1e9 } else { 0.0 };
        let mut line = format!(
            "{}. Checked {}, {} in {seconds:.6} s, {speed:.2} GB/s, backend {backend}; \
             skipped {not_float} without floats, {always_finite} always finite",
            self.answer(),
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
