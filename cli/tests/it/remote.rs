//! URLs, from a small server on this machine that stands for that of Hugging Face.

use std::collections::BTreeMap;

use crate::server::{Server, State};
use crate::{command, npy};

/// The server of a model of one file, by way of a redirection to another host, as Hugging Face has.
fn hugging_face() -> (Server, Server) {
    let bytes = npy("'<f4'", false, "(2,)", &[1.0f32, f32::NAN].map(f32::to_le_bytes).concat());
    let store = Server::of("/blob", &bytes);
    let to = format!("{}/blob?signature=1", store.url);
    let redirects = BTreeMap::from([("/owner/model/resolve/refs%2Fpr%2F1/a/x.npy".to_owned(), to)]);
    (Server::new(State { redirects, ..State::default() }), store)
}

#[test]
fn models_of_hugging_face() {
    let (hub, store) = hugging_face();
    let url = "hf://owner/model@refs/pr/1/a/x.npy";
    let run = |url: &str| -> crate::Run {
        let mut command = command();
        command.env("HF_ENDPOINT", &hub.url).env("HF_TOKEN", "hf_secret");
        command.args(["check", url]).output().expect("the command starts").into()
    };
    // A revision with slashes is written as the hub writes it.
    let refused = run(url);
    assert_eq!(refused.status, 2, "{}", refused.err);
    let found = run("hf://owner/model@refs%2Fpr%2F1/a/x.npy");
    assert_eq!((found.status, found.err.as_str()), (1, ""));
    assert!(found.out.contains("1 NaN, 0 +Inf, 0 -Inf, first NaN at [1]"), "{}", found.out);
    // The token goes to the hub, and not to the host that it leads to.
    let asked = hub.state().requests.join("\n").to_ascii_lowercase();
    assert!(asked.contains("authorization: bearer hf_secret"), "{asked}");
    let asked = store.state().requests.join("\n").to_ascii_lowercase();
    assert!(asked.contains("signature=1") && !asked.contains("secret"), "{asked}");
}
