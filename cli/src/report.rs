//! What is printed: a line for each bad tensor, and the summary.

use std::fmt::{self, Write as _};
use std::path::Path;
use std::time::Duration;

use nonfinite_check::{ByKind, LookedAt, TensorReport};

/// Text of others as one line without control characters, for a terminal; long text is cut.
#[derive(Clone, Copy, Debug)]
pub struct OneLine<T>(pub T);

/// A message need not be longer: names in it come from the file.
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
            match char {
                '\'' | '"' | '\\' => self.f.write_char(char)?,
                _ => write!(self.f, "{}", char.escape_debug())?,
            }
        }
        Ok(())
    }
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
        write!(f, "{}: ", OneLine(path.display()))?;
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
        if let Some((kind, first)) = tensor.first() {
            write!(f, ", first {kind} at {:?}", first.coordinate)?;
        }
        if let Some(statement) = tensor.statement() {
            write!(f, "; {statement}")?;
        }
        match tensor.range {
            Some(range) => write!(f, "; finite from {:e} to {:e}", range.min, range.max),
            None => Ok(()),
        }
    }
}

/// What was checked, in all files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Tensors of floats.
    pub tensors: usize,
    /// Their elements.
    pub elements: usize,
    /// Their bytes.
    pub bytes: usize,
    /// Those of them of which the scales were looked at.
    pub scales: usize,
    /// Tensors that hold a number that is not finite, and is not allowed.
    pub bad: usize,
    /// Tensors that hold one and are not bad, since it is allowed.
    pub allowed: usize,
    /// Tensors of integers and the like.
    pub not_float: usize,
    /// Tensors of formats that have neither NaN nor infinity.
    pub always_finite: usize,
    /// Files that could not be checked: damaged ones, and such that the system refuses.
    pub failed: usize,
    /// Files that were not looked at, or not at all of them, since no reader knows them.
    pub unknown: usize,
    /// Text and empty files that the search of a folder found. They hold no tensors.
    pub text: usize,
}

impl Totals {
    /// Counts a tensor.
    pub fn add(&mut self, tensor: &TensorReport) {
        match tensor.looked_at {
            LookedAt::NotFloat => self.not_float += 1,
            LookedAt::AlwaysFinite => self.always_finite += 1,
            LookedAt::Unreadable(_) => {}
            LookedAt::Values | LookedAt::Scales { .. } => {
                self.tensors += 1;
                self.elements += tensor.elements;
                self.bytes += tensor.bytes;
                self.scales += usize::from(matches!(tensor.looked_at, LookedAt::Scales { .. }));
                self.bad += usize::from(tensor.is_bad());
                self.allowed += usize::from(!tensor.is_bad() && tensor.first().is_some());
            }
        }
    }

    /// The summary.
    #[must_use]
    pub fn summary(&self, time: Duration, backend: &'static str) -> impl fmt::Display {
        Summary { totals: *self, seconds: time.as_secs_f64(), backend }
    }
}

struct Summary {
    totals: Totals,
    seconds: f64,
    backend: &'static str,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { totals, seconds, backend } = self;
        let Totals { tensors, elements, bytes, bad, not_float, always_finite, .. } = totals;
        let Totals { failed, unknown, text, .. } = totals;
        let speed = if *seconds > 0.0 { *bytes as f64 / seconds / 1e9 } else { 0.0 };
        write!(f, "checked {tensors} tensors, {elements} elements, {bytes} bytes")?;
        write!(f, " in {seconds:.6} s, {speed:.2} GB/s, backend {backend}: {bad} bad")?;
        write!(f, "; skipped {not_float} without floats, {always_finite} always finite")?;
        if totals.scales > 0 {
            write!(f, "; scales only: {}", totals.scales)?;
        }
        if totals.allowed > 0 {
            write!(f, "; allowed: {}", totals.allowed)?;
        }
        if *text > 0 {
            write!(f, "; text files: {text}")?;
        }
        if *unknown > 0 {
            write!(f, "; files not looked at, or in part: {unknown}")?;
        }
        if *failed > 0 {
            write!(f, "; files in error: {failed}")?;
        }
        Ok(())
    }
}
