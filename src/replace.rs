//! Replacing non-finite elements: `nan_to_num`.

use nonfinite_kernels as kernels;
use nonfinite_kernels::{bytes, bytes_mut};

use crate::element::known;
use crate::{Element, Elements, ElementsMut, Error, Format, Predicate};

/// The replacements for NaN and infinities: values of a [`Element`], or codes (`u64`) if the format
/// is known only at run time.
///
/// Any value is allowed, including another NaN or infinity: `pos_inf: f32::INFINITY` keeps `+Inf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Replacement<T> {
    /// The replacement for NaN.
    pub nan: T,
    /// The replacement for +Inf.
    pub pos_inf: T,
    /// The replacement for -Inf.
    pub neg_inf: T,
}

impl<T: Element> Replacement<T> {
    /// Zero for NaN, the largest finite number for +Inf, the least for -Inf: the defaults of
    /// numpy's and PyTorch's `nan_to_num`. ([`crate::F8E8M0Fnu`] has no zero: NaN becomes 2 to the
    /// power of -127.)
    #[must_use]
    pub fn finite() -> Self {
        let Replacement { nan, pos_inf, neg_inf } = Replacement::finite_bits(T::FORMAT);
        Self { nan: element(nan), pos_inf: element(pos_inf), neg_inf: element(neg_inf) }
    }

    fn values(self) -> kernels::Values {
        let Self { nan, pos_inf, neg_inf } = self;
        kernels::Values { nan: bits(nan), pos_inf: bits(pos_inf), neg_inf: bits(neg_inf) }
    }
}

impl Replacement<u64> {
    /// [`Replacement::finite`] as codes.
    #[must_use]
    pub const fn finite_bits(format: Format) -> Self {
        Self { nan: 0, pos_inf: format.max_bits(), neg_inf: format.min_bits() }
    }
}

/// The code of an element: its bytes as the low bytes of a number.
#[inline]
fn bits<T: Element>(x: T) -> u64 {
    let mut code = [0; 8];
    code[..size_of::<T>()].copy_from_slice(bytes(&[x]));
    let unused = if cfg!(target_endian = "big") { 64 - 8 * size_of::<T>() } else { 0 };
    u64::from_ne_bytes(code) >> unused
}

/// The element with this code.
fn element<T: Element>(code: u64) -> T {
    let unused = if cfg!(target_endian = "big") { 64 - 8 * size_of::<T>() } else { 0 };
    let mut x = [T::default()];
    bytes_mut(&mut x).copy_from_slice(&(code << unused).to_ne_bytes()[..size_of::<T>()]);
    x[0]
}

/// Replaces every NaN and infinity of `x`, and returns the number of replaced elements:
/// `nan_to_num` in place.
///
/// The bits of an element decide, so every finite element keeps its code in every floating-point
/// mode. A piece of 1 KiB, counted from the start of `x`, is not written if all its elements are
/// finite. For the number and the place of each kind, call [`crate::census`] before.
///
/// ```
/// use nonfinite::{Replacement, replace_non_finite};
/// let mut x = [1.0f32, f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
/// let with = Replacement { nan: 0.0, ..Replacement::finite() };
/// assert_eq!(replace_non_finite(&mut x, with), 3);
/// assert_eq!(x, [1.0, 0.0, f32::MAX, f32::MIN]);
/// ```
#[inline]
pub fn replace_non_finite<T: Element>(x: &mut [T], with: Replacement<T>) -> usize {
    let nan = known::<T>(Predicate::Nan);
    kernels::typed::replace::<T::Lane>(None, bytes_mut(x), nan, with.values())
}

/// Like [`replace_non_finite`], but writes a copy of `x` to `out`, with NaN and infinities
/// replaced.
///
/// # Panics
/// If `x` and `out` differ in length; nothing is written then.
#[inline]
#[track_caller]
pub fn replace_non_finite_into<T: Element>(x: &[T], out: &mut [T], with: Replacement<T>) -> usize {
    let (nan, out) = (known::<T>(Predicate::Nan), bytes_mut(out));
    kernels::typed::replace_into::<T::Lane>(None, bytes(x), out, nan, with.values())
}

/// The codes, if they fit into elements of the format.
fn values(format: Format, with: Replacement<u64>) -> Result<kernels::Values, Error> {
    let most = u64::MAX >> (64 - 8 * format.size_in_bytes());
    let Replacement { nan, pos_inf, neg_inf } = with;
    match [nan, pos_inf, neg_inf].into_iter().find(|&bits| bits > most) {
        Some(bits) => Err(Error::Code { bits, format }),
        None => Ok(kernels::Values { nan, pos_inf, neg_inf }),
    }
}

impl ElementsMut<'_> {
    /// Replaces every NaN and infinity by the code for it, and returns the number of replaced
    /// elements: see [`replace_non_finite`].
    ///
    /// ```
    /// use nonfinite::{ElementsMut, Format, Replacement};
    /// let mut fp8 = [0x38, 0x7F, 0xFF];
    /// let with = Replacement::finite_bits(Format::F8E4M3Fn);
    /// let elements = ElementsMut::from_bytes(&mut fp8, Format::F8E4M3Fn)?;
    /// assert_eq!(elements.replace_non_finite(with), Ok(2));
    /// assert_eq!(fp8, [0x38, 0x00, 0x00]);
    /// # Ok::<(), nonfinite::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Code`] if a code has more bits than an element; nothing is written then.
    pub fn replace_non_finite(self, with: Replacement<u64>) -> Result<usize, Error> {
        let nan = self.format().rule(Predicate::Nan);
        let with = values(self.format(), with)?;
        Ok(kernels::replace(self.backend, self.bytes, nan, with))
    }

    /// Makes a copy of `x` in which every NaN and infinity is replaced by the code for it. Returns
    /// the number of replaced elements.
    ///
    /// # Errors
    /// [`Error::OutputFormat`], [`Error::OutputBytes`] if the output is not as long as `x`, or
    /// [`Error::Code`]; nothing is written then.
    pub fn copy_replacing<'x>(
        self,
        x: impl Into<Elements<'x>>,
        with: Replacement<u64>,
    ) -> Result<usize, Error> {
        let (x, output) = (x.into(), self.format());
        if x.format() != output {
            return Err(Error::OutputFormat { input: x.format(), output });
        }
        let (x, out) = (x.as_bytes(), self.bytes);
        if x.len() != out.len() {
            return Err(Error::OutputBytes { bytes: x.len(), output: out.len() });
        }
        let with = values(output, with)?;
        Ok(kernels::replace_into(self.backend, x, out, output.rule(Predicate::Nan), with))
    }
}
