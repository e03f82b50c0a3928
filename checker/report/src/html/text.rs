//! Text in a page, and budgets for its length.

use crate::lines::OneLine;

/// Prepares text from a file for a page: on one line, without control characters, shortened if it
/// is very long, and with the special characters of HTML escaped.
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

/// Like [`escaped`], for a name in a narrow column: it breaks behind dots and slashes first.
pub(super) fn breakable(name: &str) -> String {
    escaped(name).replace('.', ".<wbr>").replace('/', "/<wbr>")
}

/// The bytes that are left for a part of the page.
pub(super) struct Budget(pub(super) usize);

impl Budget {
    /// Takes the bytes of a text, and `more` bytes, if that many are left. Returns whether they
    /// were.
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
