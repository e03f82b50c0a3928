//! Stores, with the credentials in the environment.

use std::env;
use std::io;
use std::sync::{Arc, OnceLock};

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{ClientConfigKey, ClientOptions, ObjectStore};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use tokio::runtime::{Builder, Runtime};

use super::url::{Bucket, Location, encode};

/// The longest time of a request. Long enough for many requests on a slow link. A connection
/// without any traffic ends much earlier.
const REQUEST: &str = "10 minutes";

/// Seconds without traffic after which a request is tried again.
const SILENCE: &str = "30 seconds";

/// An object: its store, and its path there.
pub(super) type Found = (Arc<dyn ObjectStore>, Path);

/// Why there is no store for a URL.
pub(super) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The store of a URL.
pub(super) fn find(url: &str) -> Result<Found, Failure> {
    // The client panics without a provider. Fails if the program has installed another one, which
    // is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
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
            let endpoint = env::var("HF_ENDPOINT").ok().filter(|endpoint| !endpoint.is_empty());
            let endpoint = endpoint.unwrap_or_else(|| "https://huggingface.co".to_owned());
            let mut headers = HeaderMap::new();
            if let Some(token) = env::var("HF_TOKEN").ok().filter(|token| !token.is_empty()) {
                let mut token = HeaderValue::try_from(format!("Bearer {token}"))?;
                token.set_sensitive(true);
                headers.insert(AUTHORIZATION, token);
            }
            let (endpoint, path) = (endpoint.trim_end_matches('/'), encode(&path));
            http(&format!("{endpoint}/{model}/resolve/{revision}/{path}"), headers)
        }
    }
}

/// Sets the timeouts of a client. `set` sets an option of the builder of a store. The other options
/// of the builder stay, such as those from the environment.
fn with_timeouts<B>(builder: B, set: impl Fn(B, ClientConfigKey, &str) -> B) -> B {
    let builder = set(builder, ClientConfigKey::Timeout, REQUEST);
    set(builder, ClientConfigKey::ReadTimeout, SILENCE)
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
