//! The threads of `threads=`.

use std::process;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::value;

/// The most threads that a call may ask for. More are a mistake, and each takes memory.
const MOST: usize = 1024;

/// The one pool of the process, and the process that made it.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// The pool with this number of threads; 0 means as many as there are CPUs. `None` for one thread,
/// which is the calling one. If the number differs from that of the last call, a new pool takes the
/// place of the old one.
///
/// # Errors
/// ValueError for less than 0 and more than 1024 threads, and if the system refuses to start them.
pub(crate) fn with_threads(threads: isize) -> PyResult<Option<Arc<ThreadPool>>> {
    let threads = match usize::try_from(threads) {
        Ok(0) => std::thread::available_parallelism().map_or(1, |cpus| cpus.get().min(MOST)),
        Ok(threads) if threads <= MOST => threads,
        _ => return Err(value(format!("threads={threads}, and must be from 0 to {MOST}"))),
    };
    if threads == 1 {
        return Ok(None);
    }
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let process = process::id();
    match pool.take() {
        Some((owner, kept)) if owner == process && kept.current_num_threads() == threads => {
            *pool = Some((process, kept.clone()));
            return Ok(Some(kept));
        }
        // A fork has copied the pool without its threads, so nothing may wait for them.
        Some((owner, of_parent)) if owner != process => std::mem::forget(of_parent),
        _ => {}
    }
    let name = |i| format!("nonfinite-{i}");
    let new = ThreadPoolBuilder::new().num_threads(threads).thread_name(name).build();
    let new = Arc::new(new.map_err(|error| value(format!("no threads: {error}")))?);
    *pool = Some((process, new.clone()));
    Ok(Some(new))
}
