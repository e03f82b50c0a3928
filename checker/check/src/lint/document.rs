//! The findings of lint as JSON.

use std::path::PathBuf;

use serde::Serialize;

use super::finding::{Finding, Severity};
use crate::json::{NotLookedAt, PROGRAM, VERSION, text};
use crate::model::Error;
use crate::report::Report;

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    version: &'static str,
    errors: usize,
    warnings: usize,
    complete: bool,
    findings: Vec<Entry<'a>>,
    files: Vec<File<'a>>,
    no_format: Vec<String>,
}

#[derive(Serialize)]
struct Entry<'a> {
    rule: &'static str,
    severity: &'static str,
    file: String,
    tensor: Option<&'a str>,
    coordinate: Option<&'a [u64]>,
    message: &'a str,
    source: &'static str,
}

#[derive(Serialize)]
struct File<'a> {
    path: String,
    complete: bool,
    error: Option<String>,
    not_looked_at: Vec<NotLookedAt<'a>>,
}

/// A run of lint as one document: the findings, each file that was checked, and the files of no
/// known format in folders. `has_numbers` is whether more than the headers was read.
#[must_use]
pub fn document(
    findings: &[Finding],
    files: &[(PathBuf, Result<Report, Error>)],
    no_format: &[PathBuf],
    has_numbers: bool,
) -> String {
    let count = |severity| findings.iter().filter(|found| found.severity == severity).count();
    let files: Vec<_> = files
        .iter()
        .map(|(path, result)| File {
            path: path.to_string_lossy().into_owned(),
            complete: has_numbers && result.as_ref().is_ok_and(Report::is_complete),
            error: result.as_ref().err().map(Error::to_string),
            not_looked_at: NotLookedAt::all(result),
        })
        .collect();
    text(&Document {
        schema_version: VERSION,
        version: PROGRAM,
        errors: count(Severity::Error),
        warnings: count(Severity::Warning),
        complete: has_numbers && files.iter().all(|file| file.complete),
        findings: findings
            .iter()
            .map(|found| Entry {
                rule: found.rule.id,
                severity: found.severity.name(),
                file: found.file.to_string_lossy().into_owned(),
                tensor: found.tensor.as_deref(),
                coordinate: found.coordinate.as_deref(),
                message: &found.message,
                source: found.rule.source,
            })
            .collect(),
        files,
        no_format: no_format.iter().map(|path| path.to_string_lossy().into_owned()).collect(),
    })
}
