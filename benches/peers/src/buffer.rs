//! Memory for inputs and outputs.

use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;

/// How many bytes behind a multiple of 64 all memory begins: 0 unless it is set first.
pub static OFFSET: OnceLock<usize> = OnceLock::new();

/// Memory at the same place of a cache line for everybody, so that the allocator favours nobody.
pub struct Buffer<T> {
    memory: Vec<T>,
    start: usize,
    len: usize,
}

impl<T: Copy + Default> Buffer<T> {
    pub fn new(len: usize) -> Self {
        let offset = *OFFSET.get_or_init(|| 0) / size_of::<T>();
        let spare = 64 / size_of::<T>();
        let memory = vec![T::default(); len + spare + offset];
        let start = memory.as_ptr().align_offset(64) + offset;
        assert!(start <= spare + offset);
        let mut buffer = Self { memory, start, len };
        // Zeroed memory may have no pages before it is written.
        buffer.fill(T::default());
        buffer
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.memory[self.start..][..self.len]
    }
}

impl<T> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.memory[self.start..][..self.len]
    }
}
