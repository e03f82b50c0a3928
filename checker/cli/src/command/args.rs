//! The arguments of the command.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use nonfinite_check::json::Listed;
use nonfinite_check::lint::{self, Severity};
use nonfinite_check::{Allow, Kinds, Observer, Options};

/// Which tensors of a model file hold NaN or infinity, and where.
#[derive(Debug, Parser)]
#[command(name = "nonfinite", version, max_term_width = 100)]
#[command(after_help = "Environment:\n  \
    NONFINITE_BACKEND  the backend to use, of those that `nonfinite backends` lists\n  \
    NO_COLOR           no colours, not even on a terminal\n  \
    CLICOLOR_FORCE     colours, not only on a terminal\n  \
    AWS_*, GOOGLE_*, AZURE_*, HF_TOKEN, HF_ENDPOINT  credentials and settings for URLs")]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Find the tensors of model files that hold NaN or infinity
    #[command(after_help = CHECK_HELP)]
    Check(Check),
    /// Find what makes a checkpoint compute garbage: bad scales, missing tensors, holes
    #[command(after_help = LINT_HELP)]
    Lint(Lint),
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
const LINT_HELP: &str = "\
Reads config.json beside the tensors. Includes the check: every NaN and infinity is an error.

Exit status: 0 without an error; 1 if there are errors; 2 if a file is damaged or the usage is \
wrong, or if there is no error and something was not looked at; 130 if interrupted.

Examples:
  nonfinite lint models/Llama-3.1-8B-NVFP4
  nonfinite lint --format github --warnings off --allow 'scale-zero:*.lm_head.*' export/";

const CHECK_HELP: &str = "\
Formats: safetensors, npy, npz, GGUF, ONNX, PyTorch.

Exit status: 0 if all is finite; 1 if a tensor is bad; 2 if a file is damaged or the usage is \
wrong, or if nothing is bad and something was not looked at; 130 if interrupted.

Examples:
  nonfinite check --allow '*.attn_mask:-inf' checkpoints/ 'more/*.gguf'
  curl -s https://example.org/x.npy | nonfinite check -";

/// How to check.
#[derive(Debug, Args)]
pub struct Check {
    /// Files, folders, patterns (*, ?, [..], **), URLs, or - for standard input
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
    /// auto (a table on a terminal, else lines), table, lines, json, jsonl or github
    #[arg(long, value_enum, default_value_t = Form::Auto)]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    pub format: Form,
    /// The same as --format json
    #[arg(long, conflicts_with_all = ["format", "quiet"])]
    pub json: bool,
    /// No results and no progress, only errors
    #[arg(short, long)]
    pub quiet: bool,
    /// Measure finite numbers: range, largest magnitude, zeros
    #[arg(long)]
    pub stats: bool,
    /// Larger magnitudes are bad; 65504 is the most of f16
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true, value_parser = bound)]
    pub max_abs: Option<f64>,
    /// Draw where the bad numbers of each tensor are
    #[arg(long)]
    pub map: bool,
    /// Write a page with a map of each bad tensor
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath, value_parser = page)]
    pub html: Option<PathBuf>,
    /// List bad tensors only; totals count all
    #[arg(long)]
    pub bad_only: bool,
    /// What is bad, and how much to do.
    #[command(flatten)]
    pub how: How,
}

/// What is bad, and how much to do.
#[derive(Debug, Args)]
pub struct How {
    /// Tensors of such a name may hold nan, +inf, -inf, inf, large or all; repeatable
    #[arg(long, value_name = "PATTERN:KINDS", allow_hyphen_values = true)]
    pub allow: Vec<Allow>,
    /// The kinds of numbers that make a tensor bad
    #[arg(long, value_name = "KINDS", default_value = "nan,inf", allow_hyphen_values = true)]
    pub fail_on: Kinds,
    /// How much to do, and what is too little.
    #[command(flatten)]
    pub limits: Limits,
}

/// How much to do, and what is too little.
#[derive(Debug, Args)]
pub struct Limits {
    /// Exit with 2 if anything was not looked at; check: count masks as bad
    #[arg(long)]
    pub strict: bool,
    /// The most bytes to download, to read from a pipe, or to decode of a file
    #[arg(long, value_name = "N")]
    pub max_bytes: Option<u64>,
    /// Threads to use, instead of as many as there are CPUs
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
}

/// What to lint.
#[derive(Debug, Args)]
pub struct Lint {
    /// Folders of models, files, patterns or URLs
    #[arg(required_unless_present = "rules", value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
    /// auto (wrapped lines on a terminal, else lines), lines, json or github
    #[arg(long, value_parser = form_of_lint(), default_value = "auto")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    pub format: Form,
    /// The same as --format json
    #[arg(long, conflicts_with_all = ["format", "quiet"])]
    pub json: bool,
    /// No findings and no progress, only errors of files
    #[arg(short, long)]
    pub quiet: bool,
    /// Findings that are meant to be there, by rule and name of tensor; repeatable
    #[arg(long, value_name = "RULE[:PATTERN]")]
    pub allow: Vec<lint::Suppression>,
    /// Whether warnings are listed: on, off, or notes as well
    #[arg(long, value_enum, value_name = "WHICH", default_value_t = Warnings::On)]
    #[arg(hide_possible_values = true)]
    pub warnings: Warnings,
    /// Write a page with the findings and the check
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath, value_parser = page)]
    pub html: Option<PathBuf>,
    /// Look at names, shapes and the configuration only: of URLs, headers are fetched
    #[arg(long, conflicts_with = "html")]
    pub headers: bool,
    /// List the rules
    #[arg(long)]
    pub rules: bool,
    /// How much to do, and what is too little.
    #[command(flatten)]
    pub limits: Limits,
}

/// The forms that `lint` has.
fn form_of_lint() -> impl TypedValueParser<Value = Form> {
    PossibleValuesParser::new(["auto", "lines", "json", "github"])
        .try_map(|name| <Form as ValueEnum>::from_str(&name, false))
}

/// Which findings below errors are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Warnings {
    /// None.
    Off,
    /// Warnings.
    On,
    /// Warnings and notes.
    Notes,
}

impl Lint {
    /// The options of the check, with an observer of the progress.
    #[must_use]
    pub fn options(&self, observer: Arc<dyn Observer>) -> Options {
        Options { draw: self.html.is_some(), ..self.limits.options(observer) }
    }

    /// The least severity that is listed.
    #[must_use]
    pub const fn least(&self) -> Severity {
        match self.warnings {
            Warnings::Off => Severity::Error,
            Warnings::On => Severity::Warning,
            Warnings::Notes => Severity::Note,
        }
    }
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
}

impl Form {
    /// The form of the output, from all options together.
    #[must_use]
    pub const fn chosen(self, json: bool, terminal: bool) -> Self {
        match self {
            _ if json => Self::Json,
            Self::Auto if terminal => Self::Table,
            Self::Auto => Self::Lines,
            form => form,
        }
    }
}

impl How {
    /// The options of the check, with an observer of the progress.
    #[must_use]
    pub fn options(&self, stats: bool, observer: Arc<dyn Observer>) -> Options {
        Options {
            stats,
            fail_on: self.fail_on,
            allow: self.allow.clone(),
            ..self.limits.options(observer)
        }
    }
}

impl Limits {
    fn options(&self, observer: Arc<dyn Observer>) -> Options {
        Options {
            threads: self.threads,
            max_bytes: self.max_bytes,
            observer: Some(observer),
            ..Options::default()
        }
    }
}

impl Check {
    /// Which tensors are listed.
    #[must_use]
    pub const fn listed(&self) -> Listed {
        if self.bad_only { Listed::Bad } else { Listed::All }
    }
}
