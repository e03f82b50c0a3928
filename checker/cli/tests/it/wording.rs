//! The option that an error asks for, in the words of each form of output.

use std::fs;
use std::path::Path;

use nonfinite_check::Error;
use nonfinite_check::json::{self, Listed};
use nonfinite_cli::command::github;
use nonfinite_report::html;
use nonfinite_report::lines::Complaint;
use serde_json::Value;

use crate::folder::folder;

/// Errors with a limit, and one inside an error of another file.
fn errors() -> [Error; 3] {
    let expansion = || Error::Expansion { decoded: 9, file: 2, most: 3 };
    let other = Error::Other { path: "shard".into(), error: Box::new(expansion()) };
    [expansion(), other, Error::Download { length: 9, most: 3 }]
}

#[test]
fn options_of_errors() {
    let folder = folder("wording");
    let path = Path::new("model");
    let (hint, option) = (" (--max-bytes)", "max_bytes");
    for error in errors() {
        let text = error.to_string();
        assert!(!text.contains("--") && !text.contains("Options::"), "{text}");
        let complaint = Complaint { path, error: &error }.to_string();
        assert_eq!(complaint, format!("model: {text}{hint}"));

        let files = [(path.to_owned(), Err(error))];
        let annotation = github::annotations(path, &files[0].1);
        assert!(annotation.ends_with(&format!("::{text}{hint}\n")), "{annotation}");
        let page = folder.join("page.html");
        html::write(&page, &html::document(&files)).unwrap();
        assert!(fs::read_to_string(page).unwrap().contains(hint), "{hint}");
        let document: Value =
            serde_json::from_str(&json::document(&files, &[], Listed::All)).unwrap();
        let named = &document["files"][0]["not_looked_at"][0];
        assert_eq!(*named, serde_json::json!({"name": null, "reason": text, "asks": option}));
        let line = json::lines(path, &files[0].1, Listed::All);
        let line: Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&line["error"], &line["asks"]), (&text.into(), &option.into()));
    }
}
