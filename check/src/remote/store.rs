//! Stores, with the credentials in the environment.

use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{ClientConfigKey, ClientOptions, ObjectStore};
use reqwest::header::HeaderMap;
use tokio::runtime::{Builder, Runtime};

use super::hub;
use super::url::{Bucket, Location};

/// The longest time of a request. Long enough for many requests on a slow link. A connection
/// without any traffic ends much earlier.
pub(super) const REQUEST: Duration = Duration::from_secs(600);

/// The time without traffic after which a request is tried again.
pub(super) const SILENCE: Duration = Duration::from_secs(30);

/// An object: its store, and its path there.
pub(super) type Found = (Arc<dyn ObjectStore>, Path);

/// Why there is no store for a URL.
pub(super) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The store of a URL.
pub(super) fn find(url: &str) -> Result<Found, Failure> {
    install_tls();
    match Location::parse(url)? {
        Location::S3(Bucket { url, key }) => {
            let builder = AmazonS3Builder::from_env().with_url(url);
            let builder = with_timeouts(builder, |builder, key, value| {
                builder.with_config(AmazonS3ConfigKey::Client(key), value)
            });
            Ok((Arc::new(builder.build()?), Path::parse(key)?))
        }
        Location::Google(Bucket { url, key }) => {
            let builder = GoogleCloudStorageBuilder::from_env().with_url(url);
            let builder = with_timeouts(builder, |builder, key, value| {
                builder.with_config(GoogleConfigKey::Client(key), value)
            });
            Ok((Arc::new(builder.build()?), Path::parse(key)?))
        }
        Location::Azure(Bucket { url, key }) => {
            let builder = MicrosoftAzureBuilder::from_env().with_url(url);
            let builder = with_timeouts(builder, |builder, key, value| {
                builder.with_config(AzureConfigKey::Client(key), value)
            });
            Ok((Arc::new(builder.build()?), Path::parse(key)?))
        }
        Location::Http(url) => http(&url, HeaderMap::new()),
        Location::HuggingFace(model, revision, path) => {
            let (url, headers) = hub::file(&model, &revision, &path)?;
            http(&url, headers)
        }
    }
}

/// Chooses the TLS implementation. The client panics without one.
pub(super) fn install_tls() {
    // Fails if the program has installed another one, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// Sets the timeouts of a client. `set` sets an option of the builder of a store. The other options
/// of the builder stay, such as those from the environment.
fn with_timeouts<B>(builder: B, set: impl Fn(B, ClientConfigKey, &str) -> B) -> B {
    let seconds = |time: Duration| format!("{} seconds", time.as_secs());
    let builder = set(builder, ClientConfigKey::Timeout, &seconds(REQUEST));
    set(builder, ClientConfigKey::ReadTimeout, &seconds(SILENCE))
}

/// A URL, including its query. Redirections are followed. The authorization header goes to the
/// first host only.
fn http(url: &str, headers: HeaderMap) -> Result<Found, Failure> {
    let options =
        with_timeouts(ClientOptions::new(), |options, key, value| options.with_config(key, value))
            .with_default_headers(headers)
            // Unencrypted, since the user gave a URL with http://.
            .with_allow_http(true);
    let store = HttpBuilder::new().with_url(url).with_client_options(options).build()?;
    Ok((Arc::new(store), Path::default()))
}

/// The runtime for all requests of this process.
pub(super) fn runtime() -> io::Result<&'static Runtime> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime);
    }
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get().min(4));
    let mut builder = Builder::new_multi_thread();
    let runtime = builder.worker_threads(threads).enable_all().thread_name("nonfinite").build()?;
    Ok(RUNTIME.get_or_init(|| runtime))
}
