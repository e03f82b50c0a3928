//! Finds the tensors, arrays, scales and bytes in a pickle of PyTorch. The keys that lead to an
//! object are its name.

use std::collections::HashSet;

use super::constructors::{Array, Bytes, PickledTensor, Reader};
use super::pickle::{Id, Object, Pickle};
use crate::model::ranges::Part;
use crate::model::{ReadAt, holds_text, is_plain_text};

/// An object of a pickle that holds numbers.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    Tensor(PickledTensor),
    Array(Array),
    /// The scale of a quantised tensor, or its zero point, as a float of Python.
    Scale {
        name: String,
        number: f64,
    },
    /// An array of objects of which one is a float of Python.
    Objects {
        name: String,
        bytes: u64,
    },
    /// Bytes of unknown meaning.
    Unknown {
        name: Option<String>,
        bytes: u64,
    },
}

/// The most bytes of names, shapes and arrays for each byte of the pickle. A hostile pickle could
/// repeat a few long ones by references.
const MAX_NAMES: u64 = 64;
/// Bytes that every pickle may take in addition, so that small ones pass.
const MIN_NAMES: u64 = 128 << 10;

/// The most bytes of names, shapes and arrays.
pub(super) fn room(pickle: &Pickle) -> u64 {
    pickle.length.saturating_mul(MAX_NAMES).saturating_add(MIN_NAMES)
}

/// Passes all items of a pickle to `found`, in its order. None if names and shapes would take far
/// more memory than the pickle. `bytes` begins with the pickle, and `name` is the name of its top
/// object.
pub(super) fn walk(
    pickle: &Pickle,
    bytes: &dyn ReadAt,
    name: &str,
    found: &mut dyn FnMut(Item),
) -> Option<()> {
    let mut walk = Walk {
        reader: Reader(pickle),
        bytes,
        room: room(pickle),
        seen: HashSet::new(),
        todo: Vec::new(),
        found,
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
    walk.rest()
}

/// A name, and the key of an object below it.
fn joined(name: &str, key: Option<String>) -> String {
    match key {
        None => name.to_owned(),
        Some(key) if name.is_empty() => key,
        Some(key) => format!("{name}.{key}"),
    }
}

struct Walk<'a> {
    reader: Reader<'a>,
    bytes: &'a dyn ReadAt,
    room: u64,
    /// Each object is visited once, under the first name that leads to it. Otherwise references
    /// could multiply the work, or form a loop.
    seen: HashSet<Id>,
    todo: Vec<(Id, String)>,
    found: &'a mut dyn FnMut(Item),
    /// Bytes of unknown meaning: the name of the first object with such bytes, and their number.
    unknown: (Option<String>, u64),
}

impl Walk<'_> {
    fn take(&mut self, length: u64) -> Option<()> {
        self.room = self.room.checked_sub(length)?;
        Some(())
    }

    /// Adds an object to the list to visit. Only objects that can hold numbers get a name.
    fn add(&mut self, id: Id, name: &str, key: impl FnOnce() -> Option<String>) -> Option<()> {
        let holds = matches!(
            &self.reader.0.objects[id],
            Object::Sequence(_) | Object::Dict(_) | Object::Call(_) | Object::Bytes(_)
        );
        if !holds || self.seen.contains(&id) {
            return Some(());
        }
        let name = joined(name, key());
        self.take(name.len() as u64)?;
        self.todo.push((id, name));
        Some(())
    }

    fn visit(&mut self, id: Id, name: String) -> Option<()> {
        let reader = self.reader;
        if let Some(rebuilt) = reader.tensor(id) {
            let found = rebuilt.found;
            let shape = size_of_val(&*found.shape);
            self.take((found.dtype.len() + found.storage.key.len() + shape) as u64)?;
            self.seen.extend(rebuilt.calls);
            (self.found)(Item::Tensor(PickledTensor { name: name.clone(), ..found }));
            for (key, id) in rebuilt.rest {
                let key = key.map(str::to_owned);
                match &reader.0.objects[id] {
                    Object::Float(number) if key.is_some() && self.seen.insert(id) => {
                        let name = joined(&name, key);
                        self.take(name.len() as u64)?;
                        (self.found)(Item::Scale { name, number: *number });
                    }
                    _ => self.add(id, &name, || key)?,
                }
            }
            return Some(());
        }
        if let Some((array, objects)) = reader.array(id) {
            self.take((size_of_val(&*array.shape) + array.descr.len()) as u64)?;
            self.take(array.bytes.length())?;
            self.seen.extend(objects);
            (self.found)(Item::Array(Array { name, ..array }));
            return Some(());
        }
        if let Some((bytes, objects)) = reader.bytes(id) {
            self.seen.extend(objects);
            return self.unknown(&bytes, Some(name));
        }
        match &reader.0.objects[id] {
            Object::Sequence(items) => {
                for (i, &item) in items.iter().enumerate() {
                    self.add(item, &name, || Some(i.to_string()))?;
                }
            }
            Object::Dict(items) => self.add_items(items, &name)?,
            // The result of an unknown function is not known, but its arguments are walked.
            Object::Call(call) => {
                if let Some(elements) = reader.elements(id) {
                    self.objects(elements, &name)?;
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

    /// Names an array of objects if one of its elements is a float.
    fn objects(&mut self, elements: Id, name: &str) -> Option<()> {
        let elements = self.reader.sequence(elements).unwrap_or_default();
        let is_float = |&id: &Id| matches!(self.reader.0.objects[id], Object::Float(_));
        // Many arrays can share one list.
        self.take((name.len() + elements.len()) as u64)?;
        if elements.iter().any(is_float) {
            let bytes = size_of_val(elements) as u64;
            (self.found)(Item::Objects { name: name.to_owned(), bytes });
        }
        Some(())
    }

    fn unknown(&mut self, bytes: &Bytes, name: Option<String>) -> Option<()> {
        self.take(bytes.length())?;
        let text = match bytes {
            Bytes::Here(range) => {
                let bytes = Part(self.bytes, range.clone());
                holds_text(&bytes, is_plain_text).unwrap_or(false)
            }
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

    /// Adds the bytes that no key leads to.
    fn rest(&mut self) -> Option<()> {
        for (id, object) in self.reader.0.objects.iter().enumerate() {
            if self.seen.contains(&id) {
                continue;
            }
            if matches!(object, Object::Bytes(_) | Object::Call(_))
                && let Some((bytes, objects)) = self.reader.bytes(id)
            {
                self.seen.extend(objects);
                self.unknown(&bytes, None)?;
            }
        }
        let (name, bytes) = std::mem::take(&mut self.unknown);
        if bytes > 0 {
            (self.found)(Item::Unknown { name, bytes });
        }
        Some(())
    }
}
