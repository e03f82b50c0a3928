//! Work in a thread of its own, while the thread of the caller waits for signals and reports the
//! progress.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use nonfinite_check::Observer;
use nonfinite_report::progress::{Progress, has_bar};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// How often the caller checks for signals and reports the progress.
const TICK: Duration = Duration::from_millis(50);

/// Work that does not stop in this time is waiting for input or a server. Its thread is left alone.
const PATIENCE: Duration = Duration::from_secs(1);

/// The progress of some work, and whether it has to stop.
#[derive(Debug, Default)]
pub(super) struct Watch {
    is_stopped: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
    /// A bar on standard error.
    bar: Option<Progress>,
}

impl Watch {
    /// With a bar on standard error, if `progress` is True and standard error is a terminal.
    pub(super) fn new(progress: &Bound<'_, PyAny>) -> Arc<Self> {
        let has_bar = progress.extract::<bool>().is_ok_and(|is_on| is_on) && has_bar();
        Arc::new(Self { bar: has_bar.then(Progress::new), ..Self::default() })
    }
}

/// The value of `progress` for work that reports none.
pub(super) fn no_progress(py: Python<'_>) -> Bound<'_, PyAny> {
    py.None().into_bound(py)
}

impl Observer for Watch {
    fn started(&self, bytes: u64) {
        self.total.fetch_add(bytes, Ordering::Relaxed);
        if let Some(bar) = &self.bar {
            bar.started(bytes);
        }
    }

    fn advanced(&self, bytes: u64) -> ControlFlow<()> {
        self.done.fetch_add(bytes, Ordering::Relaxed);
        if self.is_stopped.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        self.bar.as_ref().map_or(ControlFlow::Continue(()), |bar| bar.advanced(bytes))
    }
}

/// Does some work without the GIL. Calls `progress`, if it can be called, with the bytes that are
/// done and the bytes in total. A signal such as Ctrl-C, or an exception of `progress`, stops the
/// work and is returned.
pub(super) fn run<T: Send + 'static>(
    watch: &Watch,
    progress: &Bound<'_, PyAny>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let py = progress.py();
    let (send, receive) = mpsc::sync_channel(1);
    // Waiting without the GIL needs a type that threads can share.
    let receive = Mutex::new(receive);
    let wait = |time: Duration| {
        py.detach(|| receive.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(time))
    };
    let name = "nonfinite".to_owned();
    // The send fails if the caller has stopped waiting.
    thread::Builder::new().name(name).spawn(move || drop(send.send(work())))?;
    let report = || {
        if !progress.is_callable() {
            return Ok(());
        }
        let [done, total] = [&watch.done, &watch.total].map(|bytes| bytes.load(Ordering::Relaxed));
        progress.call1((done, total)).map(drop)
    };
    let result = loop {
        match wait(TICK) {
            Ok(value) => break report().map(|()| value),
            Err(RecvTimeoutError::Disconnected) => {
                break Err(PyRuntimeError::new_err("the check has panicked: this is a bug"));
            }
            Err(RecvTimeoutError::Timeout) => {
                let Err(error) = py.check_signals().and_then(|()| report()) else { continue };
                watch.is_stopped.store(true, Ordering::Relaxed);
                let _ = wait(PATIENCE);
                break Err(error);
            }
        }
    };
    if let Some(bar) = &watch.bar {
        bar.finish();
    }
    result
}
