//! Names of modules in a configuration.

use std::collections::HashSet;

use regex_lite::{Regex, RegexBuilder};

/// Names of modules in a configuration. A name there may lack the first parts of a name in a file,
/// and may be that of a module above.
#[derive(Debug, Default)]
pub(super) struct Named {
    /// Whether a class of modules is among them, such as `Linear`.
    pub(super) has_class: bool,
    names: HashSet<String>,
    /// The bytes of the longest name.
    longest: usize,
    /// Patterns, cut at each `*`.
    patterns: Vec<Vec<String>>,
    /// The expressions after `re:`, which match from the beginning of a part of a name.
    expressions: Vec<Regex>,
    /// Whether an expression was left out.
    pub(super) is_uncertain: bool,
}

impl Named {
    pub(super) fn new<'a>(
        texts: impl IntoIterator<Item = &'a str>,
        expressions: &mut usize,
    ) -> Self {
        let mut named = Self::default();
        texts.into_iter().for_each(|text| named.add(text, expressions));
        named
    }

    /// Leaves out what is no valid expression, and expressions that take too much memory.
    /// `expressions` is how many the configuration has.
    pub(super) fn add(&mut self, text: &str, expressions: &mut usize) {
        /// The most expressions of a configuration, and the most bytes of one.
        const MOST: (usize, usize) = (1 << 10, 64 << 10);
        if let Some(expression) = text.strip_prefix("re:") {
            let expression = RegexBuilder::new(&format!(r"(?:^|\.)(?:{expression})"))
                .size_limit(MOST.1)
                .build()
                .ok()
                .filter(|_| *expressions < MOST.0);
            *expressions += 1;
            self.is_uncertain |= expression.is_none();
            self.expressions.extend(expression);
        } else if text.contains('*') {
            self.patterns.push(text.split('*').map(str::to_owned).collect());
        } else if !text.contains('.') && text.starts_with(|char: char| char.is_uppercase()) {
            self.has_class = true;
        } else {
            self.longest = self.longest.max(text.len());
            self.names.insert(text.to_owned());
        }
    }

    /// Whether the module, or one above, has one of the names.
    pub(super) fn matches(&self, module: &str) -> bool {
        let starts = || {
            let dots = module.match_indices('.');
            [0].into_iter().chain(dots.map(|(at, _)| at + 1))
        };
        let is_named = || {
            starts().map(|start| &module[start..]).any(|tail| {
                let ends = tail.match_indices('.').map(|(end, _)| end).chain([tail.len()]);
                let mut parts = ends.take_while(|end| *end <= self.longest).map(|end| &tail[..end]);
                parts.any(|part| self.names.contains(part))
            })
        };
        let fits = |pattern: &Vec<String>| {
            let [first, middle @ .., last] = pattern.as_slice() else { return false };
            let mut rests = starts().filter_map(|start| module[start..].strip_prefix(&**first));
            let ends_well = |rest: &str| {
                let rest = middle.iter().try_fold(rest, |rest, piece| {
                    rest.find(&**piece).map(|at| &rest[at + piece.len()..])
                });
                rest.is_some_and(|rest| rest.ends_with(&**last))
            };
            // A pattern that begins with `*` fits the whole name if it fits a part of one.
            if first.is_empty() { ends_well(module) } else { rests.any(ends_well) }
        };
        (!self.names.is_empty() && is_named())
            || self.patterns.iter().any(fits)
            || self.expressions.iter().any(|expression| expression.is_match(module))
    }
}
