//! Annotations of GitHub's workflows: commands in the log that name a file and a message.
//!
//! As in the package `@actions/core`, `%` and line ends are escaped in values, and also `:` and `,`
//! in properties.

use crate::problem::Problem;

/// The annotation of a problem, ended by a line feed.
#[must_use]
pub fn annotation(problem: &Problem<'_>) -> String {
    let file = property(&problem.path.to_string_lossy());
    let level = if problem.is_expected { "notice" } else { "error" };
    let (title, message) = (property(&problem.title), value(&problem.message));
    format!("::{level} file={file},title={title}::{message}\n")
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
