//! The order in which tensors are listed.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use nonfinite_check::TensorReport;

/// The tensors in the order of the file. A file whose layers are in the order of the alphabet, 10
/// before 2, was sorted by its writer; then the tensors are in the order of their names, with
/// numbers by their value.
#[must_use]
pub fn ordered(tensors: &[Arc<TensorReport>]) -> Vec<&TensorReport> {
    fn name(tensor: &TensorReport) -> &str {
        tensor.name.as_deref().unwrap_or_default()
    }
    let mut tensors: Vec<_> = tensors.iter().map(|tensor| &**tensor).collect();
    if !layers_ascend(tensors.iter().map(|tensor| name(tensor))) {
        tensors.sort_by(|a, b| compare(name(a), name(b)));
    }
    tensors
}

/// Whether no name comes behind a larger one that differs in its numbers only.
fn layers_ascend<'a>(names: impl Iterator<Item = &'a str>) -> bool {
    let mut last: HashMap<String, &str> = HashMap::new();
    for name in names {
        let kind = pieces(name).map(|(text, _)| format!("{text}*")).collect();
        if last.insert(kind, name).is_some_and(|last| compare(last, name) == Ordering::Greater) {
            return false;
        }
    }
    true
}

/// The order of names, with numbers by their value.
#[must_use]
pub fn compare(a: &str, b: &str) -> Ordering {
    pieces(a).cmp(pieces(b)).then_with(|| a.cmp(b))
}

/// The parts of a name: text, and the number behind the text. Numbers that are too long for a `u64`
/// are equal.
fn pieces(mut name: &str) -> impl Iterator<Item = (&str, Option<u64>)> {
    std::iter::from_fn(move || {
        if name.is_empty() {
            return None;
        }
        let digits = name.find(|char: char| char.is_ascii_digit()).unwrap_or(name.len());
        let (text, rest) = name.split_at(digits);
        let end = rest.find(|char: char| !char.is_ascii_digit()).unwrap_or(rest.len());
        name = &rest[end..];
        let number = (end > 0).then(|| rest[..end].parse().unwrap_or(u64::MAX));
        Some((text, number))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_by_value() {
        let mut names = ["l.10.w", "l.2.w", "l.2", "l.02.w", "", "l.w", "l.2.b", "9", "é1", "é"];
        names.sort_by(|a, b| compare(a, b));
        assert_eq!(names, ["", "9", "l.2", "l.2.b", "l.02.w", "l.2.w", "l.10.w", "l.w", "é", "é1"]);
    }

    #[test]
    fn only_sorted_files_change() {
        assert!(layers_ascend(["embed", "l.0.w", "l.0.b", "l.2.w", "l.10.b", "a"].into_iter()));
        assert!(!layers_ascend(["l.0.w", "l.10.w", "l.2.w"].into_iter()));
        assert!(layers_ascend([""; 2].into_iter()));
    }
}
