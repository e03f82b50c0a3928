//! Views of the memory of a tensor, and tensors of masks.

use burn_tensor::{Bool, DType, Tensor, TensorData};
use nonfinite::{Elements, Format, TensorView};

/// Calls `run` with a view of the tensor.
pub(crate) fn with_view<const D: usize, R>(
    tensor: &Tensor<D>,
    run: impl FnOnce(&TensorView<'_>) -> R,
) -> R {
    #[cfg(feature = "flex")]
    if let Ok(tensor) = tensor.clone().try_into_primitive::<burn_flex::Flex>() {
        let layout = tensor.layout();
        let elements = elements(tensor.bytes(), tensor.dtype());
        let (offset, sizes) = (layout.start_offset(), &layout.shape()[..]);
        let view = TensorView::strided(elements, offset, sizes, layout.strides());
        return run(&view.expect("burn's layouts lie inside their memory"));
    }
    #[cfg(feature = "ndarray")]
    #[expect(deprecated, reason = "the whole backend is, and still used")]
    if let Ok(tensor) = tensor.clone().try_into_primitive::<burn_ndarray::NdArray>() {
        use burn_ndarray::NdArrayTensor;
        // This backend has no f16 and no bf16.
        match &tensor {
            NdArrayTensor::F64(array) => return run(&TensorView::from(&array.view())),
            NdArrayTensor::F32(array) => return run(&TensorView::from(&array.view())),
            other => unreachable!("a tensor of floats that holds {other:?}"),
        }
    }
    let data = tensor.to_data();
    let elements = elements(data.as_bytes(), data.dtype());
    run(&TensorView::shaped(elements, &tensor.dims()).expect("burn gives all elements"))
}

/// A mask, in row-major order, as a tensor of the shape of `tensor` and on its device.
pub(crate) fn mask_like<const D: usize>(tensor: &Tensor<D>, mask: Vec<bool>) -> Tensor<D, Bool> {
    // `from_data` of this backend checks every byte for 0 and 1 and copies, which takes four times
    // as long as the mask.
    #[cfg(feature = "ndarray")]
    #[expect(deprecated, reason = "the whole backend is, and still used")]
    if tensor.clone().try_into_primitive::<burn_ndarray::NdArray>().is_ok() {
        let array = ndarray::ArcArray::from_shape_vec(&tensor.dims()[..], mask);
        let array = array.expect("an element for each of the tensor");
        return Tensor::from_primitive::<burn_ndarray::NdArray>(array.into());
    }
    Tensor::from_data(TensorData::new(mask, tensor.dims()), &tensor.device())
}

fn elements(bytes: &[u8], dtype: DType) -> Elements<'_> {
    let format = match dtype {
        DType::F64 => Format::F64,
        // A hint that less precision would do; in memory it is f32.
        DType::F32 | DType::Flex32 => Format::F32,
        DType::F16 => Format::F16,
        DType::BF16 => Format::Bf16,
        other => panic!("nonfinite: a tensor of {other:?}, not of floats"),
    };
    Elements::from_bytes(bytes, format).expect("whole elements")
}
