//! The options of the library in the words of the command.

use nonfinite_check::{Asks, Error, Reason};

/// The flag that sets an option, with an example of its value if that is not a number.
#[must_use]
pub fn flag(asks: &Asks) -> String {
    let name = match asks {
        Asks::TakenAs { .. } => "--as",
        Asks::MaxBytes => "--max-bytes",
    };
    asks.example().map_or(name.to_owned(), |example| format!("{name} {example}"))
}

/// Why numbers were not looked at, with the flag that would change this.
#[must_use]
pub fn reason(reason: &Reason) -> String {
    reason.worded(flag)
}

/// The flag that would let the check go on, in parentheses behind a space. Empty if there is none.
#[must_use]
pub fn hint(error: &Error) -> String {
    error.asks().map(|asks| format!(" ({})", flag(&asks))).unwrap_or_default()
}
