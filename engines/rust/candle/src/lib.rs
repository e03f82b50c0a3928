//! Finds NaN and infinities in tensors of candle on the CPU. Candle has no such operations.
//!
//! ```
//! use candle_core::{Device, Tensor};
//! use nonfinite::Predicate;
//!
//! let logits = Tensor::new(&[[1f32, f32::NAN], [f32::INFINITY, 2.0]], &Device::Cpu)?;
//! let mask = nonfinite_candle::mask(&logits.t()?, Predicate::Finite)?;
//! assert_eq!(mask.to_vec2::<u8>()?, [[1, 0], [0, 1]]);
//! assert_eq!(nonfinite_candle::first(&logits, Predicate::Nan)?, Some(vec![0, 1]));
//! # Ok::<(), candle_core::Error>(())
//! ```
//!
//! Tensors are read in place, with any strides. Integers are always finite.

use candle_core::{CpuStorage, CustomOp1, DType, Error, Layout, Result, Shape, Storage, Tensor};
use nonfinite::{Census, Elements, Format, Predicate, Stats, TensorView, Watch};

/// A tensor of type U8 and of the same shape: 1 where `predicate` holds, else 0.
///
/// # Errors
/// If the tensor is not on the CPU, or if `predicate` has a threshold for another type.
pub fn mask(tensor: &Tensor, predicate: Predicate) -> Result<Tensor> {
    check(tensor, predicate)?;
    tensor.apply_op1_no_bwd(&Mask(predicate))
}

/// Whether `predicate` holds for any element.
///
/// # Errors
/// As [`mask`].
pub fn any(tensor: &Tensor, predicate: Predicate) -> Result<bool> {
    check(tensor, predicate)?;
    with_view(tensor, |view| view.any(predicate))
}

/// Whether `predicate` holds for all elements.
///
/// # Errors
/// As [`mask`].
pub fn all(tensor: &Tensor, predicate: Predicate) -> Result<bool> {
    check(tensor, predicate)?;
    with_view(tensor, |view| view.all(predicate))
}

/// The coordinate of the first element, in row-major order, for which `predicate` holds.
///
/// # Errors
/// As [`mask`].
pub fn first(tensor: &Tensor, predicate: Predicate) -> Result<Option<Vec<usize>>> {
    check(tensor, predicate)?;
    let first = |view: &TensorView<'_>| {
        let index = view.position(predicate);
        index.map(|index| view.coordinate(index).map(Iterator::collect)).transpose()
    };
    with_view(tensor, first)?.map_err(Error::wrap)
}

/// The number of NaN, +Inf and -Inf, and the row-major index of the first of each.
///
/// # Errors
/// If the tensor is not on the CPU.
pub fn census(tensor: &Tensor) -> Result<Census> {
    with_view(tensor, |view| view.census())
}

/// [`Watch::look`] at a tensor of candle: its statistics. `None` if it holds integers, which the
/// watch does not count.
///
/// ```
/// use candle_core::{DType, Device, Tensor};
/// use nonfinite::{Predicate, Watch};
///
/// let watch = Watch::new(Predicate::NonFinite);
/// let keys = Tensor::full(300f32, (2, 8), &Device::Cpu)?;
/// let scores = keys.matmul(&keys.t()?)?.to_dtype(DType::F16)?;
/// nonfinite_candle::look(&watch, "keys", &keys)?;
/// nonfinite_candle::look(&watch, "scores", &scores)?;
/// let bad = watch.first().expect("720000 is no number of f16");
/// assert_eq!((bad.name(), bad.stats.census.pos_inf.count), ("scores", 4));
/// # Ok::<(), candle_core::Error>(())
/// ```
///
/// # Errors
/// If the tensor is not on the CPU, or if the watch has a threshold for another type. The watch
/// does not count the tensor then.
pub fn look(watch: &Watch, name: &str, tensor: &Tensor) -> Result<Option<Stats>> {
    if format(tensor.dtype()).is_none() {
        return Ok(None);
    }
    with_view(tensor, |view| watch.try_look(name, *view))?.map(Some).map_err(Error::wrap)
}

/// Refuses a threshold for another type. Integers have none: a view shows them as zeros.
fn check(tensor: &Tensor, predicate: Predicate) -> Result<()> {
    match predicate {
        Predicate::Exceeds(threshold) if Some(threshold.format()) != format(tensor.dtype()) => {
            let dtype = tensor.dtype();
            Err(Error::Msg(format!("nonfinite: \"{predicate}\" asked of a tensor of {dtype:?}")))
        }
        _ => Ok(()),
    }
}

/// Calls `run` with a view of the tensor.
fn with_view<T>(tensor: &Tensor, run: impl FnOnce(&TensorView<'_>) -> T) -> Result<T> {
    let (storage, layout) = tensor.storage_and_layout();
    let Storage::Cpu(storage) = &*storage else {
        return Err(Error::Msg(format!(
            "nonfinite: a tensor on {:?}, not on the CPU",
            tensor.device()
        )));
    };
    view_of(storage, layout, &strides(layout)?).map(|view| run(&view))
}

/// The strides of the layout, as a view takes them.
fn strides(layout: &Layout) -> Result<Vec<isize>> {
    layout.stride().iter().map(|&stride| stride.try_into().map_err(Error::wrap)).collect()
}

/// A view of the elements of the layout, which has these strides. Integers are shown as the finite
/// number 0, since all answers are the same for every finite number.
fn view_of<'a>(
    storage: &'a CpuStorage,
    layout: &'a Layout,
    strides: &'a [isize],
) -> Result<TensorView<'a>> {
    let codes = |bytes, format| Elements::from_bytes(bytes, format).map_err(Error::wrap);
    let elements = match storage {
        CpuStorage::F32(x) => Elements::from(x.as_slice()),
        CpuStorage::F64(x) => Elements::from(x.as_slice()),
        CpuStorage::F16(x) => Elements::from(x.as_slice()),
        CpuStorage::BF16(x) => Elements::from(x.as_slice()),
        CpuStorage::F8E4M3(x) => codes(bytemuck::cast_slice(x), Format::F8E4M3Fn)?,
        CpuStorage::F8E8M0(x) => codes(x, Format::F8E8M0Fnu)?,
        _ => {
            const ZEROS: [isize; 64] = [0; 64];
            // More dimensions are refused below.
            let strides = ZEROS.get(..strides.len()).unwrap_or(&ZEROS);
            return TensorView::strided(&[0f32], 0, layout.dims(), strides).map_err(Error::wrap);
        }
    };
    let (offset, shape) = (layout.start_offset(), layout.dims());
    TensorView::strided(elements, offset, shape, strides).map_err(Error::wrap)
}

/// [`mask`] as a custom operation of candle.
struct Mask(Predicate);

impl CustomOp1 for Mask {
    fn name(&self) -> &'static str {
        "nonfinite-mask"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let mut out = vec![0; layout.shape().elem_count()];
        let strides = strides(layout)?;
        view_of(storage, layout, &strides)?
            .mask(self.0, out.as_mut_slice())
            .map_err(Error::wrap)?;
        Ok((CpuStorage::U8(out), layout.shape().clone()))
    }
}

/// The format of a type of candle. None for integers.
#[must_use]
pub fn format(dtype: DType) -> Option<Format> {
    match dtype {
        DType::F32 => Some(Format::F32),
        DType::F64 => Some(Format::F64),
        DType::F16 => Some(Format::F16),
        DType::BF16 => Some(Format::Bf16),
        DType::F8E4M3 => Some(Format::F8E4M3Fn),
        DType::F8E8M0 => Some(Format::F8E8M0Fnu),
        DType::F6E2M3 => Some(Format::F6E2M3Fn),
        DType::F6E3M2 => Some(Format::F6E3M2Fn),
        DType::F4 => Some(Format::F4E2M1Fn),
        _ => None,
    }
}

/// Compiles the lines for mistral.rs, whose processors of logits are functions over candle.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Engines;
