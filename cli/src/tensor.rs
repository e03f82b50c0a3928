//! A tensor of a file, its census, and where in it an element lies.

use nonfinite::{Census, Format, bytes};

/// A tensor as a file describes it, and its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor<'a> {
    /// The name, where the file gives one.
    pub name: Option<String>,
    /// The element type as the file spells it.
    pub dtype: String,
    /// The shape; its product times the element size is the length of `data`.
    pub shape: Vec<usize>,
    /// The order of the elements.
    pub layout: Layout,
    /// What the elements are.
    pub content: Content,
    /// The elements, without gaps.
    pub data: &'a [u8],
}

/// Which index runs fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// The last, as in C.
    RowMajor,
    /// The first, as in Fortran.
    ColumnMajor,
}

/// What the elements of a tensor are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Floating-point numbers.
    Floats {
        /// Their format.
        format: Format,
        /// Numbers that make up one element: 2 if they are complex, else 1.
        parts: usize,
        /// The byte order of a number.
        order: ByteOrder,
    },
    /// A floating-point format of less than a byte, which has neither NaN nor infinity.
    AlwaysFinite,
    /// Integers, booleans, text or times.
    NotFloat,
}

/// Which byte of a number comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// The least significant.
    Little,
    /// The most significant.
    Big,
}

impl ByteOrder {
    /// That of this machine.
    pub const NATIVE: Self = if cfg!(target_endian = "big") { Self::Big } else { Self::Little };
}

/// Bytes whose order is changed at a time: they stay in the first cache.
const CHUNK: usize = 16 << 10;

impl Tensor<'_> {
    /// The numbers that are not finite; of a complex tensor, its real and imaginary parts.
    ///
    /// # Errors
    /// [`nonfinite::Error::PartialElement`] if the bytes are no whole number of elements, which no reader lets pass.
    pub fn census(&self) -> Result<Census, nonfinite::Error> {
        match self.content {
            Content::Floats { format, order, .. }
                if order == ByteOrder::NATIVE || format.size_in_bytes() == 1 =>
            {
                bytes::census(self.data, format)
            }
            Content::Floats { format, .. } => foreign_census(self.data, format),
            Content::AlwaysFinite | Content::NotFloat => Ok(Census::default()),
        }
    }

    /// The number of elements that are floating-point numbers and can be something else than finite.
    #[must_use]
    pub fn floats(&self) -> usize {
        match self.content {
            Content::Floats { format, parts, .. } => {
                self.data.len() / (format.size_in_bytes() * parts.max(1))
            }
            Content::AlwaysFinite | Content::NotFloat => 0,
        }
    }

    /// The coordinate of a number of the census, counted in the order of the file.
    #[must_use]
    pub fn coordinate(&self, number: usize) -> Vec<usize> {
        let mut rest = match self.content {
            Content::Floats { parts, .. } => number / parts.max(1),
            Content::AlwaysFinite | Content::NotFloat => number,
        };
        let mut coordinate = self.shape.clone();
        let mut split = |extent: &mut usize| {
            let size = (*extent).max(1);
            *extent = rest % size;
            rest /= size;
        };
        match self.layout {
            Layout::RowMajor => coordinate.iter_mut().rev().for_each(&mut split),
            Layout::ColumnMajor => coordinate.iter_mut().for_each(&mut split),
        }
        coordinate
    }
}

/// The census of numbers in the other byte order, chunk by chunk, so that memory does not grow with the tensor.
fn foreign_census(data: &[u8], format: Format) -> Result<Census, nonfinite::Error> {
    let mut buffer = vec![0; CHUNK.min(data.len())];
    let mut total = Census::default();
    let mut numbers = 0;
    for chunk in data.chunks(CHUNK) {
        let turned = &mut buffer[..chunk.len()];
        turned.copy_from_slice(chunk);
        match format.size_in_bytes() {
            2 => turn::<2>(turned),
            4 => turn::<4>(turned),
            _ => turn::<8>(turned),
        }
        let part = bytes::census(turned, format)?;
        let classes = [
            (&mut total.nan, part.nan),
            (&mut total.pos_inf, part.pos_inf),
            (&mut total.neg_inf, part.neg_inf),
        ];
        for (total, part) in classes {
            total.count += part.count;
            total.first = total.first.or(part.first.map(|first| numbers + first));
        }
        numbers += chunk.len() / format.size_in_bytes();
    }
    Ok(total)
}

fn turn<const SIZE: usize>(bytes: &mut [u8]) {
    bytes.as_chunks_mut::<SIZE>().0.iter_mut().for_each(|number| number.reverse());
}
