//! Downloads an object of S3 and drops it, with the same requests as a check. This measures the
//! speed of the link, and `checker/oracles/remote/run` compares the check with it.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use object_store::aws::AmazonS3Builder;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};

const READ: u64 = 8 << 20;
const IN_FLIGHT: usize = 16;

fn main() -> Result<(), Box<dyn Error>> {
    // As the check does: the client has no TLS of its own.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let url = std::env::args().nth(1).ok_or("no URL")?;
    let key = url.split('/').skip(3).collect::<Vec<_>>().join("/");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let store: Arc<dyn ObjectStore> = Arc::new(AmazonS3Builder::from_env().with_url(url).build()?);
    let path = Path::parse(key)?;
    let length = runtime.block_on(store.head(&path))?.size;
    let next = Arc::new(AtomicU64::new(0));
    let tasks: Vec<_> = (0..IN_FLIGHT)
        .map(|_| {
            let (store, path, next) = (Arc::clone(&store), path.clone(), Arc::clone(&next));
            runtime.spawn(async move {
                loop {
                    let start = next.fetch_add(READ, Ordering::Relaxed);
                    if start >= length {
                        return Ok::<_, object_store::Error>(());
                    }
                    store.get_range(&path, start..length.min(start + READ)).await?;
                }
            })
        })
        .collect();
    for task in tasks {
        runtime.block_on(task)??;
    }
    Ok(())
}
