//! The findings of lint: a table by rule and layer, and a list by rule.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use nonfinite_check::FileFormat;
use nonfinite_check::lint::{Finding, RULES, Rule, Severity};

use super::Checked;
use super::layers::{Layers, parse, row};
use super::text::{Budget, breakable, escaped};
use crate::lines::count;
use crate::natural;

/// The most findings of a rule in the list.
const MOST: usize = 200;

/// A rule of at most so many findings is open.
const FEW: usize = 20;

/// The budget for the sentence about findings of a rule that are not listed.
const WORDS: usize = 120;

/// A finding, its layer, and its number in the page if it is listed.
struct Item<'a> {
    finding: &'a Finding,
    layer: Option<u64>,
    number: Option<usize>,
}

impl Item<'_> {
    fn name(&self) -> &str {
        self.finding.tensor.as_deref().unwrap_or_default()
    }
}

/// The findings of a rule.
struct RuleFindings<'a> {
    rule: &'static Rule,
    worst: Severity,
    items: Vec<Item<'a>>,
}

/// The findings in these files.
pub(super) fn section(findings: &[Finding], files: &[Checked], budget: &mut Budget) -> String {
    let reports = || files.iter().filter_map(|(_, result)| result.as_ref().ok());
    let is_numbered = reports().any(|report| report.format == FileFormat::ONNX);
    let layer = |name: Option<&str>| parse(name, is_numbered).1;
    let names = reports().flat_map(|report| &report.tensors).map(|tensor| tensor.name.as_deref());
    let layers = Layers::new(names.filter_map(layer).collect());

    let mut rules: Vec<RuleFindings<'_>> = Vec::new();
    for &rule in RULES {
        let of_rule = findings.iter().filter(|finding| finding.rule == rule);
        let layer = |finding: &Finding| layer(finding.tensor.as_deref());
        let item = |finding| Item { finding, layer: layer(finding), number: None };
        let mut items: Vec<_> = of_rule.map(item).collect();
        items.sort_by(|a, b| {
            let by_severity = b.finding.severity.cmp(&a.finding.severity);
            by_severity.then_with(|| natural::compare(a.name(), b.name()))
        });
        if let Some(worst) = items.first().map(|item| item.finding.severity) {
            rules.push(RuleFindings { rule, worst, items });
        }
    }
    rules.sort_by_key(|rule| std::cmp::Reverse(rule.worst));

    let files: BTreeSet<_> = findings.iter().map(|finding| &finding.file).collect();
    let mut listed = 0;
    let lists: String =
        rules.iter_mut().map(|of| list(of, &mut listed, files.len() > 1, budget)).collect();
    table(&rules, &layers) + &lists
}

/// How many findings of each rule are in each layer.
fn table(rules: &[RuleFindings<'_>], layers: &Layers) -> String {
    if rules.is_empty() {
        return String::new();
    }
    let mut table = layers.head("Findings by rule and layer", "rule");
    for RuleFindings { rule, items, .. } in rules {
        let mut columns: BTreeMap<usize, Vec<&Item<'_>>> = BTreeMap::new();
        for item in items {
            columns.entry(layers.column(item.layer)).or_default().push(item);
        }
        let cells = columns.iter().map(|(&column, items)| {
            // The first is the worst.
            let class = match items[0].finding.severity {
                Severity::Error => "b",
                Severity::Warning => "w",
                _ => "n",
            };
            let count = items.len();
            let cell = match items[0].number {
                Some(number) => format!("<td class={class}><a href=#f{number}>{count}</a>"),
                None => format!("<td class={class}>{count}"),
            };
            (column, cell)
        });
        let head = format!("<a href=#{0}>{0}</a>", rule.id);
        table.push_str(&row(&head, cells, layers.width()));
    }
    table + "</table></div>\n"
}

/// The findings of a rule. Gives those that are listed their numbers.
fn list(
    of: &mut RuleFindings<'_>,
    listed: &mut usize,
    with_files: bool,
    budget: &mut Budget,
) -> String {
    let RuleFindings { rule, worst, items } = of;
    let open = if items.len() <= FEW { " open" } else { "" };
    let mut text = format!(
        "<details id={0}{open}><summary><b class={1}>{0}</b>: {2}. {3}</summary><div>evidence: ",
        rule.id,
        worst.name(),
        escaped(rule.finds),
        count(items.len(), "finding"),
    );
    for (piece, url) in rule.evidence() {
        let piece = escaped(piece);
        let _ = match url {
            Some(url) => write!(text, "<a rel=noreferrer href=\"{url}\">{piece}</a>"),
            None => write!(text, "{piece}"),
        };
    }
    text.push_str("<ul>\n");
    let end = "</ul></div></details>\n";
    if !budget.take(&text, end.len() + WORDS) {
        return String::new();
    }
    let mut out = items.len();
    for item in items.iter_mut().take(MOST) {
        let line = line(item.finding, *listed, with_files);
        if !budget.take(&line, 0) {
            break;
        }
        out -= 1;
        item.number = Some(*listed);
        *listed += 1;
        text.push_str(&line);
    }
    if out > 0 {
        let _ = write!(text, "<li>{} not listed here: nonfinite lint --json lists all", out);
    }
    text + end
}

fn line(finding: &Finding, number: usize, with_file: bool) -> String {
    let severity = finding.severity.name();
    let mut line = format!("<li id=f{number} tabindex=-1><b class={severity}>{severity}</b>");
    if let Some(tensor) = &finding.tensor {
        let _ = write!(line, " <b>{}</b>", breakable(tensor));
    }
    // A scalar has no place to tell.
    if let Some(place) = finding.coordinate.as_ref().filter(|place| !place.is_empty()) {
        let _ = write!(line, " <code>{}</code>", escaped(format_args!("{place:?}")));
    }
    let _ = write!(line, ": {}", escaped(&finding.message));
    if with_file || finding.tensor.is_none() {
        let _ = write!(line, " (in {})", escaped(finding.file.display()));
    }
    line + "\n"
}
