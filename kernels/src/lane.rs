//! Lanes: the raw bits of one element, 8, 16, 32 or 64 wide, at any byte address.

/// Elements of a block, on every path. One `u64` of bits, one cache line of mask.
pub(crate) const BLOCK: usize = 64;

/// The raw bits of one element, read as a signed integer.
///
/// In memory a lane is a byte array, so that it may stand at any address.
pub(crate) trait Lane: Copy + Eq + Ord + 'static {
    /// The lane as it stands in memory, in the byte order of the machine.
    type Raw: Copy + 'static;
    /// The lanes that some bytes hold.
    fn lanes(bytes: &[u8]) -> &[Self::Raw];
    /// The bytes of some lanes.
    #[allow(dead_code, reason = "for hand-written paths: s390x and wasm have none")]
    fn bytes(lanes: &[Self::Raw]) -> &[u8];
    /// As [`Lane::lanes`], to be written to.
    fn lanes_mut(bytes: &mut [u8]) -> &mut [Self::Raw];
    /// As [`Lane::bytes`], to be written to.
    #[allow(dead_code, reason = "for hand-written paths: s390x and wasm have none")]
    fn bytes_mut(lanes: &mut [Self::Raw]) -> &mut [u8];
    /// Reads a lane.
    fn read(raw: Self::Raw) -> Self;
    /// The lane as it goes to memory.
    fn raw(self) -> Self::Raw;
    /// Keeps the low bits.
    fn truncate(bits: u64) -> Self;
    /// Bitwise and.
    fn and(self, other: Self) -> Self;
    /// The upper 32 bits of a lane of 64; others as they are.
    fn upper(self) -> i32;
}

macro_rules! lane {
    ($($lane:ident $upper:literal;)*) => { $(
        impl Lane for $lane {
            type Raw = [u8; size_of::<$lane>()];
            #[inline(always)]
            fn lanes(bytes: &[u8]) -> &[Self::Raw] {
                bytes.as_chunks().0
            }
            #[inline(always)]
            fn bytes(lanes: &[Self::Raw]) -> &[u8] {
                lanes.as_flattened()
            }
            #[inline(always)]
            fn lanes_mut(bytes: &mut [u8]) -> &mut [Self::Raw] {
                bytes.as_chunks_mut().0
            }
            #[inline(always)]
            fn bytes_mut(lanes: &mut [Self::Raw]) -> &mut [u8] {
                lanes.as_flattened_mut()
            }
            #[inline(always)]
            fn read(raw: Self::Raw) -> Self {
                Self::from_ne_bytes(raw)
            }
            #[inline(always)]
            fn raw(self) -> Self::Raw {
                self.to_ne_bytes()
            }
            #[inline(always)]
            fn truncate(bits: u64) -> Self {
                bits as Self
            }
            #[inline(always)]
            fn and(self, other: Self) -> Self {
                self & other
            }
            #[inline(always)]
            fn upper(self) -> i32 {
                (self >> $upper) as i32
            }
        }
    )* };
}
lane! {
    i8 0;
    i16 0;
    i32 0;
    i64 32;
}

/// 64 elements in memory.
pub(crate) type Block<L> = [<L as Lane>::Raw; BLOCK];
