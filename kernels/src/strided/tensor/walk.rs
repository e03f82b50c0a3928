//! A walk over the elements of a tensor, and the tiles that it is cut into.
//!
//! A tile is a long run of adjacent elements, or elements of at most 16 KiB. A dense kernel takes
//! the elements of a tile as one block:
//!
//! ```text
//! memory  a b c d e f g h i j k l
//! tile    a b   e f   i j           the block is a copy:  a b e f i j
//! tile    a b c d e f               the block is the memory itself
//! ```

use core::mem::MaybeUninit;

use super::super::copy::copy;
use super::super::dims::{self, Dim, Dims, MOST_DIMENSIONS, TILE_DIMS, Tile};
use super::Tensor;

/// Elements of a tensor in the order of a question.
pub(crate) struct Walk<'a> {
    x: Tensor<'a>,
    /// Each coordinate is an element of `x`, unless `x` is empty.
    dims: Dims,
}

impl<'a> Walk<'a> {
    /// Coordinate 0 alone. Inlined, since a walk is too large to be moved.
    #[inline(always)]
    pub(crate) const fn new(x: &Tensor<'a>) -> Self {
        Self { x: *x, dims: Dims::at(0, 0, 0) }
    }

    /// The elements in row-major order. `place` gets the number of each dimension, and the
    /// dimension with its step in the row-major index as its output. It returns the steps in the
    /// output of the walk and in the index along a row. `None` leaves out all coordinates but 0.
    pub(crate) fn place(
        &mut self,
        mut place: impl FnMut(usize, &Dim) -> Option<(isize, isize)>,
    ) -> &mut Self {
        self.dims = Dims::at(0, 0, 0);
        for (axis, dim) in self.x.layout.dims() {
            if let Some((output, row)) = place(axis, &dim) {
                self.dims.push(Dim { output, row, ..dim });
            }
        }
        self.dims.merge();
        self
    }

    /// The elements in row-major order. The output is the row-major index.
    pub(crate) fn row_major(&mut self) -> &mut Self {
        self.place(|_, dim| Some((dim.output, 0)))
    }

    /// The elements in the order of memory, each that is broadcast once, for questions that do not
    /// depend on order. Their outputs mean nothing.
    pub(crate) fn unordered(&mut self) -> &mut Self {
        self.place(|_, dim| (dim.input != 0).then_some((0, 0))).sort(dims::MEMORY)
    }

    /// Sorts the dimensions by a key. Coordinate 0 comes to lie at the lowest address, except along
    /// rows.
    pub(crate) fn sort(&mut self, key: fn(&Dim) -> usize) -> &mut Self {
        self.dims.forwards();
        self.dims.sort(key);
        self.dims.merge();
        self
    }

    /// Takes the element of coordinate 0 at each coordinate.
    pub(crate) fn repeat_first(&mut self) {
        self.dims.list_mut().iter_mut().for_each(|dim| dim.input = 0);
    }

    /// Whether each step leads beyond all elements of the dimensions inside.
    pub(crate) fn is_ascending(&self) -> bool {
        let mut reach = 0;
        self.dims.iter().all(|dim| {
            let before = reach;
            reach += (dim.size as isize - 1) * dim.input;
            dim.input > before
        })
    }

    /// How often the tensor repeats each element of the walk: in dimensions that were left out.
    pub(crate) fn repeats(&self) -> usize {
        self.x.len() / self.dims.elements()
    }

    /// Bytes of an element.
    pub(crate) const fn element(&self) -> usize {
        self.x.element
    }
}

/// Copies the elements of a tensor to the first bytes of `room`, in row-major order. Returns these
/// bytes.
///
/// # Panics
/// If `room` is too short, or if more than 16 dimensions are left after neighbours are merged.
#[cfg(feature = "stats")]
pub fn gather<'r>(x: &Tensor<'_>, room: &'r mut [u8]) -> &'r [u8] {
    let (element, bytes) = (x.element, x.len().saturating_mul(x.element));
    let room = &mut room[..bytes];
    let mut walk = Walk::new(x);
    walk.row_major();
    let dims = walk.dims.list_mut();
    let (inner, outer) = dims.split_at_mut(dims.len().min(TILE_DIMS));
    let to = room.as_mut_ptr();
    if !x.is_empty() {
        dims::all_steps(outer, &mut |input, output, _| {
            let from = x.start.wrapping_offset(input * element as isize);
            // SAFETY: elements of the tensor. `room` is ours and has a place for each, so no
            // element lies in `room`.
            unsafe { copy(element, from, to.offset(output * element as isize), inner) };
        });
    }
    room
}

/// A buffer on the stack, which begins at a cache line.
#[repr(align(64))]
pub(crate) struct Room<const BYTES: usize>(pub(crate) [MaybeUninit<bool>; BYTES]);

impl<const BYTES: usize> Room<BYTES> {
    pub(crate) const NEW: Self = Self([MaybeUninit::uninit(); BYTES]);
}

/// The size of the buffer for copied elements, in bytes.
pub(crate) const ROOM: usize = 16384;

/// A run of at least this many adjacent bytes is not copied together with others.
const LONG: usize = 2048;

/// When input and output have different orders, this many columns are read together, so that each
/// write fills a cache line.
const COLUMNS: usize = 64;

/// What a copy costs, counted in bytes that a search reads in the same time: for each element, or
/// for each run of adjacent elements. A run also costs twice its bytes.
const PER_ELEMENT: usize = 64;
const PER_RUN: usize = 128;

/// The tiles of a walk, one after the other. Tiles along the first dimension are consecutive.
pub(crate) struct Tiles<'w> {
    walk: &'w Walk<'w>,
    /// The size of a tile: the number of coordinates of each dimension.
    sizes: [usize; MOST_DIMENSIONS],
    /// The first coordinates of the next tile, and whether there is one.
    at: [usize; MOST_DIMENSIONS],
    more: bool,
    /// Coordinates of `walk`.
    tile: Tile,
    room: Room<ROOM>,
    /// Where the block of the last loaded tile begins, if not in `room`, and its bytes.
    in_place: Option<*const u8>,
    bytes: usize,
}

impl<'w> Tiles<'w> {
    /// Tiles of at most `most` elements. A long run of adjacent elements is a tile of its own, of
    /// at most `longest` elements.
    pub(crate) fn new(walk: &'w Walk<'_>, most: usize, longest: usize) -> Self {
        let dims = &walk.dims;
        let is_long = dims.first().is_some_and(|run| {
            run.input == 1
                && run.size * walk.x.element >= LONG
                && dims.get(1).is_none_or(|next| next.input != run.size as isize)
        });
        let (rank, most) = if is_long { (1, longest) } else { (dims.len(), most) };
        Self::cut(walk, most, &mut (0..rank).map(|i| (i, usize::MAX)))
    }

    /// For a walk by output. If the input has another order, tiles are long in both orders.
    pub(crate) fn by_output(walk: &'w Walk<'_>, most: usize) -> Self {
        let dims = &walk.dims;
        let along = (0..dims.len())
            .filter(|&i| dims[i].input != 0)
            .min_by_key(|&i| dims[i].input.unsigned_abs());
        match along {
            Some(along) if along > 0 && dims[0].input != 0 => {
                let (columns, rows) = (dims[along].size, dims[0].size);
                let most_rows = rows.min(most / columns.min(COLUMNS));
                let most_columns = columns.min(most / most_rows.max(1));
                let others = (1..dims.len()).filter(|&i| i != along).map(|i| (i, usize::MAX));
                let order = [(along, most_columns), (0, most_rows)].into_iter().chain(others);
                Self::cut(walk, most, &mut { order })
            }
            _ => {
                let in_place = dims.first().is_some_and(|run| run.output == 1);
                Self::new(walk, most, if in_place { usize::MAX } else { most })
            }
        }
    }

    /// Takes dimensions in this order, at most the given number of coordinates of each. Ends at the
    /// first dimension that does not fit whole.
    fn cut(
        walk: &'w Walk<'_>,
        most: usize,
        order: &mut dyn Iterator<Item = (usize, usize)>,
    ) -> Self {
        let dims = &walk.dims;
        let (mut sizes, mut count) = ([1; MOST_DIMENSIONS], 1);
        for (i, limit) in order.take(TILE_DIMS) {
            let size = dims[i].size;
            let pieces = size.div_ceil((most / count).min(limit).max(1));
            sizes[i] = size.div_ceil(pieces);
            count *= sizes[i];
            if sizes[i] < size && limit >= size || sizes[i] == 1 {
                break;
            }
        }
        Self {
            walk,
            sizes,
            at: [0; MOST_DIMENSIONS],
            more: !walk.x.is_empty(),
            tile: Tile::at(0, 0, 0),
            room: Room::NEW,
            in_place: None,
            bytes: 0,
        }
    }

    /// Goes to the next tile. False if there is none.
    pub(crate) fn next(&mut self) -> bool {
        let dims = &self.walk.dims;
        let (mut input, mut output, mut row) = (dims.input, dims.output, dims.row);
        self.tile = Tile::at(0, 0, 0);
        let mut carry = true;
        for (i, dim) in dims.iter().enumerate() {
            let (most, at) = (self.sizes[i], &mut self.at[i]);
            let (first, size) = (*at as isize, most.min(dim.size - *at));
            self.tile.push(Dim { size, ..*dim });
            input += dim.input * first;
            output = output.wrapping_add(dim.output.wrapping_mul(first));
            row += dim.row * first;
            if carry {
                carry = *at + size == dim.size;
                *at = if carry { 0 } else { *at + size };
            }
        }
        (self.tile.input, self.tile.output, self.tile.row) = (input, output, row);
        core::mem::replace(&mut self.more, !carry)
    }

    /// The tile.
    pub(crate) const fn tile(&self) -> &Tile {
        &self.tile
    }

    /// The output of element number `i` of the tile, in the order of its dimensions.
    pub(crate) fn output_of(&self, i: usize) -> usize {
        self.tile.output.wrapping_add(dims::output_of(&self.tile, i)) as usize
    }

    /// A walk over the tile alone, in the order of its dimensions, with adjacent outputs.
    pub(crate) fn walk_of_tile(&self) -> Walk<'w> {
        let mut dims = Dims::at(self.tile.input, 0, 0);
        let mut output = 1;
        for &dim in &*self.tile {
            dims.push(Dim { output, row: 0, ..dim });
            output *= dim.size as isize;
        }
        Walk { x: self.walk.x, dims }
    }

    /// Puts the dimensions of the tile into the order of memory, those that are broadcast first.
    pub(crate) fn by_memory(&mut self) {
        self.tile.sort(|dim| dim.input as usize);
    }

    /// Coordinate 0 of the tile.
    fn start(&self) -> *const u8 {
        let x = &self.walk.x;
        x.start.wrapping_offset(self.tile.input.wrapping_mul(x.element as isize))
    }

    /// Loads the elements of the tile into one block, in the order of its dimensions, the innermost
    /// first. Takes one element of a broadcast dimension.
    ///
    /// # Panics
    /// If the elements do not lie in one piece, and have more than [`ROOM`] bytes.
    pub(crate) fn load(&mut self) -> &[u8] {
        let (start, element) = (self.start(), self.walk.x.element);
        let (mut dims, mut rank) = ([Dim::default(); TILE_DIMS], 0);
        // An empty tensor has no element at coordinate 0 either.
        let (mut count, mut in_place) = (usize::from(!self.walk.x.is_empty()), true);
        for dim in self.tile.iter().filter(|dim| dim.input != 0) {
            let output = count as isize;
            in_place &= dim.input == output;
            dims[rank] = Dim { output, ..*dim };
            (rank, count) = (rank + 1, count * dim.size);
        }
        self.bytes = count * element;
        self.in_place = in_place.then_some(start);
        if !in_place {
            let room = self.room.0[..self.bytes].as_mut_ptr().cast();
            // SAFETY: elements of a tile, so of the tensor. `room` is ours and has `count` places,
            // one for each.
            unsafe { copy(element, start, room, &mut dims[..rank]) };
        }
        self.block()
    }

    /// The elements of the last tile that was loaded. Their steps are those of [`Tile::in_block`].
    pub(crate) fn block(&self) -> &[u8] {
        let start = self.in_place.unwrap_or(self.room.0.as_ptr().cast());
        // SAFETY: elements of the tensor that lie in one piece, or bytes of `room` that `load` has
        // written. Both stay until the next `load`, which takes `&mut self`.
        unsafe { core::slice::from_raw_parts(start, self.bytes) }
    }

    /// The elements of the tile and all bytes between them, if these may be read and a search of
    /// them takes less time than a copy of the elements.
    pub(crate) fn span(&self) -> Option<&[u8]> {
        let (element, count) = (self.walk.x.element, self.tile.elements());
        let copied = match self.tile.first() {
            Some(run) if run.input == 1 => {
                (count / run.size * PER_RUN).saturating_add(count.saturating_mul(2 * element))
            }
            _ => count.saturating_mul(PER_ELEMENT),
        };
        let forwards = self.tile.iter().all(|dim| dim.input >= 0);
        let reach = |dim: &Dim| (dim.size - 1) * dim.input.unsigned_abs();
        let span = 1 + self.tile.iter().map(reach).sum::<usize>();
        let pays = forwards && count < span && span.saturating_mul(element) <= copied;
        // SAFETY: no dimension runs backwards, so these are the bytes from the first element to the
        // last, which `gaps` allows to read.
        (pays && self.walk.x.gaps)
            .then(|| unsafe { core::slice::from_raw_parts(self.start(), span * element) })
    }
}
