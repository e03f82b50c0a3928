//! URLs, from a small server on this machine that stands for that of Hugging Face.

use std::collections::BTreeMap;

use crate::server::{Server, State};
use crate::write::{Entry, safetensors};
use crate::{Run, array, command, tensor};

/// Every request of the hub has the token, and no request of another host.
#[track_caller]
fn assert_token(server: &Server, is_hub: bool) {
    let requests = server.state().requests.clone();
    assert!(!requests.is_empty());
    for request in requests {
        let request = request.to_ascii_lowercase();
        let has = request.contains("\nauthorization: bearer hf_secret");
        assert!(has == is_hub && (is_hub || !request.contains("secret")), "{request}");
    }
}

/// Lists and files that the hub moves, first on itself and then to another host.
#[test]
fn the_token_stays_at_the_hub() {
    let bytes = array(&[1.0, f32::NAN]);
    let store = Server::of("/blob", &bytes);
    let list = r#"[{"type":"file","oid":"1","size":1,"path":"x.npy"}]"#.to_owned();
    store.state().pages.insert("/list?page=1".to_owned(), (list, None));
    let hub = Server::new(State::default());
    let tree = "/api/models/owner/model/tree/main";
    hub.state().redirects = BTreeMap::from([
        (tree.to_owned(), format!("{}/moved-list", hub.url)),
        ("/moved-list".to_owned(), format!("{}/list?page=1", store.url)),
        ("/owner/model/resolve/main/x.npy".to_owned(), format!("{}/moved", hub.url)),
        ("/moved".to_owned(), format!("{}/blob?signature=1", store.url)),
    ]);
    let run = check(&hub, &["check", "hf://owner/model"]);
    assert_eq!((run.status, run.err.as_str()), (1, ""));
    assert!(run.out.contains("1 NaN, 0 +Inf, 0 -Inf, first NaN at [1]"), "{}", run.out);
    for path in ["/moved-list", "/moved"] {
        let requests = &hub.state().requests;
        assert!(requests.iter().any(|request| request.starts_with(&format!("GET {path} "))));
    }
    assert_token(&hub, true);
    assert_token(&store, false);
}

const TREE: &str = "/api/models/owner/model/tree/main?recursive=true";

/// A model of several files, whose list comes in two pages, as the Hub's does.
fn model() -> Server {
    let index = r#"{"weight_map":{"x":"model-1.safetensors","y":"model-2.safetensors"}}"#;
    let at = |path: &str| format!("/owner/model/resolve/main/{path}");
    let files = [
        (at("model.safetensors.index.json"), index.into()),
        (at("model-1.safetensors"), tensor("x", 1.0)),
        (at("model-2.safetensors"), tensor("y", f32::INFINITY)),
        (at("a b/more #1.npy"), array(&[f32::NAN])),
        (at("README.md"), b"# A model".to_vec()),
        (at("empty"), Vec::new()),
    ];
    // The test server knows paths as they are sent.
    let sent =
        |(path, bytes): (String, Vec<u8>)| (path.replace(' ', "%20").replace('#', "%23"), bytes);
    let file = |path: &str| format!(r#"{{"type":"file","oid":"1","size":1,"path":"{path}"}}"#);
    let first = [
        r#"{"type":"directory","oid":"2","size":0,"path":"a b"}"#.to_owned(),
        file("README.md"),
        file("a b/more #1.npy"),
        file("empty"),
        file("model.safetensors.index.json"),
    ];
    let second = ["model-1.safetensors", "model-2.safetensors"].map(file);
    let list = |entries: &[String]| format!("[{}]", entries.join(","));
    // The host of the link is not asked: an endpoint may be a mirror.
    let next = "<http://127.0.0.1:1/api/models/owner/model/tree/main?recursive=true&cursor=x%3D>";
    let pages = [
        (TREE.to_owned(), (list(&first), Some(format!("{next}; rel=\"next\"")))),
        (format!("{TREE}&cursor=x%3D"), (list(&second), None)),
    ];
    let files = files.map(sent).into_iter().collect();
    let (pages, tag) = (pages.into_iter().collect(), Some("\"one\"".to_owned()));
    Server::new(State { files, pages, tag, ..State::default() })
}

fn check(hub: &Server, arguments: &[&str]) -> Run {
    let mut command = command();
    command.env("HF_ENDPOINT", &hub.url).env("HF_TOKEN", "hf_secret");
    Run::of(command.args(arguments))
}

/// `hf://owner/model` is all files of the model. The shards of a set come with its index.
#[test]
fn all_files_of_a_model() {
    let hub = model();
    // The Hub is busy at first.
    hub.state().busy = 1;
    for url in ["hf://owner/model", "hf://owner/model@main/"] {
        let run = check(&hub, &["check", url]);
        assert_eq!((run.status, run.err.as_str()), (1, ""), "{url}");
        let lines: Vec<_> = run.out.lines().collect();
        let [array, set, summary] = lines[..] else { panic!("{}", run.out) };
        let folder = url.trim_end_matches('/');
        assert!(array.starts_with(&format!("{folder}/a b/more #1.npy: <f4 [1]: 1 NaN")), "{array}");
        let shard = format!("{folder}/model-2.safetensors: \"y\" F32 [1]: 0 NaN, 1 +Inf");
        assert!(set.starts_with(&shard), "{set}");
        assert!(summary.starts_with("2 of 3 tensors "), "{summary}");
        // README.md, and the empty file.
        assert!(summary.ends_with("; text files: 2"), "{summary}");
    }
    let asked = |name: &str| hub.state().requests.iter().filter(|it| it.contains(name)).count();
    assert!(asked("recursive=true&cursor=") == 2 && asked("more%20%231.npy") > 0);
    assert_token(&hub, true);
}

/// Of a model behind a URL, `lint --headers` fetches the header and the configuration.
#[test]
fn headers_of_a_model() {
    const LENGTH: usize = 12 << 20;
    let names = [0, 1, 2].map(|layer| format!("model.layers.{layer}.mlp.up_proj.weight"));
    let data = vec![0x3C; LENGTH / 3];
    let shape = [data.len() / 8, 4];
    let entry = |name| Entry { name, kind: "BF16", shape: &shape, data: &data };
    let entries: Vec<_> = names.iter().map(|name| entry(name)).collect();
    let config = r#"{"model_type": "llama", "num_hidden_layers": 4}"#;
    let at = |name: &str| format!("/owner/model/resolve/main/{name}");
    let files = [("model.safetensors", safetensors(&entries)), ("config.json", config.into())];
    let files = files.map(|(name, bytes)| (at(name), bytes)).into_iter().collect();
    let list = r#"[{"type":"file","oid":"1","size":1,"path":"model.safetensors"}]"#.to_owned();
    let pages = BTreeMap::from([(TREE.to_owned(), (list, None))]);
    let tag = Some("\"one\"".to_owned());
    let hub = Server::new(State { files, pages, tag, ..State::default() });
    let run = check(&hub, &["lint", "--headers", "hf://owner/model"]);
    assert_eq!((run.status, run.err.as_str()), (1, ""), "{}", run.out);
    assert!(run.out.starts_with("error[count]") && run.out.contains("fill layers 3 to 3"));
    let requests = hub.state().requests.join("\n").to_ascii_lowercase();
    let ranges = requests.lines().filter_map(|line| line.strip_prefix("range: bytes="));
    let ends = ranges.map(|range| range.split('-').nth(1).unwrap().parse::<usize>().unwrap());
    assert!(ends.max().is_some_and(|end| end < LENGTH / 4), "{requests}");
}

#[test]
fn models_that_cannot_be_listed() {
    let hub = model();
    let failed = |url: &str, message: &str| {
        let run = check(&hub, &["check", url]);
        assert_eq!(run.status, 2);
        assert!(run.err.starts_with(&format!("nonfinite: {url}: ")), "{}", run.err);
        assert!(run.err.contains(message) && !run.err.contains("secret"), "{}", run.err);
        assert_eq!(run.err.lines().count(), 1, "{}", run.err);
    };
    failed("hf://owner/none", "404");
    hub.state().pages.insert(TREE.to_owned(), ("{}".to_owned(), None));
    failed("hf://owner/model", "not a list of files of the Hub");
    hub.state().pages.insert(TREE.to_owned(), ("[]".to_owned(), None));
    failed("hf://owner/model", "no file of a known format is there");
    assert_token(&hub, true);
}

/// A hub with a model of one file, whose list comes in these pages. Each page but the last has a
/// link to the next.
fn listed(mut pages: Vec<String>) -> Server {
    let (file, bytes) = ("/owner/model/resolve/main/x.npy", array(&[0.0]));
    let hub = Server::of(file, &bytes);
    pages.push(r#"[{"type":"file","oid":"1","size":1,"path":"x.npy"}]"#.to_owned());
    let last = pages.len() - 1;
    let page = |(at, body)| {
        let target = if at == 0 { TREE.to_owned() } else { format!("{TREE}&cursor={at}") };
        let next = (at < last).then(|| format!("<{TREE}&cursor={}>; rel=next", at + 1));
        (target, (body, next))
    };
    hub.state().pages = pages.into_iter().enumerate().map(page).collect();
    hub
}

/// The list of the model is read, or refused with this message. Returns how often it was asked for.
#[track_caller]
fn assert_list(hub: &Server, refused: Option<&str>) -> usize {
    hub.state().requests.clear();
    let run = check(hub, &["check", "hf://owner/model"]);
    match refused {
        None => assert_eq!((run.status, run.err.as_str()), (0, "")),
        Some(message) => assert!(run.status == 2 && run.err.contains(message), "{}", run.err),
    }
    hub.state().requests.iter().filter(|request| request.contains("/tree/main?")).count()
}

#[test]
fn the_most_answers_of_a_list() {
    let empty = |count| listed(vec!["[]".to_owned(); count]);
    assert_eq!(assert_list(&empty(999), None), 1000);
    assert_eq!(assert_list(&empty(1000), Some("more than 1000 answers")), 1000);
}

#[test]
fn the_most_bytes_of_a_list() {
    const PAGE: usize = 16 << 20;
    let page = |length: usize| format!("[{}]", " ".repeat(length - 2));
    assert_list(&listed(vec![page(PAGE)]), None);
    assert_list(&listed(vec![page(PAGE + 1)]), Some("more than 16777216 bytes"));
    // The last page is not empty.
    let last = listed(Vec::new()).state().pages[TREE].0.len();
    let four = |less| listed(vec![page(PAGE), page(PAGE), page(PAGE), page(PAGE - less)]);
    assert_list(&four(last), None);
    assert_list(&four(last - 1), Some("more than 67108864 bytes"));
}

/// A request is sent again if the Hub is busy or the connection ends, and not after other failures.
#[test]
fn lists_that_are_asked_for_again() {
    let hub = listed(Vec::new());
    hub.state().busy = 3;
    assert_eq!(assert_list(&hub, None), 4);
    hub.state().busy = 4;
    assert_eq!(assert_list(&hub, Some("503")), 4);
    hub.state().cut = 1;
    assert_eq!(assert_list(&hub, None), 2);
    let loops = format!("{}{TREE}", hub.url);
    hub.state().redirects.insert("/api/models/owner/model/tree/main".to_owned(), loops);
    // The client follows ten redirections.
    assert_eq!(assert_list(&hub, Some("redirect")), 11);
    hub.state().redirects.clear();
    hub.state().pages.clear();
    assert_eq!(assert_list(&hub, Some("404")), 1);
}

/// Variables of the environment that are empty count as not set, and a slash at the end of the
/// endpoint is not doubled.
#[test]
fn endpoints_and_tokens() {
    let hub = listed(Vec::new());
    let mut command = command();
    command.env("HF_ENDPOINT", format!("{}/", hub.url)).env("HF_TOKEN", "");
    let run = Run::of(command.args(["check", "hf://owner/model"]));
    assert_eq!((run.status, run.err.as_str()), (0, ""));
    let requests = hub.state().requests.join("\n").to_ascii_lowercase();
    assert!(!requests.contains("authorization") && !requests.contains(" //"), "{requests}");
}
