//! The output on a terminal. `script` of util-linux runs the command in one.

use std::path::Path;
use std::process::Command;

use crate::folder::folder;
use crate::write::{Entry, safetensors};
use crate::{TestFile, bytes, file, interrupt};

/// Runs a check in a terminal with this number of columns. Returns the text on the terminal.
fn show(columns: usize, variables: &str, arguments: &str, path: &Path) -> String {
    let program = env!("CARGO_BIN_EXE_nonfinite");
    let path = path.display();
    let line = format!("env -u NO_COLOR {variables} {program} check {arguments} '{path}'");
    in_terminal(columns, &line).replace('\r', "")
}

/// Runs a command in a terminal with this number of columns.
fn in_terminal(columns: usize, command: &str) -> String {
    let line = format!("stty rows 50 cols {columns}; {command}");
    let output = Command::new("script").args(["-qc", &line, "/dev/null"]).output();
    let output = output.expect("script of util-linux is there");
    String::from_utf8(output.stdout).expect("output is UTF-8")
}

/// Columns of a terminal, by the blocks of the characters in these tests alone.
fn columns(line: &str) -> usize {
    let wide = |char| matches!(char, '\u{3000}'..='\u{30FF}' | '\u{4E00}'..='\u{9FFF}');
    line.chars().map(|char| if wide(char) { 2 } else { 1 }).sum()
}

const NAMES: [&str; 4] = [
    "model.layers.12.self_attn.q_proj.weight",
    "model.layers.12.self_attn.k_proj.weight",
    "モデル.層.十二.自己注意.重み.バイアス.とても長い名前.モデル.層.十二.自己注意.重み.末尾",
    "x",
];

/// Each tensor has a NaN, a +Inf, a -Inf and the numbers -1 and 1e30.
fn sample(name: &str) -> TestFile {
    let numbers = [-1.0, 1e30, f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
    let data = bytes(&numbers);
    let entry = |name| Entry { name, kind: "F32", shape: &[1, 5], data: &data };
    file(name, &safetensors(&NAMES.map(entry)))
}

#[test]
fn no_line_wraps() {
    let path = sample("terminal-width.safetensors");
    for width in [20, 40, 80, 120, 200] {
        for arguments in ["", "--stats", "--map"] {
            let shown = show(width, "NO_COLOR=1", arguments, &path);
            for line in shown.lines() {
                assert!(columns(line) <= width, "{width} {arguments}: {line}\n{shown}");
            }
            if width >= 40 {
                for word in [NAMES[0], NAMES[1], ".末尾", "[0, 2]", "[0, 3]", "[0, 4]"] {
                    assert!(shown.contains(word), "{width} {arguments}: {word}\n{shown}");
                }
            }
            assert_eq!(shown.contains("1e30"), arguments.contains("--stats"), "{shown}");
        }
    }
}

/// No colours, no cursor that moves. An ordinary terminal has colours.
#[test]
fn dumb_terminal() {
    let path = sample("terminal-dumb.safetensors");
    let shown = show(80, "TERM=dumb", "", &path);
    assert!(shown.contains(NAMES[0]) && !shown.contains('\x1b'), "{shown:?}");
    assert!(show(80, "TERM=xterm-256color", "", &path).contains("\x1b[31m"));
    assert!(!show(80, "TERM=xterm-256color NO_COLOR=1", "", &path).contains("\x1b"));
}

/// The progress bar fits a line, and is not there where it cannot be drawn.
#[test]
fn progress_bar() {
    let folder = folder("terminal-bar");
    // The check of this file takes minutes, and the bar comes after half a second.
    let path = interrupt::huge(&folder);
    let program = env!("CARGO_BIN_EXE_nonfinite");
    let bar = |columns, term| {
        let check = format!("{program} check --threads 1 '{}'", path.display());
        in_terminal(columns, &format!("TERM={term} timeout -s TERM 2 {check}"))
    };
    for width in [40, 80] {
        let shown = bar(width, "xterm");
        assert!(shown.contains("/274.88 GB ") && shown.contains(" ETA "), "{shown:?}");
        for frame in shown.split(['\r', '\n']) {
            let text = frame.replace("\x1b[2K", "");
            assert!(!text.contains('\x1b') && columns(&text) <= width, "{width}: {frame:?}");
        }
    }
    assert_eq!(bar(80, "dumb").trim_matches('\x04'), "nonfinite: interrupted\r\n");
}
