//! The checker for JavaScript: for the page in `page/`, and for the npm package `nonfinite`.
//!
//! The page has several instances of this module, each in a worker of its own. Most of them plan
//! files ([`plan`]), check pieces ([`check_pieces`]), and read bad tensors again for their maps
//! ([`places`]). One puts the tallies together and applies the rules ([`merge`], [`end`]). Each
//! instance reads bytes by functions that JavaScript gives ([`add_file`]), unless JavaScript has
//! read them ahead ([`begin_ahead`]).

mod files;
pub mod numbers;
mod run;

use std::path::Path;

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::{JsError, JsValue, wasm_bindgen};

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

/// Plans a file: the plan as bytes for [`merge`], and the pieces as bytes for [`check_pieces`],
/// each behind the number of bytes to check. Empty if the file cannot be planned: [`merge`] says
/// why.
#[wasm_bindgen]
pub fn plan(path: &str) -> Array {
    let all = Array::new();
    if let Some((plan, pieces)) = Run::with(|run| run.plan(path)) {
        all.push(&Uint8Array::from(&*plan));
        for (bytes, batch) in pieces {
            all.push(&JsValue::from_f64(bytes as f64));
            all.push(&Uint8Array::from(&*batch));
        }
    }
    all
}

/// The bytes that [`check_pieces`] will read, as JSON: paths, each with `start` and `end`. Without
/// those of pieces that have to be decoded.
#[wasm_bindgen]
pub fn ranges(pieces: &[u8]) -> String {
    run::ranges(pieces)
}

/// Begins a part of a file that JavaScript reads ahead, of `length` bytes from byte `at` on.
#[wasm_bindgen(js_name = beginAhead)]
pub fn begin_ahead(path: String, at: f64, length: f64) {
    Files::with(|files| files.begin_ahead(path, at as u64, length as usize));
}

/// Adds the next bytes of that part.
#[wasm_bindgen(js_name = extendAhead)]
pub fn extend_ahead(bytes: &Uint8Array) {
    Files::with(|files| files.extend_ahead(bytes));
}

/// Forgets what was read ahead.
#[wasm_bindgen(js_name = endAhead)]
pub fn end_ahead() {
    Files::with(Files::end_ahead);
}

/// Checks pieces. Returns whether there is a NaN or an infinity, and the tallies as bytes, which
/// [`merge`] needs.
///
/// # Errors
/// If they cannot be read or decoded.
#[wasm_bindgen(js_name = checkPieces)]
pub fn check_pieces(pieces: &[u8]) -> Result<Array, JsError> {
    let (is_bad, tallies) = run::check_pieces(pieces).map_err(|error| JsError::new(&error))?;
    Ok(Array::of2(&is_bad.into(), &Uint8Array::from(&*tallies)))
}

/// The bad tensors of a file as far as some of its pieces show them, as lines of JSON: those of
/// `nonfinite check --format jsonl`.
#[wasm_bindgen(js_name = soFar)]
pub fn so_far(path: &str, plan: &[u8], found: Vec<Uint8Array>) -> String {
    let found: Vec<_> = found.iter().map(Uint8Array::to_vec).collect();
    Run::with(|run| run.so_far(Path::new(path), plan, &found))
}

/// Puts together what was found in the pieces of a file, and keeps what the rules of lint need. An
/// empty plan means that the file is checked here. Returns the bad tensors and what was not looked
/// at, as lines of JSON.
#[wasm_bindgen]
pub fn merge(path: &str, plan: &[u8], found: Vec<Uint8Array>) -> String {
    let found: Vec<_> = found.iter().map(Uint8Array::to_vec).collect();
    Run::with(|run| run.merge(Path::new(path), plan, &found))
}

/// Reads bad tensors again, and returns their places as a text for [`add_places`].
/// `progress(bytes)` is told how many bytes were read.
#[wasm_bindgen]
pub fn places(plan: &[u8], found: Vec<Uint8Array>, progress: js_sys::Function) -> String {
    let found: Vec<_> = found.iter().map(Uint8Array::to_vec).collect();
    Run::with(|run| run.places(plan, &found, progress))
}

/// Adds places to the report of a file, after [`end`].
#[wasm_bindgen(js_name = addPlaces)]
pub fn add_places(path: &str, places: &str) {
    Run::with(|run| run.add_places(Path::new(path), places));
}

/// Ends the run: files without a result were stopped. Applies the rules if there are none.
#[wasm_bindgen]
pub fn end() {
    let paths = paths();
    Run::with(|run| run.end(&paths));
}

/// What was not looked at, with the reasons, after [`end`].
#[wasm_bindgen]
pub fn missed() -> Vec<String> {
    Run::with(|run| run.missed())
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

/// What that page says of the numbers, what it says of the rules, and how many findings there are:
/// HTML, HTML, and text. After a stop there are no findings.
#[wasm_bindgen]
pub fn body() -> Vec<String> {
    Run::with(|run| run.body())
}

/// The answer in a sentence, and the last line of the command, which begins with the answer.
/// `seconds` is the time of the check.
#[wasm_bindgen]
pub fn summary(seconds: f64) -> Vec<String> {
    Run::with(|run| run.summary(seconds))
}
