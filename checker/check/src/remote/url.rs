//! Parses URLs.

/// The supported schemes.
const SCHEMES: [&str; 9] = ["s3", "s3a", "gs", "az", "abfs", "abfss", "http", "https", "hf"];

/// The scheme of a URL, and the part behind `://`.
fn split(location: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = location.split_once("://")?;
    SCHEMES.contains(&scheme).then_some((scheme, rest))
}

/// Whether this is a URL that [`check_url`](crate::check_url) takes, and not the path of a file.
#[must_use]
pub fn is_url(location: &str) -> bool {
    split(location).is_some()
}

/// The part of a URL before its query and fragment. Keys of stores may contain `?` and `#`.
fn without_query(url: &str) -> &str {
    match split(url) {
        Some(("http" | "https", _)) => url.split(['?', '#']).next().unwrap_or(url),
        _ => url,
    }
}

/// The name of the file, which may tell its format.
pub(crate) fn name(url: &str) -> &str {
    without_query(url).rsplit('/').next().unwrap_or_default()
}

/// The URL of a file in the folder of another file.
pub(crate) fn beside(url: &str, name: &str) -> String {
    let path = without_query(url);
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    match split(url) {
        Some(("http" | "https", _)) => format!("{folder}/{}", encode(name)),
        _ => format!("{folder}/{name}"),
    }
}

/// A path in a URL, with escapes for the characters that have another meaning there.
pub(crate) fn encode(path: &str) -> String {
    path.replace('%', "%25").replace('?', "%3F").replace('#', "%23")
}

/// The model and the revision of `hf://OWNER/MODEL` or `hf://OWNER/MODEL@REVISION`. None for all
/// other URLs, also for that of a file of a model.
pub(super) fn model(url: &str) -> Option<(String, &str)> {
    let ("hf", rest) = split(url)? else { return None };
    let (owner, model) = rest.strip_suffix('/').unwrap_or(rest).split_once('/')?;
    let (model, revision) = revision(model);
    let is_model = [owner, model, revision].iter().all(|part| !part.is_empty());
    (is_model && !model.contains('/') && !revision.contains('/'))
        .then(|| (format!("{owner}/{model}"), revision))
}

/// The name of a model and its revision, from `MODEL` or `MODEL@REVISION`. Slashes of a revision
/// are written as %2F, as in URLs of the Hub.
fn revision(model: &str) -> (&str, &str) {
    model.split_once('@').unwrap_or((model, "main"))
}

/// The target of a URL.
#[cfg(feature = "remote")]
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Location {
    /// A key in a bucket of S3 or of a compatible store.
    S3(Bucket),
    /// An object of Google Cloud Storage.
    Google(Bucket),
    /// A blob of Azure.
    Azure(Bucket),
    /// Any other URL.
    Http(String),
    /// A file in a repository of Hugging Face: `owner/model`, the revision, the path in it.
    HuggingFace(String, String, String),
}

/// The URL of a bucket, and a key in it.
#[cfg(feature = "remote")]
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Bucket {
    pub(super) url: String,
    pub(super) key: String,
}

#[cfg(feature = "remote")]
impl Location {
    /// Parses a URL. The error names the fault.
    pub(super) fn parse(url: &str) -> Result<Self, &'static str> {
        let (scheme, rest) = split(url).ok_or("no known scheme")?;
        if matches!(scheme, "http" | "https") {
            return Ok(Self::Http(url.to_owned()));
        }
        if scheme == "hf" {
            return Self::hugging_face(rest);
        }
        let (bucket, key) = rest.split_once('/').ok_or("no key behind the bucket")?;
        if bucket.is_empty() || key.is_empty() {
            return Err("no bucket, or no key in it");
        }
        let bucket = Bucket { url: format!("{scheme}://{bucket}"), key: key.to_owned() };
        Ok(match scheme {
            "gs" => Self::Google(bucket),
            "s3" | "s3a" => Self::S3(bucket),
            _ => Self::Azure(bucket),
        })
    }

    /// `owner/model/path` or `owner/model@revision/path`.
    fn hugging_face(rest: &str) -> Result<Self, &'static str> {
        let mut parts = rest.splitn(3, '/');
        let parts = [parts.next(), parts.next(), parts.next()].map(|part| part.unwrap_or_default());
        if parts.iter().any(|part| part.is_empty()) {
            return Err("not hf://OWNER/MODEL/PATH, where MODEL may be MODEL@REVISION");
        }
        let [owner, model, path] = parts;
        let (model, revision) = revision(model);
        Ok(Self::HuggingFace(format!("{owner}/{model}"), revision.to_owned(), path.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_and_paths() {
        for url in ["s3://bucket/key", "https://host/x.npy", "hf://owner/model/x", "az://c/b"] {
            assert!(is_url(url), "{url}");
        }
        for path in ["x.npy", "/s3/x", "s3:/x", "file:///x", "C:\\x", "ftp://host/x", ""] {
            assert!(!is_url(path), "{path}");
        }
    }

    #[test]
    fn names_and_neighbours() {
        assert_eq!(name("https://host/a/x.npy?sign=a/b#c"), "x.npy");
        assert_eq!(name("s3://bucket/a/x?y.npy"), "x?y.npy");
        assert_eq!(beside("https://host/a/i.json?s=/", "x.npy"), "https://host/a/x.npy");
        assert_eq!(beside("https://host/i.json", "x#1 100%"), "https://host/x%231 100%25");
        assert_eq!(beside("hf://o/m@r/a/i.json", "x#.npy"), "hf://o/m@r/a/x#.npy");
    }

    #[test]
    fn models() {
        let main = Some(("o/m".to_owned(), "main"));
        assert_eq!([model("hf://o/m"), model("hf://o/m/")], [main.clone(), main]);
        assert_eq!(model("hf://o/m@refs%2Fpr%2F1"), Some(("o/m".to_owned(), "refs%2Fpr%2F1")));
        for other in
            ["hf://o", "hf://o/", "hf:///m", "hf://o/m/x", "hf://o/m@", "hf://o/@v", "s3://o/m"]
        {
            assert_eq!(model(other), None, "{other}");
        }
    }

    #[cfg(feature = "remote")]
    #[test]
    fn locations() {
        let bucket = |url: &str, key: &str| Bucket { url: url.to_owned(), key: key.to_owned() };
        let parse = |url: &str| Location::parse(url).unwrap();
        assert_eq!(parse("s3://b/a/x%20 y"), Location::S3(bucket("s3://b", "a/x%20 y")));
        assert_eq!(parse("gs://b/x"), Location::Google(bucket("gs://b", "x")));
        let account = "abfss://c@a.dfs.core.windows.net";
        assert_eq!(parse(&format!("{account}/x")), Location::Azure(bucket(account, "x")));
        assert_eq!(parse("http://h/x?y"), Location::Http("http://h/x?y".to_owned()));
        let hf = |model: &str, revision: &str, path: &str| {
            Location::HuggingFace(model.to_owned(), revision.to_owned(), path.to_owned())
        };
        assert_eq!(parse("hf://o/m/a/x"), hf("o/m", "main", "a/x"));
        assert_eq!(parse("hf://o/m@v1/x"), hf("o/m", "v1", "x"));
        for bad in
            ["s3://bucket", "s3:///key", "s3://bucket/", "hf://o/m", "hf://o/m/", "ftp://h/x"]
        {
            assert!(Location::parse(bad).is_err(), "{bad}");
        }
    }
}
