//! Products of floating-point elements. Only this module and the `scale.rs` of each backend have
//! floating-point arithmetic.

mod halves;

/// A format that can be multiplied as a constant, so that each loop is compiled for one.
pub(crate) mod format {
    pub(crate) const F16: u8 = 0;
    pub(crate) const BF16: u8 = 1;
    pub(crate) const F32: u8 = 2;
    pub(crate) const F64: u8 = 3;
}

/// The bits of a product. `factor` is rounded to f32 except for [`format::F64`].
#[inline]
pub(crate) fn multiply<const F: u8>(bits: u64, factor: f64) -> u64 {
    let narrow = factor as f32;
    match F {
        format::F64 => (f64::from_bits(bits) * factor).to_bits(),
        format::F32 => (f32::from_bits(bits as u32) * narrow).to_bits().into(),
        format::F16 => halves::narrow_f16(halves::widen_f16(bits as u16) * narrow).into(),
        _ => halves::narrow_bf16(halves::widen_bf16(bits as u16) * narrow).into(),
    }
}
