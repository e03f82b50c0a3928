//! Ctrl-C and the other signals that end a run. The work stops at the next check of the flag, the
//! terminal is restored, and no temporary file is left behind.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::Duration;
use std::{process, thread};

use nonfinite_check::Observer;

use crate::progress::Progress;
use crate::status::complain;

/// The number of SIGINT, the signal of Ctrl-C.
const SIGINT: u8 = 2;

/// A check that does not end in this time is waiting for input, and the process exits.
const PATIENCE: Duration = Duration::from_secs(1);

/// The number of the first signal that came, or 0.
static CAUGHT: AtomicU8 = AtomicU8::new(0);

/// Whether the run was interrupted.
#[must_use]
pub fn interrupted() -> bool {
    CAUGHT.load(Ordering::Relaxed) != 0
}

/// The exit status of a run that would end with this status: another one if the run was
/// interrupted, with a message. Output that is complete by then does not change this.
#[must_use]
pub fn or_interrupted(otherwise: u8) -> u8 {
    if !interrupted() {
        return otherwise;
    }
    say();
    status()
}

/// The exit status of a run that was interrupted: 128 plus the number of the signal, as in shells.
/// For Ctrl-C this is 130.
#[must_use]
pub fn status() -> u8 {
    128 + CAUGHT.load(Ordering::Relaxed)
}

/// Prints that the run was interrupted. Prints it once, although both the working thread and the
/// signal thread call this.
pub fn say() {
    static SAID: AtomicBool = AtomicBool::new(false);
    if !SAID.swap(true, Ordering::Relaxed) {
        complain(format_args!("interrupted"));
    }
}

/// Watches for Ctrl-C from now on, unless the parent process made this program ignore Ctrl-C. A run
/// that `cleans_up` watches for SIGTERM and SIGHUP as well, and gets all the time it needs, or
/// until a second Ctrl-C. Other runs get a second.
pub fn watch(cleans_up: bool, progress: Option<Arc<Progress>>) {
    let end = move || {
        if let Some(progress) = &progress {
            progress.finish();
        }
        say();
        process::exit(status().into());
    };
    signals::watch(cleans_up, move |signal| {
        let first =
            CAUGHT.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        // A system that shuts down sends SIGTERM and SIGHUP together. This does not count as a
        // second Ctrl-C.
        if !first && signal == SIGINT {
            end();
        }
        if !cleans_up {
            thread::sleep(PATIENCE);
            end();
        }
    });
}

#[cfg(unix)]
mod signals {
    use std::{fs, thread};

    use nix::sys::signal::{SigSet, Signal};

    /// Calls a function for each signal, in a separate thread. If the thread cannot start, signals
    /// end the process as usual.
    pub(super) fn watch(all: bool, mut caught: impl FnMut(u8) + Send + 'static) {
        let watched: &[_] = if all {
            &[Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP]
        } else {
            &[Signal::SIGINT]
        };
        let ignored = ignored();
        let watched = watched.iter().filter(|&&signal| ignored >> (signal as u32 - 1) & 1 == 0);
        let signals: SigSet = watched.copied().collect();
        // Threads that start later inherit the blocked signals, so all signals come to `wait`.
        // Returns for an empty set, since some systems cannot wait for one.
        if signals == SigSet::empty() || signals.thread_block().is_err() {
            return;
        }
        let waiting = thread::Builder::new().name("signals".to_owned()).spawn(move || {
            while let Ok(signal) = signals.wait() {
                caught(signal as u8);
            }
        });
        if waiting.is_err() {
            let _ = signals.thread_unblock();
        }
    }

    /// The signals that the parent process made this program ignore, such as SIGHUP by `nohup`: bit
    /// 0 is signal 1. Linux delivers ignored signals to `wait`, so they must be left out; /proc
    /// lists them. Other systems drop ignored signals.
    fn ignored() -> u64 {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }
}

#[cfg(not(unix))]
mod signals {
    /// Calls a function for each Ctrl-C, and when the console is closed.
    pub(super) fn watch(_: bool, mut caught: impl FnMut(u8) + Send + 'static) {
        // Without a handler, Ctrl-C ends the process as usual.
        let _ = ctrlc::try_set_handler(move || caught(super::SIGINT));
    }
}

/// Stops a check or a fix when it is interrupted. Until then, updates the progress bar, if there is
/// one.
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
