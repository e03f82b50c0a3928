//! Manual pages, made from the description of the arguments.
//!
//! The help text behind the options consists of paragraphs. A paragraph that begins with a heading,
//! such as `Exit status:`, becomes a section. All others belong to the description.

use std::io;

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, roman};

use crate::args::Arguments;

/// The headings of paragraphs, and the section of the page for each, in the order of the page.
const HEADINGS: [(&str, &str); 4] = [
    ("Exit status:", "EXIT STATUS"),
    ("Environment:", "ENVIRONMENT"),
    ("Example:", "EXAMPLES"),
    ("Examples:", "EXAMPLES"),
];

/// The page of a command, or of the whole program if there is no name. None if there is no such
/// command.
///
/// # Errors
/// Errors of the crate `clap_mangen`. None are known.
pub fn page(name: Option<&str>) -> io::Result<Option<Vec<u8>>> {
    // The command `help` gets no page: it prints the same as `--help`.
    let mut program = Arguments::command().disable_help_subcommand(true);
    // Gives the commands their full names: `nonfinite check`, and `nonfinite-check` as the title of
    // a page.
    program.build();
    let command = match name {
        None => &program,
        Some(name) => match program.find_subcommand(name) {
            Some(command) => command,
            None => return Ok(None),
        },
    };
    let title = command.get_display_name().unwrap_or_else(|| command.get_name());
    let version = format!("nonfinite {}", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).title(title).source(version);
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    synopsis(command).to_writer(&mut page)?;
    man.render_description_section(&mut page)?;
    description(&help).to_writer(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    sections(&help).to_writer(&mut page)?;
    Ok(Some(page))
}

/// The usage as clap prints it. The part before the first argument is bold.
fn synopsis(command: &Command) -> Roff {
    let usage = command.clone().render_usage().to_string().replace(['<', '>'], "");
    let usage = usage.trim_start_matches("Usage:").trim();
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let rest = usage.strip_prefix(name).unwrap_or_default();
    let mut roff = Roff::new();
    roff.control("SH", ["SYNOPSIS"]).text([bold(name), roman(rest)]);
    roff
}

fn heading(paragraph: &str) -> Option<(&str, &'static str)> {
    HEADINGS.iter().find_map(|(start, heading)| Some((paragraph.strip_prefix(start)?, *heading)))
}

/// The paragraphs of the help text without a heading.
fn description(help: &str) -> Roff {
    let mut roff = Roff::new();
    for paragraph in help.split("\n\n").filter(|text| heading(text).is_none()) {
        roff.control("PP", []).text(lines(paragraph));
    }
    roff
}

/// The paragraphs with a heading. Indented lines are not wrapped.
fn sections(help: &str) -> Roff {
    let mut sections: Vec<_> = help.split("\n\n").filter_map(heading).collect();
    let order = |name| HEADINGS.iter().position(|(_, heading)| *heading == name);
    sections.sort_by_key(|(_, name)| order(*name));
    let mut roff = Roff::new();
    for (text, name) in sections {
        roff.control("SH", [name]);
        if text.starts_with('\n') {
            roff.control("nf", []).text(lines(text.trim_matches('\n'))).control("fi", []);
        } else {
            roff.text([roman(text.trim())]);
        }
    }
    roff
}

fn lines(text: &str) -> Vec<Inline> {
    text.lines().map(|line| roman(format!("{}\n", line.trim()))).collect()
}
