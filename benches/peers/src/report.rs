//! The tables and the JSON file.

use std::fmt::Write as _;

/// The results of one cell.
pub struct Cell {
    /// As `mask/f32/finite/16KiB/clean`.
    pub name: String,
    pub bytes: usize,
    /// Who, and GB/s of input.
    pub rows: Vec<(&'static str, f64)>,
}

/// Our result on one backend, and the results of others that need no better CPU.
struct Standing {
    ours: f64,
    /// The fastest other peer, if there is one.
    other: Option<(&'static str, f64)>,
    /// Our share of the limit.
    share: Option<f64>,
}

impl Standing {
    /// Above 1 if ours is faster.
    fn ratio(&self) -> Option<f64> {
        self.other.map(|(_, other)| self.ours / other)
    }
}

impl Cell {
    fn row(&self, name: &str) -> Option<f64> {
        self.rows.iter().find(|row| row.0 == name).map(|row| row.1)
    }

    /// `backend` beside all others or, unless it is AVX-512 itself, those without AVX-512.
    fn standing(&self, backend: &str) -> Option<Standing> {
        let ours = self.row(&format!("nonfinite {backend}"))?;
        let wide = backend == "avx512";
        let others = self.rows.iter().copied().filter(|(name, _)| {
            !name.starts_with("nonfinite")
                && !name.starts_with("limit")
                && (wide || !name.ends_with("avx512"))
        });
        let kind = if self.name.starts_with("mask") { "mask" } else { "load" };
        let limit = self.row(&format!("limit {kind} {}", if wide { 512 } else { 256 }));
        let other = others.max_by(|a, b| a.1.total_cmp(&b.1));
        Some(Standing { ours, other, share: limit.map(|limit| ours / limit) })
    }

    /// Splits the name of a cell into question and data: `mask/f32/finite` and `16KiB/clean`.
    fn split(&self) -> (&str, &str) {
        let at = self.name.match_indices('/').nth(2).map_or(self.name.len(), |(at, _)| at);
        (&self.name[..at], self.name.get(at + 1..).unwrap_or_default())
    }

    fn nanoseconds(&self, gb_per_s: f64) -> f64 {
        self.bytes as f64 / gb_per_s
    }
}

/// `backend` on all cells: a table a size and data with a line for each question and type; where
/// another loop is faster, worst first; and a line for each size and data.
pub fn markdown(cells: &[Cell], backend: &str) -> String {
    let mut text = String::new();
    let mut groups: Vec<&str> = Vec::new();
    for cell in cells {
        if !groups.contains(&cell.split().1) {
            groups.push(cell.split().1);
        }
    }
    let rule = |columns| format!("|---|{}\n", "---:|".repeat(columns));
    let mut summary = String::from(
        "| size and data | cells | another is faster | by 3 % and more | least ratio | \
         mean ratio | mean share of the limit |\n",
    );
    summary += &rule(6);
    let mut slower = Vec::new();
    // Writing to a String does not fail.
    for group in groups {
        let _ = writeln!(text, "\n### nonfinite {backend}, {group}, GB/s of input\n");
        text += "| | ours | share of the limit | fastest other | its GB/s | ratio |\n";
        text += &rule(5);
        let (mut ratios, mut shares) = (Vec::new(), Vec::new());
        for cell in cells.iter().filter(|cell| cell.split().1 == group) {
            let Some(standing) = cell.standing(backend) else { continue };
            let (other, theirs) = standing.other.unzip();
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} |",
                cell.split().0,
                number(standing.ours),
                optional(standing.share),
                other.unwrap_or_default(),
                theirs.map(number).unwrap_or_default(),
                optional(standing.ratio()),
            );
            shares.extend(standing.share);
            if let Some(ratio) = standing.ratio() {
                ratios.push(ratio);
                if ratio < 1.0 {
                    slower.push((ratio, cell, standing));
                }
            }
        }
        let below = |bound: f64| ratios.iter().filter(|ratio| **ratio < bound).count();
        let _ = writeln!(
            summary,
            "| {group} | {} | {} | {} | {} | {} | {} |",
            ratios.len(),
            below(1.0),
            below(0.97),
            optional(ratios.iter().copied().min_by(f64::total_cmp)),
            optional(mean(&ratios)),
            optional(mean(&shares)),
        );
    }
    slower.sort_by(|a, b| a.0.total_cmp(&b.0));
    let _ = writeln!(text, "\n### nonfinite {backend}: another loop is faster\n");
    text +=
        "| | ratio | ours | share of the limit | fastest other | its GB/s | ours, ns | its ns |\n";
    text += "|---|---:|---:|---:|---|---:|---:|---:|\n";
    for (ratio, cell, standing) in slower {
        let Some((name, theirs)) = standing.other else { continue };
        let _ = writeln!(
            text,
            "| {} | {ratio:.2} | {} | {} | {name} | {} | {} | {} |",
            cell.name,
            number(standing.ours),
            optional(standing.share),
            number(theirs),
            number(cell.nanoseconds(standing.ours)),
            number(cell.nanoseconds(theirs)),
        );
    }
    let _ = write!(text, "\n### nonfinite {backend}: summary\n\n{summary}");
    text
}

fn mean(values: &[f64]) -> Option<f64> {
    let logarithms: f64 = values.iter().map(|value| value.ln()).sum();
    (!values.is_empty()).then(|| (logarithms / values.len() as f64).exp())
}

fn optional(x: Option<f64>) -> String {
    x.map(|x| format!("{x:.2}")).unwrap_or_default()
}

fn number(x: f64) -> String {
    if x < 10.0 { format!("{x:.1}") } else { format!("{x:.0}") }
}

/// Names and cells have nothing that JSON would escape.
pub fn json(cells: &[Cell]) -> String {
    let row = |cell: &Cell, (name, gb_per_s): &(&str, f64)| {
        format!(
            "  {{\"cell\": \"{}\", \"name\": \"{name}\", \"gb_per_s\": {gb_per_s:.3}}}",
            cell.name
        )
    };
    let rows: Vec<String> =
        cells.iter().flat_map(|cell| cell.rows.iter().map(move |r| row(cell, r))).collect();
    format!("[\n{}\n]\n", rows.join(",\n"))
}
