//! `nonfinite fix`: its arguments and its output. [`nonfinite_check::fix`] does the work.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueHint};
use nonfinite_check::fix::{FixError, FixOptions, Fixed, FixedTensor, Value, fix_file, fix_to};
use nonfinite_check::{Allow, ByKind, TakenAs};

use crate::columns::{fitted, wrap};
use crate::interrupt::Watch;
use crate::progress::Progress;
use crate::report::{OneLine, count};
use crate::terminal::Terminal;
use crate::wording;

/// The arguments of `nonfinite fix`.
#[derive(Clone, Debug, Args)]
pub struct Fix {
    /// The .safetensors or .npy file; it stays as it is
    #[arg(value_name = "IN", value_hint = ValueHint::FilePath)]
    input: PathBuf,
    /// The file to write, or - for standard output
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    #[arg(required_unless_present = "dry_run")]
    output: Option<PathBuf>,
    /// In the place of NaN
    #[arg(long, value_name = "VALUE", default_value = "0", allow_hyphen_values = true)]
    nan: Value,
    /// In the place of +Inf
    #[arg(long, value_name = "VALUE", default_value = "max", allow_hyphen_values = true)]
    posinf: Value,
    /// In the place of -Inf
    #[arg(long, value_name = "VALUE", default_value = "min", allow_hyphen_values = true)]
    neginf: Value,
    /// Tensors of such a name keep nan, +inf, -inf, inf or all; repeatable
    #[arg(long, value_name = "PATTERN:KINDS", allow_hyphen_values = true)]
    allow: Vec<Allow>,
    /// Bytes that are numbers: '*_scales=f8e8m0fnu' by name, V2=bf16 by dtype of numpy; repeatable
    #[arg(long = "as", value_name = "PATTERN=FORMAT")]
    taken_as: Vec<TakenAs>,
    /// Replace OUT if it is there
    #[arg(long)]
    force: bool,
    /// Print what would be replaced, and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// Where the copy goes.
#[derive(Clone, Copy, Debug)]
enum Target<'a> {
    Nowhere,
    Stdout,
    File(&'a Path),
}

impl Fix {
    fn target(&self) -> Target<'_> {
        match &self.output {
            _ if self.dry_run => Target::Nowhere,
            Some(path) if path != Path::new("-") => Target::File(path),
            Some(_) | None => Target::Stdout,
        }
    }

    /// Whether the run may leave a file to remove if it is interrupted.
    #[must_use]
    pub fn cleans_up(&self) -> bool {
        matches!(self.target(), Target::File(_))
    }

    /// Writes the output, and a line for each tensor with replaced numbers. These lines go to
    /// `out`, or to standard error if the output is `out`. A failure has a message with the reason.
    /// A signal interrupts the run.
    ///
    /// # Errors
    /// The errors of `out`, except while the copy is written to it.
    pub fn run(
        &self,
        progress: Option<Arc<Progress>>,
        out: &mut impl Write,
    ) -> io::Result<Result<(), String>> {
        let target = self.target();
        let fixed = self.write(target, progress.clone(), out);
        if let Some(progress) = progress {
            progress.finish();
        }
        let input = OneLine(self.input.display());
        let output = Terminal::of_output();
        match (fixed, target) {
            (Ok(fixed), Target::Nowhere) => {
                out.write_all(report(&fixed, &input.to_string(), true, output).as_bytes())?;
            }
            (Ok(fixed), Target::File(path)) => {
                let file = OneLine(path.display()).to_string();
                out.write_all(report(&fixed, &file, false, output).as_bytes())?;
            }
            (Ok(fixed), Target::Stdout) => {
                let report = report(&fixed, STDOUT, false, Terminal::of_messages());
                // If this message cannot be written either, only the exit status tells of the
                // failure.
                let _ = io::stderr().write_all(report.as_bytes());
            }
            (Err(error), Target::Nowhere) => return Ok(Err(format!("{input}: {error}"))),
            (Err(error), Target::File(path)) => {
                return Ok(Err(format!("{input} to {}: {error}", OneLine(path.display()))));
            }
            (Err(error), Target::Stdout) => {
                return Ok(Err(format!("{input} to {STDOUT}: {error}")));
            }
        }
        Ok(Ok(()))
    }

    fn write(
        &self,
        target: Target<'_>,
        progress: Option<Arc<Progress>>,
        out: &mut impl Write,
    ) -> Result<Fixed, String> {
        let options = FixOptions {
            values: ByKind { nan: self.nan, pos_inf: self.posinf, neg_inf: self.neginf },
            allow: self.allow.clone(),
            taken_as: self.taken_as.clone(),
            force: self.force,
            observer: Some(Arc::new(Watch(progress))),
        };
        let fixed = match target {
            Target::Nowhere => fix_to(&self.input, io::sink(), &options),
            Target::Stdout if io::stdout().is_terminal() => {
                return Err(TERMINAL.to_owned());
            }
            Target::Stdout if is_stdout(&self.input) => Err(FixError::SameFile),
            Target::Stdout => fix_to(&self.input, out, &options),
            Target::File(path) => fix_file(&self.input, path, &options),
        };
        fixed.map_err(|error| OneLine(error.worded(wording::flag)).to_string())
    }
}

/// The name of standard output in messages.
const STDOUT: &str = "standard output";

/// Why nothing was written to standard output.
const TERMINAL: &str = "it is a terminal; redirect it, or name a file";

/// Whether standard output writes to this file.
#[cfg(unix)]
fn is_stdout(file: &Path) -> bool {
    use std::fs::{self, File};
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;
    let stdout = io::stdout().as_fd().try_clone_to_owned();
    let stdout = stdout.and_then(|stdout| File::from(stdout).metadata());
    match (stdout, fs::metadata(file)) {
        (Ok(stdout), Ok(file)) => (stdout.dev(), stdout.ino()) == (file.dev(), file.ino()),
        // Ignored here, since the copy then fails for the same reason.
        (Err(_), _) | (_, Err(_)) => false,
    }
}

/// Windows cannot truncate a mapped file.
#[cfg(not(unix))]
fn is_stdout(_: &Path) -> bool {
    false
}

/// A line for each tensor with numbers that were (or would be) replaced, and a summary. On a
/// terminal no line is wider than the terminal.
fn report(fixed: &Fixed, file: &str, dry: bool, terminal: Terminal) -> String {
    let mut text = String::new();
    let replaced = if dry { "would replace" } else { "replaced" };
    for tensor in fixed.tensors.iter().filter(|tensor| tensor.total() != 0) {
        let pieces = pieces(tensor, replaced);
        let line = format!("{file}: {}", pieces.join(" "));
        text.push_str(&fitted(&line, &pieces, terminal.room()));
    }
    let tensors = count(fixed.tensors.len(), "tensor");
    let total: usize = fixed.tensors.iter().map(FixedTensor::total).sum();
    let summary = if dry {
        format!("{file}: {tensors}, would replace {total}")
    } else {
        format!("wrote {file}: {tensors}, {total} replaced")
    };
    text + &wrap(&summary, terminal.room())
}

/// The name of a tensor if it has one, its dtype and shape, and what was replaced.
fn pieces(tensor: &FixedTensor, replaced: &str) -> Vec<String> {
    let counts = tensor.replaced.zip(ByKind::NAMES).into_array().into_iter();
    let counts: Vec<_> =
        counts.filter(|(n, _)| *n != 0).map(|(n, kind)| format!("{n} {kind}")).collect();
    let name = tensor.name.as_ref().map(|name| OneLine(name).to_string());
    let dtype = format!("{} {:?}", OneLine(&tensor.dtype), tensor.shape);
    name.into_iter().chain([dtype, format!("{replaced} {}", counts.join(", "))]).collect()
}
