//! Ctrl-C: the work ends at the next chance, the terminal is left as it was, and so is the folder
//! of an output.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{process, thread};

use nonfinite_check::Observer;

use crate::progress::Progress;
use crate::status::complain;

/// The exit status of a run that was interrupted: 128 and the number of SIGINT, as shells have it.
pub const STATUS: u8 = 130;

/// A check that does not end in this time is waiting for input, and is ended where it is.
const PATIENCE: Duration = Duration::from_secs(1);

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether the run was interrupted.
#[must_use]
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Says that the run was interrupted, once: the thread of the work and that of Ctrl-C both may.
pub fn say() {
    static SAID: AtomicBool = AtomicBool::new(false);
    if !SAID.swap(true, Ordering::Relaxed) {
        complain(format_args!("interrupted"));
    }
}

/// Watches for Ctrl-C from now on, unless the parent process made this program ignore Ctrl-C. A run
/// that `cleans_up` is given all the time it needs, or until a second Ctrl-C; others a second.
pub fn watch(cleans_up: bool, progress: Option<Arc<Progress>>) {
    let end = move || {
        if let Some(progress) = &progress {
            progress.finish();
        }
        say();
        process::exit(STATUS.into());
    };
    // Without a handler Ctrl-C ends the process as it always did.
    let _ = ctrlc::try_set_handler(move || {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            end();
        }
        if !cleans_up {
            thread::sleep(PATIENCE);
            end();
        }
    });
}

/// Ends a check or a fix when it is interrupted, and moves the bar till then, if there is one.
#[derive(Debug)]
pub struct Watch(pub Option<Arc<Progress>>);

impl Observer for Watch {
    fn started(&self, bytes: u64) {
        if let Some(progress) = &self.0 {
            progress.started(bytes);
        }
    }

    fn advanced(&self, bytes: u64) -> ControlFlow<()> {
        if interrupted() {
            return ControlFlow::Break(());
        }
        self.0.as_ref().map_or(ControlFlow::Continue(()), |progress| progress.advanced(bytes))
    }
}
