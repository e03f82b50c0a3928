//! The table and the JSON file.

use std::fmt::Write as _;

pub struct Row {
    /// As `mask/f32/finite/16KiB/clean`.
    pub cell: String,
    pub name: &'static str,
    pub gb_per_s: f64,
}

/// A table a size and data: a line for each question and type, a column for each who answered one.
pub fn markdown(rows: &[Row]) -> String {
    let mut text = String::new();
    let mut groups: Vec<&str> = Vec::new();
    for row in rows {
        let group = split(&row.cell).1;
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    for group in groups {
        let rows: Vec<&Row> = rows.iter().filter(|row| split(&row.cell).1 == group).collect();
        let mut names: Vec<&str> = Vec::new();
        let mut cells: Vec<&str> = Vec::new();
        for row in &rows {
            if !names.contains(&row.name) {
                names.push(row.name);
            }
            if !cells.contains(&row.cell.as_str()) {
                cells.push(&row.cell);
            }
        }
        // Writing to a String does not fail.
        let _ = writeln!(text, "\n### {group}, GB/s of input\n\n| | {} |", names.join(" | "));
        let _ = writeln!(text, "|---|{}", "---:|".repeat(names.len()));
        for cell in cells {
            let _ = write!(text, "| {} |", split(cell).0);
            for name in &names {
                match rows.iter().find(|row| row.cell == cell && row.name == *name) {
                    Some(row) => drop(write!(text, " {} |", number(row.gb_per_s))),
                    None => text.push_str(" |"),
                }
            }
            text.push('\n');
        }
    }
    text
}

/// What is asked, and of what: `mask/f32/finite` and `16KiB/clean`.
fn split(cell: &str) -> (&str, &str) {
    let at = cell.match_indices('/').nth(2).map_or(cell.len(), |(at, _)| at);
    (&cell[..at], cell.get(at + 1..).unwrap_or_default())
}

fn number(x: f64) -> String {
    if x < 10.0 { format!("{x:.1}") } else { format!("{x:.0}") }
}

/// Names and cells have nothing that JSON would escape.
pub fn json(rows: &[Row]) -> String {
    let rows: Vec<String> = rows
        .iter()
        .map(|Row { cell, name, gb_per_s }| {
            format!("  {{\"cell\": \"{cell}\", \"name\": \"{name}\", \"gb_per_s\": {gb_per_s:.3}}}")
        })
        .collect();
    format!("[\n{}\n]\n", rows.join(",\n"))
}
