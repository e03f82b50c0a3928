//! Stores, with the credentials in the environment.

use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{ClientConfigKey, ClientOptions, ObjectStore};
use reqwest::header::HeaderMap;

use super::client::{Failure, REQUEST, SILENCE, install_tls};
use super::hub;
use super::url::{Bucket, Location};

/// An object: its store, and its path there.
pub(super) type StorePath = (Arc<dyn ObjectStore>, Path);

/// The store of a bucket, by its builder and the type of the keys of the options.
macro_rules! store {
    ($builder:ident, $key:ident, $bucket:ident) => {{
        let Bucket { url, key } = $bucket;
        let builder = $builder::from_env().with_url(url);
        let builder = with_timeouts(builder, |builder, key, value| {
            builder.with_config($key::Client(key), value)
        });
        Ok((Arc::new(builder.build()?), Path::parse(key)?))
    }};
}

/// The store of a URL.
pub(super) fn find(url: &str) -> Result<StorePath, Failure> {
    install_tls();
    match Location::parse(url)? {
        Location::S3(bucket) => store!(AmazonS3Builder, AmazonS3ConfigKey, bucket),
        Location::Google(bucket) => store!(GoogleCloudStorageBuilder, GoogleConfigKey, bucket),
        Location::Azure(bucket) => store!(MicrosoftAzureBuilder, AzureConfigKey, bucket),
        Location::Http(url) => http(&url, HeaderMap::new()),
        Location::HuggingFace(model, revision, path) => {
            let (url, headers) = hub::file(&model, &revision, &path)?;
            http(&url, headers)
        }
    }
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
fn http(url: &str, headers: HeaderMap) -> Result<StorePath, Failure> {
    let options =
        with_timeouts(ClientOptions::new(), |options, key, value| options.with_config(key, value))
            .with_default_headers(headers)
            // Unencrypted, since the user gave a URL with http://.
            .with_allow_http(true);
    let store = HttpBuilder::new().with_url(url).with_client_options(options).build()?;
    Ok((Arc::new(store), Path::default()))
}
