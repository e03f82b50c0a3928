//! Ctrl-C and the other signals that end a run. The work stops at the next check of the flag, and
//! the terminal is restored.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{process, thread};

use nonfinite_check::Observer;
use nonfinite_report::progress::Progress;

use crate::status::{INTERRUPTED, complain};

/// A check that does not end in this time is waiting for input, and the process exits.
const PATIENCE: Duration = Duration::from_secs(1);

static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether the run was interrupted.
#[must_use]
pub fn interrupted() -> bool {
    IS_INTERRUPTED.load(Ordering::Relaxed)
}

/// The exit status of a run that would end with this status: another one if the run was
/// interrupted, with a message. Output that is complete by then does not change this.
#[must_use]
pub fn or_interrupted(otherwise: u8) -> u8 {
    if !interrupted() {
        return otherwise;
    }
    say();
    INTERRUPTED
}

/// Prints that the run was interrupted. Prints it once, although both the working thread and the
/// signal thread call this.
fn say() {
    static SAID: AtomicBool = AtomicBool::new(false);
    if !SAID.swap(true, Ordering::Relaxed) {
        complain(format_args!("interrupted"));
    }
}

/// Watches for Ctrl-C, SIGTERM and SIGHUP from now on, unless the parent process made this program
/// ignore one of them, as `nohup` does. The run gets a second to end.
pub fn watch(progress: Option<Arc<Progress>>) {
    // Without a handler, signals act as usual.
    let _ = ctrlc::try_set_handler(move || {
        IS_INTERRUPTED.store(true, Ordering::Relaxed);
        thread::sleep(PATIENCE);
        if let Some(progress) = &progress {
            progress.finish();
        }
        say();
        process::exit(INTERRUPTED.into());
    });
}

/// Stops a check when it is interrupted. Until then, updates the progress bar, if there is one.
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
