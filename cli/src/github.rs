//! Annotations of GitHub's workflows: commands in the log that name a file and a message.
//!
//! In a value, `%` and ends of lines are escaped, and in a property `:` and `,` are, too, as the
//! package `@actions/core` does.

use crate::problem::Problem;

/// The annotation of a problem, ended by a line feed.
#[must_use]
pub fn annotation(problem: &Problem<'_>) -> String {
    let file = property(&problem.path.to_string_lossy());
    format!("::error file={file},title={}::{}\n", property(&problem.title), value(&problem.message))
}

fn value(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    value(text).replace(':', "%3A").replace(',', "%2C")
}
