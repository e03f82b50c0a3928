//! The table of finite numbers at the end of a page: a row for each tensor, as far as there is
//! room.

use nonfinite_check::{Extreme, Stats, TensorReport, rounded};

use super::Checked;
use super::text::{Budget, breakable, escaped};
use crate::lines::{count, place};
use crate::natural;

const HEAD: &str = "<details><summary>Finite numbers of each tensor</summary>\n\
    <div class=wide tabindex=0 role=region \
    aria-label=\"Finite numbers\"><table class=numbers><thead><tr><th scope=col>tensor\
    <th scope=col>min<th scope=col>max<th scope=col>max |x| at<th scope=col>zeros\
    <th scope=col>subnormal<tbody>\n";
const END: &str = "</table></div></details>\n";

/// The budget for the sentence about tensors that are not shown.
const WORDS: usize = 100;

/// The table of the tensors with statistics. Empty without any.
pub(super) fn table(files: &[Checked], budget: &mut Budget) -> String {
    let reports = files.iter().filter_map(|(_, result)| result.as_ref().ok());
    let tensors = reports.flat_map(|report| natural::ordered(&report.tensors));
    let mut rows = tensors.filter_map(|tensor| Some((tensor, tensor.stats.as_deref()?))).peekable();
    if rows.peek().is_none() || !budget.take(HEAD, END.len() + WORDS) {
        return String::new();
    }
    let (mut text, mut out) = (HEAD.to_owned(), 0);
    for (tensor, stats) in rows {
        // Rows are made for as long as they fit.
        let row = (out == 0).then(|| row(tensor, stats)).filter(|row| budget.take(row, 0));
        out += usize::from(row.is_none());
        text.extend(row);
    }
    text.push_str(END);
    if out > 0 {
        let out = count(out, "more tensor");
        text.push_str(&format!("<p>Not in this table, for want of room: {out}.\n"));
    }
    text
}

fn row(tensor: &TensorReport, stats: &Stats) -> String {
    let name = breakable(tensor.title().as_deref().unwrap_or("(no name)"));
    let value = |extreme: &Option<Extreme>| match extreme {
        Some(extreme) => rounded(extreme.value),
        None => String::new(),
    };
    let max_abs = stats.max_abs.as_ref().map(place).unwrap_or_default();
    let zeros = match tensor.is_all_zeros() {
        true => "all".to_owned(),
        false => stats.zeros.to_string(),
    };
    format!(
        "<tr><th scope=row>{name}<td>{}<td>{}<td>{}<td>{zeros}<td>{}\n",
        value(&stats.min),
        value(&stats.max),
        escaped(max_abs),
        stats.subnormals
    )
}
