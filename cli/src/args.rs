//! The arguments of the command.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use nonfinite_check::json::Listed;
use nonfinite_check::{Allow, Kinds, Observer, Options, RawDtype, TakenAs};

use crate::fix::Fix;
use crate::terminal::When;

/// Which tensors of a model file hold NaN or infinity, and where.
#[derive(Debug, Parser)]
#[command(name = "nonfinite", version, max_term_width = 100)]
#[command(after_help = "Environment:\n  \
    NONFINITE_BACKEND  the backend to use, of those that `nonfinite backends` lists\n  \
    NO_COLOR           no colours\n  \
    AWS_*, GOOGLE_*, AZURE_*, HF_TOKEN, HF_ENDPOINT  credentials and settings for URLs")]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check model files (.safetensors, .npy, .npz, .gguf, .onnx, .pt; .arrow and .parquet if built
    /// with them), sharded sets, and folders of them
    #[command(after_help = CHECK_HELP)]
    Check(Check),
    /// Compare models by tensor names: the NaN and infinity that B holds and A does not
    #[command(after_help = DIFF_HELP)]
    Diff(Diff),
    /// Write a .safetensors or .npy file anew, with other numbers in the place of NaN and infinity
    #[command(after_help = FIX_HELP)]
    Fix(Fix),
    /// List the backends, best first
    Backends,
    /// Print a script that completes arguments in a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print a manual page, for man(1)
    Man {
        /// The command of the page, such as `check`; without one, the page of all
        command: Option<String>,
    },
}

// Each paragraph is one line, which clap wraps to the width of the terminal.
const FIX_HELP: &str = "\
VALUE is a number, or max or min: the largest or least finite number of the dtype. All other \
bytes are copied unchanged. IN is never overwritten. Prints how many numbers were replaced in each \
tensor, on standard error if OUT is standard output.

OUT appears when it is complete, or not at all. It gets the permissions of IN, less the umask. On \
Linux OUT has no name before that, so nothing is left behind even if the process is killed. There \
are two exceptions: file systems without unnamed files, and the moment in which --force replaces a \
file. In these cases SIGKILL may leave a file .nonfinite-fix-* beside OUT. Standard output gets \
the bytes as they are written, so it has only a part of them if the exit status is not 0.

Exit status: 0 if OUT was written, 2 if not, 128 plus the number of the signal if a signal ended \
the run, such as 130 after Ctrl-C or 143 after SIGTERM. Unless it is 0, there is no OUT, or still \
the old one.

Examples:
  nonfinite fix broken.safetensors -o mended.safetensors --nan 0 --posinf max --neginf min
  nonfinite fix broken.safetensors --dry-run --allow '*.attn_mask:-inf'
  nonfinite fix broken.npy -o - | gzip > mended.npy.gz";

const DIFF_HELP: &str = "\
Finds the NaN and infinities that a conversion has added. Prints for each tensor the dtype, and \
how many numbers of each kind A and B hold. A kind is new if B holds more of it, or holds the \
first one at another place, in tensors of the same shape and order. Only the count and the first \
place are compared; the summary says for how many tensors this is not enough to exclude new ones. \
Changed shapes are listed. Findings are printed even if a part of A or B was not looked at. \
Dtypes may differ, and so may the number of files: tensors are matched by name. In a tensor \
that only B has, every NaN and infinity is new. A name that occurs in several files of one side \
is compared between files of the same path.

Exit status: 0 if nothing is new, 1 if something is, 2 if a file or a tensor could not be checked, \
if A and B have no tensor in common, or if the usage is wrong, 130 if interrupted.

Examples:
  nonfinite diff model-f32.safetensors model-f16.safetensors
  nonfinite diff model.safetensors.index.json merged.safetensors
  nonfinite diff --fail-on inf before/ after/";

const CHECK_HELP: &str = "\
Prints for each bad tensor: name, dtype, shape, the count of each kind, and \
the coordinate of the first of each kind in the order of the file. A summary follows. The real and \
the imaginary part of a complex number count as two numbers. In quantised tensors (GGUF) the \
scales are looked at. Integers, text, times, nulls in tables, and formats that have neither NaN \
nor infinity (F4, F6) are skipped. Do not write to files during a check: truncating a \
.safetensors, .npy or .gguf file is an error, but other files are mapped, and truncating these can \
end the check with SIGBUS.

No line of a table is wider than the terminal. If a row does not fit, these steps are taken in \
order: names are shortened to 60 columns; the first places and the range move to lines below the \
row; everything except the name moves there. A shortened text loses its middle.

In a folder, and for a pattern, files of any name are checked: their contents give the format. \
Text, pictures, PDF documents and folders of version control (.git) are ignored, since they hold \
no tensors of their own; the summary counts them. All other data that may hold a number and was \
not looked at is named, with the reason.

Exit status: 0 if all is finite, 1 if a tensor is bad, 2 if something was not looked at or could \
not be checked (see --skip-unknown) or the usage is wrong, 130 if interrupted.

Examples:
  nonfinite check model.safetensors
  nonfinite check --stats checkpoints/
  nonfinite check --max-abs 65504 --allow '*.scale:large' model.safetensors
  nonfinite check --allow '*.attn_mask:-inf' --jsonl 'shards/*.safetensors'
  nonfinite check --format sarif checkpoints/ > results.sarif
  curl -s https://example.org/x.npy | nonfinite check -
  nonfinite check s3://bucket/model.safetensors";

/// How to check.
#[derive(Debug, Args)]
pub struct Check {
    /// Files, folders (every file in them, whatever its name), patterns (*, ?, [..], **),
    /// model.safetensors.index.json for a sharded set, or - for standard input (.npy, .safetensors,
    /// .gguf; streams of Arrow if built with them). If built with the feature remote, also URLs:
    /// s3://, gs://, az://, https://, hf://OWNER/MODEL/PATH, and hf://OWNER/MODEL for all files of
    /// a model
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
    /// How results are printed; `auto` is a table on a terminal and lines elsewhere
    #[arg(long, value_enum, default_value_t = Form::Auto)]
    pub format: Form,
    /// One JSON document, as check/SCHEMA.md describes; the same as --format json
    #[arg(long, conflicts_with_all = ["format", "jsonl", "quiet"])]
    pub json: bool,
    /// A JSON object a line for each tensor; the same as --format jsonl
    #[arg(long, conflicts_with_all = ["format", "quiet"])]
    pub jsonl: bool,
    /// No results, only the exit status, and errors
    #[arg(short, long)]
    pub quiet: bool,
    /// Measure the finite numbers of each tensor, the clean ones too: minimum, maximum, the place
    /// of the maximum magnitude, how many zeros and subnormal numbers there are, and whether all
    /// are zeros
    #[arg(long)]
    pub stats: bool,
    /// A tensor with a finite number of a larger magnitude than NUMBER is bad. 65504 finds tensors
    /// that do not fit into f16. Of quantised tensors, the scales count
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true, value_parser = bound)]
    pub max_abs: Option<f64>,
    /// Draw where the bad numbers of each tensor are, in blocks. In JSON: how many are in each cell
    #[arg(long)]
    pub map: bool,
    /// Write a report to this file: one page of HTML that needs nothing else, with a map of each
    /// bad tensor. An older report is overwritten, and no other file
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath, value_parser = page)]
    pub html: Option<PathBuf>,
    /// What is bad, and how to read.
    #[command(flatten)]
    pub how: How,
    /// List bad tensors only, and those that could not be looked at; totals count all tensors
    #[arg(long)]
    pub bad_only: bool,
    /// Sums for each dtype before the summary. JSON always has them
    #[arg(long)]
    pub by_dtype: bool,
    /// Print no more than this many tensors; the summary counts all. Only for tables, lines and
    /// github
    #[arg(long, value_name = "N")]
    pub max_reports: Option<usize>,
    /// When to use colours in a table; NO_COLOR counts for `auto`
    #[arg(long, value_enum, default_value_t = When::Auto)]
    pub color: When,
}

/// What is bad, and how files are read: the options that several commands have.
#[derive(Debug, Args)]
pub struct How {
    /// Allow KINDS in tensors whose name matches PATTERN (*, ?, [..]): they make no tensor bad.
    /// KINDS are nan, +inf, -inf, inf (both signs), large (see --max-abs of check) and all,
    /// separated by commas. May be given several times
    #[arg(long, value_name = "PATTERN:KINDS", allow_hyphen_values = true)]
    pub allow: Vec<Allow>,
    /// The kinds of numbers that make a tensor bad
    #[arg(long, value_name = "KINDS", default_value = "nan,inf", allow_hyphen_values = true)]
    pub fail_on: Kinds,
    /// The format of elements that numpy saves as raw bytes, such as those of ml_dtypes: DTYPE is
    /// V2, V1 or f1, FORMAT one of bf16, f8e4m3fn, .. Counts for all .npy and .npz files. May be
    /// given several times
    #[arg(long, value_name = "DTYPE=FORMAT")]
    pub raw_dtype: Vec<RawDtype>,
    /// Exit with 0 or 1 although files or tensors of unknown formats were not looked at. They are
    /// named all the same, and `complete` of `check --json` stays false. Damaged files,
    /// members of archives and shards still give 2, and so does a run that looked at no tensor
    #[arg(long)]
    pub skip_unknown: bool,
    /// Take integers and raw bytes in tensors whose name matches PATTERN (*, ?, [..]) as numbers of
    /// FORMAT: f8e8m0fnu, f8e4m3fn, .. Many models keep scales and weights of 8 bits as U8. Tensors
    /// of floats stay as they are. May be given several times; the first that matches counts
    #[arg(long = "as", value_name = "PATTERN=FORMAT")]
    pub taken_as: Vec<TakenAs>,
    /// Refuse files whose decoded numbers are more than N bytes for each byte of the file: a few
    /// bytes of a table can stand for billions of equal numbers. Files of less than 64 KiB count as
    /// 64 KiB; numbers that are not encoded do not count. 0 means no bound; ONNX and PyTorch keep
    /// theirs on how often tensors refer to the same bytes
    #[arg(long, value_name = "N", default_value_t = Options::EXPANSION.get())]
    pub max_expansion: u64,
    /// Download no more than N bytes of a URL whose format needs the whole file at once. 0 means no
    /// bound
    #[arg(long, value_name = "N", default_value_t = Options::DOWNLOAD.get())]
    pub max_download: u64,
    /// Threads to use, instead of as many as the machine runs at a time
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Map files into memory instead of reading them. This takes less CPU time for files in the
    /// cache of the system, but a file that another process cuts ends the check with SIGBUS
    #[arg(long)]
    pub mmap: bool,
    /// No progress bar; without a terminal there is none anyway
    #[arg(long)]
    pub no_progress: bool,
}

/// A bound on magnitudes.
fn bound(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        // Without the sign of -0.
        Ok(bound) if bound.is_finite() && bound >= 0.0 => Ok(bound.abs()),
        Ok(_) | Err(_) => Err("not a finite number from 0 on".to_owned()),
    }
}

/// The name of a file for a page.
fn page(text: &str) -> Result<PathBuf, String> {
    match text {
        "-" => Err("it is written to a file, not to standard output".to_owned()),
        _ => Ok(text.into()),
    }
}

/// What to compare.
#[derive(Debug, Args)]
pub struct Diff {
    /// The side that is taken as it is: a file, the index of a sharded set, or a folder
    #[arg(value_name = "A", value_hint = ValueHint::AnyPath)]
    pub a: PathBuf,
    /// The side that may hold more: a file, the index of a sharded set, or a folder
    #[arg(value_name = "B", value_hint = ValueHint::AnyPath)]
    pub b: PathBuf,
    /// One JSON document, as check/SCHEMA.md describes
    #[arg(long, conflicts_with = "quiet")]
    pub json: bool,
    /// No results, only the exit status, and errors
    #[arg(short, long)]
    pub quiet: bool,
    /// How the maximum magnitude of each tensor has changed, of all tensors. The exit status does
    /// not depend on it
    #[arg(long)]
    pub stats: bool,
    /// What is bad, and how to read.
    #[command(flatten)]
    pub how: How,
}

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// A table on a terminal, otherwise lines.
    Auto,
    /// A table.
    Table,
    /// A line for each bad tensor.
    Lines,
    /// A JSON document.
    Json,
    /// JSON objects, one a line.
    Jsonl,
    /// Annotations of GitHub's workflows.
    Github,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// JUnit XML, for test reports.
    Junit,
}

impl How {
    /// The options of the check, with an observer of the progress.
    #[must_use]
    pub fn options(&self, stats: bool, observer: Arc<dyn Observer>) -> Options {
        Options {
            stats,
            max_abs: None,
            fail_on: self.fail_on,
            allow: self.allow.clone(),
            threads: self.threads,
            map: self.mmap,
            observer: Some(observer),
            raw: self.raw_dtype.clone(),
            taken_as: self.taken_as.clone(),
            expansion: NonZeroU64::new(self.max_expansion),
            download: NonZeroU64::new(self.max_download),
            places: false,
            draw: false,
        }
    }
}

impl Check {
    /// The form of the output, from all options together.
    #[must_use]
    pub fn form(&self, terminal: bool) -> Form {
        match self.format {
            _ if self.json => Form::Json,
            _ if self.jsonl => Form::Jsonl,
            Form::Auto if terminal => Form::Table,
            Form::Auto => Form::Lines,
            form => form,
        }
    }
    /// Which tensors are listed.
    #[must_use]
    pub const fn listed(&self) -> Listed {
        if self.bad_only { Listed::Bad } else { Listed::All }
    }
}
