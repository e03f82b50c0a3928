//! The entry of a bad tensor: the numbers of each kind, the common pattern of the places, and the
//! density maps.

use std::fmt::Write as _;

use nonfinite_check::{Map, TensorReport};

use super::text::{Budget, escaped};
use crate::lines::{above, count, counts, firsts, measured};

/// The entry of a tensor, with its number. None if the budget has no room for it. Maps have a
/// budget of their own.
pub(super) fn entry(
    tensor: &TensorReport,
    (entry, is_open): (usize, bool),
    budget: &mut Budget,
    maps: &mut Budget,
) -> Option<String> {
    let name = escaped(tensor.title().as_deref().unwrap_or("(no name)"));
    let mut counts = counts(tensor);
    counts.extend(tensor.large.as_deref().map(above).map(escaped));
    let mut text = format!(
        "<details id=t{entry}{}><summary><b>{name}</b> <code>{} {}</code>: {}",
        if is_open { " open" } else { "" },
        escaped(&tensor.dtype),
        escaped(format_args!("{:?}", tensor.shape)),
        counts.join(", ")
    );
    if let Some(statement) = tensor.statement() {
        let _ = write!(text, "; {}", escaped(statement));
    }
    text.push_str("</summary><div>");
    if let Some(file) = &tensor.file {
        let _ = write!(text, "in {}<br>", escaped(file.display()));
    }
    for line in firsts(tensor).into_iter().chain(measured(tensor)) {
        let _ = write!(text, "{}<br>", escaped(line));
    }
    let end = "</div></details>\n";
    if !budget.take(&text, NO_ROOM.len() + end.len()) {
        return None;
    }
    let figures = figures(tensor);
    text.push_str(if maps.take(&figures, 0) { &figures } else { NO_ROOM });
    Some(text + end)
}

const NO_ROOM: &str = "No map, for want of room in this report.";

/// The maps of a tensor: one for each group with a bad element.
fn figures(tensor: &TensorReport) -> String {
    let map = tensor.places.as_ref().and_then(|places| Some((places, places.map.as_ref()?)));
    if tensor.bad.is_empty() {
        // Maps show NaN and infinities only.
        return String::new();
    }
    let Some((places, map)) = map else {
        return "No map: nothing is known of the places, or there are too many maps.".to_owned();
    };
    let name = tensor.name.as_deref().unwrap_or_default();
    let mut text = String::new();
    let groups = map.lit.chunk_by(|a, b| map.steps_of(a.cell).0 == map.steps_of(b.cell).0);
    let (mut drawn, all) = (0, map.groups.count());
    for lit in groups {
        drawn += 1;
        let group = map.steps_of(lit[0].cell).0;
        let (first, last) = map.groups.indices(group);
        let caption = places.group(group, name).map(escaped).unwrap_or_default();
        let _ = write!(
            text,
            "<figure><figcaption>{caption}</figcaption><div class=map tabindex=0 \
             role=application aria-roledescription=\"density map\" \
             aria-label=\"{} by {}, {caption}\" data-map=\"{}\"></div><output></output></figure>",
            count(map.rows.extent, "row"),
            count(map.columns.extent, "column"),
            numbers(map, lit, last - first + 1)
        );
    }
    if drawn < all {
        let _ = write!(text, "<p>No bad element in the {} not shown.", count(all - drawn, "group"));
    }
    text
}

/// The numbers that the script draws: see `read` in page.js.
fn numbers(map: &Map, lit: &[nonfinite_check::Lit], groups: u64) -> String {
    let Map { rows, columns, .. } = map;
    let mut text =
        format!("{} {} {} {} {groups}", rows.extent, rows.step, columns.extent, columns.step);
    let mut at = 0;
    let cell_of = |lit: &nonfinite_check::Lit| lit.cell as usize % (rows.count() * columns.count());
    let runs = lit.chunk_by(|a, b| a.cell + 1 == b.cell && a.elements == b.elements);
    for run in runs {
        let first = cell_of(&run[0]);
        let _ = write!(text, " {} {} {}", first - at, run.len(), run[0].elements);
        at = first + run.len();
    }
    text
}
