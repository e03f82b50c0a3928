//! Text in a page, and how much of it there may be.

use crate::report::OneLine;

/// Text of others for a page: on one line, without control characters, cut where it is very long,
/// and with references for the characters that mean something in HTML.
pub(super) fn escaped(text: impl std::fmt::Display) -> String {
    let mut escaped = String::new();
    for char in OneLine(text).to_string().chars() {
        match char {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            char => escaped.push(char),
        }
    }
    escaped
}

/// Bytes that are left for a part of the page.
pub(super) struct Budget(pub(super) usize);

impl Budget {
    /// Takes the bytes of a text, and so many more, if they are left.
    pub(super) fn take(&mut self, text: &str, more: usize) -> bool {
        match self.0.checked_sub(text.len() + more) {
            Some(left) => {
                self.0 = left;
                true
            }
            None => false,
        }
    }
}

/// A number of things: `1 tensor`, `2 tensors`.
pub(super) fn count(number: usize, thing: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{s}")
}
