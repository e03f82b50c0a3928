//! Finds the tensors, arrays, numbers and bytes in a pickle of PyTorch. The keys that lead to an
//! object are its name.

use std::collections::HashSet;

use super::constructors::{Array, Bytes, PickledTensor, Reader};
use super::pickle::{Id, Object, Pickle};
use crate::model::is_plain_text;

/// An object of a pickle that holds numbers.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    Tensor(PickledTensor),
    Array(Array),
    /// A NaN or an infinity, with an empty shape; or a list of floats with at least one of them.
    Numbers {
        name: String,
        shape: Vec<usize>,
        numbers: Vec<f64>,
    },
    /// All other floats of the pickle: the finite ones, and those without a name of their own.
    OtherNumbers(Vec<f64>),
    /// Bytes of unknown meaning.
    Unknown {
        name: Option<String>,
        bytes: usize,
    },
}

/// The most NaN and infinities, outside of lists of floats, that are tensors with a name of their
/// own. Each takes about 1 KB. The others are in the tensor of all other floats.
const MAX_NAMED: usize = 1 << 12;

/// The most bytes of names, shapes and arrays for each byte of the pickle. A hostile pickle could
/// repeat a few long ones by references.
const MAX_NAMES: usize = 64;
/// Bytes that every pickle may take in addition, so that small ones pass.
const MIN_NAMES: usize = 128 << 10;

/// The most bytes of names, shapes and arrays.
pub(super) fn room(pickle: &Pickle) -> usize {
    pickle.length.saturating_mul(MAX_NAMES).saturating_add(MIN_NAMES)
}

/// All items of a pickle, in its order. None if names and shapes would take far more memory than
/// the pickle. `bytes` begins with the pickle, and `name` is the name of its top object.
pub(super) fn walk(pickle: &Pickle, bytes: &[u8], name: &str) -> Option<Vec<Item>> {
    let mut walk = Walk {
        reader: Reader(pickle),
        bytes,
        room: room(pickle),
        seen: HashSet::new(),
        todo: Vec::new(),
        named: 0,
        items: Vec::new(),
        unknown: (None, 0),
    };
    walk.add(pickle.root, name, || None)?;
    while let Some((id, name)) = walk.todo.pop() {
        if walk.seen.insert(id) {
            let at = walk.todo.len();
            walk.visit(id, name)?;
            // The items, in the order of the pickle.
            walk.todo[at..].reverse();
        }
    }
    walk.rest()?;
    Some(walk.items)
}

struct Walk<'a> {
    reader: Reader<'a>,
    bytes: &'a [u8],
    room: usize,
    /// Each object is visited once, under the first name that leads to it. Otherwise references
    /// could multiply the work, or form a loop.
    seen: HashSet<Id>,
    todo: Vec<(Id, String)>,
    /// The floats with a name of their own.
    named: usize,
    items: Vec<Item>,
    /// Bytes of unknown meaning: the name of the first object with such bytes, and their number.
    unknown: (Option<String>, usize),
}

impl Walk<'_> {
    fn take(&mut self, lengths: &[usize]) -> Option<()> {
        for length in lengths {
            self.room = self.room.checked_sub(*length)?;
        }
        Some(())
    }

    /// Adds an object to the list to visit. Only objects that can hold numbers get a name.
    fn add(&mut self, id: Id, name: &str, key: impl FnOnce() -> Option<String>) -> Option<()> {
        let holds = match &self.reader.0.objects[id] {
            Object::Sequence(_) | Object::Dict(_) | Object::Call(_) | Object::Bytes(_) => true,
            Object::Float(number) => !number.is_finite() && self.named < MAX_NAMED,
            _ => false,
        };
        if !holds || self.seen.contains(&id) {
            return Some(());
        }
        let name = match key() {
            None => name.to_owned(),
            Some(key) if name.is_empty() => key,
            Some(key) => format!("{name}.{key}"),
        };
        self.take(&[name.len()])?;
        self.named += usize::from(matches!(self.reader.0.objects[id], Object::Float(_)));
        self.todo.push((id, name));
        Some(())
    }

    fn visit(&mut self, id: Id, name: String) -> Option<()> {
        let reader = self.reader;
        if let Some(rebuilt) = reader.tensor(id) {
            let found = rebuilt.found;
            let shape = size_of_val(&*found.shape);
            self.take(&[found.dtype.len(), found.storage.key.len(), shape])?;
            self.seen.extend(rebuilt.calls);
            for (key, id) in rebuilt.rest {
                self.add(id, &name, || key.map(str::to_owned))?;
            }
            self.items.push(Item::Tensor(PickledTensor { name, ..found }));
            return Some(());
        }
        if let Some((array, objects)) = reader.array(id) {
            self.take(&[size_of_val(&*array.shape), array.descr.len(), array.bytes.length()])?;
            self.seen.extend(objects);
            self.items.push(Item::Array(Array { name, ..array }));
            return Some(());
        }
        if let Some((bytes, objects)) = reader.bytes(id) {
            self.seen.extend(objects);
            return self.unknown(&bytes, Some(name));
        }
        match &reader.0.objects[id] {
            Object::Float(number) => self.numbers(name, Vec::new(), vec![*number]),
            Object::Sequence(items) => {
                if let Some(numbers) = self.list(items) {
                    self.numbers(name, vec![items.len()], numbers);
                    self.seen.extend(items);
                    return Some(());
                }
                for (i, &item) in items.iter().enumerate() {
                    self.add(item, &name, || Some(i.to_string()))?;
                }
            }
            Object::Dict(items) => self.add_items(items, &name)?,
            // The result of an unknown function is not known, but its arguments are looked at.
            Object::Call(call) => {
                if let Some(elements) = reader.elements(id) {
                    self.add(elements, &name, || None)?;
                }
                self.add(call.arguments, &name, || None)?;
                if let Some(state) = call.state {
                    self.add(state, &name, || None)?;
                }
                self.add_items(&call.items, &name)?;
            }
            _ => {}
        }
        Some(())
    }

    fn add_items(&mut self, items: &[(Id, Id)], name: &str) -> Option<()> {
        let reader = self.reader;
        items.iter().try_for_each(|&(key, value)| self.add(value, name, || Some(reader.key(key))))
    }

    /// The numbers of a list of floats only, if at least one is NaN or infinite.
    fn list(&self, items: &[Id]) -> Option<Vec<f64>> {
        let float = |&id: &Id| match self.reader.0.objects[id] {
            Object::Float(number) => Some(number),
            _ => None,
        };
        let is_bad = |id| float(id).is_some_and(|number| !number.is_finite());
        let wanted = items.iter().any(is_bad);
        wanted.then(|| items.iter().map(float).collect::<Option<_>>())?
    }

    /// Adds numbers. They take no room: each list is visited once, and the pickle has at least a
    /// byte for each entry.
    fn numbers(&mut self, name: String, shape: Vec<usize>, numbers: Vec<f64>) {
        self.items.push(Item::Numbers { name, shape, numbers });
    }

    fn unknown(&mut self, bytes: &Bytes, name: Option<String>) -> Option<()> {
        self.take(&[bytes.length()])?;
        let text = match bytes {
            Bytes::Here(range) => is_plain_text(&self.bytes[range.clone()]),
            Bytes::Text { object, .. } => match &self.reader.0.objects[*object] {
                Object::Text(text) => is_plain_text(text.as_bytes()) && text.is_ascii(),
                _ => false,
            },
        };
        if !text {
            let (first, length) = &mut self.unknown;
            if *length == 0 {
                *first = name;
            }
            *length = length.saturating_add(bytes.length());
        }
        Some(())
    }

    /// Adds the remaining floats and bytes: the finite floats, and objects that no key leads to.
    fn rest(&mut self) -> Option<()> {
        let mut numbers = Vec::new();
        for (id, object) in self.reader.0.objects.iter().enumerate() {
            if self.seen.contains(&id) {
                continue;
            }
            match object {
                Object::Float(number) => numbers.push(*number),
                Object::Bytes(_) | Object::Call(_) => {
                    if let Some((bytes, objects)) = self.reader.bytes(id) {
                        self.seen.extend(objects);
                        self.unknown(&bytes, None)?;
                    }
                }
                _ => {}
            }
        }
        if !numbers.is_empty() {
            self.items.push(Item::OtherNumbers(numbers));
        }
        let (name, bytes) = std::mem::take(&mut self.unknown);
        if bytes > 0 {
            self.items.push(Item::Unknown { name, bytes });
        }
        Some(())
    }
}
