//! The rules. Each takes a model and returns its findings.

mod blocks;
mod codes;
mod content;
mod counts;
mod inserted;
mod kin;
mod layers;
mod pairs;
mod promised;
mod scales;
mod siblings;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::finding::{Finding, MAGNITUDE, Rule, SCALE_SHAPE, Severity};
use super::layouts::Matrix;
use super::model::{Model, ReportedTensor};
use crate::model::{First, rounded};

/// The findings of all rules. `wrong` are the tensors of a wrong shape, and `names` those of the
/// models before in the folder.
pub(super) fn all<'a>(
    model: &'a Model,
    wrong: Vec<(usize, String)>,
    names: &mut BTreeSet<&'a str>,
) -> Vec<Finding> {
    let inserted = inserted::Inserted::new(&model.tensors);
    let mut found = Findings { model, findings: Vec::new(), inserted, told: BTreeSet::new() };
    let shapes = wrong.into_iter();
    shapes.for_each(|(index, why)| found.add(&SCALE_SHAPE, index, None, why));
    found.findings.extend(model.of_files.iter().map(|(rule, file, why)| Finding {
        rule,
        severity: rule.severity,
        file: file.as_path().into(),
        tensor: None,
        coordinate: None,
        message: why.clone(),
    }));
    siblings::all(&mut found, names);
    for matrix in &model.matrices {
        scales::of_matrix(&mut found, matrix);
        codes::of_matrix(&mut found, matrix);
    }
    (0..model.tensors.len()).for_each(|index| codes::overflow_of_blocks(&mut found, index));
    scales::of_cache(&mut found);
    content::all(&mut found);
    if !model.is_partial {
        let stacks = layers::stacks(&found);
        layers::all(&mut found, &stacks);
        counts::all(&mut found, &stacks);
        pairs::all(&mut found);
        promised::all(&mut found);
    }
    found.findings
}

/// The findings so far.
struct Findings<'a> {
    model: &'a Model,
    findings: Vec<Finding>,
    inserted: inserted::Inserted<'a>,
    /// The names of tensors that are told to be missing.
    told: BTreeSet<String>,
}

impl<'a> Findings<'a> {
    /// A finding of the rule's own severity.
    fn add(&mut self, rule: &'static Rule, tensor: usize, element: Option<u64>, why: String) {
        self.push(rule, rule.severity, tensor, element, why);
    }

    /// A finding in a tensor, at an element of the tensor or in all of it.
    fn push(
        &mut self,
        rule: &'static Rule,
        severity: Severity,
        tensor: usize,
        element: Option<u64>,
        message: String,
    ) {
        let coordinate = element.map(|element| self.tensor(tensor).coordinate(element));
        self.at(rule, severity, tensor, coordinate, message);
    }

    /// A finding at the first number that the check found.
    fn first(&mut self, rule: &'static Rule, tensor: usize, first: &First, message: String) {
        self.at(rule, rule.severity, tensor, Some(first.coordinate.clone()), message);
    }

    /// The finite numbers of a tensor above a bound.
    fn above(&mut self, index: usize, severity: Severity, bound: f64, why: &str) {
        let tensor = self.tensor(index);
        let those = tensor.those(|number| number.is_finite() && number.abs() > bound);
        if let (Some((first, count)), Some(most)) = (those, tensor.max_abs()) {
            let value = rounded(most.value.abs());
            let message = format!("{value} ({count} above {}) {why}", rounded(bound));
            self.push(&MAGNITUDE, severity, index, Some(first), message);
        }
    }

    fn at(
        &mut self,
        rule: &'static Rule,
        severity: Severity,
        tensor: usize,
        coordinate: Option<Vec<u64>>,
        message: String,
    ) {
        let reported = self.tensor(tensor);
        let (file, tensor) = (Arc::clone(&reported.file), reported.described.name.clone());
        self.findings.push(Finding { rule, severity, file, tensor, coordinate, message });
    }

    /// Whether a finding names this tensor, which is not there.
    fn tell(&self, name: &str) -> bool {
        self.told.contains(name)
    }

    fn tensor(&self, tensor: usize) -> &'a ReportedTensor {
        &self.model.tensors[tensor]
    }

    fn matrices(&self) -> &'a [Matrix] {
        &self.model.matrices
    }
}
