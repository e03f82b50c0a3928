//! Compares two sides, for example a model before and after a conversion. Finds the NaN and
//! infinities that only the second side has.
//!
//! Tensors are compared by name. A kind (NaN, +Inf or -Inf) is new in a tensor if the second side
//! holds more numbers of the kind, as many with the first one at another place, or the first one
//! earlier. Only the count and the first place are compared, so a later number that moves is not
//! seen.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::model::{Finding, First, Kinds};
use crate::report::{LookedAt, Report, TensorReport};

/// A file of a side: its path within the folder of the side, and its report. The path is empty if
/// the side is a single file.
pub type Side = [(PathBuf, Report)];

/// A tensor on both sides, or on one side.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Pair<'a> {
    /// The tensor of the first side.
    pub a: Option<&'a TensorReport>,
    /// The tensor of the second side.
    pub b: Option<&'a TensorReport>,
    /// The path of the file of a tensor without a name. Such a tensor is compared by this path.
    pub file: &'a Path,
    /// The kinds that are new on the second side and bad there.
    pub new: Kinds,
    /// Whether `new` is complete. False if numbers may have moved behind the first place.
    pub exact: bool,
}

/// Several tensors of this name, which cannot be told apart.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "tensor {name:?} occurs {} times and {} times: which ones to compare?", .counts[0], .counts[1]
)]
pub struct Ambiguous {
    /// The name.
    pub name: String,
    /// The number of these tensors on each side.
    pub counts: [usize; 2],
}

/// The tensors of both sides: the tensors of the second side in its order, then the tensors that
/// only the first side has.
///
/// A name that occurs once on each side is compared across all files and shards. A name that occurs
/// more often is compared between files of the same path. A tensor without a name is compared by
/// the path of its file.
///
/// # Errors
/// [`Ambiguous`] if tensors of the same name are left on both sides.
pub fn diff<'a>(a: &'a Side, b: &'a Side) -> Result<Vec<Pair<'a>>, Ambiguous> {
    let mut names: BTreeMap<Key<'a>, [Vec<Place<'a>>; 2]> = BTreeMap::new();
    for (side, files) in [a, b].into_iter().enumerate() {
        let tensors = files.iter().flat_map(|(path, report)| {
            report.tensors.iter().map(move |tensor| (path.as_path(), tensor))
        });
        for (order, (path, tensor)) in tensors.enumerate() {
            let key = tensor.name.as_deref().map_or(Key::File(path), Key::Name);
            names.entry(key).or_default()[side].push(Place { path, order, tensor });
        }
    }
    let mut pairs = Vec::new();
    for (key, [a, b]) in names {
        if a.len() <= 1 && b.len() <= 1 {
            pairs.push([a.first().copied(), b.first().copied()]);
        } else {
            pairs.extend(by_path(&a, &b).map_err(|counts| Ambiguous { name: key.text(), counts })?);
        }
    }
    pairs.sort_by_key(|[a, b]| (b.map_or(usize::MAX, |b| b.order), a.map(|a| a.order)));
    Ok(pairs.into_iter().map(Pair::new).collect())
}

/// The key by which tensors are compared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Key<'a> {
    Name(&'a str),
    File(&'a Path),
}

impl Key<'_> {
    fn text(self) -> String {
        match self {
            Self::Name(name) => name.to_owned(),
            Self::File(path) => path.to_string_lossy().into_owned(),
        }
    }
}

/// A tensor, and its file on its side.
#[derive(Clone, Copy)]
struct Place<'a> {
    path: &'a Path,
    order: usize,
    tensor: &'a TensorReport,
}

type Both<'a> = [Option<Place<'a>>; 2];

/// Pairs tensors of one name by the paths of their files. The error counts the tensors that are
/// left on both sides.
fn by_path<'a>(a: &[Place<'a>], b: &[Place<'a>]) -> Result<Vec<Both<'a>>, [usize; 2]> {
    let mut paths: BTreeMap<&Path, [Vec<Place<'a>>; 2]> = BTreeMap::new();
    a.iter().for_each(|place| paths.entry(place.path).or_default()[0].push(*place));
    b.iter().for_each(|place| paths.entry(place.path).or_default()[1].push(*place));
    let (mut pairs, mut left) = (Vec::new(), [0, 0]);
    for [a, b] in paths.into_values() {
        if a.len() == b.len() {
            pairs.extend(a.into_iter().zip(b).map(|(a, b)| [Some(a), Some(b)]));
            continue;
        }
        left = [left[0] + a.len(), left[1] + b.len()];
        pairs.extend(a.into_iter().map(|a| [Some(a), None]));
        pairs.extend(b.into_iter().map(|b| [None, Some(b)]));
    }
    if left.contains(&0) { Ok(pairs) } else { Err(left) }
}

impl<'a> Pair<'a> {
    fn new([a, b]: Both<'a>) -> Self {
        let file = b.or(a).map_or(Path::new(""), |place| place.path);
        let [a, b] = [a, b].map(|place| place.map(|place| place.tensor));
        let (new, unsure) = match (a, b) {
            (_, None) => (Kinds::default(), Kinds::default()),
            (None, Some(b)) => (b.bad, Kinds::default()),
            (Some(a), Some(b)) => {
                let findings = a.found.as_ref().zip(b.found.as_ref());
                let new = findings.map(|(old, new)| is_new([a, b], old, new)).and(b.bad);
                let unsure = findings.map(|(old, new)| !is_told([a, b], old, new)).and(b.bad);
                (new, unsure.without(new))
            }
        };
        Self { a, b, file, new, exact: unsure.is_empty() }
    }

    /// The name, if the files give one.
    #[must_use]
    pub fn name(&self) -> Option<&'a str> {
        self.b.or(self.a)?.name.as_deref()
    }

    /// Whether the counts of a kind differ, or a kind is new.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        let counts = |tensor: Option<&TensorReport>| {
            tensor.map(|tensor| tensor.found.as_ref().map(|finding| finding.count))
        };
        let [a, b] = [counts(self.a), counts(self.b)].map(Option::unwrap_or_default);
        !self.new.is_empty() || a != b
    }
}

fn is_new(tensors: [&TensorReport; 2], old: &Finding, new: &Finding) -> bool {
    if new.count > old.count {
        return true;
    }
    let Some([old_first, new_first]) = comparable(tensors, old, new) else { return false };
    // With the same count, a changed first place means that a number is new. With a lower count,
    // only an earlier first place means that.
    let moved = new_first.place != old_first.place && new.count == old.count;
    moved || new_first.place < old_first.place
}

/// Whether counts and first places prove that a kind is not new.
fn is_told(tensors: [&TensorReport; 2], old: &Finding, new: &Finding) -> bool {
    new.count == 0 || new.count == 1 && old.count == 1 && comparable(tensors, old, new).is_some()
}

/// The first places of both sides, if the tensors have the same shape in row-major order.
fn comparable<'a>(
    tensors: [&TensorReport; 2],
    old: &'a Finding,
    new: &'a Finding,
) -> Option<[&'a First; 2]> {
    let firsts = [old.first.as_ref()?, new.first.as_ref()?];
    let same = tensors[0].shape == tensors[1].shape
        && tensors.iter().all(|tensor| tensor.looked_at == LookedAt::Values)
        && tensors.iter().zip(firsts).all(|(tensor, first)| is_row_major(tensor, first));
    same.then_some(firsts)
}

/// Whether the coordinate fits the place in row-major order.
fn is_row_major(tensor: &TensorReport, first: &First) -> bool {
    let index = tensor
        .shape
        .iter()
        .zip(&first.coordinate)
        .fold(0usize, |index, (extent, at)| index.saturating_mul(*extent).saturating_add(*at));
    index == first.place
}
