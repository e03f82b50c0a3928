//! Views of the memory of a tensor.

use burn_tensor::{DType, Tensor};
use nonfinite::{Elements, Format, TensorView};

/// Calls `run` with a view of the tensor.
pub(crate) fn with_view<const D: usize, R>(
    tensor: &Tensor<D>,
    run: impl FnOnce(&TensorView<'_>) -> R,
) -> R {
    if let Ok(tensor) = tensor.clone().try_into_primitive::<burn_flex::Flex>() {
        let layout = tensor.layout();
        let elements = elements(tensor.bytes(), tensor.dtype());
        let (offset, sizes) = (layout.start_offset(), &layout.shape()[..]);
        let view = TensorView::strided(elements, offset, sizes, layout.strides());
        return run(&view.expect("burn's layouts lie inside their memory"));
    }
    let data = tensor.to_data();
    let elements = elements(data.as_bytes(), data.dtype());
    let shape = tensor.dims();
    run(&TensorView::shaped(elements, &shape).expect("burn gives all elements"))
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
