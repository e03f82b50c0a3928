//! Pickles as data: the objects that a pickle describes, without making any. Functions are never
//! called; a call stays what it is, a name and arguments.
//!
//! The opcodes are those of Python's `pickletools`, protocols 0 to 5.

mod opcodes;

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use crate::model::is_text;

/// The place of an object among all.
pub(super) type Id = usize;

/// An object.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Object {
    /// None, or an integer beyond 64 bits.
    Other,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    /// Bytes, by their place in the pickle. So is text that is not valid, or of Python 2 and not
    /// text: its strings hold bytes.
    Bytes(Range<usize>),
    /// A tuple, a list or a set.
    Sequence(Vec<Id>),
    Dict(Vec<(Id, Id)>),
    /// A function or a class, by module and name.
    Global(String),
    /// What a function or a class would make of its arguments, its state and its items.
    Call {
        function: Id,
        arguments: Id,
        state: Option<Id>,
        items: Vec<(Id, Id)>,
    },
    /// What lies outside the pickle.
    Persistent(Id),
}

/// A pickle that was read: its objects, and the one that it stands for.
#[derive(Debug)]
pub(super) struct Pickle {
    pub(super) objects: Vec<Object>,
    pub(super) root: Id,
    /// Where the pickle ends: bytes may follow it.
    pub(super) length: usize,
}

/// Why bytes are no pickle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The byte of the pickle.
    pub at: usize,
    /// What is wrong there.
    pub why: &'static str,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {} {}", self.at, self.why)
    }
}

type Why = &'static str;

/// Objects of a pickle, and places of its memo. More would only be there to fill memory: an opcode
/// of one byte makes an object.
const MAX_OBJECTS: usize = 1 << 23;

/// Reads the pickle that begins here. What it allocates is a multiple of its length, and bounded by
/// the number of objects.
pub(super) fn read(bytes: &[u8]) -> Result<Pickle, Malformed> {
    let mut machine = Machine { bytes, ..Machine::default() };
    loop {
        let at = machine.at;
        match machine.step() {
            Ok(None) if machine.objects.len().max(machine.memo.len()) > MAX_OBJECTS => {
                return Err(Malformed {
                    at,
                    why: "there are more objects than PyTorch would write",
                });
            }
            Ok(None) => {}
            Ok(Some(root)) => {
                return Ok(Pickle { objects: machine.objects, root, length: machine.at });
            }
            Err(why) => return Err(Malformed { at, why }),
        }
    }
}

#[derive(Default)]
struct Machine<'a> {
    bytes: &'a [u8],
    at: usize,
    objects: Vec<Object>,
    stack: Vec<Id>,
    /// Heights of the stack.
    marks: Vec<usize>,
    memo: HashMap<u64, Id>,
    /// Bytes of names that were put together from texts on the stack.
    names: usize,
}

/// Bytes of such names for a byte of pickle. A text can be recalled again and again, and Python
/// makes a name once.
const MAX_NAMES: usize = 16;

const CUT: Why = "the pickle is cut off";
const UNDERFLOW: Why = "an object is missing on the stack";

impl Machine<'_> {
    fn take(&mut self, length: u64) -> Result<&[u8], Why> {
        let rest = &self.bytes[self.at..];
        let taken =
            usize::try_from(length).ok().and_then(|length| rest.get(..length)).ok_or(CUT)?;
        self.at += taken.len();
        Ok(taken)
    }

    /// A little-endian number of `size` bytes.
    fn number(&mut self, size: u64) -> Result<u64, Why> {
        let bytes = self.take(size)?;
        Ok(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    /// The rest of the line.
    fn line(&mut self) -> Result<String, Why> {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|&byte| byte == b'\n').ok_or(CUT)?;
        let line = String::from_utf8_lossy(self.take(length as u64)?).into_owned();
        self.at += 1;
        Ok(line)
    }

    /// The place of so many bytes.
    fn bytes(&mut self, length: u64) -> Result<Range<usize>, Why> {
        let length = self.take(length)?.len();
        Ok(self.at - length..self.at)
    }

    fn text(&mut self, length: u64) -> Result<Object, Why> {
        let range = self.bytes(length)?;
        let text = String::from_utf8(self.bytes[range.clone()].to_vec());
        Ok(text.map_or(Object::Bytes(range), Object::Text))
    }

    /// A string of Python 2.
    fn string(&mut self, length: u64) -> Result<Object, Why> {
        let range = self.bytes(length)?;
        let bytes = &self.bytes[range.clone()];
        if is_text(bytes) {
            self.at = range.start;
            self.text(length)
        } else {
            Ok(Object::Bytes(range))
        }
    }

    fn push(&mut self, object: Object) {
        self.stack.push(self.objects.len());
        self.objects.push(object);
    }

    fn pop(&mut self) -> Result<Id, Why> {
        let floor = self.marks.last().copied().unwrap_or(0);
        if self.stack.len() <= floor {
            return Err(UNDERFLOW);
        }
        self.stack.pop().ok_or(UNDERFLOW)
    }

    fn top(&self) -> Result<Id, Why> {
        self.stack.last().copied().ok_or(UNDERFLOW)
    }

    fn pop_to_mark(&mut self) -> Result<Vec<Id>, Why> {
        let mark = self.marks.pop().ok_or("a mark is missing on the stack")?;
        Ok(self.stack.split_off(mark))
    }

    fn pop_last(&mut self, count: usize) -> Result<Vec<Id>, Why> {
        let floor = self.marks.last().copied().unwrap_or(0);
        let start =
            self.stack.len().checked_sub(count).filter(|&start| start >= floor).ok_or(UNDERFLOW)?;
        Ok(self.stack.split_off(start))
    }

    fn call(&mut self, function: Id, arguments: Id) {
        self.push(Object::Call { function, arguments, state: None, items: Vec::new() });
    }

    /// Adds to a list or set, or to what is like one.
    fn extend(&mut self, object: Id, new: Vec<Id>) -> Result<(), Why> {
        match &mut self.objects[object] {
            Object::Sequence(items) => items.extend(new),
            Object::Call { items, .. } => items.extend(new.into_iter().map(|value| (value, value))),
            _ => return Err("items for what takes none"),
        }
        Ok(())
    }

    /// Adds to a dict, or to what is like one.
    fn set_items(&mut self, object: Id, flat: &[Id]) -> Result<(), Why> {
        let (pairs, []) = flat.as_chunks::<2>() else { return Err("a key without a value") };
        let new = pairs.iter().map(|&[key, value]| (key, value));
        match &mut self.objects[object] {
            Object::Dict(items) | Object::Call { items, .. } => items.extend(new),
            _ => return Err("items for what takes none"),
        }
        Ok(())
    }

    fn remember(&mut self, key: u64) -> Result<(), Why> {
        let top = self.top()?;
        self.memo.insert(key, top);
        Ok(())
    }

    fn recall(&mut self, key: u64) -> Result<(), Why> {
        let id = *self.memo.get(&key).ok_or("a reference to nothing")?;
        self.stack.push(id);
        Ok(())
    }

    fn name_of(&self, id: Id) -> Result<&str, Why> {
        match &self.objects[id] {
            Object::Text(text) => Ok(text),
            _ => Err("a name that is no text"),
        }
    }
}
