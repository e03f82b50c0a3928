//! A guard against panics of the crates that decode tables.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// Whether this thread runs a guarded function.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// The result of a function; none if it panics. A panic is not printed: the first call sets a panic
/// hook that is silent inside of this function, and otherwise calls the hook before it.
pub(super) fn unwinding<T>(function: impl FnOnce() -> T) -> Option<T> {
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
    let result = panic::catch_unwind(AssertUnwindSafe(function)).ok();
    GUARDED.set(before);
    result
}
