//! Threads that take item after item, and locks.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread;

/// Does some work for each item, with no more threads than items. Each thread has its own worker.
/// The first error stops all threads.
///
/// # Errors
/// The error of the first item, among the errors that occurred.
pub(crate) fn for_each<Item: Sync, Worker, Error: Send>(
    items: &[Item],
    threads: usize,
    worker: impl Fn() -> Worker + Sync,
    work: impl Fn(&mut Worker, &Item) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let next = AtomicUsize::new(0);
    let stopped = AtomicBool::new(false);
    let failure: Mutex<Option<(usize, Error)>> = Mutex::new(None);
    let run = || {
        let mut worker = worker();
        while !stopped.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { break };
            if let Err(error) = work(&mut worker, item) {
                stopped.store(true, Ordering::Relaxed);
                let mut failure = lock(&failure);
                if failure.as_ref().is_none_or(|(first, _)| index < *first) {
                    *failure = Some((index, error));
                }
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(items.len()) {
            scope.spawn(run);
        }
        run();
    });
    let failure = lock(&failure).take();
    failure.map_or(Ok(()), |(_, error)| Err(error))
}

/// Ignores poison: if a thread panics, the scope passes the panic on, and no result is used.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says when its thread has ended.
    struct Worker<'a>(&'a AtomicUsize);

    impl Drop for Worker<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Release);
        }
    }

    /// Two items fail in either order. The error is that of the first item.
    #[test]
    fn error_of_the_first_item() {
        for later in [0, 1] {
            let ended = AtomicUsize::new(0);
            let begun = AtomicUsize::new(0);
            let work = |_: &mut Worker<'_>, &item: &usize| {
                begun.fetch_add(1, Ordering::Release);
                // Both items are begun before one fails, and one fails after the thread of the
                // other has ended.
                while begun.load(Ordering::Acquire) < 2
                    || item == later && ended.load(Ordering::Acquire) == 0
                {
                    thread::yield_now();
                }
                Err(item)
            };
            assert_eq!(for_each(&[0, 1], 2, || Worker(&ended), work), Err(0), "{later} is later");
        }
    }
}
