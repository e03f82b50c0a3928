//! The places of bad numbers: statements, and maps.

use std::path::Path;

use crate::write::npy;
use crate::{Run, TestFile, bytes, command, file};

/// An array of f32 with NaN at the elements of which the function says so.
fn array(name: &str, shape: [usize; 2], bad: impl Fn(usize, usize) -> bool) -> TestFile {
    let [rows, columns] = shape;
    let number = |i: usize| if bad(i / columns, i % columns) { f32::NAN } else { 1.0 };
    let numbers: Vec<f32> = (0..rows * columns).map(number).collect();
    file(name, &npy("<f4", &shape, false, &bytes(&numbers)))
}

fn check(path: &Path, arguments: &[&str], locale: &str, term: &str) -> String {
    let mut command = command();
    command.arg("check").args(arguments).arg(path);
    let run = Run::of(command.env("LC_ALL", locale).env("TERM", term));
    assert_eq!((run.status, run.err.as_str()), (1, ""));
    let path = path.to_str().expect("a path in UTF-8");
    run.out.replace(&format!("{path}: "), "").replace(path, "FILE")
}

/// The result without the summary.
fn lines(out: &str) -> Vec<&str> {
    out.lines().take_while(|line| !line.contains(". Checked ")).collect()
}

#[test]
fn statements() {
    let path = array("places_row.npy", [40, 300], |row, _| row == 17);
    let out = check(&path, &[], "C", "xterm");
    let expected =
        "<f4 [40, 300]: 300 NaN, 0 +Inf, 0 -Inf, first NaN at [17, 0]; row 17 only, in full";
    assert_eq!(lines(&out), [expected]);
    let table = check(&path, &["--format", "table"], "C", "xterm");
    assert!(lines(&table)[2].ends_with("row 17 only, in full"), "{table}");
    // The first place is enough for few.
    let path = array("places_few.npy", [40, 300], |row, column| row == 17 && column < 3);
    let out = check(&path, &[], "C", "xterm");
    assert_eq!(lines(&out), ["<f4 [40, 300]: 3 NaN, 0 +Inf, 0 -Inf, first NaN at [17, 0]"]);
}

/// A block is a row and a column here.
#[test]
fn maps() {
    let path = array("places_map.npy", [5, 7], |row, column| row == 0 || row == 2 && column > 3);
    let quadrants = check(&path, &["--map"], "C.UTF-8", "xterm");
    let expected = [
        "  5 rows x 7 columns; each quarter of a character is 1 row x 1 column",
        "  |▀▀▀▘|",
        "  |  ▀▘|",
        "  |    |",
    ];
    assert_eq!(lines(&quadrants)[1..], expected);
    for (locale, term) in [("C", "xterm"), ("C.UTF-8", "dumb")] {
        let ascii = check(&path, &["--map"], locale, term);
        let expected = [
            "  5 rows x 7 columns; each character is 2 rows x 2 columns",
            "  |####|",
            "  |  ##|",
            "  |    |",
        ];
        // Windows shows UTF-8 in any locale.
        if !cfg!(windows) || term == "dumb" {
            assert_eq!(lines(&ascii)[1..], expected, "{locale} {term}");
        }
        assert!(ascii.is_ascii() || cfg!(windows) && term != "dumb");
    }
    let table = check(&path, &["--map", "--format", "table"], "C.UTF-8", "xterm");
    assert_eq!(lines(&table)[4..8], expected);
}

/// Each character of a large map, against the numbers under it.
#[test]
fn large_maps() {
    let bad = |row: usize, column: usize| (row * 7919 + column * 104_729) % 997 == 3;
    for (rows, columns) in [(64, 64), (33, 65), (300, 200), (1, 1000), (1000, 1)] {
        let path = array("places_large.npy", [rows, columns], bad);
        let out = check(&path, &["--map"], "C", "dumb");
        let map: Vec<_> = lines(&out)[2..].to_vec();
        let (row_step, column_step) = (rows.div_ceil(64), columns.div_ceil(64));
        let row_step = row_step * rows.div_ceil(row_step).div_ceil(32) * 2;
        let column_step = column_step * 2;
        assert_eq!(map.len(), rows.div_ceil(row_step), "{rows} {columns}");
        for (row, line) in map.iter().enumerate() {
            let chars = line.strip_prefix("  |").and_then(|line| line.strip_suffix('|')).unwrap();
            assert_eq!(chars.len(), columns.div_ceil(column_step), "{rows} {columns}");
            for (column, char) in chars.chars().enumerate() {
                let rows = row * row_step..((row + 1) * row_step).min(rows);
                let is_bad = rows.into_iter().any(|row| {
                    let columns = column * column_step..((column + 1) * column_step).min(columns);
                    columns.into_iter().any(|column| bad(row, column))
                });
                assert_eq!(char == '#', is_bad, "{row}, {column} of {map:?}");
            }
        }
    }
}

/// No more than four groups are drawn; the others are counted.
#[test]
fn groups() {
    let path = file("places_groups.npy", &npy("<f4", &[6, 2, 2], false, &bytes(&[f32::NAN; 24])));
    let out = check(&path, &["--map"], "C.UTF-8", "xterm");
    let map = &lines(&out)[2..];
    assert_eq!(map[..2], ["  axis 0 index 0 of 6", "  |█|"]);
    assert_eq!(map[6..], ["  axis 0 index 3 of 6", "  |█|", "  and 2 more like these"]);
}

#[test]
fn json() {
    let path = array("places_json.npy", [5, 7], |row, _| row == 0);
    let of = |arguments: &[&str]| {
        let out = check(&path, arguments, "C", "xterm");
        serde_json::from_str::<serde_json::Value>(&out).expect("JSON")["where"].clone()
    };
    assert_eq!(of(&["--format=jsonl"])["statement"], "row 0 only, in full");
    assert_eq!(of(&["--format=jsonl"])["map"], serde_json::Value::Null);
    let lit: Vec<_> = (0..7).map(|cell| (cell, 1)).collect();
    let expected = serde_json::json!({
        "groups": {"extent": 1, "step": 1}, "rows": {"extent": 5, "step": 1},
        "columns": {"extent": 7, "step": 1}, "lit": lit,
    });
    assert_eq!(of(&["--format=jsonl", "--map"])["map"], expected);
}
