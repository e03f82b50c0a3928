//! Few CPUs lack AVX2, so SSE2 has loops of its own only for what is asked most. The other
//! questions take the plain loops.

use crate::isa::x86::Sse2;
use crate::question::On;

impl On<Sse2> for super::Replace {
    const PLAIN: bool = true;
}

impl On<Sse2> for super::Multiply {
    const PLAIN: bool = true;
}

#[cfg(feature = "stats")]
impl On<Sse2> for super::FindCode {
    const PLAIN: bool = true;
}

#[cfg(feature = "stats")]
impl On<Sse2> for super::InRange {
    const PLAIN: bool = true;
}

#[cfg(feature = "stats")]
impl On<Sse2> for super::Order {
    const PLAIN: bool = true;
}
