//! The tables of the process.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::look::{Look, NONE};

/// The most dimensions that a shape keeps.
const RANK: usize = 8;

/// The most events that a table keeps. Their memory is allocated when the table is opened.
const EVENTS: usize = 1 << 14;

/// The shape of a tensor.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// The number of the element type in ONNX. 0 if the sink has seen no tensor.
    element: i32,
    /// The number of dimensions.
    rank: u32,
    /// The first eight dimensions.
    sizes: [i64; RANK],
}

impl Shape {
    pub(super) fn new(element: i32, sizes: &[i64]) -> Self {
        let mut shape = Self { element, rank: sizes.len() as u32, sizes: [0; RANK] };
        let kept = sizes.len().min(RANK);
        shape.sizes[..kept].copy_from_slice(&sizes[..kept]);
        shape
    }
}

/// What a sink has seen in all its calls.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Row {
    /// The number of calls of the sink.
    calls: u64,
    /// The number of calls that saw a NaN or an infinity.
    bad_calls: u64,
    /// The place of the first call in the order of all calls of the table.
    sequence: u64,
    /// The number, from 0, of the call that `shape` and `look` describe: the last call up to the
    /// first event of the table, or call 0 if that came after the event.
    kept_call: u64,
    /// The largest magnitude of a finite number in any call, or NaN.
    largest: f64,
    shape: Shape,
    look: Look,
}

impl Row {
    const EMPTY: Self = Self {
        calls: 0,
        bad_calls: 0,
        sequence: NONE,
        kept_call: NONE,
        largest: f64::NAN,
        shape: Shape { element: 0, rank: 0, sizes: [0; RANK] },
        look: Look::EMPTY,
    };
}

/// A call that saw a NaN or an infinity.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Event {
    /// The place of this call in the order of all calls of the table.
    sequence: u64,
    /// The number of the sink.
    number: u64,
    /// Which call of this sink, from 0.
    call: u64,
    shape: Shape,
    look: Look,
}

/// A row for each sink of a model.
pub(super) struct Table {
    sequence: AtomicU64,
    any_event: AtomicBool,
    rows: Box<[Mutex<Row>]>,
    events: Mutex<Vec<Event>>,
}

impl Table {
    fn new(rows: usize) -> Self {
        Self {
            sequence: AtomicU64::new(0),
            any_event: AtomicBool::new(false),
            rows: (0..rows).map(|_| Mutex::new(Row::EMPTY)).collect(),
            events: Mutex::new(Vec::with_capacity(EVENTS)),
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Records a call of the sink `number`, which is below [`Table::rows`].
    pub(super) fn write(&self, number: usize, shape: Shape, look: Look) {
        let sequence = self.sequence.fetch_add(1, Ordering::Relaxed);
        let mut row = lock(&self.rows[number]);
        let call = row.calls;
        row.calls += 1;
        row.sequence = row.sequence.min(sequence);
        // `max` of Rust returns the other number if one is NaN.
        row.largest = row.largest.max(look.max_abs);
        if call == 0 || !self.any_event.load(Ordering::Relaxed) {
            (row.kept_call, row.shape, row.look) = (call, shape, look);
        }
        if look.has_non_finite() {
            row.bad_calls += 1;
            self.any_event.store(true, Ordering::Relaxed);
            let mut events = lock(&self.events);
            if events.len() < EVENTS {
                events.push(Event { sequence, number: number as u64, call, shape, look });
            }
        }
    }

    /// Forgets all calls.
    pub(super) fn reset(&self) {
        self.rows.iter().for_each(|row| *lock(row) = Row::EMPTY);
        lock(&self.events).clear();
        self.any_event.store(false, Ordering::Relaxed);
        self.sequence.store(0, Ordering::Relaxed);
    }

    pub(super) fn copy_rows(&self) -> Vec<Row> {
        self.rows.iter().map(|row| *lock(row)).collect()
    }

    pub(super) fn copy_events(&self) -> Vec<Event> {
        lock(&self.events).clone()
    }
}

/// Ignores poison: a panic under the lock leaves valid values, and the next call must be recorded.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The open tables, by id.
static OPEN: Mutex<BTreeMap<u64, Arc<Table>>> = Mutex::new(BTreeMap::new());

/// Opens a table. Ids begin at 1 and are not used again.
pub(super) fn open(rows: usize) -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let id = NEXT.fetch_add(1, Ordering::Relaxed);
    lock(&OPEN).insert(id, Arc::new(Table::new(rows)));
    id
}

pub(super) fn find(id: u64) -> Option<Arc<Table>> {
    lock(&OPEN).get(&id).cloned()
}

/// Closes a table. Sessions that write into it keep it until they end.
pub(super) fn close(id: u64) {
    lock(&OPEN).remove(&id);
}
