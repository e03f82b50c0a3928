//! A guard looks at the same tensors again and again.
#![expect(unsafe_code, reason = "the caller answers for addresses in device memory")]

use core::ffi::c_void;
use core::mem::size_of;

use nonfinite::{Census, Occurrences};

use crate::driver::{DeviceMemory, PinnedMemory};
use crate::kernels::Loaded;
use crate::table::{Descriptor, check_number, table, tensor_and_index};
use crate::{Error, Kernels, Kinds, Tensor};

/// Blocks of 256 threads for each multiprocessor.
const BLOCKS: u64 = 8;

/// Looks at many tensors in one launch, as often as wanted. A launch allocates nothing and waits
/// for nothing. The answers are in memory of the host, and reading them waits for nothing either.
///
/// All methods may be called from any thread. Launches of one guard must follow one another: on
/// one stream, or on streams that wait for each other.
pub struct Guard {
    kernels: Kernels,
    table: DeviceMemory,
    /// How many tensors there is room for.
    most: usize,
    tensors: u32,
    chunks: u64,
    scratch: DeviceMemory,
    record: PinnedMemory<5>,
    tallies: Option<DeviceMemory>,
}

/// What the launches of a guard have found since it was made or cleared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// Launches that have ended.
    pub steps: u64,
    /// Launches that found something.
    pub bad_steps: u64,
    /// What the first of these found.
    pub first: Option<Found>,
}

/// What a launch found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The number of the launch, from 0.
    pub step: u64,
    /// The number of the first tensor with an element that is bad there, from 0.
    pub tensor: usize,
    /// The lowest index of a bad element in this tensor.
    pub index: u64,
    /// The bad kinds of all tensors.
    pub kinds: Kinds,
}

impl Guard {
    /// A guard of these tensors. With `counts`, launches also count NaN and infinities of each
    /// tensor: see [`Guard::tallies`].
    ///
    /// # Errors
    /// [`Error::Misaligned`], [`Error::TooLong`], [`Error::TooMany`], and [`Error::Driver`].
    pub fn new(kernels: &Kernels, tensors: &[Tensor], counts: bool) -> Result<Self, Error> {
        let (descriptors, chunks) = table(tensors)?;
        let most = tensors.len();
        let context = kernels.0.module.context;
        let zeroed = |bytes| DeviceMemory::zeroed(context, bytes);
        let guard = Self {
            kernels: kernels.clone(),
            table: zeroed(most * size_of::<Descriptor>())?,
            most,
            tensors: most as u32,
            chunks,
            scratch: zeroed(4 * size_of::<u64>())?,
            record: PinnedMemory::zeroed(context)?,
            tallies: if counts { Some(zeroed(most * 6 * size_of::<u64>())?) } else { None },
        };
        // Waits, also for the zeros: a launch on another stream must not come before.
        // SAFETY: null is the default stream.
        unsafe { guard.table.write(&descriptors, core::ptr::null_mut())? };
        Ok(guard)
    }

    /// Other tensors, in the order of `stream`, for which this waits: launches before still look at
    /// the old ones. At most as many as the guard was made for. Not for graphs: a launch in a graph
    /// keeps the number of tensors and their sizes.
    ///
    /// # Errors
    /// Those of [`Guard::new`].
    ///
    /// # Safety
    /// `stream` must be a stream (`CUstream`) of the context, or null for the default one.
    pub unsafe fn replace(&mut self, tensors: &[Tensor], stream: *mut c_void) -> Result<(), Error> {
        check_number(tensors.len(), self.most)?;
        let (descriptors, chunks) = table(tensors)?;
        // SAFETY: the caller answers for the stream.
        unsafe { self.table.write(&descriptors, stream)? };
        (self.tensors, self.chunks) = (tensors.len() as u32, chunks);
        Ok(())
    }

    /// Looks at all tensors: one launch on `stream`, which nothing waits for. May be captured in a
    /// graph.
    ///
    /// # Errors
    /// [`Error::Driver`].
    ///
    /// # Safety
    /// When the launch runs, all tensors must be readable, and the guard must be there. `stream`
    /// must be a stream (`CUstream`) of the context, or null for the default one. No other launch
    /// of this guard may run at the same time.
    pub unsafe fn launch(&self, stream: *mut c_void) -> Result<(), Error> {
        let Loaded { module, look, multiprocessors, .. } = &*self.kernels.0;
        let blocks = self.chunks.clamp(1, u64::from(*multiprocessors) * BLOCKS) as u32;
        let (mut table, mut scratch) = (self.table.address, self.scratch.address);
        let (mut tensors, mut chunks) = (self.tensors, self.chunks);
        let mut record = self.record.address;
        let mut tallies = self.tallies.as_ref().map_or(0, |tallies| tallies.address);
        let mut arguments = [
            (&raw mut table).cast(),
            (&raw mut tensors).cast(),
            (&raw mut chunks).cast(),
            (&raw mut scratch).cast(),
            (&raw mut record).cast(),
            (&raw mut tallies).cast(),
        ];
        // SAFETY: these are the arguments of `nonfinite_look`, and the memory is that of this
        // guard; the caller answers for the tensors and the stream.
        unsafe { module.launch(*look, (blocks, 256), stream, &mut arguments) }
    }

    /// What the launches have found, without waiting for any. `steps` says how many have ended:
    /// what these found is in the report.
    #[must_use]
    pub fn report(&self) -> Report {
        report(settled(|| self.record.read()))
    }

    /// NaN and infinities of each tensor: counts of all launches since the guard was made or
    /// cleared, and the lowest index. Kinds that are not refused in a tensor are not counted.
    /// Waits for the stream. `None` if the guard was made without counts.
    ///
    /// # Errors
    /// [`Error::Driver`].
    ///
    /// # Safety
    /// `stream` must be the stream of the launches (`CUstream`), or null for the default one.
    pub unsafe fn tallies(&self, stream: *mut c_void) -> Result<Option<Vec<Census>>, Error> {
        let Some(tallies) = &self.tallies else { return Ok(None) };
        // SAFETY: the caller answers for the stream.
        let words = unsafe { tallies.read(stream)? };
        let (each, _) = words.as_chunks();
        Ok(Some(each.iter().take(self.tensors as usize).map(census).collect()))
    }

    /// Forgets what was found, in the order of `stream`. Steps are counted from 0 again.
    ///
    /// # Errors
    /// [`Error::Driver`].
    ///
    /// # Safety
    /// `stream` must be a stream (`CUstream`) of the context, or null for the default one.
    pub unsafe fn clear(&self, stream: *mut c_void) -> Result<(), Error> {
        // SAFETY: the caller answers for the stream.
        unsafe {
            self.scratch.clear(stream)?;
            self.record.clear(stream)?;
            self.tallies.as_ref().map_or(Ok(()), |tallies| tallies.clear(stream))
        }
    }
}

/// What two reads agree on: [`Guard::clear`] may be under way, and sets a word after the other.
fn settled<T: PartialEq>(mut read: impl FnMut() -> T) -> T {
    let mut last = read();
    loop {
        let now = read();
        if now == last {
            return now;
        }
        last = now;
    }
}

/// `nf_record` of the kernels.
fn report([steps, kinds, bad_steps, step, place]: [u64; 5]) -> Report {
    let kinds = Kinds::from_bits(kinds);
    let (tensor, index) = tensor_and_index(place);
    let first = (!kinds.is_empty()).then_some(Found { step, tensor, index, kinds });
    Report { steps, bad_steps, first }
}

/// `nf_tally` of the kernels.
fn census(&[nan, pos_inf, neg_inf, first @ ..]: &[u64; 6]) -> Census {
    let occurrences = |count, first: u64| {
        Occurrences::new(count as usize, (count > 0).then_some(!first as usize))
    };
    Census::new(
        occurrences(nan, first[0]),
        occurrences(pos_inf, first[1]),
        occurrences(neg_inf, first[2]),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports() {
        let clean = Report { steps: 7, bad_steps: 0, first: None };
        assert_eq!(report([7, 0, 0, 0, 0]), clean);
        let found = Found { step: 3, tensor: 2, index: 90, kinds: Kinds::NAN | Kinds::NEG_INF };
        let bad = Report { steps: 7, bad_steps: 2, first: Some(found) };
        assert_eq!(report([7, 5, 2, 3, 2 << 40 | 90]), bad);
    }

    #[test]
    fn a_record_that_is_being_cleared() {
        let mut reads = [[7, 5, 2, 3, 0], [0; 5], [0; 5], [1; 5]].into_iter();
        assert_eq!(settled(|| reads.next()), Some([0; 5]));
    }

    #[test]
    fn tallies() {
        let counted = census(&[2, 0, 1, !5, 0, !0]);
        let none = Occurrences::new(0, None);
        let (nan, neg_inf) = (Occurrences::new(2, Some(5)), Occurrences::new(1, Some(0)));
        assert_eq!(counted, Census::new(nan, none, neg_inf));
    }
}
