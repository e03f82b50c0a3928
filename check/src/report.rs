//! What a check has to say.

use std::path::PathBuf;

use nonfinite::Format;

use crate::Options;
use crate::formats::FileFormat;
use crate::policy::Kinds;
use crate::stats::Range;
use crate::tally::{Found, Tally};
use crate::tensor::{Content, Tensor};

/// What a check found in a file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The format of the file.
    pub format: FileFormat,
    /// Its tensors, in the order in which their data lies in the file, or in that of the index of a
    /// set.
    pub tensors: Vec<TensorReport>,
}

impl Report {
    /// Whether a tensor is bad, by [`Options::fail_on`] and [`Options::allow`].
    #[must_use]
    pub fn is_bad(&self) -> bool {
        self.tensors.iter().any(TensorReport::is_bad)
    }

    /// Whether all tensors that could hold a NaN could be looked at.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        !self.tensors.iter().any(|tensor| matches!(tensor.looked_at, LookedAt::Unreadable(_)))
    }
}

/// What a check found in a tensor.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TensorReport {
    /// The name, where the file gives one.
    pub name: Option<String>,
    /// The file it lies in, where that is not the file that was checked: a shard.
    pub file: Option<PathBuf>,
    /// The element type as the file spells it.
    pub dtype: String,
    /// The shape, with the index that runs fastest last but for the column-major arrays of numpy.
    pub shape: Vec<usize>,
    /// Which of its numbers were looked at.
    pub looked_at: LookedAt,
    /// Elements of the shape. Of lists of varying length in a table, whose shape is that of the
    /// rows, the numbers in them, nulls too.
    pub elements: usize,
    /// Bytes of its data.
    pub bytes: usize,
    /// NaNs.
    pub nan: Finding,
    /// Positive infinities.
    pub pos_inf: Finding,
    /// Negative infinities.
    pub neg_inf: Finding,
    /// Of the finite numbers that were looked at, if [`Options::stats`] asks for it and there are
    /// some.
    pub range: Option<Range>,
    /// What was found and is not allowed: it makes the tensor a bad one.
    pub bad: Kinds,
}

/// Which numbers of a tensor were looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LookedAt {
    /// Every number. Of complex numbers, the real and the imaginary part each for itself.
    Values,
    /// The scales of quantised blocks. The counts are of scales.
    Scales {
        /// Elements in a block.
        block: usize,
        /// The format of the scales.
        format: Format,
        /// The scales of a block.
        fields: Vec<&'static str>,
    },
    /// None: the format has neither NaN nor infinity.
    AlwaysFinite,
    /// None: these are integers, booleans, text or times.
    NotFloat,
    /// None, although there may be some: why.
    Unreadable(String),
}

/// Numbers of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finding {
    /// How many there are.
    pub count: u64,
    /// The first in the order of the file.
    pub first: Option<First>,
}

/// The first number of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct First {
    /// Its place among the numbers that were looked at, in the order of the file. In lists of
    /// varying length, that of the row.
    pub place: usize,
    /// The coordinate of its element; of a scale, of the first element of its block.
    pub coordinate: Vec<usize>,
    /// Its bits, in the low bits.
    pub bits: u64,
    /// Its format.
    pub format: Format,
    /// Which part of the element it is, or which scale of the block.
    pub part: Option<&'static str>,
}

impl First {
    /// Whether a NaN is a quiet one. Nothing for formats without that distinction, and for
    /// infinities.
    #[must_use]
    pub fn quiet(&self) -> Option<bool> {
        let mantissa = match self.format {
            Format::F16 => 10,
            Format::Bf16 => 7,
            Format::F32 => 23,
            Format::F64 => 52,
            _ => return None,
        };
        let is_nan = self.bits & ((1 << mantissa) - 1) != 0;
        is_nan.then_some(self.bits >> (mantissa - 1) & 1 == 1)
    }

    /// The bits in hexadecimal, all digits of the format.
    #[must_use]
    pub fn hex(&self) -> String {
        format!("0x{:0width$x}", self.bits, width = 2 * self.format.size_in_bytes())
    }
}

impl TensorReport {
    pub(crate) fn new(tensor: Tensor, tally: &Tally, options: &Options) -> Self {
        let finding = |found: Found| Finding {
            count: found.count,
            first: found.first.map(|(place, bits)| first(&tensor, place, bits)),
        };
        let [nan, pos_inf, neg_inf] = [tally.nan, tally.pos_inf, tally.neg_inf].map(finding);
        let found =
            Kinds { nan: nan.count > 0, pos_inf: pos_inf.count > 0, neg_inf: neg_inf.count > 0 };
        Self {
            bad: options.bad(tensor.name.as_deref().unwrap_or_default(), found),
            elements: tensor.numbers(),
            bytes: tensor.data.length(),
            looked_at: looked_at(&tensor.content),
            nan,
            pos_inf,
            neg_inf,
            range: tally.range,
            name: tensor.name,
            file: tensor.file,
            dtype: tensor.dtype,
            shape: tensor.shape,
        }
    }

    /// Whether it holds something that is not allowed.
    #[must_use]
    pub fn is_bad(&self) -> bool {
        !self.bad.is_empty()
    }

    /// The first number that is not finite, of those that make the tensor a bad one if it is one,
    /// and what it is: `NaN`, `+Inf` or `-Inf`.
    #[must_use]
    pub fn first(&self) -> Option<(&'static str, &First)> {
        let kinds = if self.is_bad() { self.bad } else { Kinds::ALL };
        let findings = [
            (kinds.nan, "NaN", &self.nan),
            (kinds.pos_inf, "+Inf", &self.pos_inf),
            (kinds.neg_inf, "-Inf", &self.neg_inf),
        ];
        let counted = findings.into_iter().filter(|(counts, ..)| *counts);
        counted
            .filter_map(|(_, name, finding)| Some((name, finding.first.as_ref()?)))
            .min_by_key(|(_, first)| first.place)
    }
}

fn first(tensor: &Tensor, place: usize, bits: u64) -> First {
    let (format, element, part) = match tensor.content {
        Content::Floats { format, parts: 2, .. } => {
            (format, place / 2, Some(["real", "imaginary"][place % 2]))
        }
        Content::Floats { format, parts, .. } => (format, place / parts.max(1), None),
        Content::Blocks { blocks, .. } => {
            let per_block = blocks.scales.len().max(1);
            let element = place / per_block * blocks.elements;
            (blocks.format, element, Some(blocks.scales.name(place % per_block)))
        }
        Content::AlwaysFinite | Content::NotFloat | Content::Unreadable(_) => {
            unreachable!("nothing is found where nothing is looked at")
        }
    };
    First { place, coordinate: tensor.coordinate(element), bits, format, part }
}

fn looked_at(content: &Content) -> LookedAt {
    match content {
        Content::Floats { .. } => LookedAt::Values,
        Content::Blocks { blocks, .. } => LookedAt::Scales {
            block: blocks.elements,
            format: blocks.format,
            fields: blocks.scales.names(),
        },
        Content::AlwaysFinite => LookedAt::AlwaysFinite,
        Content::NotFloat => LookedAt::NotFloat,
        Content::Unreadable(why) => LookedAt::Unreadable(why.clone()),
    }
}
