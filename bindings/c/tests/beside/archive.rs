//! A static archive of Rust with std, which `bindings/c/test` builds with another compiler than the
//! library and links beside it. It allocates, panics, and catches the panic.

#[unsafe(no_mangle)]
pub extern "C" fn beside(length: usize) -> usize {
    let numbers: Vec<usize> = (0..length).collect();
    let caught = std::panic::catch_unwind(|| numbers[length]);
    numbers.len() + usize::from(caught.is_err())
}
