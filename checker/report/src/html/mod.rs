//! A report as one HTML page that needs nothing else: `nonfinite check --html`, and `lint --html`.
//!
//! The page has a policy that allows its own style and script only, and nothing from elsewhere. It
//! has at most 2 MB, whatever was checked: each part has a budget, and the page says how many items
//! did not fit.

mod detail;
mod findings;
mod layers;
mod overview;
mod stats;
mod text;

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use nonfinite_check::lint::{Finding, Severity};
use nonfinite_check::{Error, LookedAt, Report, TensorReport, Totals};

use text::{Budget, escaped};

use crate::lines::{count, hint};
use crate::natural;
use crate::summary::Summary;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The first line of a page.
const DOCTYPE: &str = "<!doctype html>\n";

/// The budgets of the parts of a page, in bytes. With style and script, their sum is less than
/// [`MOST_BYTES`].
const FILES: usize = 200_000;
const OVERVIEWS: usize = 650_000;
const ENTRIES: usize = 450_000;
const MAPS: usize = 600_000;

/// The budget of the list of findings of lint. Their table has at most 36 bytes for each of 256
/// columns and each rule. Maps have so much less.
const FINDINGS: usize = 300_000;

/// The budget, for each file with a bad or unreadable tensor, for the sentences about items that
/// are not shown.
const WORDS: usize = 400;

/// The most bytes of a page.
pub const MOST_BYTES: usize = 2_000_000;

/// The most bad tensors whose entries are open, and above the tables.
const FEW: usize = 6;

/// The table of a file with more tensors is closed: a browser takes seconds to lay it out.
const MOST_OPEN: usize = 5000;

/// A path as it was given or found, and its report or its error.
pub type Checked = (PathBuf, Result<Report, Error>);

/// The page of these files.
#[must_use]
pub fn document(files: &[Checked]) -> String {
    let answer = Summary::of(files, 0).answer();
    page(&answer, &format!("<h1>{}</h1>\n{}", escaped(&answer), body(files)), SCRIPT)
}

/// The page of the findings of lint in these files, with the page of the check behind.
#[must_use]
pub fn of_findings(findings: &[Finding], files: &[Checked]) -> String {
    let (title, list) = rules(findings, files);
    let maps = Budget(MAPS.saturating_sub(list.len()));
    let numbers = checked(files, Page { maps, ..Page::default() });
    let answer = escaped(Summary::of(files, 0).answer());
    let body = format!("<h1>{title}</h1>\n{list}<h2>Numbers: {answer}</h2>\n{numbers}");
    page(&title, &body, SCRIPT)
}

/// How many findings of lint there are, and the list of them as HTML, for a page that has the style
/// and the script already.
#[must_use]
pub fn rules(findings: &[Finding], files: &[Checked]) -> (String, String) {
    let of = |severity| findings.iter().filter(|found| found.severity == severity).count();
    let mut title =
        [Severity::Error, Severity::Warning].map(|it| count(of(it), it.name())).join(", ");
    if of(Severity::Note) > 0 {
        title = format!("{title}, {}", count(of(Severity::Note), "note"));
    }
    (title, findings::section(findings, files, &mut Budget(FINDINGS)))
}

/// What a check found in these files as HTML, for a page that has the style and the script already.
#[must_use]
pub fn body(files: &[Checked]) -> String {
    checked(files, Page::default())
}

fn checked(files: &[Checked], mut page: Page) -> String {
    let bad = files.iter().filter_map(|(_, result)| result.as_ref().ok()).map(bad).sum::<usize>();
    page.is_open = bad <= FEW;
    // Files with findings come first, so that they get the space.
    let (some, clean): (Vec<_>, Vec<_>) = files.iter().partition(|(_, result)| !is_clean(result));
    let sections = some.into_iter().chain(clean);
    let sections: String = sections.map(|file| page.section(file, files.len() == 1)).collect();
    let left_out = page.left_out();
    let stats = stats::table(files, &mut page.rest());
    let legend = if page.has_table { LEGEND } else { "" };
    format!("{sections}{left_out}{stats}{legend}")
}

/// A page with the style of all reports. `title` is text, `body` is HTML, `script` is JavaScript.
#[must_use]
pub fn page(title: &str, body: &str, script: &str) -> String {
    // The number by which the policy knows the style and the script. The number depends on the
    // whole body, so a script that got there by a name in a file cannot have it.
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    let nonce = hasher.finish();
    let script = match script {
        "" => String::new(),
        _ => format!("<script nonce={nonce:x}>{script}</script>\n"),
    };
    format!(
        "{DOCTYPE}<html lang=en><meta charset=utf-8>\
         <meta http-equiv=Content-Security-Policy content=\"default-src 'none'; \
         style-src 'nonce-{nonce:x}'; script-src 'nonce-{nonce:x}'; base-uri 'none'; \
         form-action 'none'\">\
         <meta name=viewport content=\"width=device-width\">\
         <title>nonfinite: {}</title><style nonce={nonce:x}>{STYLE}</style>\n\
         {body}{script}",
        escaped(title)
    )
}

const LEGEND: &str = "<details><summary>How to read tables and maps</summary>\
    <p>In the tables: <code>.</code> all is finite or allowed; a number on \
    red: the number of bad tensors; <code>?</code> could not be looked at; <code>-</code> \
    nothing to look at; an empty field: no tensor.\n\
    <p class=key>In the maps, bad elements of a cell: <span class=d0></span>&nbsp;none \
    <span class=d1></span>&nbsp;less than 1 % <span class=d2></span>&nbsp;less than 10 % \
    <span class=d3></span>&nbsp;more <span class=d4></span>&nbsp;all. Coordinates are under the \
    pointer; with the keyboard: Tab to a map, then the arrow keys.</details>\n";

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

/// Writes a page.
///
/// # Errors
/// The errors of [`may_write`] and of the system.
pub fn write(path: &Path, page: &str) -> io::Result<()> {
    may_write(path)?;
    fs::write(path, page)
}

fn bad(report: &Report) -> usize {
    report.tensors.iter().filter(|tensor| tensor.is_bad()).count()
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
    /// Whether entries are open, and above the tables.
    is_open: bool,
    /// Whether there is a table, so that its signs are explained.
    has_table: bool,
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
            is_open: false,
            has_table: false,
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
        let text = match result {
            Err(error) => {
                let why = escaped(format!("{error}{}", hint(error)));
                format!("<h2>{path}</h2>\n<p>This file could not be checked: {why}\n")
            }
            Ok(report) => {
                let tensors = Totals::of([report]).tensors;
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
                let masks = report.tensors.iter().filter(|tensor| tensor.mask.is_some()).count();
                if masks > 0 {
                    text.push_str(&format!("; {}", count(masks, "mask")));
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
        self.has_table = true;
        let tensors = natural::ordered(&report.tensors);
        let (entries, numbers) = self.entries(&tensors);
        let entry = |index: usize| numbers.get(index).copied().flatten();
        let mut table = overview::table(&tensors, report.format, entry, &mut self.overviews);
        if tensors.len() > MOST_OPEN {
            table = format!("<details><summary>All tensors</summary>{table}</details>\n");
        }
        let [first, second] = if self.is_open { [&entries, &table] } else { [&table, &entries] };
        text + first + second
    }

    /// The entries of the bad tensors, and the number of the entry of each tensor.
    fn entries(&mut self, tensors: &[&TensorReport]) -> (String, Vec<Option<usize>>) {
        let (mut text, mut numbers) = (String::new(), Vec::new());
        let mut out = 0;
        for tensor in tensors {
            let number = match &tensor.looked_at {
                LookedAt::Unreadable(why) | LookedAt::Damaged(why) => {
                    let name = escaped(tensor.title().as_deref().unwrap_or("(no name)"));
                    let why = escaped(why);
                    let line = format!("<p><b>{name}</b> was not looked at: {why}\n");
                    if self.entries.take(&line, 0) {
                        text.push_str(&line);
                    }
                    None
                }
                _ if !tensor.is_bad() && tensor.mask.is_none() => None,
                _ => {
                    let number = (self.written, self.is_open);
                    let entry = detail::entry(tensor, number, &mut self.entries, &mut self.maps);
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
