//! The forms for services: annotations of GitHub, SARIF, JUnit. Names that would break a form are
//! escaped.

use std::fs;
use std::path::Path;

use crate::folder::Folder;
use crate::{Run, command, safetensors};

/// A folder with a bad file whose name and tensor have all that is special in one of the forms, and
/// a file that cannot be checked.
fn folder(name: &str) -> Folder {
    let folder = crate::folder::folder(name);
    let name = r#"<a href=\"x\">&amp;]]>%0A\n::error::,\u0000\u001b\uffff\r"#;
    let entry = |name: &str, dtype: &str, at: usize| {
        format!(r#""{name}":{{"dtype":"{dtype}","shape":[1],"data_offsets":[{at},{}]}}"#, at + 1)
    };
    let entries = [entry(name, "F8_E5M2", 0), entry("clean", "F8_E5M2", 1), entry("int", "U8", 2)];
    let content = safetensors(format!("{{{}}}", entries.join(",")), &[0x7C, 0, 0]);
    fs::write(folder.join(FILE), content).unwrap();
    fs::write(folder.join("not a model.npy"), "x").unwrap();
    folder
}

const FILE: &str = "a: 100%, <b>&\n'c' \u{1b}[2Jü.safetensors";

fn check(folder: &Path, arguments: &[&str]) -> Run {
    let output = command().arg("check").args(arguments).arg(".").current_dir(folder).output();
    output.expect("the command starts").into()
}

#[test]
fn github() {
    let folder = folder("services-github");
    let run = check(&folder, &["--format", "github"]);
    assert_eq!(run.status, 2);
    let lines: Vec<_> = run.out.lines().collect();
    let [bad, unknown, summary] = lines[..] else { panic!("{}", run.out) };
    let path = "file=./a%3A 100%25%2C <b>&%0A'c' \\u{1b}[2Jü.safetensors,title=+Inf in ";
    let rest = bad.strip_prefix("::error ").and_then(|rest| rest.strip_prefix(path));
    let (title, message) = rest.unwrap_or_else(|| panic!("{bad}")).split_once("::").unwrap();
    assert_eq!(
        title, r#"<a href="x">&amp;]]>%250A\n%3A%3Aerror%3A%3A%2C\0\u{1b}\u{ffff}\r"#,
        "a newline of the name is shown as \\n"
    );
    assert!(message.ends_with(" F8_E5M2 [1]: 0 NaN, 1 +Inf, 0 -Inf, first +Inf at [0]"));
    assert!(message.contains("]]>%250A") && !bad.contains(char::is_control), "{bad}");
    assert_eq!(
        unknown.split_once("::not").unwrap().0,
        "::error file=./not a model.npy,title=not checked"
    );
    assert!(summary.starts_with("checked 2 tensors, "));
    let run = check(&folder, &["--format", "github", "--max-reports", "1"]);
    assert!(run.out.contains("\n1 more, see --max-reports\n"), "{}", run.out);
}

#[test]
fn sarif() {
    let run = check(&folder("services-sarif"), &["--format", "sarif"]);
    assert_eq!(run.status, 2);
    let document: serde_json::Value = serde_json::from_str(&run.out).expect("the output is JSON");
    assert_eq!(document["version"], "2.1.0");
    let sarif = &document["runs"][0];
    assert_eq!(sarif["tool"]["driver"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(sarif["invocations"][0]["executionSuccessful"], false);
    let rules = &sarif["tool"]["driver"]["rules"];
    let [bad, unknown] = sarif["results"].as_array().unwrap().as_slice() else {
        panic!("{document}")
    };
    for result in [bad, unknown] {
        let rule = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[rule]["id"], result["ruleId"]);
    }
    assert_eq!((&bad["ruleId"], &unknown["ruleId"]), (&"non-finite".into(), &"not-checked".into()));
    let uri = &bad["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(uri, "./a%3A%20100%25%2C%20%3Cb%3E%26%0A%27c%27%20%1B%5B2J%C3%BC.safetensors");
    let name = bad["locations"][0]["logicalLocations"][0]["name"].as_str().unwrap();
    assert!(name.starts_with("<a href=") && name.ends_with(r"\0\u{1b}\u{ffff}\r"), "{name}");
    assert_eq!(bad["partialFingerprints"]["primaryLocationLineHash"], name);
    assert_eq!(bad["locations"][0]["physicalLocation"]["region"]["startLine"], 1);
    assert!(bad["message"]["text"].as_str().unwrap().contains("first +Inf at [0]"));
    assert!(unknown["locations"][0].get("logicalLocations").is_none());
}

#[test]
fn junit() {
    let folder = folder("services-junit");
    let run = check(&folder, &["--format", "junit"]);
    assert_eq!(run.status, 2);
    let document = roxmltree::Document::parse(&run.out).expect("the output is XML");
    let root = document.root_element();
    let counts = |element: roxmltree::Node<'_, '_>| {
        ["tests", "failures", "errors", "skipped"]
            .map(|name| element.attribute(name).map_or(0, |count| count.parse::<usize>().unwrap()))
    };
    assert_eq!((root.tag_name().name(), counts(root)), ("testsuites", [4, 1, 1, 0]));
    // Three digits, as the schema of Jenkins has it.
    let time = root.attribute("time").unwrap().split_once('.').unwrap();
    assert!(time.0.parse::<u32>().is_ok() && time.1.len() == 3, "{time:?}");
    let elements = |node: roxmltree::Node<'_, '_>, name: &str| -> usize {
        node.descendants().filter(|element| element.has_tag_name(name)).count()
    };
    let counted = ["testcase", "failure", "error", "skipped"].map(|name| elements(root, name));
    assert_eq!(counted, [4, 1, 1, 1]);
    let suites: Vec<_> = root.children().filter(roxmltree::Node::is_element).collect();
    assert_eq!(suites.len(), 2);
    assert_eq!(
        suites[0].attribute("name"),
        Some(&*format!("./{}", FILE.replace('\n', "\\n").replace('\u{1b}', "\\u{1b}")))
    );
    assert_eq!(counts(suites[0]), [3, 1, 0, 1]);
    let failure = root.descendants().find(|element| element.has_tag_name("failure")).unwrap();
    let name = r#"<a href="x">&amp;]]>%0A\n::error::,\0\u{1b}\u{ffff}\r"#;
    assert_eq!(failure.parent().unwrap().attribute("name"), Some(name));
    assert_eq!(failure.attribute("message"), Some(&*format!("+Inf in {name}")));
    assert!(failure.text().unwrap().ends_with("first +Inf at [0]"), "{failure:?}");

    let run = check(&folder, &["--format", "junit", "--bad-only"]);
    let document = roxmltree::Document::parse(&run.out).unwrap();
    assert_eq!(elements(document.root_element(), "testcase"), 2);
}
