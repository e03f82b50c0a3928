//! The option that an error asks for, in the words of each form of output.

use std::fs;
use std::path::Path;

use nonfinite_check::Error;
use nonfinite_check::json::{self, Listed};
use nonfinite_cli::html;
use nonfinite_cli::problem::Problem;
use nonfinite_cli::report::Complaint;
use serde_json::Value;

use crate::folder::folder;

/// Errors with a limit, and one inside an error of another file.
fn errors() -> [(Error, &'static str, &'static str); 3] {
    let expansion = || Error::Expansion { decoded: 9, file: 2, most: 3 };
    let other = Error::Other { path: "shard".into(), error: Box::new(expansion()) };
    [
        (expansion(), "--max-expansion", "max_expansion"),
        (other, "--max-expansion", "max_expansion"),
        (Error::Download { length: 9, most: 3 }, "--max-download", "max_download"),
    ]
}

#[test]
fn options_of_errors() {
    let folder = folder("wording");
    let path = Path::new("model");
    for (error, flag, option) in errors() {
        let (text, hint) = (error.to_string(), format!(" ({flag})"));
        assert!(!text.contains("--") && !text.contains("Options::"), "{text}");
        let complaint = Complaint { path, error: &error }.to_string();
        assert_eq!(complaint, format!("model: {text}{hint}"));
        assert_eq!(Problem::of_file(path, &error, false).message, format!("{text}{hint}"));

        let files = [(path.to_owned(), Err(error))];
        let page = folder.join(format!("{option}.html"));
        html::write(&page, &files).unwrap();
        assert!(fs::read_to_string(page).unwrap().contains(&hint), "{hint}");
        let document: Value = serde_json::from_str(&json::document(&files, Listed::All)).unwrap();
        let named = &document["files"][0]["not_looked_at"][0];
        assert_eq!(
            *named,
            serde_json::json!({"name": null, "reason": text,
            "asks": {"option": option}})
        );
        let line = json::lines(path, &files[0].1, Listed::All);
        let line: Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&line["error"], &line["asks"]["option"]), (&text.into(), &option.into()));
    }
}
