//! The command `nonfinite`.
#![forbid(unsafe_code)]

use std::env;
use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(nonfinite_cli::command::run(env::args_os()))
}
