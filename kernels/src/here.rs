//! A target without a backend by hand.

#[cfg(not(feature = "portable"))]
use crate::plain::Portable;
use crate::short::Elements;

/// The portable backend, which the feature `portable` puts into the list for every target.
#[cfg(not(feature = "portable"))]
pub(crate) type ByHand<Others> = (Portable, Others);
#[cfg(feature = "portable")]
pub(crate) type ByHand<Others> = Others;

pub(crate) type Here = Elements;
