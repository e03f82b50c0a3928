//! What to ask of an element.

/// A question about one element, answered for all bit patterns alike on every backend.
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
    /// True of no element, and no element is read: [`Predicate::inf`] with both signs off.
    Never,
}

impl Predicate {
    /// Every predicate, for tables and tests.
    pub const ALL: &'static [Self] = &[
        Self::Nan,
        Self::Inf,
        Self::PositiveInf,
        Self::NegativeInf,
        Self::Finite,
        Self::NonFinite,
        Self::Never,
    ];

    /// Infinity of the signs asked for, as the attributes `detect_negative` and `detect_positive`
    /// of ONNX IsInf and OpenVINO IsInf-10 have it: with both off the answer is false everywhere,
    /// and that is no error.
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
}
