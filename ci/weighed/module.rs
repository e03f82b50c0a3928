//! A module for WebAssembly, without std.
#![no_std]

use core::slice::{from_raw_parts, from_raw_parts_mut};

use nonfinite::Census;

/// # Safety
/// `x` and `out` must point to `n` elements each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn is_finite(x: *const f32, n: usize, out: *mut bool) {
    // SAFETY: by the contract of this function.
    let (x, out) = unsafe { (from_raw_parts(x, n), from_raw_parts_mut(out, n)) };
    nonfinite::is_finite(x, out);
}

/// # Safety
/// `x` must point to `n` elements, and `census` to one census.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn census(x: *const f32, n: usize, census: *mut Census) {
    // SAFETY: by the contract of this function.
    unsafe { *census = nonfinite::census(from_raw_parts(x, n)) };
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
