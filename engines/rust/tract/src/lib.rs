//! Finds NaN and infinities in models that tract runs: operators in the place of tract's, and a run
//! that checks what each node computes.
//!
//! ```
//! use nonfinite::Predicate;
//! use tract_onnx::prelude::*;
//!
//! # fn load(bytes: &[u8]) -> TractResult<()> {
//! let mut onnx = tract_onnx::onnx();
//! nonfinite_tract::register(&mut onnx);
//! let plan = onnx.model_for_read(&mut &*bytes)?.into_optimized()?.into_runnable()?;
//! let inputs = tvec![tensor1(&[1f32, 2.0]).into()];
//! let outputs = nonfinite_tract::run_without(&plan, inputs, Predicate::NonFinite)?;
//! # Ok(()) }
//! ```

mod checked;
mod operators;

pub use checked::{look, run_watched, run_without};
use nonfinite::{Element, Elements};
pub use operators::register;
use tract_onnx::prelude::*;
use tract_onnx::tract_core::tract_data::half::f16;

/// The elements of a tensor in row-major order. None if they are not floating-point numbers.
///
/// # Errors
/// If the tensor holds packed weights, or its memory cannot be read.
fn elements(x: &Tensor) -> TractResult<Option<Elements<'_>>> {
    fn of<T: Element + Datum>(x: &Tensor) -> TractResult<Option<Elements<'_>>> {
        Ok(Some(Elements::from(x.try_as_plain_ram()?.as_slice::<T>()?)))
    }
    match x.datum_type() {
        DatumType::F16 => of::<f16>(x),
        DatumType::F32 => of::<f32>(x),
        DatumType::F64 => of::<f64>(x),
        _ => Ok(None),
    }
}
