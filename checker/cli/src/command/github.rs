//! Annotations of GitHub's workflows: commands in the log that name a file and a message.
//!
//! As in the package `@actions/core`, `%` and line ends are escaped in values, and also `:` and `,`
//! in properties.

use std::path::Path;

use nonfinite_check::lint::{Finding, Severity};
use nonfinite_check::{ByKind, Error, LookedAt, Report, TensorReport};
use nonfinite_report::lines::{Facts, hint, visible};

/// The annotations of a file, for its bad tensors and for what could not be checked. Each ends with
/// a line feed.
#[must_use]
pub fn annotations(path: &Path, result: &Result<Report, Error>) -> String {
    match result {
        Ok(report) => report.tensors.iter().filter_map(|tensor| of_tensor(path, tensor)).collect(),
        Err(error) => {
            let message = visible(&format!("{error}{}", hint(error)));
            annotation(path, "not checked", &message)
        }
    }
}

/// The annotation of a finding of lint.
#[must_use]
pub fn of_finding(finding: &Finding) -> String {
    let command = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        _ => "notice",
    };
    let tensor = finding.tensor.as_deref().map(|name| format!(" in {}", visible(name)));
    let title = format!("{}{}", finding.rule.id, tensor.unwrap_or_default());
    let place = finding.coordinate.as_ref().map(|place| format!("{place:?}: "));
    let message = format!("{}{}", place.unwrap_or_default(), visible(&finding.message));
    command_line(command, &finding.file, &title, &message)
}

fn of_tensor(path: &Path, tensor: &TensorReport) -> Option<String> {
    let name = tensor.title().map(|name| format!(" in {}", visible(&name)));
    let name = name.unwrap_or_default();
    let path = tensor.file.as_deref().unwrap_or(path);
    match &tensor.looked_at {
        LookedAt::Unreadable(why) | LookedAt::Damaged(why) => {
            let message = visible(why.text());
            return Some(annotation(path, &format!("not checked{name}"), &message));
        }
        LookedAt::Values
        | LookedAt::Scales { .. }
        | LookedAt::AlwaysFinite
        | LookedAt::NotFloat => {}
    }
    if !tensor.is_bad() {
        return None;
    }
    let kinds = tensor.bad.zip(ByKind::NAMES).into_array().into_iter();
    let mut kinds: Vec<_> =
        kinds.filter(|(bad, _)| *bad).map(|(_, name)| name.to_owned()).collect();
    if let Some(large) = tensor.large.as_ref().filter(|large| !large.is_allowed) {
        kinds.push(format!("numbers above {}", large.bound));
    }
    let title = format!("{}{name}", kinds.join(", "));
    Some(annotation(path, &title, &visible(&Facts(tensor).to_string())))
}

fn annotation(path: &Path, title: &str, message: &str) -> String {
    command_line("error", path, title, message)
}

fn command_line(command: &str, path: &Path, title: &str, message: &str) -> String {
    let (file, title) = (property(&path.to_string_lossy()), property(title));
    format!("::{command} file={file},title={title}::{}\n", value(message))
}

/// Other control characters occur only in paths. They are made visible, since logs are shown in
/// terminals.
fn value(text: &str) -> String {
    let mut value = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '%' => value.push_str("%25"),
            '\r' => value.push_str("%0D"),
            '\n' => value.push_str("%0A"),
            _ if char.is_control() => value.extend(char.escape_debug()),
            _ => value.push(char),
        }
    }
    value
}

fn property(text: &str) -> String {
    value(text).replace(':', "%3A").replace(',', "%2C")
}
