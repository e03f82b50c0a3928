//! Cutting tensors into pieces.

use crate::model::{Data, Tensor};

/// What is looked at in one go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The index of the tensor.
    pub(crate) tensor: usize,
    /// The place of the first byte in the tensor; for a column, the number of the part.
    pub(crate) start: usize,
    /// Bytes. No more than the most that was asked for, except for the parts of a column, for
    /// decoded data, which is one piece, and for elements or blocks that are longer.
    pub(crate) length: usize,
}

/// Cuts all data that is looked at into pieces of at most so many bytes, in the order of the
/// tensors. Elements and blocks stay whole.
pub(crate) fn split(tensors: &[Tensor], most: usize) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (index, tensor) in tensors.iter().enumerate().filter(|(_, tensor)| tensor.is_scanned()) {
        if let Data::Column(column) = &tensor.data {
            let parts = column.parts().into_iter().enumerate();
            pieces.extend(parts.map(|(start, length)| Piece { tensor: index, start, length }));
            continue;
        }
        let length = tensor.data.length();
        let unit = tensor.unit().max(1);
        let step = match tensor.data {
            Data::Decoded(_) => length.max(1),
            Data::Input(_) | Data::Other { .. } | Data::Owned(_) | Data::Column(_) => {
                (most / unit).max(1) * unit
            }
        };
        let starts = (0..length).step_by(step);
        pieces.extend(starts.map(|start| Piece {
            tensor: index,
            start,
            length: step.min(length - start),
        }));
    }
    pieces
}
