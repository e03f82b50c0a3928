//! SARIF 2.1.0, for services for code scanning.

use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value, json};

use crate::problem::{Checked, Problem, Rule};
use crate::report::OneLine;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Writes a run as one document, with a result for each problem. `skip` is `--skip-unknown`.
///
/// # Errors
/// The errors of `out`.
pub fn write(files: &[Checked], skip: bool, out: &mut impl Write) -> io::Result<()> {
    let problems = files.iter().flat_map(|(path, result)| Problem::all(path, result, skip));
    let problems: Vec<_> = problems.collect();
    let results: Vec<_> = problems.iter().map(result).collect();
    let is_missing =
        |problem: &Problem<'_>| problem.rule == Rule::NotChecked && !problem.is_expected;
    let complete = !problems.iter().any(is_missing);
    let document = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "nonfinite",
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": Rule::ALL.map(|rule| json!({
                    "id": rule.id(),
                    "shortDescription": {"text": rule.about()},
                    "defaultConfiguration": {"level": "error"},
                })),
            }},
            "invocations": [{"executionSuccessful": complete}],
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    writeln!(out, "{document}")
}

fn result(problem: &Problem<'_>) -> Value {
    // A binary file has no lines, but GitHub shows only results with a line.
    let mut location = json!({"physicalLocation": {
        "artifactLocation": {"uri": uri(problem.path)},
        "region": {"startLine": 1},
    }});
    let mut fingerprints = json!({});
    if let Some(name) = &problem.tensor {
        location["logicalLocations"] = json!([{"name": name}]);
        // GitHub uses this to tell apart results with the same file, line and rule.
        fingerprints["primaryLocationLineHash"] = json!(OneLine(name).to_string());
    }
    json!({
        "ruleId": problem.rule.id(),
        "ruleIndex": Rule::ALL.iter().position(|rule| *rule == problem.rule),
        "level": if problem.is_expected { "note" } else { "error" },
        "message": {"text": format!("{}: {}", problem.title, problem.message)},
        "locations": [location],
        "partialFingerprints": fingerprints,
    })
}

/// The path as a URI, with a scheme if the path is absolute. All bytes except letters, digits and
/// `-._~/` are escaped, so a colon in a name does not end a scheme.
fn uri(path: &Path) -> String {
    let mut uri = String::new();
    if path.is_absolute() {
        // A path of Windows begins with the letter of a drive.
        uri.push_str(if cfg!(windows) { "file:///" } else { "file://" });
    }
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            b'\\' if cfg!(windows) => uri.push('/'),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}
