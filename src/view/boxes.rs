//! How the questions under a validity bitmap take a view that is not dense.
//!
//! The order of memory differs from the order of indices, which is that of the bitmap. So the view
//! is cut into boxes: a long run of nulls is skipped, and a long run of valid elements is asked
//! about as a view without a bitmap. The other boxes are copied in row-major order.

use core::ops::ControlFlow;

use nonfinite_kernels::strided;

use super::layout::Layout;
use super::part::Part;
use super::validity::Validity;
use super::{Memory, TensorView};

/// Bytes of elements that are copied at once.
const COPIED: usize = 16 * 1024;

/// A box that has a valid element.
pub(super) enum Boxed<'c, 'v, 'a> {
    /// Elements without a null.
    Valid(Part<'v, 'a>),
    /// A copy, and the index of its first element.
    Copied(TensorView<'c>, usize),
}

/// Calls `visit` with the boxes of a part that have a valid element, in order, until it breaks.
#[inline(never)]
pub(super) fn boxes<'v, 'a>(
    validity: &Validity<'_>,
    part: Part<'v, 'a>,
    visit: &mut dyn FnMut(Boxed<'_, 'v, 'a>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let (mut at, end, backend) = (part.first, part.first + part.len, part.view.backend);
    let (format, mut room) = (part.view.format, [0; COPIED]);
    let most = COPIED / format.size_in_bytes();
    while at < end {
        let valid = validity.run(backend, at, end, true);
        let nulls = if valid == 0 { validity.run(backend, at, end, false) } else { 0 };
        if nulls >= most || nulls == end - at {
            at += nulls;
            continue;
        }
        let piece = Part::after(part.view, at, valid.max(most).min(end - at));
        if piece.len <= valid {
            visit(Boxed::Valid(piece))?;
        } else {
            let copy = &mut room[..piece.len * format.size_in_bytes()];
            strided::gather(&piece.source(), copy);
            let copy = TensorView::of(format, Memory::Bytes(copy), Layout::flat(piece.len));
            visit(Boxed::Copied(TensorView { backend, ..copy }, at))?;
        }
        at += piece.len;
    }
    ControlFlow::Continue(())
}
