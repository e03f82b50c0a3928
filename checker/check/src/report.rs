//! The report of a check.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use nonfinite::Format;

use crate::model::{
    ByKind, Content, Description, Extreme, FileFormat, First, FullDescription, KindReport, Kinds,
    Large, Reason, Stats,
};
use crate::options::Options;
use crate::places::Places;
use crate::scan::{FiniteTally, KindTally, Peak, Tally};

/// The result of the check of a file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The format of the file.
    pub format: FileFormat,
    /// The tensors, in the order of their data in the file, or of the index of a set.
    pub tensors: Vec<Arc<TensorReport>>,
    /// The files beside this one that hold data of its tensors: shards, external data.
    pub other_files: Vec<PathBuf>,
}

impl Report {
    /// The report on these tensors and on damaged parts of the file.
    pub(crate) fn new(
        format: FileFormat,
        tensors: impl Iterator<Item = (FullDescription, Tally)>,
        mut places: BTreeMap<usize, Places>,
        damaged: Vec<FullDescription>,
        other_files: Vec<PathBuf>,
        options: &Options,
    ) -> Self {
        let report = |(index, (description, tally)): (usize, (FullDescription, Tally))| {
            TensorReport::new(description, &tally, places.remove(&index), options).into()
        };
        let mut tensors: Vec<_> = tensors.enumerate().map(report).collect();
        tensors.extend(damaged.into_iter().map(|part| TensorReport::unseen(part, options).into()));
        Self { format, tensors, other_files }
    }

    /// Adds the places in bad tensors, by the index of the tensor, such as those of
    /// [`Linter::places`](crate::lint::Linter::places).
    pub fn add_places(&mut self, places: BTreeMap<usize, Places>) {
        for (index, places) in places {
            if let Some(tensor) = self.tensors.get_mut(index).filter(|tensor| tensor.is_bad()) {
                Arc::make_mut(tensor).places = Some(Box::new(places));
            }
        }
    }

    /// Whether a tensor is bad, by [`Options::fail_on`], [`Options::max_abs`] and
    /// [`Options::allow`].
    #[must_use]
    pub fn is_bad(&self) -> bool {
        self.tensors.iter().any(|tensor| tensor.is_bad())
    }

    /// Whether the check has looked at every tensor that could hold a NaN.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.not_looked_at().next().is_none()
    }

    /// Whether a part of the file is damaged, and the other parts were checked.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        let looked_at = self.tensors.iter().map(|tensor| &tensor.looked_at);
        looked_at.into_iter().any(|looked_at| matches!(looked_at, LookedAt::Damaged(_)))
    }

    /// The tensors that could hold a NaN and were not looked at, with the reasons.
    pub fn not_looked_at(&self) -> impl Iterator<Item = (&TensorReport, &Reason)> {
        self.tensors.iter().filter_map(|tensor| match &tensor.looked_at {
            LookedAt::Unreadable(why) | LookedAt::Damaged(why) => Some((&**tensor, why)),
            LookedAt::Values
            | LookedAt::Scales { .. }
            | LookedAt::AlwaysFinite
            | LookedAt::NotFloat => None,
        })
    }
}

/// The result of the check of a tensor. What most tensors do not have is in a box, since a hostile
/// file can describe a million tensors.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TensorReport {
    /// What the file says about the tensor. Its fields are also those of the report:
    /// `report.name`.
    pub description: Arc<Description>,
    /// The numbers that were looked at.
    pub looked_at: LookedAt,
    /// The number of elements.
    pub elements: u64,
    /// Bytes of its data.
    pub bytes: u64,
    /// The count of NaN, +Inf and -Inf, and the place of the first of each kind.
    pub found: ByKind<KindReport>,
    /// The finite numbers that were looked at, if [`Options::stats`] asks for them. None for a
    /// tensor that was not looked at.
    pub stats: Option<Arc<Stats>>,
    /// The finite numbers of a larger magnitude than [`Options::max_abs`]. None if there are none.
    pub large: Option<Box<Large>>,
    /// The number beside the zeros if the tensor is a mask: -Inf, or the least finite number of a
    /// format. None if the number is allowed by name. The -Inf of a mask is not bad.
    pub mask: Option<f64>,
    /// The kinds in the tensor that are not allowed. They make the tensor bad.
    pub bad: Kinds,
    /// The places of the bad NaN and infinities, if [`Options::places`] or [`Options::draw`] asks
    /// for them. None for tensors without them. [`Places`] lists further cases.
    pub places: Option<Box<Places>>,
}

/// The finite numbers of a tensor that has none.
static NO_STATS: LazyLock<Arc<Stats>> = LazyLock::new(Arc::default);

/// The numbers of a tensor that were looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LookedAt {
    /// Every number. The real and the imaginary part of a complex number count as two.
    Values,
    /// The scales of quantised blocks. Counts are numbers of scales.
    Scales {
        /// Elements in a block.
        block: u64,
        /// The format of the scales.
        format: Format,
        /// The scales of a block.
        fields: Vec<&'static str>,
    },
    /// No number: the format has neither NaN nor infinity.
    AlwaysFinite,
    /// No number: the elements are integers, booleans, text or times.
    NotFloat,
    /// No number, with the reason. The tensor may hold a NaN.
    Unreadable(Reason),
    /// None, although there may be a NaN, because this part of the file is damaged: why.
    Damaged(Reason),
}

impl LookedAt {
    /// Whether the numbers could not be looked at, although there may be a NaN.
    #[must_use]
    pub const fn is_missing(&self) -> bool {
        matches!(self, Self::Unreadable(_) | Self::Damaged(_))
    }
}

impl Deref for TensorReport {
    type Target = Description;

    fn deref(&self) -> &Description {
        &self.description
    }
}

impl TensorReport {
    pub(crate) fn new(
        tensor: FullDescription,
        tally: &Tally,
        places: Option<Places>,
        options: &Options,
    ) -> Self {
        let Tally { found, finite, mask } = *tally;
        let looked_at = looked_at(&tensor.content, options);
        let is_scanned = matches!(looked_at, LookedAt::Values | LookedAt::Scales { .. });
        let found = found.map(|KindTally { count, first }| KindReport {
            count,
            first: first.map(|(place, bits)| Box::new(first_of(&tensor, place, bits))),
        });
        let kinds = found.as_ref().map(|of_kind| of_kind.count > 0);
        let bad = options.bad(&tensor.description, kinds);
        let name = tensor.description.name.as_deref().unwrap_or_default();
        let number = mask.of_mask(&tensor.content, tensor.elements);
        let mask = number
            .filter(|_| !tensor.description.is_weight())
            .filter(|number| !bad.is_empty() || number.is_finite() && !options.allows_large(name));
        Self {
            mask,
            bad: if mask.is_some() { Kinds::default() } else { bad },
            stats: (options.stats && is_scanned).then(|| match finite.stats {
                // Tensors without a finite number share one.
                Stats { max_abs: None, .. } => Arc::clone(&NO_STATS),
                stats => stats.map(|peak| extreme_of(&tensor, peak)).into(),
            }),
            large: large_of(&tensor, &finite, options, mask.is_some()).map(Box::new),
            elements: tensor.elements,
            bytes: tensor.bytes,
            looked_at,
            found,
            places: places.filter(|_| mask.is_none()).map(Box::new),
            description: tensor.description,
        }
    }

    /// A part of a file that was not looked at.
    pub(crate) fn unseen(part: FullDescription, options: &Options) -> Self {
        Self::new(part, &Tally::default(), None, options)
    }

    /// Whether the tensor holds a number that is not allowed.
    #[must_use]
    pub fn is_bad(&self) -> bool {
        !self.bad.is_empty() || self.large.as_ref().is_some_and(|large| !large.is_allowed)
    }

    /// Whether all numbers that were looked at are zeros, and there is one. False unless
    /// [`Options::stats`] asks for them.
    #[must_use]
    pub fn is_all_zeros(&self) -> bool {
        let others = self.found.as_ref().into_array().iter().any(|of_kind| of_kind.count > 0);
        let zeros = |stats: &Stats| stats.zeros > 0 && stats.subnormals == 0 && stats.normals == 0;
        !others && self.stats.as_deref().is_some_and(zeros)
    }

    /// The common pattern of the places of the bad numbers: [`Places::statement`]. For scales, also
    /// the number of weights that they apply to. None if the places are not known, and for fewer
    /// than four elements, since the first place of each kind says enough then.
    #[must_use]
    pub fn statement(&self) -> Option<String> {
        let places = self.places.as_ref().filter(|places| places.elements > 3)?;
        let statement = places.statement(self.name.as_deref().unwrap_or_default());
        Some(match self.looked_at {
            LookedAt::Scales { .. } => format!("{} weights: {statement}", places.elements),
            LookedAt::Values
            | LookedAt::AlwaysFinite
            | LookedAt::NotFloat
            | LookedAt::Unreadable(_)
            | LookedAt::Damaged(_) => statement,
        })
    }

    /// The first NaN or infinity, and its kind: `NaN`, `+Inf` or `-Inf`. If some of them are bad,
    /// the first bad one.
    #[must_use]
    pub fn first(&self) -> Option<(&'static str, &First)> {
        let kinds = if self.bad.is_empty() { Kinds::ALL } else { self.bad };
        let of_kinds = kinds.zip(ByKind::NAMES.zip(self.found.as_ref())).into_array();
        let counted = of_kinds.into_iter().filter(|(counts, _)| *counts);
        counted
            .filter_map(|(_, (name, of_kind))| Some((name, of_kind.first.as_deref()?)))
            .min_by_key(|(_, first)| first.place)
    }
}

fn large_of(
    tensor: &FullDescription,
    finite: &FiniteTally,
    options: &Options,
    is_mask: bool,
) -> Option<Large> {
    let (bound, largest) = (options.max_abs?, finite.stats.max_abs?);
    let name = tensor.description.name.as_deref().unwrap_or_default();
    let large = || Large {
        count: finite.large,
        bound,
        largest: extreme_of(tensor, largest),
        is_allowed: is_mask || options.allows_large(name),
    };
    (finite.large > 0).then(large)
}

fn extreme_of(tensor: &FullDescription, peak: Peak) -> Extreme {
    let (_, element, part) = element_of(tensor, peak.place);
    Extreme { value: peak.value, coordinate: tensor.coordinate(element), part }
}

fn first_of(tensor: &FullDescription, place: u64, bits: u64) -> First {
    let (format, element, part) = element_of(tensor, place);
    First { place, coordinate: tensor.coordinate(element), bits, format, part }
}

/// The format of the number at a place, the index of its element, and its part of the element.
fn element_of(tensor: &FullDescription, place: u64) -> (Format, u64, Option<&'static str>) {
    match tensor.content {
        Content::Floats { format, parts: 2, .. } => {
            (format, place / 2, Some(if place.is_multiple_of(2) { "real" } else { "imaginary" }))
        }
        Content::Floats { format, .. } => (format, place, None),
        Content::Blocks { blocks, .. } => {
            let per_block = blocks.scales.count().max(1) as u64;
            let element = place / per_block * blocks.elements;
            (blocks.format, element, Some(blocks.scales.name((place % per_block) as usize)))
        }
        Content::AlwaysFinite
        | Content::NotFloat
        | Content::Unreadable(_)
        | Content::Damaged(_) => {
            unreachable!("nothing is found where nothing is looked at")
        }
    }
}

/// The largest magnitude in the formats without NaN and infinity: that of F6_E3M2.
const ALWAYS_FINITE: f64 = 28.0;

fn looked_at(content: &Content, options: &Options) -> LookedAt {
    match content {
        Content::AlwaysFinite if options.max_abs.is_some_and(|bound| bound < ALWAYS_FINITE) => {
            let why = "magnitudes of this format are not looked at; they can be up to 28";
            LookedAt::Unreadable(why.into())
        }
        Content::Floats { .. } => LookedAt::Values,
        Content::Blocks { blocks, .. } => LookedAt::Scales {
            block: blocks.elements,
            format: blocks.format,
            fields: blocks.scales.names(),
        },
        Content::AlwaysFinite => LookedAt::AlwaysFinite,
        Content::NotFloat => LookedAt::NotFloat,
        Content::Unreadable(why) => LookedAt::Unreadable(why.clone()),
        Content::Damaged(why) => LookedAt::Damaged(why.clone()),
    }
}
