//! Shared by all clients: timeouts, TLS, and the runtime on which requests run.

use std::future::Future;
use std::io;
use std::sync::{OnceLock, mpsc};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

/// The longest time of a request. Long enough for many requests on a slow link. A connection
/// without any traffic ends much earlier.
pub(super) const REQUEST: Duration = Duration::from_secs(600);

/// The time without traffic after which a request is tried again.
pub(super) const SILENCE: Duration = Duration::from_secs(30);

/// Why a request failed, or why there is no store for a URL.
pub(super) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Chooses the TLS implementation. The client panics without one.
pub(super) fn install_tls() {
    // Fails if the program has installed another one, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// Waits for a result. Works in threads of other runtimes, too.
pub(super) fn wait<T: Send + 'static>(
    future: impl Future<Output = Result<T, Failure>> + Send + 'static,
) -> Result<T, Failure> {
    let (sender, receiver) = mpsc::sync_channel(1);
    runtime()?.spawn(async move {
        // Sending fails only if the receiver has gone.
        let _ = sender.send(future.await);
    });
    receiver.recv()?
}

/// The runtime for all requests of this process.
fn runtime() -> io::Result<&'static Runtime> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime);
    }
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get().min(4));
    let mut builder = Builder::new_multi_thread();
    let runtime = builder.worker_threads(threads).enable_all().thread_name("nonfinite").build()?;
    Ok(RUNTIME.get_or_init(|| runtime))
}
