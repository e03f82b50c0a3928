//! Copies of elements that the kernels cannot read, because the bytes are swapped or a stride is no
//! multiple of an element.

use crate::{Array, Error, Kind};

impl<O> Array<O> {
    /// Whether the kernels cannot read the elements where they are: the bytes are in the order of
    /// other machines, or strides are in bytes, because one is no multiple of an element (fields of
    /// records).
    #[inline]
    #[must_use]
    pub fn needs_copy(&self) -> bool {
        self.swapped || self.unit != self.item
    }

    /// The same elements, which the kernels can read: copied if needed. Integers are never read, so
    /// they stay where they are.
    ///
    /// # Errors
    /// [`Error::Memory`] if there is no memory for the copy.
    #[inline]
    pub fn readable(self) -> Result<Self, Error> {
        match self.kind {
            Kind::Float(format) if self.needs_copy() => {
                let mut copy = Array::copy(format, self.row_major_bytes()?, self.shape())?;
                copy.span = self.span;
                Ok(copy)
            }
            _ => Ok(self),
        }
    }

    /// The bytes of all elements in row-major order, in the order of the machine.
    fn row_major_bytes(&self) -> Result<Vec<u8>, Error> {
        let (sizes, strides) = (self.shape().sizes(), self.shape().strides());
        let elements = self.shape().elements();
        let (len, mut copy) = (elements.saturating_mul(self.item), Vec::new());
        // A broadcast array has more elements than its memory.
        copy.try_reserve_exact(len).map_err(|_| Error::Memory(len))?;
        let mut coordinate = vec![0; sizes.len()];
        let bytes = self.bytes();
        for _ in 0..elements {
            let place = |at: isize, (&i, &stride): (&usize, &isize)| {
                at + i.cast_signed() * stride * self.unit.cast_signed()
            };
            let dimensions = coordinate.iter().zip(strides);
            let at = dimensions.fold(self.offset.cast_signed(), place).cast_unsigned();
            let element = &bytes[at..at + self.item];
            if self.swapped {
                copy.extend(element.iter().rev());
            } else {
                copy.extend(element);
            }
            for (i, &size) in coordinate.iter_mut().zip(sizes).rev() {
                *i += 1;
                if *i < size {
                    break;
                }
                *i = 0;
            }
        }
        Ok(copy)
    }
}
