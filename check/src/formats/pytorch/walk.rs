//! Finds what a pickle of PyTorch holds, and gives it the names of the keys that lead to it.

use std::collections::HashSet;

use super::calls::{Array, Bytes, Found, Reader};
use super::pickle::{Id, Object, Pickle};
use crate::model::is_text;

/// Something that a pickle holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    Tensor(Found),
    Array(Array),
    /// A number that is not finite, with an empty shape; or a list of numbers with such among
    /// them.
    Numbers {
        name: String,
        shape: Vec<usize>,
        numbers: Vec<f64>,
    },
    /// All other numbers of the pickle.
    OtherNumbers(Vec<f64>),
    /// Bytes that could be anything, so many; the name of the first.
    Unknown {
        name: Option<String>,
        bytes: usize,
    },
}

/// Bytes of names, shapes and arrays for a byte of pickle. References could make a few long ones
/// stand for many.
const MAX_NAMES: usize = 64;
/// What is granted to a small pickle beyond that.
const MIN_NAMES: usize = 128 << 10;

/// How many bytes of names, shapes and arrays may be taken.
pub(super) fn room(pickle: &Pickle) -> usize {
    pickle.length.saturating_mul(MAX_NAMES).saturating_add(MIN_NAMES)
}

/// All that a pickle holds, in its order; none if names and shapes would take far more memory than
/// the pickle. `bytes` begins with the pickle, and `name` is that of the object that it stands for.
pub(super) fn walk(pickle: &Pickle, bytes: &[u8], name: &str) -> Option<Vec<Item>> {
    let mut walk = Walk {
        reader: Reader(&pickle.objects),
        bytes,
        room: room(pickle),
        seen: HashSet::new(),
        todo: Vec::new(),
        items: Vec::new(),
        unknown: (None, 0),
    };
    walk.add(pickle.root, name, || None)?;
    while let Some((id, name)) = walk.todo.pop() {
        if walk.seen.insert(id) {
            let at = walk.todo.len();
            walk.visit(id, name)?;
            // In the order of the pickle.
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
    /// Each object is visited once, under the first name that leads to it: references could make a
    /// maze otherwise.
    seen: HashSet<Id>,
    todo: Vec<(Id, String)>,
    items: Vec<Item>,
    /// Bytes that could be anything: the name of the first, and how many.
    unknown: (Option<String>, usize),
}

impl Walk<'_> {
    fn take(&mut self, bytes: usize) -> Option<()> {
        self.room = self.room.checked_sub(bytes)?;
        Some(())
    }

    /// Adds an object to those to visit. A name is made only for what can hold numbers.
    fn add(&mut self, id: Id, name: &str, key: impl FnOnce() -> Option<String>) -> Option<()> {
        let holds = match &self.reader.0[id] {
            Object::Sequence(_) | Object::Dict(_) | Object::Call { .. } | Object::Bytes(_) => true,
            Object::Float(number) => !number.is_finite(),
            Object::Other
            | Object::Bool(_)
            | Object::Int(_)
            | Object::Text(_)
            | Object::Global(_)
            | Object::Persistent(_) => false,
        };
        if !holds || self.seen.contains(&id) {
            return Some(());
        }
        let name = match key() {
            None => name.to_owned(),
            Some(key) if name.is_empty() => key,
            Some(key) => format!("{name}.{key}"),
        };
        self.take(name.len())?;
        self.todo.push((id, name));
        Some(())
    }

    fn visit(&mut self, id: Id, name: String) -> Option<()> {
        let reader = self.reader;
        if let Some(rebuilt) = reader.tensor(id) {
            let found = rebuilt.found;
            let shape = size_of_val(&*found.shape);
            self.take(found.dtype.len() + found.storage.key.len() + shape)?;
            self.seen.extend(rebuilt.calls);
            for (key, id) in rebuilt.rest {
                self.add(id, &name, || key.map(str::to_owned))?;
            }
            self.items.push(Item::Tensor(Found { name, ..found }));
            return Some(());
        }
        if let Some((array, objects)) = reader.array(id) {
            self.take(size_of_val(&*array.shape) + array.descr.len() + array.bytes.length())?;
            self.seen.extend(objects);
            self.items.push(Item::Array(Array { name, ..array }));
            return Some(());
        }
        if let Some((bytes, objects)) = reader.bytes(id) {
            self.seen.extend(objects);
            return self.unknown(&bytes, Some(name));
        }
        match &reader.0[id] {
            Object::Float(number) => self.numbers(name, Vec::new(), vec![*number])?,
            Object::Sequence(items) => {
                if let Some(numbers) = self.list(items) {
                    self.numbers(name, vec![items.len()], numbers)?;
                    self.seen.extend(items);
                    return Some(());
                }
                for (i, &item) in items.iter().enumerate() {
                    self.add(item, &name, || Some(i.to_string()))?;
                }
            }
            Object::Dict(items) => self.add_items(items, &name)?,
            // What a function of somebody's own makes of these is not known; what they hold is
            // looked at.
            Object::Call { arguments, state, items, .. } => {
                if let Some(elements) = reader.elements(id) {
                    self.add(elements, &name, || None)?;
                }
                self.add(*arguments, &name, || None)?;
                if let Some(state) = state {
                    self.add(*state, &name, || None)?;
                }
                self.add_items(items, &name)?;
            }
            Object::Other
            | Object::Bool(_)
            | Object::Int(_)
            | Object::Text(_)
            | Object::Bytes(_)
            | Object::Global(_)
            | Object::Persistent(_) => {}
        }
        Some(())
    }

    fn add_items(&mut self, items: &[(Id, Id)], name: &str) -> Option<()> {
        let reader = self.reader;
        items.iter().try_for_each(|&(key, value)| self.add(value, name, || Some(reader.key(key))))
    }

    /// The numbers of a list of nothing else, if one of them is not finite.
    fn list(&self, items: &[Id]) -> Option<Vec<f64>> {
        let float = |&id: &Id| match self.reader.0[id] {
            Object::Float(number) => Some(number),
            _ => None,
        };
        let is_bad = |id| float(id).is_some_and(|number| !number.is_finite());
        let wanted = items.iter().any(is_bad);
        wanted.then(|| items.iter().map(float).collect::<Option<_>>())?
    }

    fn numbers(&mut self, name: String, shape: Vec<usize>, numbers: Vec<f64>) -> Option<()> {
        self.take(size_of_val(&*numbers))?;
        self.items.push(Item::Numbers { name, shape, numbers });
        Some(())
    }

    fn unknown(&mut self, bytes: &Bytes, name: Option<String>) -> Option<()> {
        self.take(bytes.length())?;
        let text = match bytes {
            Bytes::Here(range) => is_text(&self.bytes[range.clone()]),
            Bytes::Text { object, .. } => match &self.reader.0[*object] {
                Object::Text(text) => is_text(text.as_bytes()) && text.is_ascii(),
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

    /// The numbers and bytes that no key leads to, or that are no bad news.
    fn rest(&mut self) -> Option<()> {
        let mut numbers = Vec::new();
        for (id, object) in self.reader.0.iter().enumerate() {
            if self.seen.contains(&id) {
                continue;
            }
            match object {
                Object::Float(number) => numbers.push(*number),
                Object::Bytes(_) | Object::Call { .. } => {
                    if let Some((bytes, objects)) = self.reader.bytes(id) {
                        self.seen.extend(objects);
                        self.unknown(&bytes, None)?;
                    }
                }
                Object::Other
                | Object::Bool(_)
                | Object::Int(_)
                | Object::Text(_)
                | Object::Sequence(_)
                | Object::Dict(_)
                | Object::Global(_)
                | Object::Persistent(_) => {}
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
