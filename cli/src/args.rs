//! The arguments of the command.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use nonfinite_check::{Allow, Kinds, Options, RawDtype};

use crate::fix::Fix;

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
        /// The command that it is of, such as `check`; without one, of all
        command: Option<String>,
    },
}

// Paragraphs are lines: clap breaks them where the terminal ends.
const FIX_HELP: &str = "\
VALUE is a number, or max or min: the largest or least finite number of the dtype. All other bytes stay. OUT appears \
when it is whole, or not at all; IN is never overwritten. Prints how many numbers were replaced in each tensor.

Exit status: 0 if OUT was written, 2 if not, 130 if interrupted: then there is no OUT, either.

Example:
  nonfinite fix broken.safetensors -o mended.safetensors --nan 0 --posinf max --neginf min";

const CHECK_HELP: &str = "\
For each tensor that holds a number that is not finite: name, dtype, shape, how many of each kind, and the coordinate \
of the first in the order of the file. A summary follows. The two parts of a complex number count each for itself. \
Of quantised tensors (GGUF) the scales are looked at. Integers, text and times are skipped, and so are formats that \
have neither NaN nor infinity (F4, F6); in tables nulls are, too. Do not write to files meanwhile: a \
.safetensors, .npy or .gguf file that is cut is an error, but other files are mapped, and cutting them can end the \
check with SIGBUS.

Exit status: 0 if all is finite, 1 if not, 2 if a file could not be checked or the usage is wrong, 130 if interrupted.

Examples:
  nonfinite check model.safetensors
  nonfinite check --stats checkpoints/
  nonfinite check --allow '*.attn_mask:-inf' --jsonl 'shards/*.safetensors'
  curl -s https://example.org/x.npy | nonfinite check -
  nonfinite check s3://bucket/model.safetensors";

/// How to check.
#[derive(Debug, Args)]
pub struct Check {
    /// Files, folders (searched for files by their names), patterns (*, ?, [..], **),
    /// model.safetensors.index.json for a sharded set, or - for standard input (.npy, .safetensors,
    /// .gguf; streams of Arrow if built with them). If built with the feature remote, also URLs:
    /// s3://, gs://, az://, https://, hf://OWNER/MODEL/PATH
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
    /// Least and greatest finite number of each tensor, the clean ones too
    #[arg(long)]
    pub stats: bool,
    /// Allow KINDS in tensors whose name matches PATTERN (*, ?, [..]): they make no tensor bad.
    /// KINDS are nan, +inf, -inf, inf (both signs) and all, separated by commas. May be given
    /// several times
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
    /// Print no more than this many tensors; the summary counts all. Not for JSON
    #[arg(long, value_name = "N")]
    pub max_reports: Option<usize>,
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
    /// When to use colours in a table; NO_COLOR counts for `auto`
    #[arg(long, value_enum, default_value_t = When::Auto)]
    pub color: When,
    /// No progress bar; without a terminal there is none anyway
    #[arg(long)]
    pub no_progress: bool,
}

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// A table on a terminal, else lines.
    Auto,
    /// A table.
    Table,
    /// A line for each bad tensor.
    Lines,
    /// A JSON document.
    Json,
    /// JSON objects, one a line.
    Jsonl,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Check {
    /// The form that all options together ask for.
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
}
