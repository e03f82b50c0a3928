//! Memory for inputs and outputs.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many bytes behind a multiple of 64 all memory begins.
pub static OFFSET: AtomicUsize = AtomicUsize::new(0);

/// How many pages an output may begin at. A cache takes some pairs of pages for one and the same (1
/// pair in 256 on Zen 4), and then is several times slower. So no output stays where it is.
const PAGES: usize = 8;

/// The bytes of a page.
const PAGE: usize = 4096;

/// Memory at the same place of a page for everybody, so that the allocator favours nobody: inputs
/// begin with a page and outputs in its middle, each `OFFSET` bytes later.
pub struct Buffer<T> {
    memory: Vec<T>,
    start: usize,
    len: usize,
    /// How many elements behind the first possible place the memory in use begins.
    moved: usize,
}

impl<T: Copy + Default> Buffer<T> {
    /// For an input.
    pub fn new(len: usize) -> Self {
        Self::place(len, 0, 0)
    }

    /// For an output: [`Buffer::turn`] moves it.
    pub fn output(len: usize) -> Self {
        Self::place(len, PAGE / 2, (PAGES - 1) * PAGE)
    }

    /// Moves an output by a page, and from the last page back to the first one.
    pub fn turn(&mut self) {
        self.moved = (self.moved + PAGE / size_of::<T>()) % (PAGES * PAGE / size_of::<T>());
    }

    /// Begins this many bytes behind a page, with room for `more` bytes.
    fn place(len: usize, behind: usize, more: usize) -> Self {
        let size = size_of::<T>();
        let behind = behind + OFFSET.load(Ordering::Relaxed);
        let memory = vec![T::default(); len + (behind + more + PAGE) / size];
        let start = memory.as_ptr().align_offset(PAGE) + behind / size;
        let mut buffer = Self { memory, start, len, moved: 0 };
        // Zeroed memory may have no pages before it is written.
        buffer.memory.fill(T::default());
        buffer
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.memory[self.start + self.moved..][..self.len]
    }
}

impl<T> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.memory[self.start + self.moved..][..self.len]
    }
}
