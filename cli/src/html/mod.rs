//! A report as one HTML page that needs nothing else: `nonfinite check --html`.
//!
//! The page has a policy that allows its own style and script only, by their hashes, and nothing
//! from elsewhere. It has at most 2 MB, whatever was checked: each part has a budget, and the page
//! says how many items did not fit.

mod detail;
mod overview;
mod stats;
mod text;

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use nonfinite_check::{Error, LookedAt, Report};

use text::{Budget, escaped};

use crate::report::count;
use crate::wording;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// SHA-256 of style and script in base64, as a content security policy has them.
const STYLE_HASH: &str = "oZ6dPyW9747zxVX0rMi/Z7C7YSKZvq9WisqxoPFnk+0=";
const SCRIPT_HASH: &str = "3qx5gt6ueCMCnGKNEbtZufEL16OGJEejsk/ACTYzZbY=";

/// The first line of a page.
const DOCTYPE: &str = "<!doctype html>\n";

/// The budgets of the parts of a page, in bytes. With style and script, their sum is less than
/// [`MOST_BYTES`].
const FILES: usize = 200_000;
const OVERVIEWS: usize = 650_000;
const ENTRIES: usize = 450_000;
const MAPS: usize = 600_000;

/// The budget, for each file with a bad or unreadable tensor, for the sentences about items that
/// are not shown.
const WORDS: usize = 400;

/// The most bytes of a page.
pub const MOST_BYTES: usize = 2_000_000;

/// A file that was checked, and its result.
type Checked = (PathBuf, Result<Report, Error>);

/// The page of these files.
#[must_use]
pub fn document(files: &[Checked]) -> String {
    let mut page = Page::default();
    // Files with findings come first, so that they get the space.
    let (some, clean): (Vec<_>, Vec<_>) = files.iter().partition(|(_, result)| !is_clean(result));
    let sections = some.into_iter().chain(clean);
    let sections: String = sections.map(|file| page.section(file, files.len() == 1)).collect();
    let bad = files.iter().filter_map(|(_, result)| result.as_ref().ok()).map(bad).sum::<usize>();
    let not_checked = files.iter().filter(|(_, result)| !is_complete(result)).count();
    let mut verdict = format!("{} in {}", count(bad, "bad tensor"), count(files.len(), "file"));
    if not_checked > 0 {
        verdict.push_str(&format!(
            "; {} could not be checked, or not as a whole",
            count(not_checked, "file")
        ));
    }
    let left_out = page.left_out();
    let stats = stats::table(files, &mut page.rest());
    format!(
        "{DOCTYPE}<html lang=en><meta charset=utf-8>\
         <meta http-equiv=Content-Security-Policy content=\"default-src 'none'; \
         style-src 'sha256-{STYLE_HASH}'; script-src 'sha256-{SCRIPT_HASH}'; base-uri 'none'; \
         form-action 'none'\">\
         <meta name=viewport content=\"width=device-width\">\
         <title>nonfinite: {verdict}</title><style>{STYLE}</style>\n\
         <h1>{verdict}</h1>\n{LEGEND}{sections}{left_out}{stats}<script>{SCRIPT}</script>\n"
    )
}

const LEGEND: &str = "<p>In the tables: <code>.</code> all is finite or allowed; a number on \
    black: the number of bad tensors; <code>?</code> could not be looked at; <code>-</code> \
    nothing to look at; an empty field: no tensor.\n\
    <p class=key>In the maps, bad elements of a cell: <span class=d0></span>none \
    <span class=d1></span>less than 1 % <span class=d2></span>less than 10 % \
    <span class=d3></span>more <span class=d4></span>all. Coordinates are under the pointer; with \
    the keyboard: Tab to a map, then the arrow keys.\n";

/// Checks that this path may be written to: there is no file, or an older report, or a pipe or a
/// device.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] if the path leads to another file, such as a model.
pub fn may_write(path: &Path) -> io::Result<()> {
    if !fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0) {
        return Ok(());
    }
    let mut beginning = Vec::new();
    File::open(path)?.take(DOCTYPE.len() as u64).read_to_end(&mut beginning)?;
    match beginning == DOCTYPE.as_bytes() {
        true => Ok(()),
        false => Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "there is a file that is no report, and it is not overwritten",
        )),
    }
}

/// Writes the page of these files.
///
/// # Errors
/// The errors of [`may_write`] and of the system.
pub fn write(path: &Path, files: &[Checked]) -> io::Result<()> {
    may_write(path)?;
    fs::write(path, document(files))
}

fn bad(report: &Report) -> usize {
    report.tensors.iter().filter(|tensor| tensor.is_bad()).count()
}

fn is_complete(result: &Result<Report, Error>) -> bool {
    result.as_ref().is_ok_and(Report::is_complete)
}

fn is_clean(result: &Result<Report, Error>) -> bool {
    result.as_ref().is_ok_and(|report| report.is_complete() && !report.is_bad())
}

/// The remaining budgets of the page, and the numbers of items that did not fit.
struct Page {
    files: Budget,
    overviews: Budget,
    entries: Budget,
    maps: Budget,
    /// The number of entries in the page.
    written: usize,
    /// The number of files without a section, and how many of them are not clean.
    files_out: usize,
    unclean_out: usize,
}

impl Default for Page {
    fn default() -> Self {
        Self {
            files: Budget(FILES),
            overviews: Budget(OVERVIEWS),
            entries: Budget(ENTRIES),
            maps: Budget(MAPS),
            written: 0,
            files_out: 0,
            unclean_out: 0,
        }
    }
}

impl Page {
    /// A clean file has a table only if it is `alone`.
    fn section(&mut self, (path, result): &Checked, alone: bool) -> String {
        let path = escaped(path.display());
        let mut text = match result {
            Err(error) => {
                let why = escaped(format!("{error}{}", wording::hint(error)));
                format!("<h2>{path}</h2>\n<p>This file could not be checked: {why}\n")
            }
            Ok(report) => {
                let tensors = report.tensors.len();
                let unreadable = report.tensors.iter();
                let unreadable = unreadable.filter(|tensor| tensor.looked_at.is_missing()).count();
                let format = report.format.name();
                let mut text = format!(
                    "<h2>{path}</h2>\n<p>{format}: {} of {} bad",
                    bad(report),
                    count(tensors, "tensor")
                );
                if unreadable > 0 {
                    text.push_str(&format!("; {unreadable} could not be looked at"));
                }
                text + ".\n"
            }
        };
        let has_table = alone || !is_clean(result);
        if !self.files.take(&text, if has_table { WORDS } else { 0 }) {
            self.files_out += 1;
            self.unclean_out += usize::from(!is_clean(result));
            return String::new();
        }
        let Ok(report) = result else { return text };
        if !has_table {
            return text;
        }
        let (entries, numbers) = self.entries(report);
        let entry = |index: usize| numbers.get(index).copied().flatten();
        text.push_str(&overview::table(&report.tensors, entry, &mut self.overviews));
        text + &entries
    }

    /// The entries of the bad tensors, and the number of the entry of each tensor.
    fn entries(&mut self, report: &Report) -> (String, Vec<Option<usize>>) {
        let (mut text, mut numbers) = (String::new(), Vec::new());
        let mut out = 0;
        for tensor in &report.tensors {
            let number = match &tensor.looked_at {
                LookedAt::Unreadable(why) | LookedAt::Damaged(why) => {
                    let name = escaped(tensor.name.as_deref().unwrap_or("(no name)"));
                    let why = escaped(wording::reason(why));
                    let line = format!("<p><b>{name}</b> was not looked at: {why}\n");
                    if self.entries.take(&line, 0) {
                        text.push_str(&line);
                    }
                    None
                }
                _ if !tensor.is_bad() => None,
                _ => {
                    let entry =
                        detail::entry(tensor, self.written, &mut self.entries, &mut self.maps);
                    out += usize::from(entry.is_none());
                    entry.map(|entry| {
                        text.push_str(&entry);
                        self.written += 1;
                        self.written - 1
                    })
                }
            };
            numbers.push(number);
        }
        if out > 0 {
            let out = count(out, "more bad tensor");
            text.push_str(&format!("<p>Not listed here, for want of room: {out}.\n"));
        }
        (text, numbers)
    }

    /// The room that the parts have left.
    fn rest(&self) -> Budget {
        Budget(
            [&self.files, &self.overviews, &self.entries, &self.maps]
                .map(|left| left.0)
                .iter()
                .sum(),
        )
    }

    fn left_out(&self) -> String {
        match self.files_out {
            0 => String::new(),
            files => format!(
                "<p>Not in this report, for want of room: {}, of which {} not clean.\n",
                count(files, "more file"),
                self.unclean_out
            ),
        }
    }
}
