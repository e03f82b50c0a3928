//! Version, formats and backends of the library.
#![expect(unsafe_code, reason = "functions for C")]

use core::ffi::{CStr, c_char};
use core::str::FromStr;

use nonfinite::{Backend, Format};

use crate::backend;
use crate::codes::{self, FormatCode};
use crate::ffi::{self, Slot, border};
use crate::status::{NF_ERR_INDEX, NF_ERR_NAME, Status};

/// Major version of this header. The library must have the same major version.
pub const NF_VERSION_MAJOR: u32 = 0;
/// Minor version of this header. As long as the major version is 0, the library must have the same
/// minor version.
pub const NF_VERSION_MINOR: u32 = 1;
/// Patch version of this header.
pub const NF_VERSION_PATCH: u32 = 0;

const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("a version has no NUL"),
    };

/// The version of the library that was loaded, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn nf_version() -> *const c_char {
    VERSION.as_ptr()
}

/// Bytes of an element: 8, 4, 2 or 1. 0 if no format has this number.
#[unsafe(no_mangle)]
pub extern "C" fn nf_format_size(format: FormatCode) -> usize {
    codes::format(format).map_or(0, Format::size_in_bytes)
}

/// The name, such as "f32", "bf16" or "f8e4m3fn". Null if no format has this number.
#[unsafe(no_mangle)]
pub extern "C" fn nf_format_name(format: FormatCode) -> *const c_char {
    codes::name(format).map_or(core::ptr::null(), CStr::as_ptr)
}

/// The format of this name, in any case. Accepts the names of this library and the spellings of
/// Rust, numpy, ml_dtypes, ONNX and safetensors. "FLOAT" is `NF_FORMAT_F32`, and "F8_E4M3" is
/// `NF_FORMAT_F8E4M3FN`, as in safetensors.
///
/// Refused with `NF_ERR_NULL`, `NF_ERR_MISALIGNED`, `NF_ERR_NAME`.
///
/// # Safety
/// Unless null, `name` leads to text that ends with a NUL or has 64 bytes, and `result` to an
/// nf_format.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nf_format_from_name(
    name: *const c_char,
    result: *mut FormatCode,
) -> Status {
    border(|| {
        // SAFETY: it leads to memory for one, as the caller vouches.
        let result = unsafe { Slot::new(result)? };
        // SAFETY: it ends or is long enough, as the caller vouches.
        let format = Format::from_str(unsafe { ffi::text(name)? }).map_err(|_| NF_ERR_NAME)?;
        result.set(codes::code(format).ok_or(NF_ERR_NAME)?);
        Ok(())
    })
}

/// A backend: a version of the kernels for an instruction set.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct BackendInfo {
    /// "avx512", "avx2", "sse2", "neon", "portable" or "scalar".
    pub name: *const c_char,
    /// Whether this CPU can run it.
    pub available: bool,
    /// Whether the functions of this library use it.
    pub active: bool,
}

/// The name of the backend that the functions of this library use. This is the backend given to
/// `nf_backend_activate`. Without one it is the backend that the environment variable
/// NONFINITE_BACKEND names, or else the best backend. Null if NONFINITE_BACKEND is set and names no
/// backend that this build and CPU have; then all functions that need a backend fail with
/// `NF_ERR_INTERNAL`.
///
/// The first function that needs a backend reads the variable with getenv. No other thread may
/// change the environment during that call.
#[unsafe(no_mangle)]
pub extern "C" fn nf_backend_name() -> *const c_char {
    let mut name = core::ptr::null();
    border(|| {
        backend::choose()?;
        name = backend::name(Backend::active().name());
        Ok(())
    });
    name
}

/// The backend at this index of the table of all backends that this build knows, best first.
///
/// Refused with `NF_ERR_NULL`, `NF_ERR_MISALIGNED`, at the end of the table with `NF_ERR_INDEX`,
/// and with `NF_ERR_INTERNAL` if `nf_backend_name` returns null.
///
/// # Safety
/// Unless refused, `result` leads to an nf_backend_info.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nf_backend_at(index: usize, result: *mut BackendInfo) -> Status {
    border(|| {
        // SAFETY: it leads to memory for one, as the caller vouches.
        let result = unsafe { Slot::new(result)? };
        backend::choose()?;
        let (name, this) = Backend::all().nth(index).ok_or(NF_ERR_INDEX)?;
        result.set(BackendInfo {
            name: backend::name(name),
            available: this.is_some(),
            active: this == Some(Backend::active()),
        });
        Ok(())
    })
}

/// Makes the functions of this library use this backend from now on, in all threads.
///
/// Refused with `NF_ERR_NULL`, `NF_ERR_NAME`, `NF_ERR_UNAVAILABLE`.
///
/// # Safety
/// Unless null, `name` leads to text that ends with a NUL or has 64 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nf_backend_activate(name: *const c_char) -> Status {
    border(|| {
        // SAFETY: it ends or is long enough, as the caller vouches.
        let name = unsafe { ffi::text(name)? };
        backend::activate(name)
    })
}

#[cfg(test)]
mod tests {
    use std::format;

    use super::*;

    #[test]
    fn the_header_has_the_version_of_the_package() {
        let header = format!("{NF_VERSION_MAJOR}.{NF_VERSION_MINOR}.{NF_VERSION_PATCH}");
        assert_eq!(header, env!("CARGO_PKG_VERSION"));
    }

    #[test]
    fn names_fit() {
        let longest =
            Format::ALL.iter().flat_map(|format| format.names()).map(|name| name.len()).max();
        assert!(longest.is_some_and(|longest| longest < ffi::LONGEST_NAME));
    }
}
