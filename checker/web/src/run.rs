//! A run over the files: plans, reports, and what is shown of them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use js_sys::Function;
use nonfinite_check::json::{self, Listed};
use nonfinite_check::lint::{self, Finding, Linter};
use nonfinite_check::work::{self, Plan, PlannedPiece, Tallies};
use nonfinite_check::{Error, Observer, Options, Report, formats};
use nonfinite_report::html::{self, Checked};
use nonfinite_report::lines::{Complaint, not_looked_at, of_no_format};
use nonfinite_report::searched::{Searched, is_version_control};
use nonfinite_report::summary::Summary;
use wasm_bindgen::JsValue;

/// Bytes of a piece, and of the pieces that a worker takes at a time.
const PIECE: NonZeroUsize = NonZeroUsize::new(8 << 20).unwrap();

/// The most pieces that a worker takes at a time.
const MOST: usize = 4096;

/// Bytes between two pieces that are read with them.
const GAP: u64 = 256 << 10;

/// What an instance knows of the files.
pub(crate) struct Run {
    /// Whether there is a folder, or several files.
    several: bool,
    options: Options,
    linter: Linter,
    results: BTreeMap<PathBuf, Result<Report, Error>>,
    /// After the end: the files in order, and the findings of a run that was not stopped.
    files: Vec<Checked>,
    findings: Option<Vec<Finding>>,
    searched: Searched,
}

thread_local! {
    static RUN: RefCell<Run> = RefCell::new(Run::new(false));
}

/// The paths that are looked at among these: no folders of version control, and no shards of sets
/// whose index is there.
pub(crate) fn paths(all: &[PathBuf]) -> Vec<String> {
    let is_hidden = |path: &&PathBuf| path.iter().any(is_version_control);
    let shards: BTreeSet<_> = all.iter().flat_map(|path| formats::shards(path)).collect();
    let kept = all.iter().filter(|path| !is_hidden(path) && !shards.contains(*path));
    kept.map(|path| path.to_string_lossy().into_owned()).collect()
}

/// As [`crate::check_pieces`].
pub(crate) fn check_pieces(pieces: &[u8]) -> Result<(bool, Vec<u8>), String> {
    let pieces: Vec<PlannedPiece> =
        postcard::from_bytes(pieces).map_err(|error| error.to_string())?;
    let tallies = work::check_pieces(&pieces, &Options::default());
    let tallies = tallies.map_err(|error| error.to_string())?;
    let bytes = postcard::to_stdvec(&tallies).map_err(|error| error.to_string())?;
    Ok((tallies.is_bad(), bytes))
}

/// As [`crate::ranges`].
pub(crate) fn ranges(pieces: &[u8]) -> String {
    let pieces: Vec<PlannedPiece> = postcard::from_bytes(pieces).unwrap_or_default();
    let mut ranges: Vec<(&str, Range<u64>)> = Vec::new();
    for (file, range) in pieces.iter().filter_map(|piece| Some((piece.file(), piece.range()?))) {
        match ranges.last_mut() {
            Some((last, all))
                if *last == file
                    && (all.start..=all.end.saturating_add(GAP)).contains(&range.start)
                    && range.end.saturating_sub(all.start) <= 2 * PIECE.get() as u64 =>
            {
                all.end = all.end.max(range.end);
            }
            _ => ranges.push((file, range)),
        }
    }
    // Texts and numbers always have a form in JSON.
    serde_json::to_string(&ranges).unwrap_or_default()
}

/// A plan, and the tallies of its pieces. None for the bytes of a plan that could not be made, and
/// of pieces that could not be checked.
fn parsed(plan: &[u8], found: &[Vec<u8>]) -> Option<(Plan, Vec<Tallies>)> {
    let found = found.iter().map(|bytes| postcard::from_bytes(bytes));
    Some((postcard::from_bytes(plan).ok()?, found.collect::<Result<_, _>>().ok()?))
}

impl Run {
    pub(crate) fn new(several: bool) -> Self {
        let observer = Some(Arc::new(Progress) as Arc<dyn Observer>);
        let options = Options { places: true, draw: true, observer, ..Options::default() };
        Self {
            several,
            linter: Linter::new(options.clone()),
            options,
            results: BTreeMap::new(),
            files: Vec::new(),
            findings: None,
            searched: Searched::default(),
        }
    }

    pub(crate) fn with<T>(act: impl FnOnce(&mut Self) -> T) -> T {
        RUN.with_borrow_mut(act)
    }

    /// The plan, and batches of pieces behind their bytes. None if the file cannot be planned.
    pub(crate) fn plan(&mut self, path: &str) -> Option<(Vec<u8>, Vec<Batch>)> {
        let mut plan = self.linter.plan(path, PIECE).ok()?;
        let pieces = batches(plan.take_pieces());
        Some((postcard::to_stdvec(&plan).ok()?, pieces))
    }

    pub(crate) fn so_far(&mut self, path: &Path, plan: &[u8], found: &[Vec<u8>]) -> String {
        let parsed = parsed(plan, found);
        let report =
            parsed.and_then(|(plan, found)| work::so_far(&plan, found, &self.options).ok());
        report.map(|report| json::lines(path, &Ok(report), Listed::Bad)).unwrap_or_default()
    }

    pub(crate) fn merge(&mut self, path: &Path, plan: &[u8], found: &[Vec<u8>]) -> String {
        let parsed = parsed(plan, found);
        let report = match parsed.and_then(|(plan, found)| self.linter.merge(&plan, found).ok()) {
            Some(report) => Ok(report),
            // What cannot be planned or read, and a wrong checksum, in the words of the command.
            None => self.linter.check(path),
        };
        let lines = json::lines(path, &report, Listed::Bad);
        self.results.insert(path.to_owned(), report);
        lines
    }

    /// The places in bad tensors, as JSON. A file that cannot be read again has none.
    pub(crate) fn places(&mut self, plan: &[u8], found: &[Vec<u8>], progress: Function) -> String {
        PROGRESS.replace(Some((progress, 0)));
        let places =
            parsed(plan, found).and_then(|(plan, found)| self.linter.places(&plan, found).ok());
        // Places always have a form in JSON.
        serde_json::to_string(&places.unwrap_or_default()).unwrap_or_default()
    }

    pub(crate) fn add_places(&mut self, path: &Path, places: &str) {
        let file = self.files.iter_mut().find(|(of, _)| of == path);
        let report = file.and_then(|(_, result)| result.as_mut().ok());
        if let Some((report, places)) = report.zip(serde_json::from_str(places).ok()) {
            report.add_places(places);
        }
    }

    /// As the command sorts out what the search of a folder finds. A part of a model is not a
    /// model, so the rules apply only if each file was looked at.
    pub(crate) fn end(&mut self, paths: &[String]) {
        let is_whole = paths.iter().all(|path| self.results.contains_key(Path::new(path)));
        for path in paths.iter().map(PathBuf::from) {
            let result = self.results.remove(&path).unwrap_or(Err(Error::Stopped));
            let result = self.searched.sort(&path, self.several, result);
            self.files.extend(result.map(|result| (path, result)));
        }
        let unread = self.searched.finish().into_iter();
        self.files.extend(unread.map(|(path, error)| (path, Err(error))));
        let linter = std::mem::replace(&mut self.linter, Linter::new(self.options.clone()));
        self.findings = is_whole.then(|| linter.findings());
    }

    pub(crate) fn missed(&self) -> Vec<String> {
        let missed = self.files.iter().flat_map(|(path, result)| match result {
            Ok(report) => not_looked_at(path, report).collect(),
            Err(error) => vec![Complaint { path, error }.to_string()],
        });
        missed.chain(of_no_format(&self.searched.no_format)).collect()
    }

    pub(crate) fn json(&self) -> String {
        json::document(&self.files, &self.searched.no_format, Listed::All)
    }

    pub(crate) fn findings(&self) -> String {
        lint::document(
            self.findings.as_deref().unwrap_or_default(),
            &self.files,
            &self.searched.no_format,
            self.findings.is_some(),
        )
    }

    pub(crate) fn html(&self) -> String {
        match &self.findings {
            Some(findings) => html::of_findings(findings, &self.files),
            None => html::document(&self.files),
        }
    }

    /// The numbers and the rules as HTML, and how many findings there are. The rule `nonfinite` is
    /// left out, since the numbers say the same.
    pub(crate) fn body(&self) -> Vec<String> {
        let of_rules = self.findings.iter().flatten().filter(|found| found.rule.id != "nonfinite");
        let of_rules: Vec<_> = of_rules.cloned().collect();
        let (count, rules) = html::rules(&of_rules, &self.files);
        vec![html::body(&self.files), rules, count]
    }

    pub(crate) fn summary(&self, seconds: f64) -> Vec<String> {
        let counts = Summary::of(&self.files, self.searched.no_format.len());
        let Searched { text, pictures, .. } = self.searched;
        let summary = Summary { text, pictures, ..counts };
        let line = summary.line(Duration::from_secs_f64(seconds.max(0.0)), "portable");
        vec![summary.answer(), line]
    }
}

/// How many bytes there are to check, and the pieces for [`check_pieces`].
type Batch = (u64, Vec<u8>);

fn batches(pieces: Vec<PlannedPiece>) -> Vec<Batch> {
    let mut batches = Vec::new();
    let mut pieces = pieces.into_iter().peekable();
    while pieces.peek().is_some() {
        let (mut bytes, mut batch) = (0, Vec::new());
        let fits = |bytes: u64, piece: &PlannedPiece| bytes + piece.length() <= PIECE.get() as u64;
        while let Some(piece) =
            pieces.next_if(|next| batch.is_empty() || batch.len() < MOST && fits(bytes, next))
        {
            bytes += piece.length();
            batch.push(piece);
        }
        // Pieces always have a form as bytes.
        batches.push((bytes, postcard::to_stdvec(&batch).unwrap_or_default()));
    }
    batches
}

thread_local! {
    /// The function to tell, and the bytes of the file that were scanned.
    static PROGRESS: RefCell<Option<(Function, u64)>> = const { RefCell::new(None) };
}

/// Tells JavaScript how far the check of a file is.
#[derive(Debug)]
struct Progress;

impl Observer for Progress {
    fn advanced(&self, bytes: u64) -> ControlFlow<()> {
        /// Bytes between two calls.
        const STEP: u64 = 8 << 20;
        PROGRESS.with_borrow_mut(|progress| {
            let Some((tell, done)) = progress else { return };
            let before = *done;
            *done += bytes;
            if before / STEP != *done / STEP {
                // It returns nothing. A check goes on if its progress cannot be shown.
                let _ = tell.call1(&JsValue::NULL, &JsValue::from_f64(*done as f64));
            }
        });
        ControlFlow::Continue(())
    }
}
