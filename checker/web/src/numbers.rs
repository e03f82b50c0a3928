//! Questions about arrays of numbers, for the npm package. The memory of a module never shrinks, so
//! JavaScript copies arrays in parts into one buffer here, and puts the answers together.

use std::cell::RefCell;

use js_sys::Uint8Array;
use js_sys::WebAssembly::Memory;
use nonfinite::{Format, Predicate, TensorView};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::wasm_bindgen;

/// Bytes of the buffer: whole elements of every format. 16 KiB to 1 MiB are as fast.
const LENGTH: usize = 64 << 10;

/// Aligned for arrays of every type.
#[repr(align(64))]
struct Buffer([u8; LENGTH]);

thread_local! {
    static BUFFER: RefCell<Buffer> = const { RefCell::new(Buffer([0; LENGTH])) };
}

/// The buffer as JavaScript sees it, until the memory of the module grows.
#[wasm_bindgen(js_name = partBuffer)]
pub fn part_buffer() -> Uint8Array {
    let start = BUFFER.with_borrow_mut(|buffer| buffer.0.as_mut_ptr() as u32);
    let memory: Memory = wasm_bindgen::memory().unchecked_into();
    Uint8Array::new_with_byte_offset_and_length(&memory.buffer(), start, LENGTH as u32)
}

/// The number that questions know a format by. Nothing if no format has this name.
#[wasm_bindgen(js_name = formatOf)]
pub fn format_of(name: &str) -> Option<usize> {
    Format::ALL.iter().position(|format| name.parse() == Ok(*format))
}

/// The number that questions know a predicate by. Nothing if no predicate has this name.
#[wasm_bindgen(js_name = predicateOf)]
pub fn predicate_of(name: &str) -> Option<usize> {
    Predicate::ALL.iter().position(|predicate| name.parse() == Ok(*predicate))
}

/// The bytes of an element. Panics if no format has this number.
#[wasm_bindgen(js_name = sizeOf)]
pub fn size_of(format: usize) -> usize {
    Format::ALL[format].size_in_bytes()
}

fn ask<T>(length: usize, format: usize, question: impl FnOnce(TensorView<'_>) -> T) -> T {
    BUFFER.with_borrow(|buffer| {
        let view = TensorView::from_bytes(&buffer.0[..length], Format::ALL[format]);
        question(view.expect("JavaScript asks about whole elements"))
    })
}

/// The index of the first element for which the predicate holds, in the buffer's first `length`
/// bytes, or -1. Panics if these are no whole elements, and for numbers that are not known.
#[wasm_bindgen]
pub fn position(length: usize, format: usize, predicate: usize) -> f64 {
    let found = ask(length, format, |view| view.position(Predicate::ALL[predicate]));
    found.map_or(-1.0, |index| index as f64)
}

/// How many elements there the predicate holds for. Panics as [`position`].
#[wasm_bindgen]
pub fn count(length: usize, format: usize, predicate: usize) -> usize {
    ask(length, format, |view| view.count(Predicate::ALL[predicate]))
}
