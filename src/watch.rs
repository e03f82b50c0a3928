//! The first bad tensor of a run, and totals of all its tensors.

use core::fmt;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Mutex, MutexGuard, PoisonError};

use nonfinite_kernels::strided::MOST_DIMENSIONS;

use crate::text::Beginning;
use crate::{Error, Format, Predicate, Stats, TensorView};

/// Watches the tensors of a run: remembers the first bad one by its name, and adds up statistics of
/// all (features `std` and `stats`).
///
/// A program calls [`Watch::look`] for each tensor that it has computed. A tensor is bad if the
/// predicate of the watch holds for one of its elements. All methods take `&self`, so a watch can
/// be a static, or be borrowed by many layers and threads.
///
/// ```
/// use nonfinite::{Predicate, TensorView, Watch};
///
/// static WATCH: Watch = Watch::new(Predicate::NonFinite);
///
/// WATCH.look("x", &[4.0f32, -1.0]);
/// let root = [2.0f32, f32::NAN];
/// WATCH.look("root", TensorView::shaped(&root, &[1, 2])?);
/// WATCH.look("sum", &[f32::NAN]);
///
/// let bad = WATCH.first().unwrap();
/// assert_eq!((bad.name(), bad.coordinate()), ("root", &[0, 1][..]));
/// assert_eq!(
///     bad.to_string(),
///     "non-finite: root at [0, 1]; 1 NaN, 0 +Inf, 0 -Inf among 2 elements of f32"
/// );
/// let totals = WATCH.totals();
/// assert_eq!((totals.tensors, totals.bad_tensors, totals.nan), (3, 2, 2));
///
/// WATCH.clear(); // for the next step
/// assert_eq!(WATCH.first(), None);
/// # Ok::<(), nonfinite::Error>(())
/// ```
///
/// # Cost
/// A call reads the tensor once, as [`TensorView::stats`] does, and adds to atomic counters. If the
/// tensor has a NaN or an infinity, or if the predicate has a threshold, the call searches for the
/// first element for which the predicate holds. If the search finds one, the call takes a lock, and
/// copies the name if no tensor was bad before. No call allocates memory, except that on some
/// systems (macOS) the first use of the lock does.
///
/// # Threads
/// If several threads look at bad tensors at once, the call that takes the lock first wins, and its
/// tensor stays the first until [`Watch::clear`].
///
/// Targets without atomic integers of 64 bits do not have this type.
#[derive(Debug)]
pub struct Watch {
    predicate: Predicate,
    /// The calls of `look`.
    calls: AtomicU64,
    /// Bad tensors, elements, NaN, +Inf, -Inf and subnormal numbers.
    sums: [AtomicU64; 6],
    /// [`Totals::headroom`], and `u32::MAX` for `None`.
    headroom: AtomicU32,
    first: Mutex<Option<BadTensor>>,
}

impl Watch {
    /// A watch that has seen no tensor. `predicate` says which elements are bad:
    /// [`Predicate::NonFinite`], or [`Predicate::NanOrPositiveInf`] where tensors hold -Inf on
    /// purpose, as masks do.
    #[must_use]
    pub const fn new(predicate: Predicate) -> Self {
        Self {
            predicate,
            calls: AtomicU64::new(0),
            sums: [const { AtomicU64::new(0) }; 6],
            headroom: AtomicU32::new(u32::MAX),
            first: Mutex::new(None),
        }
    }

    /// Looks at a tensor, and returns its statistics. The watch remembers the first bad tensor with
    /// `name`.
    ///
    /// Any input of the questions can be given: see [`TensorView`].
    ///
    /// # Panics
    /// If the predicate has a threshold for elements of another format: see [`Watch::try_look`].
    #[track_caller]
    pub fn look<'a>(&self, name: &str, tensor: impl Into<TensorView<'a>>) -> Stats {
        match self.look_at(name, &tensor.into()) {
            Ok(stats) => stats,
            Err(error) => panic!("{error}"),
        }
    }

    /// [`Watch::look`] for programs whose tensors have several formats.
    ///
    /// # Errors
    /// [`Error::ThresholdFormat`] if the predicate has a threshold for elements of another format.
    /// Nothing is counted then.
    pub fn try_look<'a>(
        &self,
        name: &str,
        tensor: impl Into<TensorView<'a>>,
    ) -> Result<Stats, Error> {
        self.look_at(name, &tensor.into())
    }

    fn look_at(&self, name: &str, view: &TensorView<'_>) -> Result<Stats, Error> {
        view.format().try_asked(self.predicate)?;
        let call = self.calls.fetch_add(1, Relaxed);
        let stats = view.stats();
        let census = stats.census;
        // No other predicate holds for finite elements.
        let suspect = census.total() > 0
            || matches!(self.predicate, Predicate::Finite | Predicate::Exceeds(_));
        let bad = if suspect { view.position(self.predicate) } else { None };
        if let Some(index) = bad {
            let mut first = self.lock();
            if first.is_none() {
                let mut coordinate = [0; MOST_DIMENSIONS];
                let places = view.coordinate(index).into_iter().flatten();
                coordinate.iter_mut().zip(places).for_each(|(to, place)| *to = place);
                *first = Some(BadTensor {
                    name: Beginning::new(name),
                    call,
                    predicate: self.predicate,
                    index,
                    coordinate,
                    rank: view.shape().len(),
                    elements: view.len(),
                    format: view.format(),
                    stats,
                });
            }
        }
        let counts = [
            usize::from(bad.is_some()),
            view.len(),
            census.nan.count,
            census.pos_inf.count,
            census.neg_inf.count,
            stats.subnormals,
        ];
        for (sum, count) in self.sums.iter().zip(counts) {
            if count > 0 {
                sum.fetch_add(count as u64, Relaxed);
            }
        }
        if let Some(headroom) = headroom(&stats, view.format()) {
            self.headroom.fetch_min(headroom, Relaxed);
        }
        Ok(stats)
    }

    /// The first bad tensor since the start, or since the last [`Watch::clear`].
    #[must_use]
    pub fn first(&self) -> Option<BadTensor> {
        *self.lock()
    }

    /// The totals since the start, or since the last [`Watch::clear`]. If another thread looks at a
    /// tensor at the same time, some totals may count this tensor and others not.
    #[must_use]
    pub fn totals(&self) -> Totals {
        let [bad_tensors, elements, nan, pos_inf, neg_inf, subnormals] =
            self.sums.each_ref().map(|sum| sum.load(Relaxed));
        let headroom = match self.headroom.load(Relaxed) {
            u32::MAX => None,
            headroom => Some(headroom),
        };
        let tensors = self.calls.load(Relaxed);
        Totals { tensors, bad_tensors, elements, nan, pos_inf, neg_inf, subnormals, headroom }
    }

    /// Forgets the first bad tensor, and sets the totals to 0. If another thread looks at a tensor
    /// at the same time, that tensor may still be counted or become the first. So clear between
    /// steps.
    pub fn clear(&self) {
        let mut first = self.lock();
        self.calls.store(0, Relaxed);
        self.sums.iter().for_each(|sum| sum.store(0, Relaxed));
        self.headroom.store(u32::MAX, Relaxed);
        *first = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<BadTensor>> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many times the largest magnitude can be doubled and stays finite. 2046 for all subnormal
/// f64. `None` if all finite elements are zeros.
///
/// A floating-point division would raise flags. The exponent of an f64 is its bits from 52 on. So
/// the difference of the bits, shifted by 52, is the difference of the exponents, less one if the
/// smaller number has the larger significand: its last doubling would exceed the largest number.
fn headroom(stats: &Stats, format: Format) -> Option<u32> {
    let largest = format.to_f64(format.max_bits()).to_bits();
    let reached = stats.max_abs?.value.to_bits();
    (reached > 0).then(|| ((largest - reached) >> 52) as u32)
}

/// Sums over all tensors that a [`Watch`] has looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// How many tensors.
    pub tensors: u64,
    /// How many tensors with an element for which the predicate holds.
    pub bad_tensors: u64,
    /// How many elements in all tensors.
    pub elements: u64,
    /// How many elements are NaN.
    pub nan: u64,
    /// How many elements are +Inf.
    pub pos_inf: u64,
    /// How many elements are -Inf.
    pub neg_inf: u64,
    /// How many elements are subnormal, see [`Stats::subnormals`]: many of them mean underflow.
    pub subnormals: u64,
    /// How near an overflow was: how many times any finite element of any tensor can be doubled and
    /// stays finite in its format. 0 for 40000 in f16, whose largest number is 65504. At most 2046,
    /// also for subnormal f64. `None` if all finite elements are zeros.
    pub headroom: Option<u32>,
}

/// A tensor with an element for which the predicate of a [`Watch`] holds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct BadTensor {
    name: Beginning<{ Self::MAX_NAME }>,
    /// The number of the call of [`Watch::look`] for this tensor, from 0: calls are counted when
    /// they begin.
    pub call: u64,
    /// The predicate that holds.
    pub predicate: Predicate,
    /// The row-major index of the first element for which the predicate holds.
    pub index: usize,
    /// Zeros after the last dimension.
    coordinate: [usize; MOST_DIMENSIONS],
    rank: usize,
    /// How many elements the tensor has.
    pub elements: usize,
    /// The format of the elements.
    pub format: Format,
    /// The statistics of the tensor.
    pub stats: Stats,
}

impl BadTensor {
    /// The most bytes of a name that are kept.
    pub const MAX_NAME: usize = 128;

    /// The name: of a longer one, the whole characters in the first [`BadTensor::MAX_NAME`] bytes.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_str()
    }

    /// The coordinate of the first element for which the predicate holds: one number for each
    /// dimension, outermost first.
    #[must_use]
    pub fn coordinate(&self) -> &[usize] {
        &self.coordinate[..self.rank]
    }
}

/// Such as `non-finite: root at [0, 1]; 1 NaN, 0 +Inf, 0 -Inf among 2 elements of f32`. A name that
/// was cut ends with dots.
impl fmt::Display for BadTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, predicate, elements, format, stats, .. } = self;
        write!(f, "{predicate}: {}{} at {:?}; ", name.as_str(), name.dots(), self.coordinate())?;
        write!(f, "{} among {elements} elements of {format}", stats.census)
    }
}

impl std::error::Error for BadTensor {}
