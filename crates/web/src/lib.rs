//! The checker for JavaScript: for the page in `page/`, and for the npm package `nonfinite`.
//!
//! The page has several instances of this module, each in a worker of its own. One plans the files
//! ([`plan`]), all of them look at pieces ([`check_pieces`]), and the first puts the findings
//! together ([`merge`]). Then an instance reads the files again for rules and maps ([`lint`]).
//! Each instance reads bytes by functions that JavaScript gives ([`add_file`]).

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

/// The paths to look at, sorted. Shards are looked at with their index.
#[wasm_bindgen]
pub fn paths() -> Vec<String> {
    run::paths(&Files::with(|files| files.paths()))
}

/// Plans a file: the pieces as texts for [`check_pieces`], each behind its bytes. Empty if the file
/// cannot be checked. [`file`] says why.
#[wasm_bindgen]
pub fn plan(path: &str) -> Vec<String> {
    Run::with(|run| run.plan(Path::new(path)))
}

/// Looks at pieces, and returns what [`merge`] needs.
///
/// # Errors
/// If they cannot be read or decoded.
#[wasm_bindgen(js_name = checkPieces)]
pub fn check_pieces(pieces: &str) -> Result<String, JsError> {
    run::check_pieces(pieces).map_err(|error| JsError::new(&error))
}

/// Puts together what was found in the pieces of a file. Nothing for a file that [`plan`] refused.
#[wasm_bindgen]
pub fn merge(path: &str, found: Vec<String>) {
    Run::with(|run| run.merge(Path::new(path), &found));
}

/// Checks a file here, and finds the places of bad numbers.
#[wasm_bindgen]
pub fn check(path: &str) {
    Run::with(|run| run.check(Path::new(path)));
}

/// As [`check`], and keeps what the rules of lint need. `progress(bytes)` is told how many bytes
/// of this file were looked at.
#[wasm_bindgen]
pub fn lint(path: &str, progress: js_sys::Function) {
    Run::with(|run| run.lint(Path::new(path), progress));
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
