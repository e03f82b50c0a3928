//! A guard against panics of the crates that decode tables.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// Whether this thread runs a guarded function.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// The result of a function, or the message of its panic. A panic is not printed: the first call
/// sets a panic hook that is silent inside of this function, and otherwise calls the hook before
/// it.
pub(super) fn unwinding<T>(function: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !GUARDED.get() {
                before(info);
            }
        }));
    });
    let before = GUARDED.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(function));
    GUARDED.set(before);
    result.map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        format!("its reader gave up: {}", text.unwrap_or("a panic"))
    })
}
