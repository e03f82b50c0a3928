//! The elements of a storage that a tensor shows, by its strides.

use std::io::{self, Read};
use std::ops::Range;

use crate::model::{Decode, Layout};

/// A tensor as a view of a storage. Extents of 1 and their strides are left out.
#[derive(Clone, Debug)]
pub(super) struct View {
    /// Extent and stride of each axis, the first slowest.
    axes: Vec<(usize, usize)>,
    /// The first element.
    offset: usize,
    /// One behind the last element.
    end: usize,
    elements: usize,
    /// Bytes of an element.
    unit: usize,
    /// Places of the axes of `axes` among all.
    places: Vec<usize>,
    rank: usize,
}

impl View {
    /// Offset and strides in elements of `unit` bytes, of a storage of `storage` bytes.
    pub(super) fn new(
        shape: &[usize],
        strides: &[i64],
        offset: i64,
        unit: usize,
        storage: usize,
    ) -> Result<Self, &'static str> {
        if shape.len() != strides.len() {
            return Err("as many strides as extents are needed");
        }
        let offset = usize::try_from(offset).map_err(|_| "a negative offset")?;
        let elements =
            shape.iter().try_fold(1, |product: usize, &extent| product.checked_mul(extent));
        let elements = elements.filter(|elements| {
            elements.checked_mul(unit).is_some_and(|bytes| bytes <= isize::MAX as usize)
        });
        let elements = elements.ok_or("a shape that is too large")?;
        let mut view = Self {
            axes: Vec::new(),
            offset,
            end: offset,
            elements,
            unit,
            places: Vec::new(),
            rank: shape.len(),
        };
        if elements == 0 {
            // Nothing is named, wherever it would lie.
            view.offset = 0;
            view.end = 0;
            return Ok(view);
        }
        let mut last = offset;
        for (place, (&extent, &stride)) in shape.iter().zip(strides).enumerate() {
            if extent == 1 {
                continue;
            }
            let stride = usize::try_from(stride)
                .map_err(|_| "a negative stride, which PyTorch does not have")?;
            let reach = stride.checked_mul(extent - 1).and_then(|reach| last.checked_add(reach));
            last = reach.ok_or("strides that are too large")?;
            view.axes.push((extent, stride));
            view.places.push(place);
        }
        if last >= storage / unit {
            return Err("it reaches beyond its storage");
        }
        view.end = last + 1;
        Ok(view)
    }

    pub(super) fn elements(&self) -> usize {
        self.elements
    }

    /// The bytes of the storage from the first to the last element.
    pub(super) fn bytes(&self) -> Range<usize> {
        self.offset * self.unit..self.end * self.unit
    }

    /// The order in which a storage without gaps holds the elements; none if it has gaps or shows
    /// elements twice.
    pub(super) fn layout(&self) -> Option<Layout> {
        let mut order: Vec<usize> = (0..self.axes.len()).collect();
        // The largest stride runs slowest.
        order.sort_by_key(|&axis| std::cmp::Reverse(self.axes[axis].1));
        let mut dense = 1;
        for &axis in order.iter().rev() {
            let (extent, stride) = self.axes[axis];
            if stride != dense {
                return None;
            }
            dense *= extent;
        }
        if order.is_sorted() {
            return Some(Layout::RowMajor);
        }
        // Extents of 1 may stand anywhere.
        let ones = (0..self.rank).filter(|place| !self.places.contains(place));
        Some(Layout::Axes(ones.chain(order.iter().map(|&axis| self.places[axis])).collect()))
    }

    /// The elements in row-major order, out of a storage that begins at this byte of the input.
    pub(super) fn decode(self, storage: usize) -> Box<dyn Decode> {
        Box::new(Gather { view: self, storage })
    }
}

struct Gather {
    view: View,
    storage: usize,
}

impl Decode for Gather {
    fn length(&self) -> usize {
        self.view.elements * self.view.unit
    }

    fn open<'a>(&'a self, input: &'a [u8]) -> io::Result<Box<dyn Read + 'a>> {
        let storage = input.get(self.storage..).ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(Box::new(Elements {
            view: &self.view,
            storage,
            coordinate: vec![0; self.view.axes.len()],
            left: self.view.elements,
        }))
    }
}

struct Elements<'a> {
    view: &'a View,
    storage: &'a [u8],
    coordinate: Vec<usize>,
    left: usize,
}

impl Elements<'_> {
    /// The byte of the element at the coordinate, within the storage.
    fn at(&self) -> usize {
        let steps = self
            .coordinate
            .iter()
            .zip(&self.view.axes)
            .map(|(&index, &(_, stride))| index * stride);
        (self.view.offset + steps.sum::<usize>()) * self.view.unit
    }

    fn advance(&mut self) {
        self.left -= 1;
        for (index, &(extent, _)) in self.coordinate.iter_mut().zip(&self.view.axes).rev() {
            *index += 1;
            if *index < extent {
                return;
            }
            *index = 0;
        }
    }
}

impl Read for Elements<'_> {
    /// Gives whole elements only, so that `out` must have room for one.
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let unit = self.view.unit;
        let mut written = 0;
        for out in out.chunks_exact_mut(unit) {
            if self.left == 0 {
                break;
            }
            let at = self.at();
            let element = self.storage.get(at..at + unit).ok_or(io::ErrorKind::UnexpectedEof)?;
            out.copy_from_slice(element);
            written += unit;
            self.advance();
        }
        if written == 0 && self.left > 0 && !out.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no room for an element"));
        }
        Ok(written)
    }
}
