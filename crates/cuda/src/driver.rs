//! The CUDA driver: the few functions that are used, with errors as [`Error`]. The rest of the
//! crate does not see `cudarc`.
#![expect(unsafe_code, reason = "calls functions of the driver, which are C")]

use core::ffi::{CStr, c_char, c_void};
use core::mem::size_of;
use core::ptr::{NonNull, null, null_mut};
use core::sync::atomic::{Ordering, fence};
use std::sync::LazyLock;

use cudarc::driver::sys;

use crate::Error;

/// Fails if there is no driver. `cudarc` panics if a function is called without one.
fn require() -> Result<(), Error> {
    // SAFETY: loads the library of the driver by its name, as any program with CUDA does.
    static PRESENT: LazyLock<bool> = LazyLock::new(|| unsafe { sys::is_culib_present() });
    if *PRESENT { Ok(()) } else { Err(Error::NoDriver) }
}

/// The result of a function of the driver.
fn result(function: &'static str, code: sys::CUresult) -> Result<(), Error> {
    if code == sys::CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    let mut name: *const c_char = null();
    // SAFETY: the driver is there, since it returned `code`. It writes a pointer to a string that
    // lives as long as the program, or null for an unknown code.
    let error = unsafe {
        sys::cuGetErrorName(code, &raw mut name);
        match name.is_null() {
            true => format!("error {}", code as u32),
            false => CStr::from_ptr(name).to_string_lossy().into_owned(),
        }
    };
    Err(Error::Driver { function, error })
}

/// A context of the driver.
#[derive(Clone, Copy)]
pub(crate) struct Context(sys::CUcontext);

// SAFETY: a context is a handle, which any thread may make current.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    /// The current context of the calling thread.
    pub(crate) fn current() -> Result<Self, Error> {
        require()?;
        let mut context = null_mut();
        // SAFETY: writes a handle.
        let code = unsafe { sys::cuCtxGetCurrent(&raw mut context) };
        match code {
            // Nobody has called `cuInit`, so there is no context either.
            sys::CUresult::CUDA_ERROR_NOT_INITIALIZED => Err(Error::NoContext),
            _ => result("cuCtxGetCurrent", code).and_then(|()| match context.is_null() {
                true => Err(Error::NoContext),
                false => Ok(Self(context)),
            }),
        }
    }

    /// Runs `body` with this context as the current one.
    fn with<R>(self, body: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
        // SAFETY: if the context was destroyed, the driver says so.
        result("cuCtxPushCurrent", unsafe { sys::cuCtxPushCurrent_v2(self.0) })?;
        let answer = body();
        let mut own = null_mut();
        // SAFETY: takes away what was pushed above.
        result("cuCtxPopCurrent", unsafe { sys::cuCtxPopCurrent_v2(&raw mut own) })?;
        answer
    }

    /// Calls a function of the driver with this context as the current one.
    fn call(
        self,
        function: &'static str,
        call: impl FnOnce() -> sys::CUresult,
    ) -> Result<(), Error> {
        self.with(|| result(function, call()))
    }

    /// Multiprocessors of the device.
    pub(crate) fn multiprocessors(self) -> Result<u32, Error> {
        let which = sys::CUdevice_attribute_enum::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
        self.with(|| {
            let (mut device, mut count) = (0, 0);
            // SAFETY: writes the number of the device of the current context.
            result("cuCtxGetDevice", unsafe { sys::cuCtxGetDevice(&raw mut device) })?;
            // SAFETY: writes a number.
            let code = unsafe { sys::cuDeviceGetAttribute(&raw mut count, which, device) };
            result("cuDeviceGetAttribute", code)?;
            Ok(count.max(1) as u32)
        })
    }
}

/// A kernel of a [`Module`].
#[derive(Clone, Copy)]
pub(crate) struct Function(sys::CUfunction);

// SAFETY: a handle, which the driver takes from any thread.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

/// The PTX, compiled for the device of a context.
pub(crate) struct Module {
    pub(crate) context: Context,
    module: sys::CUmodule,
}

// SAFETY: a handle, which the driver takes from any thread.
unsafe impl Send for Module {}
// SAFETY: as above. Only `drop` ends it.
unsafe impl Sync for Module {}

impl Module {
    pub(crate) fn load(context: Context, ptx: &CStr) -> Result<Self, Error> {
        let mut module = null_mut();
        // SAFETY: the image is a text that ends with 0, and is not used after the call.
        context.call("cuModuleLoadData", || unsafe {
            sys::cuModuleLoadData(&raw mut module, ptx.as_ptr().cast())
        })?;
        Ok(Self { context, module })
    }

    pub(crate) fn function(&self, name: &CStr) -> Result<Function, Error> {
        let mut function = null_mut();
        // SAFETY: the module is loaded, and the name is a string.
        let code =
            unsafe { sys::cuModuleGetFunction(&raw mut function, self.module, name.as_ptr()) };
        result("cuModuleGetFunction", code)?;
        Ok(Function(function))
    }

    /// Launches `blocks` blocks of `threads` threads on a stream.
    ///
    /// # Safety
    /// `function` is one of this module, and `arguments` are pointers to its arguments, in order
    /// and of its types. What the kernel reads and writes must stay valid until it has ended.
    /// `stream` is null or a stream of the context.
    pub(crate) unsafe fn launch(
        &self,
        function: Function,
        (blocks, threads): (u32, u32),
        stream: *mut c_void,
        arguments: &mut [*mut c_void],
    ) -> Result<(), Error> {
        let arguments = arguments.as_mut_ptr();
        // SAFETY: the caller promises what the kernel needs. The driver copies the arguments.
        self.context.call("cuLaunchKernel", || unsafe {
            let (function, stream) = (function.0, stream.cast());
            let end = null_mut();
            sys::cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, arguments, end)
        })
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // A context that was destroyed has unloaded its modules: then there is nothing to do.
        // SAFETY: the module is loaded, and nobody has the handle afterwards.
        let _ = self.context.call("cuModuleUnload", || unsafe { sys::cuModuleUnload(self.module) });
    }
}

/// Some bytes of device memory.
pub(crate) struct DeviceMemory {
    context: Context,
    pub(crate) address: u64,
    bytes: usize,
}

impl DeviceMemory {
    /// Bytes of 0. At least one is allocated, as the driver refuses none.
    pub(crate) fn zeroed(context: Context, bytes: usize) -> Result<Self, Error> {
        let mut address = 0;
        let least = bytes.max(1);
        // SAFETY: writes an address.
        context.call("cuMemAlloc", || unsafe { sys::cuMemAlloc_v2(&raw mut address, least) })?;
        let memory = Self { context, address, bytes };
        // SAFETY: nothing else has this memory.
        context.call("cuMemsetD8", || unsafe { sys::cuMemsetD8_v2(address, 0, bytes) })?;
        Ok(memory)
    }

    /// Sets all bytes to 0, in the order of a stream.
    ///
    /// # Safety
    /// `stream` is null or a stream of the context.
    pub(crate) unsafe fn clear(&self, stream: *mut c_void) -> Result<(), Error> {
        // SAFETY: these bytes are ours; the caller answers for the stream.
        unsafe { clear(self.context, self.address, self.bytes, stream) }
    }

    /// Copies values to the start of this memory, in the order of a stream, for which this waits:
    /// the driver does not promise that it has read pageable memory before.
    ///
    /// # Safety
    /// `stream` is null or a stream of the context.
    ///
    /// # Panics
    /// If there are more bytes than this memory has.
    pub(crate) unsafe fn write<T>(&self, values: &[T], stream: *mut c_void) -> Result<(), Error> {
        let bytes = size_of_val(values);
        assert!(bytes <= self.bytes, "{bytes} of {} bytes", self.bytes);
        let from = values.as_ptr().cast();
        self.context.with(|| {
            // SAFETY: the bytes are ours, and `values` lives until the stream is done, below. The
            // caller answers for the stream.
            let code =
                unsafe { sys::cuMemcpyHtoDAsync_v2(self.address, from, bytes, stream.cast()) };
            result("cuMemcpyHtoDAsync", code)?;
            // SAFETY: as above.
            result("cuStreamSynchronize", unsafe { sys::cuStreamSynchronize(stream.cast()) })
        })
    }

    /// All numbers in this memory, after the work of the stream.
    ///
    /// # Safety
    /// `stream` is null or a stream of the context.
    pub(crate) unsafe fn read(&self, stream: *mut c_void) -> Result<Vec<u64>, Error> {
        let mut values = vec![0; self.bytes / size_of::<u64>()];
        let bytes = size_of_val(values.as_slice());
        self.context.with(|| {
            // SAFETY: `values` has these bytes and lives until the stream is done, below. Any bytes
            // are numbers. The caller answers for the stream.
            let code = unsafe {
                let to = values.as_mut_ptr().cast();
                sys::cuMemcpyDtoHAsync_v2(to, self.address, bytes, stream.cast())
            };
            result("cuMemcpyDtoHAsync", code)?;
            // SAFETY: as above.
            let code = unsafe { sys::cuStreamSynchronize(stream.cast()) };
            result("cuStreamSynchronize", code)
        })?;
        Ok(values)
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        // SAFETY: the memory is ours. The caller of `launch` promised to wait for its kernels.
        let _ = self.context.call("cuMemFree", || unsafe { sys::cuMemFree_v2(self.address) });
    }
}

/// Some numbers in memory of the host that the device can write to.
pub(crate) struct PinnedMemory<const WORDS: usize> {
    context: Context,
    memory: NonNull<[u64; WORDS]>,
    /// The address for kernels.
    pub(crate) address: u64,
}

// SAFETY: plain memory. It is read as volatile, as a kernel may write at the same time.
unsafe impl<const WORDS: usize> Send for PinnedMemory<WORDS> {}
// SAFETY: as above.
unsafe impl<const WORDS: usize> Sync for PinnedMemory<WORDS> {}

impl<const WORDS: usize> PinnedMemory<WORDS> {
    /// Numbers that are 0.
    pub(crate) fn zeroed(context: Context) -> Result<Self, Error> {
        let (mut at, size) = (null_mut(), size_of::<[u64; WORDS]>());
        let flags = sys::CU_MEMHOSTALLOC_PORTABLE | sys::CU_MEMHOSTALLOC_DEVICEMAP;
        let alloc = || {
            // SAFETY: writes an address of at least so many bytes, aligned for any type.
            unsafe { sys::cuMemHostAlloc(&raw mut at, size, flags) }
        };
        context.call("cuMemHostAlloc", alloc)?;
        let memory = NonNull::new(at.cast()).expect("memory of the driver");
        // From here on the memory is freed if something fails.
        let mut made = Self { context, memory, address: 0 };
        // SAFETY: `at` is memory of `cuMemHostAlloc` with the flag DEVICEMAP.
        context.call("cuMemHostGetDevicePointer", || unsafe {
            sys::cuMemHostGetDevicePointer_v2(&raw mut made.address, at, 0)
        })?;
        // SAFETY: the memory has these numbers, and nothing else has it.
        unsafe { memory.write([0; WORDS]) };
        Ok(made)
    }

    /// The numbers as they are now, in their order: kernels write them in the opposite one.
    pub(crate) fn read(&self) -> [u64; WORDS] {
        let mut words = [0; WORDS];
        for (i, word) in words.iter_mut().enumerate() {
            // SAFETY: inside the memory, which lives as long as `self`.
            *word = unsafe { self.memory.cast::<u64>().add(i).read_volatile() };
            fence(Ordering::Acquire);
        }
        words
    }

    /// Sets all numbers to 0, in the order of a stream.
    ///
    /// # Safety
    /// `stream` is null or a stream of the context.
    pub(crate) unsafe fn clear(&self, stream: *mut c_void) -> Result<(), Error> {
        // SAFETY: these bytes are ours; the caller answers for the stream.
        unsafe { clear(self.context, self.address, size_of::<[u64; WORDS]>(), stream) }
    }
}

impl<const WORDS: usize> Drop for PinnedMemory<WORDS> {
    fn drop(&mut self) {
        // SAFETY: as for device memory.
        let _ = self
            .context
            .call("cuMemFreeHost", || unsafe { sys::cuMemFreeHost(self.memory.as_ptr().cast()) });
    }
}

/// Sets bytes to 0, in the order of a stream.
///
/// # Safety
/// The bytes at `address` are memory of the context, and `stream` is null or one of its streams.
unsafe fn clear(
    context: Context,
    address: u64,
    bytes: usize,
    stream: *mut c_void,
) -> Result<(), Error> {
    // SAFETY: as the caller promises.
    context.call("cuMemsetD8Async", || unsafe {
        sys::cuMemsetD8Async(address, 0, bytes, stream.cast())
    })
}
