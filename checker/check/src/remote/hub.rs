//! The Hub of Hugging Face: the place of a file of a model, and the list of all its files.

use std::env;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, LINK};
use reqwest::{Client, StatusCode};
use serde::Deserialize;

use super::client::{self, Failure, wait};
use super::url::encode;

/// The most answers that a list of files may take. The Hub puts 1000 entries into each.
const PAGES: usize = 1000;

/// The most bytes of an answer.
const PAGE: usize = 16 << 20;

/// The most bytes of all answers.
const LIST: usize = 64 << 20;

/// If the Hub is busy or the connection fails, the request is sent again after each of these times,
/// in milliseconds.
const PAUSES: [u64; 3] = [200, 400, 800];

/// An entry of a list of files. <https://huggingface.co/docs/hub/api>
#[derive(Deserialize)]
struct Entry {
    /// `file` or `directory`.
    #[serde(rename = "type")]
    kind: String,
    path: String,
}

/// The URL of a file, and the headers of its requests.
pub(super) fn file(
    model: &str,
    revision: &str,
    path: &str,
) -> Result<(String, HeaderMap), Failure> {
    let (endpoint, headers) = settings()?;
    Ok((format!("{endpoint}/{model}/resolve/{revision}/{}", encode(path)), headers))
}

/// The paths of all files of a model, in the order of the Hub.
pub(super) fn files(model: &str, revision: &str) -> Result<Vec<String>, Failure> {
    client::install_tls();
    let (endpoint, headers) = settings()?;
    let tree = format!("{endpoint}/api/models/{model}/tree/{revision}");
    wait(async move {
        let client = Client::builder()
            .default_headers(headers)
            .timeout(client::REQUEST)
            .read_timeout(client::SILENCE)
            .build()?;
        let (mut files, mut bytes) = (Vec::new(), 0);
        let mut query = "recursive=true".to_owned();
        for _ in 0..PAGES {
            let (body, link) = page(&client, &format!("{tree}?{query}")).await?;
            let entries: Vec<Entry> = serde_json::from_slice(&body)
                .map_err(|error| format!("not a list of files of the Hub: {error}"))?;
            bytes += body.len();
            if bytes > LIST {
                return Err(format!("a list of files of more than {LIST} bytes").into());
            }
            // Entries of other kinds than these two are checked, or are errors.
            let entries = entries.into_iter().filter(|entry| entry.kind != "directory");
            files.extend(entries.map(|entry| entry.path));
            // Takes only the query of the link. The host stays that of the endpoint, so no other
            // host gets the token.
            let Some(next) = next(&link)? else { return Ok(files) };
            query = next.to_owned();
        }
        Err(format!("a list of files in more than {PAGES} answers").into())
    })
}

/// The endpoint and the headers, by the environment.
fn settings() -> Result<(String, HeaderMap), Failure> {
    let variable = |name| env::var(name).ok().filter(|text| !text.is_empty());
    let endpoint = variable("HF_ENDPOINT").unwrap_or_else(|| "https://huggingface.co".to_owned());
    let mut headers = HeaderMap::new();
    if let Some(token) = variable("HF_TOKEN") {
        let mut token = HeaderValue::try_from(format!("Bearer {token}"))?;
        token.set_sensitive(true);
        headers.insert(AUTHORIZATION, token);
    }
    Ok((endpoint.trim_end_matches('/').to_owned(), headers))
}

/// Requests a page: its body and its `Link` headers. Requests again if the Hub is busy.
async fn page(client: &Client, url: &str) -> Result<(Vec<u8>, String), Failure> {
    for pause in PAUSES {
        match try_page(client, url).await {
            Err(error) if !is_final(&*error) => {
                tokio::time::sleep(Duration::from_millis(pause)).await;
            }
            result => return result,
        }
    }
    try_page(client, url).await
}

async fn try_page(client: &Client, url: &str) -> Result<(Vec<u8>, String), Failure> {
    let mut answer = client.get(url).send().await?.error_for_status()?;
    let links = answer.headers().get_all(LINK).iter().map(HeaderValue::to_str);
    let links = links.collect::<Result<Vec<_>, _>>()?.join(", ");
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await? {
        if body.len() + chunk.len() > PAGE {
            return Err(format!("a list of files of more than {PAGE} bytes").into());
        }
        body.extend_from_slice(&chunk);
    }
    Ok((body, links))
}

/// Whether another attempt would fail in the same way.
fn is_final(failure: &(dyn std::error::Error + Send + Sync + 'static)) -> bool {
    let Some(error) = failure.downcast_ref::<reqwest::Error>() else { return true };
    error.is_builder()
        || error.is_redirect()
        || error
            .status()
            .is_some_and(|code| !code.is_server_error() && code != StatusCode::TOO_MANY_REQUESTS)
}

/// The query of the next page in a `Link` header (RFC 8288), such as
/// `<https://host/path?cursor=x>; rel="next"`. None if there is no next page.
///
/// # Errors
/// If the link to the next page has no query.
fn next(links: &str) -> Result<Option<&str>, &'static str> {
    let is_next = |parameter: &str| {
        parameter.split_once('=').is_some_and(|(name, value)| {
            let mut relations = value.trim().trim_matches('"').split_ascii_whitespace();
            name.trim().eq_ignore_ascii_case("rel")
                && relations.any(|relation| relation.eq_ignore_ascii_case("next"))
        })
    };
    // The part before the first `<` is empty.
    let target = links.split('<').skip(1).find_map(|entry| {
        let (target, parameters) = entry.split_once('>')?;
        parameters.split([';', ',']).any(is_next).then_some(target)
    });
    match target.map(|target| target.split_once('?')) {
        None => Ok(None),
        Some(Some((_, query))) => Ok(Some(query)),
        Some(None) => Err("the link to the next page has no query"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links() {
        for (link, query) in [
            (r#"<https://h/api?cursor=x%3D&limit=2>; rel="next""#, Some("cursor=x%3D&limit=2")),
            ("</api?cursor=x>;rel=next", Some("cursor=x")),
            (r#"<http://h/?a=1>; rel="prev", <http://h/?a=3>; rel="next""#, Some("a=3")),
            (r#"<http://h/?a=1>; rel="next"; title="x", <http://h/?a=3>; rel="last""#, Some("a=1")),
            (r#"<http://h/?a=1>; rel="last""#, None),
            (r#"<http://h/?a=2>; REL = Next"#, Some("a=2")),
            (r#"<http://h/?a=1>; rel="prev next""#, Some("a=1")),
            ("", None),
            ("<", None),
            (r#"rel="next""#, None),
        ] {
            assert_eq!(next(link), Ok(query), "{link}");
        }
        assert!(next(r#"<http://h/>; rel="next""#).is_err());
    }
}
