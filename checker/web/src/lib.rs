//! The checker for JavaScript: for the page in `page/`, and for the npm package `nonfinite`.
//!
//! The page has several instances of this module, each in a worker of its own. One plans the files
//! ([`plan`]), all of them check pieces ([`check_pieces`]), and the first puts the tallies
//! together ([`merge`]). Then an instance applies the rules, and reads bad tensors again for maps
//! ([`lint`]). Each instance reads bytes by functions that JavaScript gives ([`add_file`]), unless
//! JavaScript has read them ahead ([`begin_ahead`]).

mod files;
pub mod numbers;
mod run;

use std::path::Path;

use wasm_bindgen::prelude::{JsError, wasm_bindgen};

use files::Files;
use run::Run;

/// Makes a file known under a path, with its length in bytes. `read(offset, length)` returns a
/// `Uint8Array` with so many bytes of the file.
#[wasm_bindgen(js_name = addFile)]
pub fn add_file(path: &str, length: f64, read: js_sys::Function) {
    nonfinite_check::open_files_by(files::open);
    Files::with(|files| files.add(path, length, read));
}

/// Forgets all files, and what was found in them. `several` says whether they are a folder or
/// several files: then files without tensors are no errors.
#[wasm_bindgen]
pub fn begin(several: bool) {
    // Sources of the last run ask for their files no more.
    Run::with(|run| *run = Run::new(several));
    Files::with(|files| *files = Files::default());
}

/// The paths to check, sorted. Shards are checked with their index.
#[wasm_bindgen]
pub fn paths() -> Vec<String> {
    run::paths(&Files::with(|files| files.paths()))
}

/// Plans a file: the plan as a text for [`merge`], and the pieces as texts for [`check_pieces`],
/// each behind its bytes. Empty if the file cannot be checked. [`file`] says why.
#[wasm_bindgen]
pub fn plan(path: &str) -> Vec<String> {
    Run::with(|run| run.plan(Path::new(path)))
}

/// The bytes that [`check_pieces`] will read, as JSON: paths, each with `start` and `end`. Without
/// those of files that are read as a whole.
#[wasm_bindgen]
pub fn ranges(pieces: &str) -> String {
    run::ranges(pieces)
}

/// Begins a part of a file that JavaScript reads ahead, of `length` bytes from byte `at` on.
#[wasm_bindgen(js_name = beginAhead)]
pub fn begin_ahead(path: String, at: f64, length: f64) {
    Files::with(|files| files.begin_ahead(path, at as u64, length as usize));
}

/// Adds the next bytes of that part.
#[wasm_bindgen(js_name = extendAhead)]
pub fn extend_ahead(bytes: &js_sys::Uint8Array) {
    Files::with(|files| files.extend_ahead(bytes));
}

/// Forgets what was read ahead.
#[wasm_bindgen(js_name = endAhead)]
pub fn end_ahead() {
    Files::with(Files::end_ahead);
}

/// Checks pieces, and returns their tallies, which [`merge`] needs.
///
/// # Errors
/// If they cannot be read or decoded.
#[wasm_bindgen(js_name = checkPieces)]
pub fn check_pieces(pieces: &str) -> Result<String, JsError> {
    run::check_pieces(pieces).map_err(|error| JsError::new(&error))
}

/// Puts together what was found in the pieces of a file.
#[wasm_bindgen]
pub fn merge(path: &str, plan: &str, found: Vec<String>) {
    Run::with(|run| run.merge(Path::new(path), plan, &found));
}

/// Checks a file here, and finds the places of bad numbers.
#[wasm_bindgen]
pub fn check(path: &str) {
    Run::with(|run| run.check(Path::new(path)));
}

/// As [`merge`], keeps what the rules of lint need, and finds the places of bad numbers. An empty
/// plan means that the file is checked here. `progress(bytes)` is told how many bytes of this file
/// were looked at.
#[wasm_bindgen]
pub fn lint(path: &str, plan: &str, found: Vec<String>, progress: js_sys::Function) {
    Run::with(|run| run.lint(Path::new(path), plan, &found, progress));
}

/// Ends the run: files without a result were stopped. Applies the rules to what [`lint`] has kept.
#[wasm_bindgen]
pub fn end() {
    let paths = paths();
    Run::with(|run| run.end(&paths));
}

/// The bad tensors of a file, and what was not looked at, as lines of JSON: those of
/// `nonfinite check --format jsonl`.
#[wasm_bindgen]
pub fn file(path: &str) -> String {
    Run::with(|run| run.file(Path::new(path)))
}

/// The report as JSON: that of `nonfinite check --json`.
#[wasm_bindgen]
pub fn json() -> String {
    Run::with(|run| run.json())
}

/// The findings of the rules as JSON: those of `nonfinite lint --json`.
#[wasm_bindgen]
pub fn findings() -> String {
    Run::with(|run| run.findings())
}

/// The report as the HTML page of the command.
#[wasm_bindgen]
pub fn html() -> String {
    Run::with(|run| run.html())
}

/// The body of that page, to be shown in another page.
#[wasm_bindgen]
pub fn body() -> String {
    Run::with(|run| run.body())
}

/// The exit status of the command, and its last line. `seconds` is the time of the check.
#[wasm_bindgen]
pub fn summary(seconds: f64) -> Vec<String> {
    Run::with(|run| run.summary(seconds))
}
