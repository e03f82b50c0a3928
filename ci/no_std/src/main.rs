//! Checks the answers of every backend for finite and non-finite elements, and ends with 0 if all
//! are right. If std were among the dependencies, there would be a second panic handler, which is a
//! compile error. If a symbol were missing, linking would fail, since nothing else is linked. For
//! x86-64 Linux.
#![no_std]
#![no_main]

use core::arch::{asm, naked_asm};

use half::f16;
use nonfinite::{Backend, Predicate};
// Linked, so that std among the dependencies of this crate is noticed too.
use nonfinite_ops as _;

/// Odd, so that every backend meets its remainder too.
const LENGTH: usize = 261;

fn right(backend: Backend) -> bool {
    backend.activate();
    let mut singles = [1.5_f32; LENGTH];
    let mut halves = [f16::ONE; LENGTH];
    let mut expected = [true; LENGTH];
    for i in [0, 63, 64, 200, LENGTH - 1] {
        singles[i] = if i % 2 == 0 { f32::NAN } else { f32::INFINITY };
        halves[i] = f16::NEG_INFINITY;
        expected[i] = false;
    }
    let mut of_singles = [false; LENGTH];
    nonfinite::is_finite(&singles[..], &mut of_singles);
    let mut of_halves = [false; LENGTH];
    nonfinite::is_finite(&halves[..], &mut of_halves);
    let first = nonfinite::position(&halves[1..], Predicate::Inf);
    Backend::active() == backend
        && of_singles == expected
        && of_halves == expected
        && first == Some(62)
}

extern "C" fn start() -> ! {
    let mut code = 0;
    let mut backends = 0;
    for backend in Backend::available() {
        let answer: &[u8] = if right(backend) { b": right without std\n" } else { b": wrong\n" };
        code |= i32::from(!right(backend));
        backends += 1;
        for text in [b"backend ", backend.name().as_bytes(), answer] {
            write(text);
        }
    }
    exit(if backends == 0 { 2 } else { code })
}

/// The kernel enters with the stack aligned as a caller has it, not as a function finds it.
#[unsafe(no_mangle)]
#[unsafe(naked)]
extern "C" fn _start() -> ! {
    naked_asm!("call {}", sym start)
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    write(b"panicked\n");
    exit(101)
}

/// core is compiled for unwinding and names it; nothing unwinds here.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

fn write(text: &[u8]) {
    // SAFETY: write(1, text, length) reads `text` only; a system call changes rax, rcx, r11 and the
    // flags.
    unsafe {
        asm!(
            "syscall",
            inout("rax") 1_usize => _,
            in("rdi") 1,
            in("rsi") text.as_ptr(),
            in("rdx") text.len(),
            out("rcx") _,
            out("r11") _,
            options(nostack, readonly),
        );
    }
}

fn exit(code: i32) -> ! {
    // SAFETY: exit_group(code) does not return.
    unsafe { asm!("syscall", in("rax") 231, in("rdi") code, options(noreturn, nostack)) }
}

// The functions that rustc expects in every environment.

/// # Safety
/// As C's.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, length: usize) -> *mut u8 {
    // SAFETY: the caller's promise.
    unsafe {
        asm!("rep movsb", inout("rcx") length => _, inout("rdi") to => _, inout("rsi") from => _,
            options(nostack, preserves_flags));
    }
    to
}

/// # Safety
/// As C's.
#[unsafe(no_mangle)]
unsafe extern "C" fn memset(to: *mut u8, byte: i32, length: usize) -> *mut u8 {
    // SAFETY: the caller's promise.
    unsafe {
        asm!("rep stosb", inout("rcx") length => _, inout("rdi") to => _, in("al") byte as u8,
            options(nostack, preserves_flags));
    }
    to
}

/// # Safety
/// As C's.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(a: *const u8, b: *const u8, length: usize) -> i32 {
    for i in 0..length {
        // SAFETY: the caller's promise. Volatile, or this loop would be compiled to a call of
        // memcmp.
        let (a, b) = unsafe { (a.add(i).read_volatile(), b.add(i).read_volatile()) };
        if a != b {
            return i32::from(a) - i32::from(b);
        }
    }
    0
}

/// # Safety
/// As C's.
#[unsafe(no_mangle)]
unsafe extern "C" fn bcmp(a: *const u8, b: *const u8, length: usize) -> i32 {
    // SAFETY: the same promise.
    unsafe { memcmp(a, b, length) }
}
