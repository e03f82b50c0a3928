//! Runs a created operator.

use nonfinite::{Backend, Elements, MaskView, TensorView};

use super::binding::BufferBindingMut;
use super::desc::{MOST_DIMENSIONS, Place};
use super::{BufferTensorDesc, CompiledOperator, Error, Tensor, TensorDataType};

/// Sizes and strides, converted for views.
struct Shape {
    sizes: [usize; MOST_DIMENSIONS],
    strides: [isize; MOST_DIMENSIONS],
    rank: usize,
}

impl Shape {
    /// The description was checked, so nothing wraps around, and the bound range covers all
    /// elements.
    fn of(desc: &BufferTensorDesc<'_>) -> Self {
        let rank = desc.sizes.len();
        let mut shape = Self { sizes: [1; MOST_DIMENSIONS], strides: [0; MOST_DIMENSIONS], rank };
        let mut packed = 1;
        for i in (0..rank).rev() {
            let size = desc.sizes[i] as usize;
            shape.sizes[i] = size;
            if size > 1 {
                shape.strides[i] = desc.strides.map_or(packed, |strides| strides[i] as isize);
                packed *= size as isize;
            }
        }
        shape
    }

    fn sizes(&self) -> &[usize] {
        &self.sizes[..self.rank]
    }

    fn strides(&self) -> &[isize] {
        &self.strides[..self.rank]
    }
}

/// `from` are the bytes of the input.
pub(super) fn dispatch(
    operator: &CompiledOperator<'_>,
    backend: Option<Backend>,
    from: &[u8],
    output: BufferBindingMut<'_>,
) -> Result<(), Error> {
    let place = Place { operator: operator.operator, tensor: Tensor::Output };
    let to = output.tensor(place, &operator.output)?;
    let (from_shape, to_shape) = (Shape::of(&operator.input), Shape::of(&operator.output));
    let x = Elements::from_bytes(from, operator.format).expect("whole DWORDs are whole elements");
    if operator.output.data_type == TensorDataType::Uint32 {
        let lines = Lines::of(&from_shape, &to_shape);
        lines.widen(to, |offset, stride, results| {
            let (sizes, strides) = ([results.len()], [stride]);
            let line = view(x, backend, offset, &sizes, &strides);
            line.mask(operator.predicate, results).expect("as many results as elements");
        });
    } else {
        let x = view(x, backend, 0, from_shape.sizes(), from_shape.strides());
        let to = MaskView::strided(to, 0, to_shape.sizes(), to_shape.strides());
        x.mask_into(operator.predicate, &mut to.expect("checked when created"))
            .expect("sizes of the input");
    }
    Ok(())
}

/// Their existence was checked when the operator was created.
fn view<'a>(
    x: Elements<'a>,
    backend: Option<Backend>,
    offset: usize,
    sizes: &'a [usize],
    strides: &'a [isize],
) -> TensorView<'a> {
    let view = TensorView::strided(x, offset, sizes, strides).expect("checked when created");
    backend.map_or(view, |backend| view.on(backend))
}

/// A dimension of input and output: its size, and the stride in either.
type Dimension = (usize, isize, isize);

/// Both tensors as lines along one dimension; the kernels write bytes only, so results of 32 bits
/// are widened by the line.
struct Lines {
    line: Dimension,
    others: [Dimension; MOST_DIMENSIONS],
    rank: usize,
}

/// Results that are widened at a time.
const CHUNK: usize = 512;
/// Bytes of a UINT32.
const DWORD: usize = size_of::<u32>();

impl Lines {
    /// Dimensions that continue where the next inner one ends are merged with it. The longest
    /// dimension is the line.
    fn of(from: &Shape, to: &Shape) -> Self {
        let mut dimensions = [(1, 0, 0); MOST_DIMENSIONS];
        let mut rank = 0;
        for i in (0..from.rank).rev().filter(|&i| from.sizes[i] > 1) {
            let (size, input, output) = (from.sizes[i], from.strides[i], to.strides[i]);
            if let Some((inner, inner_input, inner_output)) = dimensions[..rank].last_mut()
                && *inner as isize * *inner_input == input
                && *inner as isize * *inner_output == output
            {
                *inner *= size;
                continue;
            }
            dimensions[rank] = (size, input, output);
            rank += 1;
        }
        let longest = (0..rank).max_by_key(|&i| dimensions[i].0).unwrap_or(0);
        let line = core::mem::replace(&mut dimensions[longest], (1, 0, 0));
        Self { line, others: dimensions, rank }
    }

    /// Calls `answer(offset, stride, results)` for each line. It fills `results` for the elements
    /// from `offset` on.
    fn widen(&self, out: &mut [u8], answer: impl Fn(usize, isize, &mut [u8])) {
        let (size, input_stride, output_stride) = self.line;
        let mut results = [0; CHUNK];
        let mut at = [0; MOST_DIMENSIONS];
        loop {
            let (mut input, mut output) = self.offsets(&at);
            let mut rest = size;
            while rest > 0 {
                let results = &mut results[..rest.min(CHUNK)];
                answer(input as usize, input_stride, results);
                for &mut result in &mut *results {
                    let place = output as usize * DWORD;
                    out[place..place + DWORD].copy_from_slice(&u32::from(result).to_ne_bytes());
                    output += output_stride;
                }
                input += results.len() as isize * input_stride;
                rest -= results.len();
            }
            // Moves to the next coordinate of the other dimensions, or ends.
            let Some(step) = (0..self.rank).find(|&i| at[i] + 1 < self.others[i].0) else { return };
            at[..step].fill(0);
            at[step] += 1;
        }
    }

    /// The offset of the line at this coordinate.
    fn offsets(&self, at: &[usize]) -> (isize, isize) {
        let dimensions = self.others.iter().zip(at);
        dimensions.fold((0, 0), |(input, output), (&(_, i, o), &at)| {
            (input + at as isize * i, output + at as isize * o)
        })
    }
}
