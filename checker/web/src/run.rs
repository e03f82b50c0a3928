//! A run over the files: plans, reports, and what is shown of them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::iter;
use std::num::NonZeroUsize;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use js_sys::Function;
use nonfinite_check::json::{self, Listed};
use nonfinite_check::lint::{self, Finding, Linter};
use nonfinite_check::work::{self, Plan, PlannedPiece, Tallies};
use nonfinite_check::{Error, Observer, Options, Report, check_file, formats};
use nonfinite_report::html::{self, Checked};
use nonfinite_report::lines::Summary;
use nonfinite_report::searched::{Searched, is_version_control};
use wasm_bindgen::JsValue;

/// Bytes of a piece, and of the pieces that a worker takes at a time.
const PIECE: NonZeroUsize = NonZeroUsize::new(8 << 20).unwrap();

/// The most pieces that a worker takes at a time.
const MOST: usize = 256;

/// Bytes between two pieces that are read with them.
pub(crate) const GAP: u64 = 256 << 10;

/// What an instance knows of the files.
#[derive(Default)]
pub(crate) struct Run {
    several: bool,
    /// Makes the plans.
    planner: Option<Linter>,
    results: BTreeMap<PathBuf, Result<Report, Error>>,
    /// Keeps what rules need.
    linter: Option<Linter>,
    /// The findings of lint, if [`Run::lint`] was called.
    findings: Option<Vec<Finding>>,
    /// After the end: the files in order.
    files: Vec<Checked>,
    searched: Searched,
}

thread_local! {
    static RUN: RefCell<Run> = RefCell::default();
}

fn options() -> Options {
    Options { places: true, draw: true, ..Options::default() }
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
pub(crate) fn check_pieces(pieces: &str) -> Result<String, String> {
    let pieces: Vec<PlannedPiece> =
        serde_json::from_str(pieces).map_err(|error| error.to_string())?;
    let tallies = work::check_pieces(&pieces, &Options::default());
    serde_json::to_string(&tallies.map_err(|error| error.to_string())?)
        .map_err(|error| error.to_string())
}

/// As [`crate::ranges`].
pub(crate) fn ranges(pieces: &str) -> String {
    let pieces: Vec<PlannedPiece> = serde_json::from_str(pieces).unwrap_or_default();
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

/// A plan, and the tallies of its pieces.
fn parsed(plan: &str, found: &[String]) -> serde_json::Result<(Plan, Vec<Tallies>)> {
    let found = found.iter().map(|text| serde_json::from_str(text));
    Ok((serde_json::from_str(plan)?, found.collect::<Result<_, _>>()?))
}

impl Run {
    pub(crate) fn new(several: bool) -> Self {
        Self { several, ..Self::default() }
    }

    pub(crate) fn with<T>(act: impl FnOnce(&mut Self) -> T) -> T {
        RUN.with_borrow_mut(act)
    }

    pub(crate) fn plan(&mut self, path: &Path) -> Vec<String> {
        let planner = self.planner.get_or_insert_with(|| Linter::new(options()));
        match planner.plan(&path.to_string_lossy(), PIECE) {
            Ok(mut plan) => {
                let pieces = plan.take_pieces();
                // Plans always have a form in JSON.
                let plan = serde_json::to_string(&plan).unwrap_or_default();
                iter::once(plan).chain(batches(pieces)).collect()
            }
            // Those errors that are of the file have the words of the command.
            Err(_) => {
                self.check(path);
                Vec::new()
            }
        }
    }

    pub(crate) fn merge(&mut self, path: &Path, plan: &str, found: &[String]) {
        let parsed = parsed(plan, found).ok();
        match parsed.and_then(|(plan, found)| work::merge(&plan, found, &options()).ok()) {
            Some(report) => {
                self.results.insert(path.to_owned(), Ok(report));
            }
            // Such as a wrong checksum.
            None => self.check(path),
        }
    }

    pub(crate) fn check(&mut self, path: &Path) {
        self.results.insert(path.to_owned(), check_file(path, &options()));
    }

    pub(crate) fn lint(&mut self, path: &Path, plan: &str, found: &[String], progress: Function) {
        let observer = Some(Arc::new(Progress) as Arc<dyn Observer>);
        let new = || Linter::new(Options { observer, ..options() });
        let linter = self.linter.get_or_insert_with(new);
        PROGRESS.replace(Some((progress, 0)));
        let parsed = parsed(plan, found).ok();
        let report = match parsed.and_then(|(plan, found)| linter.merge(&plan, found).ok()) {
            Some(report) => Ok(report),
            None => linter.check(path),
        };
        self.results.insert(path.to_owned(), report);
    }

    /// As the command sorts out what the search of a folder finds.
    pub(crate) fn end(&mut self, paths: &[String]) {
        for path in paths.iter().map(PathBuf::from) {
            let result = self.results.remove(&path).unwrap_or(Err(Error::Stopped));
            let result = self.searched.sort(&path, self.several, result);
            self.files.extend(result.map(|result| (path, result)));
        }
        let unread = self.searched.finish().into_iter();
        self.files.extend(unread.map(|(path, error)| (path, Err(error))));
        self.findings = self.linter.take().map(Linter::findings);
    }

    pub(crate) fn file(&self, path: &Path) -> String {
        let result = self.results.get(path);
        result.map(|result| json::lines(path, result, Listed::Bad)).unwrap_or_default()
    }

    pub(crate) fn json(&self) -> String {
        json::document(&self.files, &self.searched.no_format, Listed::All)
    }

    pub(crate) fn findings(&self) -> String {
        lint::document(
            self.findings.as_deref().unwrap_or_default(),
            &self.files,
            &self.searched.no_format,
            true,
        )
    }

    pub(crate) fn html(&self) -> String {
        match &self.findings {
            Some(findings) => html::of_findings(findings, &self.files),
            None => html::document(&self.files),
        }
    }

    pub(crate) fn body(&self) -> String {
        let (_, body) = match &self.findings {
            Some(findings) => html::body_of_findings(findings, &self.files),
            None => html::body(&self.files),
        };
        body
    }

    pub(crate) fn summary(&self, seconds: f64) -> Vec<String> {
        let counts = Summary::of(&self.files, self.searched.no_format.len());
        let Searched { text, pictures, .. } = self.searched;
        let summary = Summary { text, pictures, ..counts };
        let line = summary.line(Duration::from_secs_f64(seconds.max(0.0)), "portable");
        vec![summary.status(false).to_string(), line]
    }
}

/// Pieces as texts, each behind its bytes.
fn batches(pieces: Vec<PlannedPiece>) -> Vec<String> {
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
        // Pieces always have a form in JSON.
        batches.push(bytes.to_string());
        batches.push(serde_json::to_string(&batch).unwrap_or_default());
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
                // It returns nothing, and a failure to show progress is none of the check.
                let _ = tell.call1(&JsValue::NULL, &JsValue::from_f64(*done as f64));
            }
        });
        ControlFlow::Continue(())
    }
}
