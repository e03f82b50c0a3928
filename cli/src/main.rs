//! The command `nonfinite`.

use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use lexopt::Arg;
use nonfinite_check::{LookedAt, Options, Report};
use nonfinite_cli::fix::Fix;
use nonfinite_cli::report::{Line, OneLine, Totals};

const HELP: &str = "\
Which tensors of a file hold NaN or infinity, and where.

Usage:
  nonfinite check FILE...   check .npy and .safetensors files
  nonfinite fix IN -o OUT   write a file anew without them
  nonfinite paths           list the code paths, best first
  nonfinite --help
  nonfinite --version

check prints one line for each tensor that holds a value that is not finite: file,
name, dtype, shape, how many of each kind, and the coordinate of the first in the
order of the file. A summary follows. The two parts of a complex number count
each for itself. Integers, text and times are skipped, and so are formats that
have neither NaN nor infinity (F4, F6). Files are mapped: do not write to them
meanwhile.

fix writes the .safetensors or .npy file IN to OUT, with other numbers in the place of
NaN and infinity, and prints how many it replaced. All other bytes stay. OUT appears when
it is whole, or not at all; IN is never overwritten.
  --nan VALUE      in the place of NaN (0)
  --posinf VALUE   in the place of +Inf (max)
  --neginf VALUE   in the place of -Inf (min)
  --force          OUT may be replaced if it is there
VALUE is a number, or max or min: the largest or least finite number of the dtype.

Exit status: 0 if all is finite, 1 if not, 2 if a file could not be checked or the
usage is wrong.

Environment:
  NONFINITE_PATH   the code path to use, of those that `nonfinite paths` lists
";

const CLEAN: u8 = 0;
const FOUND: u8 = 1;
const FAILED: u8 = 2;

enum Command {
    Help,
    Version,
    Paths,
    Check(Vec<PathBuf>),
    Fix(Fix),
}

fn main() -> ExitCode {
    let status = match arguments() {
        Ok(command) => run(command),
        Err(error) => {
            complain(format_args!("{}; see nonfinite --help", OneLine(error)));
            FAILED
        }
    };
    ExitCode::from(status)
}

fn arguments() -> Result<Command, lexopt::Error> {
    let mut parser = lexopt::Parser::from_env();
    let mut command = None;
    while let Some(argument) = parser.next()? {
        match (argument, &mut command) {
            (Arg::Short('h') | Arg::Long("help"), _) => return Ok(Command::Help),
            (Arg::Short('V') | Arg::Long("version"), _) => return Ok(Command::Version),
            (Arg::Value(file), Some(Command::Check(files))) => files.push(file.into()),
            (Arg::Value(name), None) if name == "check" => command = Some(Command::Check(Vec::new())),
            (Arg::Value(name), None) if name == "paths" => command = Some(Command::Paths),
            (Arg::Value(name), None) if name == "fix" => {
                return Ok(Fix::parse(&mut parser)?.map_or(Command::Help, Command::Fix));
            }
            (Arg::Value(name), None) => return Err(format!("no command {name:?}").into()),
            (argument, _) => return Err(argument.unexpected()),
        }
    }
    match command {
        Some(Command::Check(files)) if files.is_empty() => Err("no file to check".into()),
        Some(command) => Ok(command),
        None => Err("no command".into()),
    }
}

fn run(command: Command) -> u8 {
    let mut out = io::stdout().lock();
    match command {
        Command::Help => finish(out.write_all(HELP.as_bytes()), CLEAN),
        Command::Version => finish(writeln!(out, "nonfinite {}", env!("CARGO_PKG_VERSION")), CLEAN),
        Command::Paths | Command::Check(_) | Command::Fix(_) if !path_exists() => FAILED,
        Command::Fix(fix) => match fix.run(&mut out) {
            Ok(Err(message)) => {
                complain(format_args!("{message}"));
                FAILED
            }
            written => finish(written.map(|_| ()), CLEAN),
        },
        Command::Paths => finish(paths(&mut out), CLEAN),
        Command::Check(files) => {
            let mut totals = Totals::default();
            let written = check(&files, &mut totals, &mut out);
            let status = match totals {
                Totals { failed: 1.., .. } => FAILED,
                Totals { bad: 1.., .. } => FOUND,
                _ => CLEAN,
            };
            finish(written, status)
        }
    }
}

/// Whether the path that the environment asks for can be had: the library would pass over one that cannot.
fn path_exists() -> bool {
    let Some(name) = env::var_os("NONFINITE_PATH").filter(|name| !name.is_empty()) else { return true };
    let exists = name.to_str().and_then(nonfinite::Path::by_name).is_some();
    if !exists {
        let known = nonfinite::Path::available().map(nonfinite::Path::name);
        let known = known.collect::<Vec<_>>().join(", ");
        complain(format_args!("NONFINITE_PATH: no path {name:?} here, only {known}"));
    }
    exists
}

fn paths(out: &mut impl Write) -> io::Result<()> {
    for path in nonfinite::paths() {
        let available = if path.available { "available" } else { "unavailable" };
        let active = if path.active { " active" } else { "" };
        writeln!(out, "{:<8} {available}{active}", path.name)?;
    }
    Ok(())
}

/// An error is one of output; those of files are counted and complained of.
fn check(files: &[PathBuf], totals: &mut Totals, out: &mut impl Write) -> io::Result<()> {
    let start = Instant::now();
    for path in files {
        match nonfinite_check::check_file(path, &Options::default()) {
            Ok(report) => print(path, &report, totals, out)?,
            Err(error) => {
                totals.failed += 1;
                complain(format_args!("{}: {}", OneLine(path.display()), OneLine(error)));
            }
        }
    }
    writeln!(out, "{}", totals.summary(start.elapsed(), nonfinite::Path::active().name()))
}

fn print(path: &Path, report: &Report, totals: &mut Totals, out: &mut impl Write) -> io::Result<()> {
    totals.failed += usize::from(!report.is_complete());
    for tensor in &report.tensors {
        totals.add(tensor);
        if let LookedAt::Unreadable(why) = &tensor.looked_at {
            let name = tensor.name.as_deref().unwrap_or_default();
            complain(format_args!("{}: tensor {name:?}: {}", OneLine(path.display()), OneLine(why)));
        }
        if tensor.is_bad() {
            writeln!(out, "{}", Line::new(path, tensor))?;
        }
    }
    Ok(())
}

/// The status, unless the output could not be written. A reader that has enough, such as `head`, is no error.
fn finish(written: io::Result<()>, status: u8) -> u8 {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            complain(format_args!("standard output: {error}"));
            FAILED
        }
        _ => status,
    }
}

/// A line on standard error. If even that cannot be written, the exit status has to do.
fn complain(message: std::fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr(), "nonfinite: {message}");
}
