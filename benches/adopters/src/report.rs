//! Markdown.

use std::fs::read_to_string;

use nonfinite::Backend;

use crate::adopters::Adopter;
use crate::task::Seconds;

/// One question about one type of elements.
pub struct Row {
    pub question: &'static str,
    element: &'static str,
    nulls: bool,
    /// By size, of clean data and of dirty data. None where the answers of dirty data differ.
    cells: Vec<Option<Seconds>>,
}

impl Row {
    pub fn new(question: &'static str, element: &'static str, nulls: bool) -> Self {
        Self { question, element, nulls, cells: Vec::new() }
    }

    pub fn set(&mut self, column: usize, seconds: Seconds) {
        self.cells.resize_with(column, || None);
        self.cells.push(Some(seconds));
    }
}

/// The version of a crate that the lock file names; of several the newest.
fn version(name: &str) -> &'static str {
    let lock = include_str!("../../../engines/rust/Cargo.lock");
    let start = format!("name = \"{name}\"\nversion = \"");
    let found = lock.rmatch_indices(&start).next();
    found.map_or("", |(at, _)| lock[at + start.len()..].split('"').next().unwrap_or(""))
}

pub fn print(adopter: &Adopter, sizes: &[usize], rows: &[Row]) {
    println!("## {} {}\n", adopter.package, version(adopter.package));
    println!("{}\n", adopter.what);
    let mut head = String::from("| |");
    let mut line = String::from("|---|");
    for &size in sizes {
        let size = match size {
            0x10_0000.. => format!("{} MiB", size >> 20),
            _ => format!("{} KiB", size >> 10),
        };
        head += &format!(" {size} clean | {size} dirty |");
        line += "---|---|";
    }
    println!("{head}\n{line}");
    for row in rows {
        let nulls = if row.nulls { ", half nulls" } else { "" };
        let mut text = format!("| {}, {}{nulls} |", row.question, row.element);
        for column in 0..2 * sizes.len() {
            let cell = row.cells.get(column).and_then(Option::as_ref);
            text += &cell.map_or(" |".into(), |cell| format!(" {} |", show(cell)));
        }
        println!("{text}");
    }
    println!();
}

fn show(cell: &Seconds) -> String {
    let ours = time(cell.ours);
    // A small difference of two large times is noise.
    if cell.theirs < cell.around / 4.0 {
        return format!("below {} / {ours}", time(cell.around / 4.0));
    }
    format!("{} / {ours} = **{:.1}**", time(cell.theirs), cell.theirs / cell.ours)
}

fn time(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 1e-6 => (s * 1e9, "ns"),
        s if s < 1e-3 => (s * 1e6, "us"),
        s => (s * 1e3, "ms"),
    };
    if value < 10.0 { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
}

/// The CPU, our backend, and what the loops were compiled for.
pub fn machine() -> String {
    let info = read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = info.lines().find(|line| line.split(':').next().map(str::trim) == Some(name));
        line.and_then(|line| line.split(':').nth(1)).map_or("?", str::trim).to_string()
    };
    let cpus = info.lines().filter(|line| line.starts_with("processor")).count();
    let target = if cfg!(target_feature = "avx512f") {
        "AVX-512"
    } else if cfg!(target_feature = "avx2") {
        "AVX2"
    } else {
        "no more than cargo's default target"
    };
    format!(
        "{} (family {} model {}), {cpus} CPUs, one thread. nonfinite {} on its backend {}; all \
         other code compiled for {target}.",
        field("model name"),
        field("cpu family"),
        field("model"),
        version("nonfinite"),
        Backend::active().name(),
    )
}

/// The load averages of 1, 5 and 15 minutes.
pub fn load() -> String {
    let text = read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').take(3).collect::<Vec<_>>().join(" ")
}
