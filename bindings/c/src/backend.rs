//! The choice of the backend, without allocation.
#![expect(unsafe_code, reason = "a function of C")]

use core::ffi::{CStr, c_char};
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use nonfinite::Backend;

use crate::ffi;
use crate::status::{NF_ERR_INTERNAL, NF_ERR_NAME, NF_ERR_UNAVAILABLE, Status};

/// The names of all backends of all targets as strings of C.
static NAMES: [&CStr; 6] = [c"avx512", c"avx2", c"sse2", c"neon", c"portable", c"scalar"];

/// The name as a string of C. Null if no backend has it.
pub(crate) fn name(name: &str) -> *const c_char {
    let known = NAMES.iter().find(|known| known.to_bytes() == name.as_bytes());
    known.map_or(ptr::null(), |known| known.as_ptr())
}

unsafe extern "C" {
    /// Of the C library. Unlike `std::env::var_os`, it does not allocate.
    fn getenv(name: *const c_char) -> *const c_char;
}

/// Whether NONFINITE_BACKEND was obeyed, or does not matter any more.
static CHOSEN: AtomicBool = AtomicBool::new(false);

/// The backend last given to `nf_backend_activate`: its index in `Backend::all`, or [`NONE`].
static ACTIVATED: AtomicUsize = AtomicUsize::new(NONE);
const NONE: usize = usize::MAX;

/// Makes the kernels use the backend that the caller wants. Every function that reads elements
/// calls this first. Fails with `NF_ERR_INTERNAL` if NONFINITE_BACKEND names no backend that is
/// there.
#[inline]
pub(crate) fn choose() -> Result<(), Status> {
    if CHOSEN.load(Ordering::Acquire) { Ok(()) } else { obey_environment() }
}

/// `nf_backend_activate`.
pub(crate) fn activate(name: &str) -> Result<(), Status> {
    let index = Backend::all().position(|(known, _)| known == name).ok_or(NF_ERR_NAME)?;
    let backend = Backend::by_name(name).ok_or(NF_ERR_UNAVAILABLE)?;
    ACTIVATED.store(index, Ordering::SeqCst);
    backend.activate();
    CHOSEN.store(true, Ordering::Release);
    Ok(())
}

#[cold]
#[inline(never)]
fn obey_environment() -> Result<(), Status> {
    if let Some(mut backend) = named_by_environment()? {
        // `activate` stores in the other order. So a backend that another thread activates
        // meanwhile is either activated after this one, or seen here.
        loop {
            backend.activate();
            match Backend::all().nth(ACTIVATED.load(Ordering::SeqCst)) {
                Some((_, Some(activated))) if activated != backend => backend = activated,
                _ => break,
            }
        }
    }
    CHOSEN.store(true, Ordering::Release);
    Ok(())
}

/// The backend that NONFINITE_BACKEND names. None if the variable is unset or empty.
fn named_by_environment() -> Result<Option<Backend>, Status> {
    // SAFETY: the name ends with a NUL. The header forbids other threads to change the environment
    // during a call.
    let value = unsafe { getenv(c"NONFINITE_BACKEND".as_ptr()) };
    if value.is_null() {
        return Ok(None);
    }
    // SAFETY: not null, and `getenv` returns text that ends with a NUL. Nothing changes it (as
    // above).
    match unsafe { ffi::text(value) } {
        Ok("") => Ok(None),
        Ok(name) => Backend::by_name(name).map(Some).ok_or(NF_ERR_INTERNAL),
        Err(_) => Err(NF_ERR_INTERNAL),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_backend_has_a_name_for_c() {
        for (known, _) in Backend::all() {
            assert!(!name(known).is_null(), "{known} is not in NAMES");
        }
        assert!(NAMES.iter().all(|name| name.count_bytes() < ffi::LONGEST_NAME));
        assert!(name("").is_null());
    }
}
