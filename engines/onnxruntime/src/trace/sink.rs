//! The operator `Sink`.
#![expect(unsafe_code, reason = "ONNX Runtime calls these functions")]

use std::ffi::{c_char, c_int, c_void};
use std::slice;
use std::sync::{Arc, Mutex, PoisonError};

use nonfinite::{Elements, Stats, TensorView};
use ort_sys::{
    ONNXTensorElementDataType as ElementType, OrtApi, OrtCustomOp, OrtKernelContext, OrtKernelInfo,
    OrtStatusPtr,
};

use super::look::Look;
use super::runtime::type_of;
use super::table::{self, Shape, Table};
use crate::api::{Api, Failure};
use crate::declared::DECLARED;

/// The least bytes of a tensor that several threads look at. For fewer bytes, waking the threads
/// takes longer than they save.
const PARALLEL_BYTES: usize = 256 << 10;

/// The most parts of a tensor: more than most machines have cores. A part has at least half of
/// [`PARALLEL_BYTES`].
const PARTS: usize = 32;

/// The description of the operator for the runtime, and our data, which each call gets back.
#[repr(C)]
struct Operator {
    /// First, so that a pointer to the operator is a pointer to this.
    declared: OrtCustomOp,
    api: Api,
}

/// The operators of the domain `nonfinite.trace`. They live forever.
pub(crate) fn operators(api: Api) -> [*const OrtCustomOp; 1] {
    let declared = OrtCustomOp {
        GetName: Some(get_name),
        GetInputType: Some(any_type),
        GetOutputType: Some(any_type),
        GetOutputTypeCount: Some(none),
        KernelDestroy: Some(destroy),
        CreateKernelV2: Some(create),
        KernelComputeV2: Some(compute),
        GetStartVersion: Some(first_version),
        ..DECLARED
    };
    [(&raw const *Box::leak(Box::new(Operator { declared, api }))).cast()]
}

/// A sink of a session.
struct Sink {
    api: Api,
    table: Arc<Table>,
    number: usize,
}

impl Sink {
    fn new(api: Api, info: *const OrtKernelInfo) -> Result<Self, Failure> {
        let id = api.attribute(info, "table")?;
        let table = id.and_then(|id| table::find(id.try_into().ok()?));
        let table = table.ok_or_else(|| api.invalid(&"no open table of this id"))?;
        let number = api.attribute(info, "number")?.and_then(|number| number.try_into().ok());
        let number = number.filter(|number| *number < table.rows());
        let number = number.ok_or_else(|| api.invalid(&"the table has no such row"))?;
        Ok(Self { api, table, number })
    }

    fn compute(&self, context: *mut OrtKernelContext) -> Result<(), Failure> {
        let api = self.api;
        let Some((input, element)) = api.tensor_input(&context)? else { return Ok(()) };
        let Some(data_type) = type_of(api.minor(), element) else { return Ok(()) };
        let Some(format) = data_type.format() else { return Ok(()) };
        // The runtime holds the tensor in memory, so that its size does not overflow.
        let elements = input.shape.iter().product::<i64>() as usize;
        let size = format.size_in_bytes();
        let data = if elements == 0 {
            &[]
        } else if input.data.is_null() {
            return Err(api.invalid(&"a tensor without data"));
        } else {
            // SAFETY: the tensor has that many elements of this type, which the runtime neither
            // moves nor changes during the call.
            unsafe { slice::from_raw_parts(input.data.cast::<u8>(), elements * size) }
        };
        let elements = Elements::from_bytes(data, format);
        let elements = elements.map_err(|_| api.invalid(&"a wrong length"))?;
        let stats = if data.len() < PARALLEL_BYTES {
            TensorView::from(elements).stats()
        } else {
            parallel_stats(api, context, elements)?
        };
        let shape = Shape::new(data_type.code(), &input.shape);
        self.table.write(self.number, shape, Look::new(&stats, format));
        Ok(())
    }
}

/// A tensor that several threads look at, each at some of the parts.
struct Shared<'a> {
    elements: Elements<'a>,
    /// The number of elements of each part except the last one.
    part: usize,
    found: [Mutex<Stats>; PARTS],
}

/// There is at least one element.
fn parallel_stats(
    api: Api,
    context: *mut OrtKernelContext,
    elements: Elements<'_>,
) -> Result<Stats, Failure> {
    let bytes = elements.as_bytes().len();
    // A multiple of 4096, so of the size of an element too.
    let part = bytes.div_ceil(PARTS).next_multiple_of(4096).max(PARALLEL_BYTES / 2);
    let parts = bytes.div_ceil(part);
    let part = part / elements.format().size_in_bytes();
    let found = std::array::from_fn(|_| Mutex::new(Stats::default()));
    let shared = Shared { elements, part, found };
    // SAFETY: `look_at_part` takes a `Shared`. Threads may share one: its fields are a borrowed
    // slice, numbers and mutexes. The call returns after the last call of `look_at_part`, so
    // `shared` outlives all of them.
    unsafe { api.parallel_for(context, look_at_part, parts, (&raw const shared).cast())? };
    let found = shared.found.into_iter().take(parts);
    let found = found.map(|one| one.into_inner().unwrap_or_else(PoisonError::into_inner));
    Ok(found
        .enumerate()
        .map(|(index, stats)| stats.behind(index * part))
        .fold(Stats::default(), Stats::join))
}

unsafe extern "system" fn look_at_part(shared: *mut c_void, index: usize) {
    // SAFETY: `parallel_stats` passes a `Shared` that outlives this call.
    let shared = unsafe { &*shared.cast_const().cast::<Shared<'_>>() };
    let (_, rest) = shared.elements.split_at(index * shared.part);
    let (part, _) = rest.split_at(rest.len().min(shared.part));
    let stats = TensorView::from(part).stats();
    *shared.found[index].lock().unwrap_or_else(PoisonError::into_inner) = stats;
}

/// # Safety
/// `op` is one of [`operators`].
unsafe fn api_of(op: *const OrtCustomOp) -> Api {
    // SAFETY: as the caller promises, `op` is the start of an `Operator`.
    unsafe { (*op.cast::<Operator>()).api }
}

/// `OrtCustomOp::CreateKernelV2`.
unsafe extern "system" fn create(
    op: *const OrtCustomOp,
    _: *const OrtApi,
    info: *const OrtKernelInfo,
    kernel: *mut *mut c_void,
) -> OrtStatusPtr {
    // SAFETY: the runtime calls us with the operator that it was given.
    let api = unsafe { api_of(op) };
    api.guard(|| {
        let made = Box::new(Sink::new(api, info)?);
        // SAFETY: the runtime wants the kernel there.
        unsafe { kernel.write(Box::into_raw(made).cast()) };
        Ok(())
    })
}

/// `OrtCustomOp::KernelComputeV2`.
unsafe extern "system" fn compute(
    kernel: *mut c_void,
    context: *mut OrtKernelContext,
) -> OrtStatusPtr {
    // SAFETY: the runtime calls us with what `create` wrote, before `destroy`; threads only share
    // it.
    let kernel = unsafe { &*kernel.cast::<Sink>() };
    kernel.api.guard(|| kernel.compute(context))
}

/// `OrtCustomOp::KernelDestroy`.
unsafe extern "system" fn destroy(kernel: *mut c_void) {
    if !kernel.is_null() {
        // SAFETY: the runtime calls us once with what `create` wrote, after its last use.
        drop(unsafe { Box::from_raw(kernel.cast::<Sink>()) });
    }
}

unsafe extern "system" fn get_name(_: *const OrtCustomOp) -> *const c_char {
    c"Sink".as_ptr()
}

/// The runtime takes `UNDEFINED` for any tensor type. Saved graphs say no type for most
/// intermediate tensors, so that a typed operator would not load.
unsafe extern "system" fn any_type(_: *const OrtCustomOp, _: usize) -> ElementType {
    ElementType::ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED
}

unsafe extern "system" fn none(_: *const OrtCustomOp) -> usize {
    0
}

unsafe extern "system" fn first_version(_: *const OrtCustomOp) -> c_int {
    1
}
