//! Writing a file with some of its numbers replaced.

use std::io::Write;
use std::ops::Range;

use nonfinite::{Census, ElementsMut, Format, TensorView};

use super::error::FixError;
use super::{FixOptions, FixedTensor, value};
use crate::model::{ByKind, ByteOrder, Content, Error, Kinds, Tensor, swap_bytes};
use crate::policy;

/// Bytes of a chunk, which is checked and then written. A chunk stays in a near cache, and holds a
/// whole number of elements.
const CHUNK: usize = 256 << 10;

/// Writes the tensors with their numbers replaced, and all other bytes as they are. The tensors
/// must be in the order of the file.
///
/// # Errors
/// [`FixError`] if a value is needed and does not fit, if `out` fails, or if the observer stops.
pub(super) fn write(
    input: &[u8],
    tensors: Vec<(Range<usize>, Tensor)>,
    options: &FixOptions,
    out: &mut dyn Write,
) -> Result<Vec<FixedTensor>, FixError> {
    let mut out = Observed { out, options };
    let mut fixed = Vec::new();
    let mut written = 0;
    for (range, tensor) in tensors {
        out.write(&input[written..range.start])?;
        written = range.end;
        let Tensor { name, dtype, shape, content, .. } = tensor;
        let mut report = FixedTensor { name, dtype, shape, replaced: ByKind::default() };
        match content {
            Content::Floats { format, order, .. } => {
                write_numbers(&input[range], format, order, &mut out, &mut report)?;
            }
            _ => out.write(&input[range])?,
        }
        fixed.push(report);
    }
    out.write(&input[written..])?;
    out.out.flush().map_err(FixError::Output)?;
    Ok(fixed)
}

/// The output, chunk by chunk.
struct Observed<'a> {
    out: &'a mut dyn Write,
    options: &'a FixOptions,
}

impl Observed<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<(), FixError> {
        bytes.chunks(CHUNK).try_for_each(|chunk| {
            self.out.write_all(chunk).map_err(FixError::Output)?;
            self.options.advance(chunk.len())
        })
    }
}

/// Writes the numbers of a tensor.
fn write_numbers(
    numbers: &[u8],
    format: Format,
    order: ByteOrder,
    out: &mut Observed<'_>,
    report: &mut FixedTensor,
) -> Result<(), FixError> {
    let options = out.options;
    let name = report.name.as_deref().unwrap_or_default();
    let allowed = policy::allowed(&options.allow, name);
    let size = format.size_in_bytes();
    let swapped = order != ByteOrder::NATIVE;
    let refused = |error| FixError::Input(Error::Census(error));
    let mut buffer = Vec::new();
    for chunk in numbers.chunks(CHUNK) {
        buffer.clear();
        buffer.extend_from_slice(chunk);
        if swapped {
            swap_bytes(&mut buffer, size);
        }
        let view = TensorView::from_bytes(&buffer, format).map_err(refused)?;
        let found = counts(&view.census());
        let replace = found.map(|count| count > 0).without(allowed);
        if replace.is_empty() {
            // Nothing is replaced, so the original bytes are written and need not be swapped back.
            out.write(chunk)?;
            continue;
        }
        let stay = masks(view, allowed).map_err(refused)?;
        report.replaced = report.replaced.zip(found).zip(replace).map(
            |((sum, count), replaced)| {
                if replaced { sum + count } else { sum }
            },
        );
        let named = |error| FixError::Value { tensor: name.to_owned(), error };
        let with = value::codes(format, &options.values, replace).map_err(named)?;
        ElementsMut::from_bytes(&mut buffer, format)
            .and_then(|x| x.replace_non_finite(with))
            .map_err(refused)?;
        if swapped {
            swap_bytes(&mut buffer, size);
        }
        // Restores the original bytes of allowed numbers, since a NaN has many codes.
        for mask in stay {
            let elements = buffer.chunks_exact_mut(size).zip(chunk.chunks_exact(size));
            let elements = elements.zip(mask).filter(|(_, stays)| *stays);
            elements.for_each(|((element, original), _)| element.copy_from_slice(original));
        }
        out.write(&buffer)?;
    }
    Ok(())
}

/// The count of the numbers of each kind.
fn counts(census: &Census) -> ByKind<usize> {
    ByKind { nan: census.nan.count, pos_inf: census.pos_inf.count, neg_inf: census.neg_inf.count }
}

/// For each kind, a mask of the elements of that kind.
fn masks(view: TensorView<'_>, kinds: Kinds) -> Result<Vec<Vec<bool>>, nonfinite::Error> {
    let asked = kinds.zip(ByKind::PREDICATES).into_array().into_iter().filter(|(asked, _)| *asked);
    let mask = |(_, predicate)| {
        let mut mask = vec![false; view.len()];
        view.mask(predicate, &mut mask[..]).map(|()| mask)
    };
    asked.map(mask).collect()
}
