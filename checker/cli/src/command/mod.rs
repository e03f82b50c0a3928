//! The whole command: arguments in, output and an exit status out.

pub mod args;
pub mod draw_map;
pub mod github;
pub mod interrupt;
pub mod lint;
pub mod patterns;
pub mod run;
pub mod session;
pub mod tensor_table;
pub mod terminal;
pub mod text_width;

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, Parser};
use clap_mangen::Man;
use nonfinite_check::FileFormat;
use nonfinite_report::lines::visible;
use nonfinite_report::status::{CLEAN, FAILED};

use crate::command::args::{Arguments, Command};
use crate::command::interrupt::or_interrupted;
use crate::command::lint::lint;
use crate::command::run::Run;
use crate::status::{complain, finish};

/// Runs the command and returns its exit status. The first argument is the name of the program.
pub fn run(arguments: impl Iterator<Item = OsString>) -> u8 {
    match Arguments::try_parse_from(arguments) {
        Ok(arguments) => carry_out(arguments.command),
        // Help and version are written to standard output.
        Err(error) if !error.use_stderr() => finish(error.print(), CLEAN),
        Err(error) => {
            if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand)
                && (Path::new(word).exists() || FileFormat::by_path(Path::new(word)).is_some())
            {
                complain(format_args!(
                    "{word:?} is a file and no command: nonfinite check {word:?} checks it"
                ));
            } else {
                // An argument may hold control characters, such as the name of a file.
                let text = error.to_string();
                let lines = text.trim_end().lines().map(|line| visible(line) + "\n");
                let _ = io::stderr().write_all(lines.collect::<String>().as_bytes());
            }
            FAILED
        }
    }
}

fn carry_out(command: Command) -> u8 {
    let mut out = io::stdout().lock();
    match command {
        Command::Backends | Command::Check(_) | Command::Lint(_) if !backend_exists() => FAILED,
        Command::Backends => finish(backends(&mut out), CLEAN),
        Command::Check(check) => or_interrupted(Run::new(&check).all(&mut out)),
        Command::Lint(arguments) => or_interrupted(lint(&arguments, &mut out)),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "nonfinite", &mut script);
            finish(out.write_all(&script), CLEAN)
        }
        Command::Man { command } => manual(command.as_deref(), &mut out),
    }
}

/// Prints the manual page of a command, or of the whole program.
fn manual(name: Option<&str>, out: &mut impl Write) -> u8 {
    // The command `help` gets no page: it prints the same as `--help`.
    let mut program = Arguments::command().disable_help_subcommand(true);
    // Gives the commands their full names, such as `nonfinite check`.
    program.build();
    let command = match name {
        None => Some(&program),
        Some(name) => program.find_subcommand(name),
    };
    let Some(command) = command.cloned() else {
        complain(format_args!("no command {:?}", name.unwrap_or_default()));
        return FAILED;
    };
    finish(Man::new(command).render(out), CLEAN)
}

/// Checks that the backend in NONFINITE_BACKEND is available. The library would panic if it is not.
fn backend_exists() -> bool {
    let Some(name) = env::var_os("NONFINITE_BACKEND").filter(|name| !name.is_empty()) else {
        return true;
    };
    let exists = name.to_str().and_then(nonfinite::Backend::by_name).is_some();
    if !exists {
        let known = nonfinite::Backend::available().map(nonfinite::Backend::name);
        let known = known.collect::<Vec<_>>().join(", ");
        complain(format_args!("NONFINITE_BACKEND: no backend {name:?} here, only {known}"));
    }
    exists
}

fn backends(out: &mut impl Write) -> io::Result<()> {
    for (name, backend) in nonfinite::Backend::all() {
        let available = if backend.is_some() { "available" } else { "unavailable" };
        let is_active = backend == Some(nonfinite::Backend::active());
        let active = if is_active { " active" } else { "" };
        writeln!(out, "{name:<8} {available}{active}")?;
    }
    Ok(())
}
