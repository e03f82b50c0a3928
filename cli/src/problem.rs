//! Problems, for services for code reviews or tests: bad tensors, and files or tensors that could
//! not be checked.

use std::path::{Path, PathBuf};

use nonfinite_check::{ByKind, Error, LookedAt, Report, TensorReport};

use crate::report::{Facts, visible};
use crate::wording;

/// A path as it was given or found, and its report or its error.
pub type Checked = (PathBuf, Result<Report, Error>);

/// The kind of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// A tensor holds NaN or infinity that is not allowed.
    NonFinite,
    /// A file or a tensor could not be checked.
    NotChecked,
    /// A tensor holds too large a number, and no NaN or infinity that is bad.
    Large,
}

impl Rule {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::NonFinite, Self::NotChecked, Self::Large];

    /// The name for programs.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::NonFinite => "non-finite",
            Self::NotChecked => "not-checked",
            Self::Large => "large",
        }
    }

    /// A description of the kind.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::NonFinite => "A tensor holds NaN or infinity.",
            Self::NotChecked => "A file or a tensor could not be checked.",
            Self::Large => "A tensor holds a number of a larger magnitude than --max-abs.",
        }
    }
}

/// A problem of a file. The texts have no control characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem<'a> {
    /// The kind.
    pub rule: Rule,
    /// The file. For a sharded set, the shard.
    pub path: &'a Path,
    /// The name of the tensor, if there is one.
    pub tensor: Option<String>,
    /// A short message.
    pub title: String,
    /// The full message.
    pub message: String,
    /// Whether `--skip-unknown` says that the problem is expected. Then the problem does not change
    /// the exit status.
    pub is_expected: bool,
}

impl<'a> Problem<'a> {
    /// Why a file could not be checked. `skip` is `--skip-unknown`.
    #[must_use]
    pub fn of_file(path: &'a Path, error: &Error, skip: bool) -> Self {
        Self {
            rule: Rule::NotChecked,
            path,
            tensor: None,
            title: "not checked".to_owned(),
            message: visible(&format!("{error}{}", wording::hint(error))),
            is_expected: skip && error.is_unknown(),
        }
    }

    /// The problem of a tensor, if it has one. `skip` is `--skip-unknown`.
    #[must_use]
    pub fn of_tensor(path: &'a Path, tensor: &'a TensorReport, skip: bool) -> Option<Self> {
        let name = tensor.name.as_deref().map(visible);
        let of_name = name.as_ref().map(|name| format!(" in {name}")).unwrap_or_default();
        let (rule, title, message) = match &tensor.looked_at {
            LookedAt::Unreadable(why) | LookedAt::Damaged(why) => {
                (Rule::NotChecked, format!("not checked{of_name}"), visible(&wording::reason(why)))
            }
            LookedAt::Values
            | LookedAt::Scales { .. }
            | LookedAt::AlwaysFinite
            | LookedAt::NotFloat => {
                if !tensor.is_bad() {
                    return None;
                }
                let kinds = tensor.bad.zip(ByKind::NAMES).into_array().into_iter();
                let mut kinds: Vec<_> =
                    kinds.filter(|(bad, _)| *bad).map(|(_, name)| name.to_owned()).collect();
                let rule = if kinds.is_empty() { Rule::Large } else { Rule::NonFinite };
                if let Some(large) = tensor.large.as_ref().filter(|large| !large.is_allowed) {
                    kinds.push(format!("numbers above {}", large.bound));
                }
                let title = format!("{}{of_name}", kinds.join(", "));
                (rule, title, visible(&Facts(tensor).to_string()))
            }
        };
        let path = tensor.file.as_deref().unwrap_or(path);
        let is_expected = skip && matches!(tensor.looked_at, LookedAt::Unreadable(_));
        Some(Self { rule, path, tensor: name, title, message, is_expected })
    }

    /// All problems of a file. `skip` is `--skip-unknown`.
    #[must_use]
    pub fn all(path: &'a Path, result: &'a Result<Report, Error>, skip: bool) -> Vec<Self> {
        match result {
            Ok(report) => {
                let tensors = report.tensors.iter();
                tensors.filter_map(|tensor| Self::of_tensor(path, tensor, skip)).collect()
            }
            Err(error) => vec![Self::of_file(path, error, skip)],
        }
    }
}
