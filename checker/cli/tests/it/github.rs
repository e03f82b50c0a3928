//! Annotations of GitHub. Names that would break them are escaped.

use std::fs;

use crate::check_in;
use crate::folder::Folder;
use crate::write::{Entry, safetensors};

/// A folder with a bad file whose name and tensor have all that is special in an annotation, and a
/// file that cannot be checked.
fn folder(name: &str) -> Folder {
    let folder = crate::folder::folder(name);
    let name = r#"<a href=\"x\">&amp;]]>%0A\n::error::,\u0000\u001b\uffff\r"#;
    let entries = [(name, "F8_E5M2", &[0x7C]), ("clean", "F8_E5M2", &[0]), ("int", "U8", &[0])];
    let entries = entries.map(|(name, kind, data)| Entry { name, kind, shape: &[1], data });
    fs::write(folder.join(FILE), safetensors(&entries)).unwrap();
    fs::write(folder.join("not a model.npy"), "x").unwrap();
    folder
}

const FILE: &str = "a: 100%, <b>&\n'c' \u{1b}[2Jü.safetensors";

#[test]
fn annotations() {
    let folder = folder("github");
    let run = check_in(&folder, &["--format", "github", "."]);
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
        unknown.split_once("::no npy file").unwrap().0,
        "::error file=./not a model.npy,title=not checked"
    );
    assert!(summary.starts_with("1 of 2 tensors "));
}
