//! What the rules of lint found in models, and its forms as a document and as a page.

use std::path::PathBuf;

use nonfinite_check::lint::{self, Finding, Severity, Suppression};

use crate::html::{self, Checked};
use crate::lines::Summary;

/// What the rules found in the models, without what is allowed or not listed, and what was checked.
#[derive(Debug)]
pub struct Linted {
    /// The findings.
    pub findings: Vec<Finding>,
    /// How many findings are allowed.
    pub allowed: usize,
    /// The files.
    pub files: Vec<Checked>,
    /// The files of no known format in folders.
    pub no_format: Vec<PathBuf>,
    /// Counts over the files. Errors are what is bad.
    pub summary: Summary,
    /// Whether only headers were read. The document says that not everything was looked at.
    pub headers: bool,
}

impl Linted {
    /// Of all findings in these files: those of at least this severity that no suppression allows.
    #[must_use]
    pub fn new(
        mut findings: Vec<Finding>,
        allow: &[Suppression],
        least: Severity,
        files: Vec<Checked>,
        no_format: Vec<PathBuf>,
    ) -> Self {
        let all = findings.len();
        findings.retain(|finding| !allow.iter().any(|allow| allow.allows(finding)));
        let allowed = all - findings.len();
        findings.retain(|finding| finding.severity >= least);
        let mut summary = Summary::of(&files, no_format.len());
        // All tensors count that could be read, since rules read codes, too.
        let reports = files.iter().filter_map(|(_, result)| result.as_ref().ok());
        let tensors = reports.flat_map(|report| &report.tensors);
        let looked_at = tensors.filter(|tensor| !tensor.looked_at.is_missing());
        (summary.totals.tensors, summary.totals.bytes) = looked_at
            .fold((0, 0u64), |(all, sum), tensor| (all + 1, sum.saturating_add(tensor.bytes)));
        let is_error = |finding: &&Finding| finding.severity == Severity::Error;
        (summary.totals.bad, summary.totals.masks) = (findings.iter().filter(is_error).count(), 0);
        // Files without a tensor are no all-clear.
        let is_nothing = summary.totals.tensors == 0 && summary.failed == 0;
        summary.unknown = summary.unknown.max(usize::from(is_nothing));
        Self { findings, allowed, files, no_format, summary, headers: false }
    }

    /// The document of `nonfinite lint --json`, without the line feed at the end.
    #[must_use]
    pub fn json(&self) -> String {
        lint::document(&self.findings, &self.files, &self.no_format, !self.headers)
    }

    /// The page of `nonfinite lint --html`.
    #[must_use]
    pub fn page(&self) -> String {
        html::of_findings(&self.findings, &self.files)
    }
}
