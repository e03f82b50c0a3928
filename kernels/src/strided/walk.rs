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

use super::copy::copy;
use super::dims::{Dim, Dims, MOST_DIMENSIONS, TILE_DIMS, Tile};
use super::tensor::Tensor;

/// Elements of a tensor in the order of a question.
pub(super) struct Walk<'a> {
    x: Tensor<'a>,
    /// Each coordinate is an element of `x`, unless `x` is empty.
    dims: Dims,
}

impl<'a> Walk<'a> {
    /// Coordinate 0 alone. Inlined, since a walk is too large to be moved.
    #[inline(always)]
    pub(super) const fn new(x: &Tensor<'a>) -> Self {
        Self { x: *x, dims: Dims::at(0, 0, 0) }
    }

    /// The elements in row-major order. `place` gets the number of each dimension and the dimension,
    /// whose output is the row-major index. It returns the steps in the output of the walk and in
    /// the index along a row. `None` leaves out all coordinates but 0.
    pub(super) fn place(
        &mut self,
        mut place: impl FnMut(usize, &Dim) -> Option<(isize, isize)>,
    ) -> &mut Self {
        self.dims.restart(0, 0, 0);
        for (axis, dim) in self.x.layout().dims() {
            if let Some((output, row)) = place(axis, &dim) {
                self.dims.push(Dim { output, row, ..dim });
            }
        }
        self.dims.merge();
        self
    }

    /// The elements in row-major order. The output is the row-major index.
    pub(super) fn row_major(&mut self) -> &mut Self {
        self.place(|_, dim| Some((dim.output, 0)))
    }

    /// The elements in the order of memory, each that is broadcast once, for questions that do not
    /// depend on order. Their outputs mean nothing.
    pub(super) fn unordered(&mut self) -> &mut Self {
        self.place(|_, dim| (dim.input != 0).then_some((0, 0))).by_memory()
    }

    /// Puts the dimensions into the order of memory, those that are broadcast last. Coordinate 0
    /// comes to lie at the lowest address, except along rows.
    pub(super) fn by_memory(&mut self) -> &mut Self {
        self.sort(|dim| dim.input.unsigned_abs().wrapping_sub(1))
    }

    /// [`Walk::by_memory`] in the order of the output.
    pub(super) fn by_output(&mut self) -> &mut Self {
        self.sort(|dim| dim.output.unsigned_abs())
    }

    fn sort(&mut self, key: fn(&Dim) -> usize) -> &mut Self {
        self.dims.forwards();
        self.dims.sort(key);
        self.dims.merge();
        self
    }

    /// Takes the element of coordinate 0 at each coordinate.
    pub(super) fn repeat_first(&mut self) {
        self.dims.list_mut().iter_mut().for_each(|dim| dim.input = 0);
    }

    /// Whether each step leads beyond all elements of the dimensions inside.
    pub(super) fn is_ascending(&self) -> bool {
        let mut reach = 0;
        self.dims.iter().all(|dim| {
            let before = reach;
            reach += (dim.size as isize - 1) * dim.input;
            dim.input > before
        })
    }

    /// How often the tensor repeats each element of the walk: in dimensions that were left out.
    pub(super) fn repeats(&self) -> usize {
        self.x.len() / self.dims.elements()
    }

    /// Bytes of an element.
    pub(super) const fn element(&self) -> usize {
        self.x.element()
    }
}

/// Copies the elements of a tensor to the first bytes of `room`, in row-major order. Returns these
/// bytes.
///
/// # Panics
/// If `room` is too short, or if more than 16 dimensions are left after neighbours are merged.
#[cfg(feature = "stats")]
pub fn gather<'r>(x: &Tensor<'_>, room: &'r mut [u8]) -> &'r [u8] {
    let (element, room) = (x.element(), &mut room[..x.len() * x.element()]);
    let mut walk = Walk::new(x);
    walk.row_major();
    let (inner, outer) = walk.dims.split_at(walk.dims.len().min(TILE_DIMS));
    let to = room.as_mut_ptr();
    if !x.is_empty() {
        super::dims::all_steps(outer, &mut |input, output, _| {
            let from = x.start().wrapping_offset(input * element as isize);
            // SAFETY: elements of the tensor. `room` is ours and has a place for each, so no
            // element lies in `room`.
            unsafe { copy(element, from, to.offset(output * element as isize), inner) };
        });
    }
    room
}

/// A buffer on the stack.
pub(super) struct Room<const BYTES: usize>([MaybeUninit<bool>; BYTES]);

impl<const BYTES: usize> Room<BYTES> {
    #[inline(always)]
    pub(super) const fn new() -> Self {
        Self([MaybeUninit::uninit(); BYTES])
    }

    /// The first bytes, to be written before they are read.
    #[inline(always)]
    pub(super) fn slots(&mut self, bytes: usize) -> &mut [MaybeUninit<bool>] {
        &mut self.0[..bytes]
    }
}

/// The size of the buffer for copied elements, in bytes.
pub(super) const ROOM: usize = 16384;

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
pub(super) struct Tiles<'w> {
    walk: &'w Walk<'w>,
    /// The size of a tile: the number of coordinates of each dimension.
    sizes: [usize; MOST_DIMENSIONS],
    /// The first coordinates of the next tile, if there is one, and their place.
    at: [usize; MOST_DIMENSIONS],
    next: Option<(isize, isize, isize)>,
    /// Coordinates of `walk`, from the first call of [`Tiles::next`] on.
    tile: Tile,
    room: Room<ROOM>,
    /// Where the block of the last loaded tile begins, if not in `room`, and its bytes.
    in_place: Option<*const u8>,
    bytes: usize,
}

impl<'w> Tiles<'w> {
    /// Tiles of at most `most` elements. A long run of adjacent elements is a tile of its own, of
    /// at most `longest` elements.
    pub(super) fn new(walk: &'w Walk<'_>, most: usize, longest: usize) -> Self {
        let dims = &walk.dims;
        let is_long = dims.first().is_some_and(|run| {
            run.input == 1
                && run.size * walk.element() >= LONG
                && dims.get(1).is_none_or(|next| next.input != run.size as isize)
        });
        let (rank, most) = if is_long { (1, longest) } else { (dims.len(), most) };
        Self::cut(walk, most, &mut (0..rank).map(|i| (i, usize::MAX)))
    }

    /// For a walk by output. If the input has another order, tiles are long in both orders.
    pub(super) fn by_output(walk: &'w Walk<'_>, most: usize) -> Self {
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
    #[inline(never)]
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
            next: (!walk.x.is_empty()).then_some((dims.input, dims.output, dims.row)),
            tile: Tile::at(0, 0, 0),
            room: Room::new(),
            in_place: None,
            bytes: 0,
        }
    }

    /// Goes to the next tile. False if there is none.
    #[inline(never)]
    pub(super) fn next(&mut self) -> bool {
        let Some((mut input, mut output, mut row)) = self.next.take() else { return false };
        self.tile.restart(input, output, row);
        let mut carry = true;
        for (i, dim) in self.walk.dims.iter().enumerate() {
            let (most, at) = (self.sizes[i], &mut self.at[i]);
            let size = most.min(dim.size - *at);
            self.tile.push(Dim { size, ..*dim });
            if carry {
                let to = if *at + most < dim.size { *at + most } else { 0 };
                carry = to == 0;
                let by = to as isize - *at as isize;
                *at = to;
                input += dim.input * by;
                output = output.wrapping_add(dim.output.wrapping_mul(by));
                row += dim.row * by;
            }
        }
        self.next = (!carry).then_some((input, output, row));
        true
    }

    /// The tile.
    pub(super) const fn tile(&self) -> &Tile {
        &self.tile
    }

    /// A walk over the tile alone, in the order of its dimensions, with adjacent outputs.
    pub(super) fn walk_of_tile(&self) -> Walk<'w> {
        let mut dims = Dims::at(self.tile.input, 0, 0);
        let mut output = 1;
        for &dim in &*self.tile {
            dims.push(Dim { output, row: 0, ..dim });
            output *= dim.size as isize;
        }
        Walk { x: self.walk.x, dims }
    }

    /// Puts the dimensions of the tile into the order of memory.
    pub(super) fn by_memory(&mut self) {
        self.tile.sort(|dim| dim.input as usize);
    }

    /// Coordinate 0 of the tile.
    fn start(&self) -> *const u8 {
        let x = &self.walk.x;
        x.start().wrapping_offset(self.tile.input.wrapping_mul(x.element() as isize))
    }

    /// Loads the elements of the tile into one block, in the order of its dimensions, the innermost
    /// first. Takes one element of a broadcast dimension.
    ///
    /// # Panics
    /// If the elements do not lie in one piece, and have more than [`ROOM`] bytes.
    #[inline(never)]
    pub(super) fn load(&mut self) -> &[u8] {
        let (start, element) = (self.start(), self.walk.element());
        let (mut dims, mut rank) = ([Dim::ONE; TILE_DIMS], 0);
        let (mut count, mut in_place) = (1, true);
        for dim in self.tile.iter().filter(|dim| dim.input != 0) {
            let output = count as isize;
            in_place &= dim.input == output;
            dims[rank] = Dim { output, ..*dim };
            (rank, count) = (rank + 1, count * dim.size);
        }
        self.bytes = count * element;
        self.in_place = in_place.then_some(start);
        if !in_place {
            let room = self.room.slots(self.bytes).as_mut_ptr().cast();
            // SAFETY: elements of a tile, so of the tensor. `room` is ours and has `count` places,
            // one for each.
            unsafe { copy(element, start, room, &dims[..rank]) };
        }
        self.block()
    }

    /// The elements of the last tile that was loaded. Their steps are those of [`Tile::in_block`].
    pub(super) fn block(&self) -> &[u8] {
        let start = self.in_place.unwrap_or(self.room.0.as_ptr().cast());
        // SAFETY: elements of the tensor that lie in one piece, or bytes of `room` that `load` has
        // written. Both stay until the next `load`, which takes `&mut self`.
        unsafe { core::slice::from_raw_parts(start, self.bytes) }
    }

    /// The elements of the tile and all bytes between them, if these may be read and a search of
    /// them takes less time than a copy of the elements.
    #[inline(never)]
    pub(super) fn span(&self) -> Option<&[u8]> {
        let (element, count) = (self.walk.element(), self.tile.elements());
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
        (pays && self.walk.x.gaps())
            .then(|| unsafe { core::slice::from_raw_parts(self.start(), span * element) })
    }
}
