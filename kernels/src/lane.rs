//! Lanes: the raw bits of one element, 8, 16, 32 or 64 wide, at any byte address.

/// Elements of a block, on every path. One `u64` of bits, one cache line of mask.
pub(crate) const BLOCK: usize = 64;

/// The raw bits of one element, read as a signed integer.
///
/// In memory a lane is a byte array, so that it may stand at any address.
pub(crate) trait Lane: Copy + Eq + Ord + 'static {
    /// The lane as it stands in memory, in the byte order of the machine.
    type Raw: Copy + 'static;
    /// Width in bits.
    const BITS: u32;
    /// The bytes of some lanes.
    fn bytes(lanes: &[Self::Raw]) -> &[u8];
    /// Reads a lane.
    fn read(raw: Self::Raw) -> Self;
    /// Keeps the low bits.
    fn truncate(bits: u64) -> Self;
    /// Bitwise and.
    fn and(self, other: Self) -> Self;
}

macro_rules! lane {
    ($($lane:ident)*) => { $(
        impl Lane for $lane {
            type Raw = [u8; size_of::<$lane>()];
            const BITS: u32 = <$lane>::BITS;
            #[inline(always)]
            fn bytes(lanes: &[Self::Raw]) -> &[u8] {
                lanes.as_flattened()
            }
            #[inline(always)]
            fn read(raw: Self::Raw) -> Self {
                Self::from_ne_bytes(raw)
            }
            #[inline(always)]
            fn truncate(bits: u64) -> Self {
                bits as Self
            }
            #[inline(always)]
            fn and(self, other: Self) -> Self {
                self & other
            }
        }
    )* };
}
lane!(i8 i16 i32 i64);

/// 64 elements in memory.
pub(crate) type Block<L> = [<L as Lane>::Raw; BLOCK];

/// The elements a kernel looks at: their raw bits, in the byte order of the machine, at any byte address.
#[derive(Clone, Copy, Debug)]
pub enum Lanes<'a> {
    /// 8-bit elements.
    L8(&'a [[u8; 1]]),
    /// 16-bit elements.
    L16(&'a [[u8; 2]]),
    /// 32-bit elements.
    L32(&'a [[u8; 4]]),
    /// 64-bit elements.
    L64(&'a [[u8; 8]]),
}

impl<'a> Lanes<'a> {
    /// The elements of `size` bytes each that `bytes` holds, or `None` if `size` is not 1, 2, 4 or 8 or does
    /// not divide the length.
    #[inline]
    pub fn new(bytes: &'a [u8], size: usize) -> Option<Self> {
        if !matches!(size, 1 | 2 | 4 | 8) || !bytes.len().is_multiple_of(size) {
            return None;
        }
        Some(match size {
            1 => Self::L8(bytes.as_chunks().0),
            2 => Self::L16(bytes.as_chunks().0),
            4 => Self::L32(bytes.as_chunks().0),
            _ => Self::L64(bytes.as_chunks().0),
        })
    }

    /// The number of elements.
    #[inline]
    pub fn len(self) -> usize {
        match self {
            Self::L8(x) => x.len(),
            Self::L16(x) => x.len(),
            Self::L32(x) => x.len(),
            Self::L64(x) => x.len(),
        }
    }

    /// Whether there is no element.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}
