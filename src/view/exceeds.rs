//! Magnitudes above a threshold.
//!
//! In formats whose names end in `FnUz`, NaN has the code of -0, whose magnitude is 0, so NaN is a
//! second question. No element is a hit of both. In all others NaN has the largest magnitudes.

use nonfinite_kernels::{MaskOut, Rule};

use super::{TensorView, ValidView};
use crate::Error;
use crate::Predicate::Nan;

/// The question which elements have a larger magnitude than a threshold: see
/// [`TensorView::exceeds`].
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Exceeds<'a> {
    view: TensorView<'a>,
    /// Magnitudes above the threshold.
    rule: Rule,
    /// Whether NaN is a second question.
    nan: bool,
}

impl<'a> TensorView<'a> {
    /// Asks for elements `x` with `|x| > threshold`: does this tensor still fit into a narrower
    /// format?
    ///
    /// The comparison is exact for every threshold, also for one that the format does not have.
    /// Infinity exceeds every threshold. NaN does too, because nothing says that it fits: if no
    /// element exceeds the threshold, all elements are numbers between `-threshold` and
    /// `threshold`. [`TensorView::census`] counts NaN and infinities alone.
    ///
    /// ```
    /// use nonfinite::TensorView;
    /// let x = [1.0f32, -65504.0, 65536.0, f32::NAN];
    /// let too_large_for_f16 = TensorView::from(&x).exceeds(65504.0)?;
    /// assert!(too_large_for_f16.any());
    /// assert_eq!((too_large_for_f16.count(), too_large_for_f16.position()), (2, Some(2)));
    /// # Ok::<(), nonfinite::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Threshold`] if the threshold is negative, infinite or NaN, or if the format is
    /// [`crate::Format::F8E8M0Fnu`], whose elements are scales without a sign.
    pub fn exceeds(self, threshold: f64) -> Result<Exceeds<'a>, Error> {
        let bits = threshold.to_bits();
        // Compares integers: a floating-point comparison of a subnormal or signalling threshold
        // sets a flag. A finite number without a sign has lower bits than infinity.
        let usable = bits < f64::INFINITY.to_bits() || bits == (-0.0f64).to_bits();
        match self.format.exceeds(threshold) {
            Some(rule) if usable => {
                Ok(Exceeds { view: self, rule, nan: self.format.nan_is_minus_zero() })
            }
            _ => Err(Error::Threshold { bits, format: self.format }),
        }
    }
}

impl Exceeds<'_> {
    /// One byte an element: 1 where the magnitude is above the threshold, else 0. `out` may be what
    /// [`TensorView::mask`] takes.
    ///
    /// # Errors
    /// As [`TensorView::mask`].
    pub fn mask<'o>(&self, out: impl Into<MaskOut<'o>>) -> Result<(), Error> {
        let mut out = out.into();
        self.view.mask_where(&self.rule, out.reborrow())?;
        if self.nan {
            self.view.positions(Nan).for_each(|i| out.set(i, true));
        }
        Ok(())
    }

    /// One bit an element, from bit `offset` of `out` on, in the order of [`TensorView::bits`].
    ///
    /// # Errors
    /// As [`TensorView::bits`].
    pub fn bits(&self, out: &mut [u8], offset: usize) -> Result<(), Error> {
        self.view.bits_where(&self.rule, out, offset)?;
        if self.nan {
            self.view.positions(Nan).for_each(|i| out[(offset + i) / 8] |= 1 << ((offset + i) % 8));
        }
        Ok(())
    }

    /// Whether a magnitude is above the threshold. Stops soon after the first.
    #[must_use]
    pub fn any(&self) -> bool {
        self.view.any_where(&self.rule) || self.nan && self.view.any(Nan)
    }

    /// How many magnitudes are above the threshold.
    #[must_use]
    pub fn count(&self) -> usize {
        self.view.count_where(&self.rule) + if self.nan { self.view.count(Nan) } else { 0 }
    }

    /// The row-major index of the first element whose magnitude is above the threshold.
    #[must_use]
    pub fn position(&self) -> Option<usize> {
        let nan = if self.nan { self.view.position(Nan) } else { None };
        self.view.position_where(&self.rule).into_iter().chain(nan).min()
    }
}

/// [`Exceeds`] of the valid elements of a view with a validity bitmap: see [`ValidView::exceeds`].
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct ValidExceeds<'a> {
    view: ValidView<'a>,
    /// As in [`Exceeds`].
    rule: Rule,
    nan: bool,
}

impl<'a> ValidView<'a> {
    /// [`TensorView::exceeds`] of the valid elements. Indices count all elements, nulls too.
    ///
    /// ```
    /// use nonfinite::TensorView;
    /// // The first element is the memory of a null.
    /// let column = [f32::INFINITY, 1.0, -70000.0];
    /// let column = TensorView::from(&column).with_validity(&[0b110], 0)?;
    /// let too_large_for_f16 = column.exceeds(65504.0)?;
    /// assert_eq!((too_large_for_f16.count(), too_large_for_f16.position()), (1, Some(2)));
    /// # Ok::<(), nonfinite::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`TensorView::exceeds`].
    pub fn exceeds(self, threshold: f64) -> Result<ValidExceeds<'a>, Error> {
        let Exceeds { rule, nan, .. } = self.view().exceeds(threshold)?;
        Ok(ValidExceeds { view: self, rule, nan })
    }
}

impl ValidExceeds<'_> {
    /// Sets bit `(offset + i) % 8` of `out[(offset + i) / 8]` to whether element `i` is valid and
    /// its magnitude is above the threshold. All other bits stay as they are.
    ///
    /// # Errors
    /// As [`TensorView::bits`].
    pub fn bits(&self, out: &mut [u8], offset: usize) -> Result<(), Error> {
        self.view.bits_where(&self.rule, out, offset)?;
        if self.nan {
            self.view.positions(Nan).for_each(|i| out[(offset + i) / 8] |= 1 << ((offset + i) % 8));
        }
        Ok(())
    }

    /// Whether the magnitude of a valid element is above the threshold. Stops soon after the first.
    #[must_use]
    pub fn any(&self) -> bool {
        self.view.any_where(&self.rule) || self.nan && self.view.any(Nan)
    }

    /// How many valid elements have a magnitude above the threshold.
    #[must_use]
    pub fn count(&self) -> usize {
        self.view.count_where(&self.rule) + if self.nan { self.view.count(Nan) } else { 0 }
    }

    /// The row-major index of the first valid element whose magnitude is above the threshold.
    #[must_use]
    pub fn position(&self) -> Option<usize> {
        let nan = if self.nan { self.view.position(Nan) } else { None };
        self.view.position_where(&self.rule).into_iter().chain(nan).min()
    }
}
