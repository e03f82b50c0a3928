//! `libnonfinite`: the functions of the crate `nonfinite-capi` as a library for C, without std.

#![no_std]
#![expect(unsafe_code, reason = "functions of C")]

use core::ffi::{c_int, c_void};
use core::fmt::{self, Write};
use core::panic::PanicInfo;

// Its functions are exported.
use nonfinite_capi as _;

// std would name the C library to the linker.
#[cfg_attr(target_os = "macos", link(name = "System"))]
#[cfg_attr(all(unix, not(target_os = "macos")), link(name = "c"))]
#[cfg_attr(windows, link(name = "msvcrt"))]
unsafe extern "C" {
    fn abort() -> !;
    #[cfg_attr(windows, link_name = "_write")]
    fn write(file: c_int, bytes: *const c_void, count: Count) -> Written;
}

/// The types of `write`.
#[cfg(not(windows))]
type Count = usize;
#[cfg(not(windows))]
type Written = isize;
#[cfg(windows)]
type Count = core::ffi::c_uint;
#[cfg(windows)]
type Written = c_int;

struct Stderr;

impl Write for Stderr {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        const STDERR: c_int = 2;
        // SAFETY: the bytes of `text` are readable. The parts of a message fit any `Count`.
        let written = unsafe { write(STDERR, text.as_ptr().cast(), text.len() as Count) };
        if written < 0 { Err(fmt::Error) } else { Ok(()) }
    }
}

/// A panic is a mistake of this library. There is nobody to catch it without std.
#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    // Without stderr there is no message.
    let _ = writeln!(Stderr, "nonfinite: please report this mistake of the library: {info}");
    // SAFETY: `abort` needs nothing.
    unsafe { abort() }
}

/// Panics, for the test that a panic ends the program with a message.
#[cfg(planted)]
#[unsafe(no_mangle)]
pub extern "C" fn nf_planted_panic(index: usize) -> u8 {
    [1, 2, 3][index]
}
