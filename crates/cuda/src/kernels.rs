//! The kernels, and flags of rows.
#![expect(unsafe_code, reason = "the caller answers for addresses in device memory")]

use core::ffi::{CStr, c_void};
use std::sync::Arc;

use nonfinite::Format;

use crate::driver::{Context, Function, Module};
use crate::table::{check, number};
use crate::{Error, Kinds, Tensor};

/// Compiled by `kernel/compile.py`; `ci/cuda` compares.
const PTX: &str = concat!(include_str!("../kernel/nonfinite.ptx"), "\0");

/// The kernels, loaded into a CUDA context. A clone is the same kernels.
#[derive(Clone)]
pub struct Kernels(pub(crate) Arc<Loaded>);

pub(crate) struct Loaded {
    pub(crate) module: Module,
    pub(crate) look: Function,
    rows: Function,
    pub(crate) multiprocessors: u32,
}

/// A matrix in device memory, of which each row gets a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// The address of the first row, a multiple of the size of an element.
    pub address: u64,
    /// How many rows.
    pub rows: u64,
    /// Elements of a row, at most 2^40.
    pub columns: u64,
    /// Elements from the start of a row to the start of the next one.
    pub stride: u64,
    /// The format of the elements.
    pub format: Format,
    /// The kinds that are bad.
    pub refused: Kinds,
}

impl Kernels {
    /// Loads the kernels into the current context of the calling thread. The driver compiles them
    /// for the card at the first time, and keeps the result on disk.
    ///
    /// # Errors
    /// [`Error::NoDriver`], [`Error::NoContext`], and [`Error::Driver`]: a driver older than 2022
    /// (520.61) does not know the version of the PTX, and a card older than Volta cannot run it.
    pub fn load() -> Result<Self, Error> {
        let context = Context::current()?;
        let ptx = CStr::from_bytes_with_nul(PTX.as_bytes()).expect("a text without 0");
        let module = Module::load(context, ptx)?;
        let look = module.function(c"nonfinite_look")?;
        let rows = module.function(c"nonfinite_rows")?;
        let multiprocessors = context.multiprocessors()?;
        Ok(Self(Arc::new(Loaded { module, look, rows, multiprocessors })))
    }

    /// Sets `flags[row]` to 1 if a refused kind is in the row, else to 0: one launch on `stream`,
    /// which nothing waits for. May be captured in a graph.
    ///
    /// # Errors
    /// [`Error::Misaligned`] or [`Error::TooLong`], both with the number 0, and [`Error::Driver`].
    ///
    /// # Safety
    /// When the launch runs, all rows must be readable, and `flags`, an address in device memory,
    /// must have a writable byte for each row. Keep these kernels, or a clone of them, until the
    /// launch has ended: the last one unloads the code. A graph needs them as long as it runs.
    /// `stream` must be a stream (`CUstream`) of the context, or null for the default one.
    pub unsafe fn rows(&self, x: &Rows, flags: u64, stream: *mut c_void) -> Result<(), Error> {
        let &Rows { mut address, mut rows, mut columns, mut stride, format, refused } = x;
        let row = Tensor { address, elements: columns, format, refused };
        check(0, &row)?;
        let size = format.size_in_bytes() as u64;
        let end = rows.checked_mul(stride).and_then(|elements| elements.checked_mul(size));
        if end.and_then(|bytes| address.checked_add(bytes)).is_none() {
            return Err(Error::TooLong { tensor: 0, elements: rows.saturating_mul(stride) });
        }
        if rows == 0 {
            return Ok(());
        }
        let Loaded { module, rows: function, multiprocessors, .. } = &*self.0;
        let blocks = rows.min(u64::from(*multiprocessors) * 32) as u32;
        let (mut format, mut refused, mut flags) = (number(format), refused.bits(), flags);
        let mut arguments = [
            (&raw mut address).cast(),
            (&raw mut rows).cast(),
            (&raw mut columns).cast(),
            (&raw mut stride).cast(),
            (&raw mut format).cast(),
            (&raw mut refused).cast(),
            (&raw mut flags).cast(),
        ];
        // SAFETY: these are the arguments of `nonfinite_rows`; the caller answers for the memory
        // and the stream.
        unsafe { module.launch(*function, (blocks, 512), stream, &mut arguments) }
    }
}
