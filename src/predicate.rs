//! The predicates.

use core::fmt;
use core::str::FromStr;

use crate::UnknownName;
#[cfg(feature = "stats")]
use crate::{Error, Format, Threshold};

/// A property of an element. The answers are defined for all bit patterns, and are the same on
/// every backend.
///
/// The sign of a NaN and whether it is quiet or signalling make no difference (IEEE 754-2019,
/// section 5.7.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Predicate {
    /// Not a number.
    Nan,
    /// Infinite, of either sign.
    Inf,
    /// `+Inf`.
    PositiveInf,
    /// `-Inf`.
    NegativeInf,
    /// Neither NaN nor infinite.
    Finite,
    /// NaN or infinite.
    NonFinite,
    /// True of no element: [`Predicate::inf`] with both signs off.
    Never,
    /// NaN or `+Inf`. Use this for masked logits, where `-Inf` is valid.
    NanOrPositiveInf,
    /// A magnitude above a threshold, or NaN: see [`Predicate::exceeds`] (feature `stats`).
    #[cfg(feature = "stats")]
    Exceeds(Threshold),
}

impl Predicate {
    /// Every predicate without a threshold, for tables and tests.
    pub const ALL: &'static [Self] = &[
        Self::Nan,
        Self::Inf,
        Self::PositiveInf,
        Self::NegativeInf,
        Self::Finite,
        Self::NonFinite,
        Self::Never,
        Self::NanOrPositiveInf,
    ];

    /// Infinity of the given signs, like the attributes `detect_negative` and `detect_positive` of
    /// ONNX IsInf and OpenVINO IsInf-10. With both off, the answer is false for every element,
    /// which is not an error.
    ///
    /// ```
    /// use nonfinite::Predicate;
    /// assert_eq!(Predicate::inf(true, true), Predicate::Inf);
    /// assert_eq!(Predicate::inf(true, false), Predicate::NegativeInf);
    /// assert_eq!(Predicate::inf(false, false), Predicate::Never);
    /// ```
    #[must_use]
    pub const fn inf(detect_negative: bool, detect_positive: bool) -> Self {
        match (detect_negative, detect_positive) {
            (true, true) => Self::Inf,
            (true, false) => Self::NegativeInf,
            (false, true) => Self::PositiveInf,
            (false, false) => Self::Never,
        }
    }

    /// Elements `x` with `|x| > threshold`, and NaN: does a tensor fit into a narrower format?
    ///
    /// The comparison is exact for every threshold, also for one that the format does not have.
    /// Infinity exceeds every threshold. NaN does too, because nothing says that it fits: if no
    /// element exceeds the threshold, all elements are numbers between `-threshold` and
    /// `threshold`. [`crate::TensorView::census`] counts NaN and infinities alone.
    ///
    /// ```
    /// use nonfinite::{Format, Predicate};
    /// let too_large_for_f16 = Predicate::exceeds(Format::F32, 65504.0)?;
    /// let x = [1.0f32, -65504.0, 65536.0, f32::NAN];
    /// assert!(nonfinite::any(&x, too_large_for_f16));
    /// assert_eq!(nonfinite::count(&x, too_large_for_f16), 2);
    /// assert_eq!(nonfinite::position(&x, too_large_for_f16), Some(2));
    /// # Ok::<(), nonfinite::Error>(())
    /// ```
    ///
    /// The predicate is for elements of `format`. Questions about other elements return
    /// [`Error::ThresholdFormat`], or panic where they return no [`Result`].
    ///
    /// # Errors
    /// [`Error::Threshold`] if the threshold is negative, infinite or NaN. Also if the format is
    /// [`Format::F8E8M0Fnu`], which has no sign, or one whose name ends in `FnUz`: its NaN has the
    /// code of -0, so that no comparison of magnitudes finds NaN.
    #[cfg(feature = "stats")]
    pub const fn exceeds(format: Format, threshold: f64) -> Result<Self, Error> {
        match Threshold::new(format, threshold) {
            Some(threshold) => Ok(Self::Exceeds(threshold)),
            None => Err(Error::Threshold { bits: threshold.to_bits(), format }),
        }
    }

    /// The place of a predicate without a threshold in [`Predicate::ALL`].
    #[inline(always)]
    pub(crate) const fn place(self) -> usize {
        match self {
            Self::Nan => 0,
            Self::Inf => 1,
            Self::PositiveInf => 2,
            Self::NegativeInf => 3,
            Self::Finite => 4,
            Self::NonFinite => 5,
            Self::Never => 6,
            Self::NanOrPositiveInf => 7,
            #[cfg(feature = "stats")]
            Self::Exceeds(_) => panic!("a threshold has no place"),
        }
    }

    /// The predicate to count, and whether the answer is the number of the other elements. Most
    /// elements are finite, and counting few is faster.
    #[inline]
    pub(crate) const fn counted(self) -> (Self, bool) {
        match self {
            Self::Finite => (Self::NonFinite, true),
            _ => (self, false),
        }
    }

    /// The name, such as `nan`, `-inf` or `nan or +inf`. [`Predicate::from_str`] takes this name
    /// and others. `exceeds` for any threshold.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.names()[0]
    }

    /// All names, that of this crate first.
    const fn names(self) -> &'static [&'static str] {
        match self {
            Self::Nan => &["nan", "isnan", "is_nan"],
            Self::Inf => &["inf", "isinf", "infinite", "is_inf", "is_infinite"],
            Self::PositiveInf => &["+inf", "posinf", "isposinf"],
            Self::NegativeInf => &["-inf", "neginf", "isneginf"],
            Self::Finite => &["finite", "isfinite", "is_finite"],
            Self::NonFinite => &["non-finite", "nonfinite", "nan or inf"],
            Self::Never => &["never"],
            Self::NanOrPositiveInf => &["nan or +inf"],
            #[cfg(feature = "stats")]
            Self::Exceeds(_) => &["exceeds"],
        }
    }
}

/// The name, or such as `exceeds 65504 of f32`.
impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            #[cfg(feature = "stats")]
            Self::Exceeds(threshold) => {
                write!(f, "exceeds {} of {}", threshold.value(), threshold.format())
            }
            _ => f.pad(self.name()),
        }
    }
}

/// Without thresholds, which Python and the page of the checker take elsewhere.
const NAMES: &str = "nan, inf, +inf, -inf, finite, non-finite, never, nan or +inf";

/// Accepts the names of this crate, of its functions and of those of numpy, in any case. With the
/// feature `stats`, accepts such as `exceeds 448 of f16` too. If no format is named, the threshold
/// is for f32.
///
/// ```
/// use nonfinite::Predicate;
/// assert_eq!("isfinite".parse(), Ok(Predicate::Finite));
/// assert_eq!("-Inf".parse(), Ok(Predicate::NegativeInf));
/// ```
///
/// # Errors
/// [`UnknownName`], which repeats the name, and lists those of this crate.
impl FromStr for Predicate {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let known = |x: &&Self| x.names().iter().any(|known| known.eq_ignore_ascii_case(name));
        let predicate = Self::ALL.iter().find(known).copied();
        #[cfg(feature = "stats")]
        let predicate = predicate.or_else(|| {
            let (exceeds, rest) = name.split_once(' ')?;
            let (threshold, format) = rest.split_once(" of ").unwrap_or((rest, "f32"));
            let above = Self::exceeds(format.parse().ok()?, threshold.parse().ok()?).ok()?;
            exceeds.eq_ignore_ascii_case(above.name()).then_some(above)
        });
        predicate.ok_or_else(|| UnknownName::new("predicate", name, NAMES))
    }
}
