//! The functions that frameworks.py measures, for ctypes: questions by number, on bytes.

use nonfinite::{
    Backend, Elements, ElementsMut, Error, Format, Predicate, Replacement, TensorView,
};

/// The formats, in the order of frameworks.py.
const FORMATS: [Format; 4] = [Format::F32, Format::F64, Format::F16, Format::Bf16];
/// The questions, likewise.
const PREDICATES: [Predicate; 2] = [Predicate::Finite, Predicate::Nan];

fn run(
    f: impl FnOnce(Format, Predicate) -> Result<bool, Error>,
    format: u32,
    predicate: u32,
) -> i32 {
    match (FORMATS.get(format as usize), PREDICATES.get(predicate as usize)) {
        (Some(format), Some(predicate)) => f(*format, *predicate).map_or(-1, i32::from),
        _ => -1,
    }
}

/// Writes 1 or 0 for each element. Returns 0, or -1 for unknown numbers or wrong lengths.
///
/// # Safety
/// `x` points to `len` readable bytes and `out` to `out_len` writable ones that are not among them;
/// neither is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn peers_mask(
    format: u32,
    predicate: u32,
    x: *const u8,
    len: usize,
    out: *mut u8,
    out_len: usize,
) -> i32 {
    // SAFETY: as the caller promised.
    let (x, out) = unsafe {
        (std::slice::from_raw_parts(x, len), std::slice::from_raw_parts_mut(out, out_len))
    };
    run(
        |format, predicate| TensorView::from_bytes(x, format)?.mask(predicate, out).map(|()| false),
        format,
        predicate,
    )
}

/// Whether the predicate holds for all elements: 1 or 0, or -1 for unknown numbers or wrong
/// lengths.
///
/// # Safety
/// `x` points to `len` readable bytes and is not null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn peers_all(format: u32, predicate: u32, x: *const u8, len: usize) -> i32 {
    // SAFETY: as the caller promised.
    let x = unsafe { std::slice::from_raw_parts(x, len) };
    run(
        |format, predicate| Ok(TensorView::from_bytes(x, format)?.all(predicate)),
        format,
        predicate,
    )
}

/// Whether the predicate holds for any element: 1 or 0, or -1 for unknown numbers or wrong lengths.
///
/// # Safety
/// `x` points to `len` readable bytes and is not null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn peers_any(format: u32, predicate: u32, x: *const u8, len: usize) -> i32 {
    // SAFETY: as the caller promised.
    let x = unsafe { std::slice::from_raw_parts(x, len) };
    run(
        |format, predicate| Ok(TensorView::from_bytes(x, format)?.any(predicate)),
        format,
        predicate,
    )
}

/// Whether the backend with this number (0: avx2, 1: avx512, 2: neon) can run. If so, activates it.
#[unsafe(no_mangle)]
pub extern "C" fn peers_use_backend(backend: u32) -> i32 {
    let backend =
        ["avx2", "avx512", "neon"].get(backend as usize).and_then(|name| Backend::by_name(name));
    backend.map(Backend::activate).is_some().into()
}

/// `nan_to_num` with its defaults, in place. Returns the number of replaced elements, or -1 for
/// unknown numbers or wrong lengths.
///
/// # Safety
/// `x` points to `len` readable and writable bytes and is not null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn peers_replace(format: u32, x: *mut u8, len: usize) -> i64 {
    // SAFETY: as the caller promised.
    let x = unsafe { std::slice::from_raw_parts_mut(x, len) };
    let Some(&format) = FORMATS.get(format as usize) else { return -1 };
    let with = Replacement::finite_bits(format);
    count(ElementsMut::from_bytes(x, format).and_then(|x| x.replace_non_finite(with)))
}

/// Like [`peers_replace`], into another buffer.
///
/// # Safety
/// `x` points to `len` readable bytes and `out` to `len` writable ones that are not among them;
/// neither is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn peers_replace_into(
    format: u32,
    x: *const u8,
    out: *mut u8,
    len: usize,
) -> i64 {
    // SAFETY: as the caller promised.
    let (x, out) =
        unsafe { (std::slice::from_raw_parts(x, len), std::slice::from_raw_parts_mut(out, len)) };
    let Some(&format) = FORMATS.get(format as usize) else { return -1 };
    let with = Replacement::finite_bits(format);
    let x = Elements::from_bytes(x, format);
    let out = ElementsMut::from_bytes(out, format);
    count(out.and_then(|out| out.copy_replacing(x?, with)))
}

/// The step of a gradient scaler: 1 if an element was NaN or infinite, otherwise 0, or -1 for
/// unknown numbers or wrong lengths.
///
/// # Safety
/// `x` points to `len` readable and writable bytes and is not null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn peers_unscale(format: u32, x: *mut u8, len: usize, factor: f64) -> i32 {
    // SAFETY: as the caller promised.
    let x = unsafe { std::slice::from_raw_parts_mut(x, len) };
    let Some(&format) = FORMATS.get(format as usize) else { return -1 };
    let x = ElementsMut::from_bytes(x, format);
    x.and_then(|x| x.unscale_and_check(factor)).map_or(-1, i32::from)
}

fn count(replaced: Result<usize, Error>) -> i64 {
    replaced.map_or(-1, |count| i64::try_from(count).unwrap_or(i64::MAX))
}

/// Writes 1 or 0 for each element of a strided tensor, in row-major order; sizes, strides and
/// offset are in elements. Returns 0, or -1 for unknown numbers or wrong lengths.
///
/// # Safety
/// `x` points to `len` readable bytes and `out` to `out_len` writable ones that are not among them;
/// `sizes` and `strides` to `rank` readable values; none is null.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "a call from ctypes")]
pub unsafe extern "C" fn peers_mask_strided(
    format: u32,
    predicate: u32,
    x: *const u8,
    len: usize,
    offset: usize,
    rank: usize,
    sizes: *const usize,
    strides: *const isize,
    out: *mut u8,
    out_len: usize,
) -> i32 {
    // SAFETY: as the caller promised.
    let (x, out) = unsafe {
        (std::slice::from_raw_parts(x, len), std::slice::from_raw_parts_mut(out, out_len))
    };
    // SAFETY: as the caller promised.
    let (sizes, strides) = unsafe {
        (std::slice::from_raw_parts(sizes, rank), std::slice::from_raw_parts(strides, rank))
    };
    let (Some(format), Some(predicate)) =
        (FORMATS.get(format as usize), PREDICATES.get(predicate as usize))
    else {
        return -1;
    };
    let mask = || {
        let view =
            TensorView::strided(Elements::from_bytes(x, *format).ok()?, offset, sizes, strides)
                .ok()?;
        view.mask(*predicate, out).ok()
    };
    if mask().is_some() { 0 } else { -1 }
}
