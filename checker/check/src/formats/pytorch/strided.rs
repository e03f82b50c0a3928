//! Views: the elements of a storage that a tensor shows, by its strides.

use std::io::{self, Read};
use std::ops::Range;

use crate::model::ranges::ReadAhead;
use crate::model::{Decode, Layout, ReadAt};

/// A tensor as a view of a storage. Axes of stride 0, along which the tensor repeats itself, and of
/// extent 1 are left out, so that each number counts once. (Numbers of views that overlap
/// themselves in other ways count as often as the view shows them.)
#[derive(Clone, Debug)]
pub(super) struct View {
    /// Extent and stride of each axis, the largest stride first.
    axes: Vec<(u64, u64)>,
    /// The first element.
    offset: u64,
    /// The index behind the last element.
    end: u64,
    elements: u64,
    /// Bytes of an element.
    unit: u64,
    order: Layout,
}

impl View {
    /// Offset and strides in elements of `unit` bytes, of a storage of `storage` bytes.
    pub(super) fn new(
        shape: &[u64],
        strides: &[i64],
        offset: i64,
        unit: u64,
        storage: u64,
    ) -> Result<Self, &'static str> {
        if shape.len() != strides.len() {
            return Err("as many strides as extents are needed");
        }
        let offset = u64::try_from(offset).map_err(|_| "a negative offset")?;
        let elements =
            shape.iter().try_fold(1, |product: u64, &extent| product.checked_mul(extent));
        let elements = elements.filter(|elements| {
            elements.checked_mul(unit).is_some_and(|bytes| bytes <= i64::MAX as u64)
        });
        let elements = elements.ok_or("a shape that is too large")?;
        let mut view =
            Self { axes: Vec::new(), offset, end: offset, elements, unit, order: Layout::RowMajor };
        if elements == 0 {
            // The view has no elements, so its place does not matter.
            view.offset = 0;
            view.end = 0;
            return Ok(view);
        }
        let mut last = offset;
        let mut axes = Vec::new();
        for (place, (&extent, &stride)) in shape.iter().zip(strides).enumerate() {
            if extent == 1 {
                continue;
            }
            let stride = u64::try_from(stride)
                .map_err(|_| "a negative stride, which PyTorch does not have")?;
            let reach = stride.checked_mul(extent - 1).and_then(|reach| last.checked_add(reach));
            last = reach.ok_or("strides that are too large")?;
            if stride > 0 {
                axes.push((place, extent, stride));
            }
        }
        if last >= storage / unit {
            return Err("it reaches beyond its storage");
        }
        view.end = last + 1;
        axes.sort_by_key(|&(_, _, stride)| std::cmp::Reverse(stride));
        // The axes that are left out count as the slowest, so that their coordinate is 0.
        let shown: Vec<usize> = axes.iter().map(|&(place, ..)| place).collect();
        let out = (0..shape.len()).filter(|place| !shown.contains(place));
        let order: Vec<usize> = out.chain(shown.iter().copied()).collect();
        let wide = |&&place: &&usize| shape[place] > 1;
        if !order.iter().filter(wide).is_sorted() {
            view.order = Layout::Axes(order.into());
        }
        view.axes = axes.into_iter().map(|(_, extent, stride)| (extent, stride)).collect();
        view.elements = view.axes.iter().map(|(extent, _)| extent).product();
        Ok(view)
    }

    /// The number of elements that the view shows. Repeated elements count once.
    pub(super) fn elements(&self) -> u64 {
        self.elements
    }

    /// The bytes of the storage from the first to the last element.
    pub(super) fn bytes(&self) -> Range<u64> {
        self.offset * self.unit..self.end * self.unit
    }

    /// Whether the elements are adjacent in the storage, each once.
    pub(super) fn is_dense(&self) -> bool {
        let mut dense = 1;
        self.axes.iter().rev().all(|&(extent, stride)| {
            let follows = stride == dense;
            // The range is within the storage, so the product fits.
            dense = stride.saturating_mul(extent);
            follows
        })
    }

    /// The order of the elements in an adjacent view, and of decoded elements.
    pub(super) fn order(&self) -> Layout {
        self.order.clone()
    }

    /// The elements in order, read from a storage that begins at this byte of the input.
    pub(super) fn decode(self, storage: u64) -> Box<dyn Decode> {
        Box::new(Gather { view: self, storage })
    }
}

struct Gather {
    view: View,
    storage: u64,
}

impl Decode for Gather {
    fn length(&self) -> u64 {
        self.view.elements * self.view.unit
    }

    fn open<'a>(&'a self, source: &'a dyn ReadAt) -> io::Result<Box<dyn Read + 'a>> {
        Ok(Box::new(Elements {
            view: &self.view,
            bytes: ReadAhead::new(source),
            storage: self.storage,
            coordinate: vec![0; self.view.axes.len()],
            left: self.view.elements,
        }))
    }
}

struct Elements<'a> {
    view: &'a View,
    bytes: ReadAhead<'a>,
    /// The first byte of the storage.
    storage: u64,
    coordinate: Vec<u64>,
    left: u64,
}

impl Elements<'_> {
    /// The byte of the element at the coordinate.
    fn at(&self) -> u64 {
        let steps = self
            .coordinate
            .iter()
            .zip(&self.view.axes)
            .map(|(&index, &(_, stride))| index * stride);
        self.storage + (self.view.offset + steps.sum::<u64>()) * self.view.unit
    }

    /// The number of adjacent elements in the storage, from the coordinate on.
    fn run(&self) -> u64 {
        match (self.view.axes.last(), self.coordinate.last()) {
            (Some((extent, 1)), Some(index)) => extent - index,
            _ => 1,
        }
    }

    /// Advances by `count` elements, at most the length of a run.
    fn advance(&mut self, count: u64) {
        self.left -= count;
        let mut step = count;
        for (index, &(extent, _)) in self.coordinate.iter_mut().zip(&self.view.axes).rev() {
            *index += step;
            if *index < extent {
                return;
            }
            (*index, step) = (0, 1);
        }
    }
}

impl Read for Elements<'_> {
    /// Returns whole elements only, so `out` must have room for one.
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let unit = self.view.unit;
        let mut written = 0;
        while self.left > 0 {
            let run = self.run().min((out.len() - written) as u64 / unit);
            if run == 0 {
                break;
            }
            let at = self.at();
            let elements = self.bytes.get(at..at + run * unit)?;
            out[written..written + elements.len()].copy_from_slice(elements);
            written += elements.len();
            self.advance(run);
        }
        if written == 0 && self.left > 0 && !out.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no room for an element"));
        }
        Ok(written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The elements come in pieces of any length, and each is whole.
    #[test]
    fn pieces() {
        let storage: Vec<u8> = (0..24u16).flat_map(u16::to_le_bytes).collect();
        for (shape, strides) in [([3, 4], [8, 1]), ([4, 3], [1, 8]), ([3, 4], [8, 2])] {
            let view =
                View::new(&shape, &strides, 0, 2, storage.len() as u64).expect("a good view");
            let (decode, slow) = (view.decode(0), strides[0].max(strides[1]));
            let bytes = &storage[..];
            let fast = strides[0].min(strides[1]);
            let elements =
                (0..3).flat_map(|row| (0..4).map(move |i| (row * slow + i * fast) as u16));
            let expected: Vec<u8> = elements.flat_map(u16::to_le_bytes).collect();
            for room in 2..30 {
                let mut read = decode.open(&bytes).expect("a whole storage");
                let (mut all, mut out) = (Vec::new(), vec![0; room]);
                loop {
                    let count = read.read(&mut out).expect("there is room for an element");
                    assert_eq!(count % 2, 0);
                    all.extend_from_slice(&out[..count]);
                    if count == 0 {
                        break;
                    }
                }
                assert_eq!(all, expected, "{shape:?}, room for {room} bytes");
                assert_eq!(read.read(&mut [0]).expect("the end"), 0);
            }
            let mut read = decode.open(&bytes).expect("a whole storage");
            assert_eq!(read.read(&mut []).expect("nothing is asked for"), 0);
            assert!(read.read(&mut [0]).is_err(), "an element has two bytes");
        }
    }
}
