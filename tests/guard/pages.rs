//! Memory between two guard pages.
#![expect(unsafe_code, reason = "`mmap` and `mprotect` of the C library")]

use std::ptr;

/// Bytes that end where a page ends, with a page before and one behind that can be neither read nor
/// written. They begin where a page begins.
pub(crate) struct Guarded {
    mapping: *mut u8,
    page: usize,
    len: usize,
}

impl Guarded {
    /// At least `len` bytes, zero.
    pub(crate) fn new(len: usize) -> Self {
        // SAFETY: asks for a number.
        let page =
            usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).expect("a page size");
        let len = len.next_multiple_of(page);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping, at an address that the system picks.
        let mapping =
            unsafe { libc::mmap(ptr::null_mut(), len + 2 * page, libc::PROT_NONE, flags, -1, 0) };
        assert_ne!(mapping, libc::MAP_FAILED, "{}", std::io::Error::last_os_error());
        let mapping = mapping.cast::<u8>();
        // SAFETY: all of these bytes, whole pages, belong to the mapping just made.
        let opened = unsafe {
            libc::mprotect(mapping.add(page).cast(), len, libc::PROT_READ | libc::PROT_WRITE)
        };
        assert_eq!(opened, 0, "{}", std::io::Error::last_os_error());
        Self { mapping, page, len }
    }

    /// The bytes that may be touched.
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: `len` bytes from the second page of the mapping on, readable and writable, zero
        // at first; borrowed as long as `self`, which unmaps them.
        unsafe { std::slice::from_raw_parts_mut(self.mapping.add(self.page), self.len) }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`, whole; no borrow of it is left.
        unsafe { libc::munmap(self.mapping.cast(), self.len + 2 * self.page) };
    }
}
