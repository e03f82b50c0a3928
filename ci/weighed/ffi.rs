//! A library that can panic and catches the panic: the part of std that every such library
//! contains.
use std::panic::catch_unwind;

#[unsafe(no_mangle)]
pub extern "C" fn checked(index: usize) -> u8 {
    catch_unwind(|| [1, 2, 3][index]).unwrap_or(0)
}
