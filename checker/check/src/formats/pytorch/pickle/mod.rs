//! Reads a pickle as data: a list of the objects that the pickle describes. No function is called.
//! A call is recorded with its name and arguments.
//!
//! The opcodes are those of Python's `pickletools`, protocols 0 to 5.

mod opcodes;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::model::ranges::ReadAhead;
use crate::model::{LONGEST_TEXT, ReadAt, is_text, source};

/// The index of an object.
pub(super) type Id = usize;

/// An object.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Object {
    /// None, an integer beyond 64 bits, or a persistent id that is a text, as no storage has one.
    Other,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    /// Bytes, by their place in the pickle. Invalid text is stored as bytes too, and so are the
    /// strings of Python 2 that are not text.
    Bytes(Range<u64>),
    /// A tuple, a list or a set.
    Sequence(Vec<Id>),
    Dict(Vec<(Id, Id)>),
    /// A function or a class, by module and name.
    Global(String),
    /// A call of a function or a class.
    Call(Box<Call>),
    /// A persistent id: a reference to an object outside of the pickle.
    Persistent(Id),
}

/// A call of a function or a class, with its arguments, its state and its items.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Call {
    pub(super) function: Id,
    pub(super) arguments: Id,
    pub(super) state: Option<Id>,
    pub(super) items: Vec<(Id, Id)>,
}

/// A pickle that was read: its objects, and the index of the top object.
#[derive(Debug)]
pub(super) struct Pickle {
    pub(super) objects: Vec<Object>,
    /// The texts with a character that is not a byte.
    pub(super) wide: HashSet<Id>,
    pub(super) root: Id,
    /// The length of the pickle. Other bytes may follow it.
    pub(super) length: u64,
}

/// The texts with a character that is not a byte.
fn wide(objects: &[Object]) -> HashSet<Id> {
    let is_wide = |object: &Object| match object {
        Object::Text(text) => text.chars().any(|character| u32::from(character) > 0xFF),
        _ => false,
    };
    let objects = objects.iter().enumerate();
    objects.filter(|(_, object)| is_wide(object)).map(|(id, _)| id).collect()
}

/// Why bytes are no pickle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at byte {at} {why}")]
pub(super) struct Malformed {
    /// The byte of the pickle.
    pub(super) at: u64,
    /// What is wrong there.
    pub(super) why: &'static str,
}

type Why = &'static str;

/// The most objects of a pickle, and the most places of its memo. An opcode of one byte makes an
/// object, so a hostile pickle could fill memory without this limit.
const MAX_OBJECTS: usize = 1 << 22;

/// Reads the pickle at the beginning of a source. Bytes in the pickle are passed over. Memory is at
/// most a multiple of its length, and is bounded by the number of objects.
pub(super) fn read(source: &dyn ReadAt) -> Result<Pickle, Malformed> {
    let (objects, stack, marks, memo) = Default::default();
    let (bytes, length) = (ReadAhead::new(source), source.length());
    let mut machine =
        Machine { bytes, length, at: 0, objects, stack, none: None, marks, memo, names: 0 };
    loop {
        let at = machine.at;
        match machine.step() {
            Ok(None) if machine.is_full() => {
                let why = "there are more objects than PyTorch would write";
                return Err(Malformed { at, why });
            }
            Ok(None) => {}
            Ok(Some(root)) => {
                let (objects, length) = (machine.objects, machine.at);
                return Ok(Pickle { wide: wide(&objects), objects, root, length });
            }
            Err(why) => return Err(Malformed { at, why }),
        }
    }
}

struct Machine<'a> {
    bytes: ReadAhead<'a>,
    length: u64,
    at: u64,
    objects: Vec<Object>,
    stack: Vec<Id>,
    none: Option<Id>,
    /// The heights of the stack at the open marks.
    marks: Vec<usize>,
    memo: HashMap<u64, Id>,
    /// Bytes of names that were joined from texts on the stack.
    names: u64,
}

/// The most bytes of such names for each byte of the pickle. A hostile pickle can recall a text
/// again and again.
const MAX_NAMES: u64 = 16;

const CUT: Why = "the pickle is truncated: it is cut off";
const UNDERFLOW: Why = "an object is missing on the stack";

impl Machine<'_> {
    /// Whether the limits are exceeded. The stack is checked too, since some opcodes make no
    /// object.
    fn is_full(&self) -> bool {
        let lengths = [self.objects.len(), self.memo.len(), self.stack.len(), self.marks.len()];
        lengths.into_iter().any(|length| length > MAX_OBJECTS)
    }

    fn take(&mut self, length: u64) -> Result<&[u8], Why> {
        let range = self.bytes(length)?;
        self.get(range)
    }

    fn get(&mut self, range: Range<u64>) -> Result<&[u8], Why> {
        self.bytes.get(range).map_err(|_| "the file cannot be read")
    }

    /// The length of the rest of the line.
    fn line_length(&mut self) -> Result<u64, Why> {
        /// Bytes that are searched together.
        const STEP: u64 = 256;
        let mut at = self.at;
        while at < self.length {
            let end = (at + STEP).min(self.length);
            if let Some(more) = self.get(at..end)?.iter().position(|&byte| byte == b'\n') {
                return Ok(at + more as u64 - self.at);
            }
            at = end;
        }
        Err(CUT)
    }

    /// A little-endian number of `size` bytes.
    fn number(&mut self, size: u64) -> Result<u64, Why> {
        let bytes = self.take(size)?;
        Ok(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    /// Reads the rest of the line.
    fn line(&mut self) -> Result<String, Why> {
        let length = self.line_length()?;
        let line = source::text(self.take(length)?);
        self.at += 1;
        Ok(line)
    }

    /// Reads the rest of the line in Python's encoding raw-unicode-escape: a byte is a character of
    /// Latin-1; 4 hexadecimal digits behind `\u` or 8 behind `\U` are a character.
    fn escaped_line(&mut self) -> Result<String, Why> {
        const BAD: Why = "an escape stands for no character";
        let length = self.line_length()?;
        let mut rest = self.take(length)?;
        let mut text = String::new();
        while let Some((&byte, after)) = rest.split_first() {
            let digits = match (byte, after.first()) {
                (b'\\', Some(b'u')) => 4,
                (b'\\', Some(b'U')) => 8,
                _ => {
                    text.push(char::from(byte));
                    rest = after;
                    continue;
                }
            };
            let (number, after) = after[1..].split_at_checked(digits).ok_or(BAD)?;
            let code = number.iter().try_fold(0, |code: u32, &digit| {
                Some(code.checked_mul(16)? + char::from(digit).to_digit(16)?)
            });
            text.push(code.and_then(char::from_u32).ok_or(BAD)?);
            rest = after;
        }
        self.at += 1;
        Ok(text)
    }

    /// Passes over `length` bytes, and returns their place.
    fn bytes(&mut self, length: u64) -> Result<Range<u64>, Why> {
        if length > self.length - self.at {
            return Err(CUT);
        }
        self.at += length;
        Ok(self.at - length..self.at)
    }

    fn text(&mut self, length: u64) -> Result<Object, Why> {
        let range = self.bytes(length)?;
        let text = String::from_utf8(self.get(range.clone())?.to_vec());
        Ok(text.map_or(Object::Bytes(range), Object::Text))
    }

    /// A string of Python 2.
    fn string(&mut self, length: u64) -> Result<Object, Why> {
        let range = self.bytes(length)?;
        if length <= LONGEST_TEXT && is_text(self.get(range.clone())?) {
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

    /// Pushes None, of which there is one object.
    fn push_none(&mut self) {
        let none = self.none.unwrap_or(self.objects.len());
        if self.none.replace(none).is_none() {
            self.objects.push(Object::Other);
        }
        self.stack.push(none);
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
        let items = Vec::new();
        self.push(Object::Call(Box::new(Call { function, arguments, state: None, items })));
    }

    /// Adds elements to a list, a set or an object with elements.
    fn extend(&mut self, object: Id, new: Vec<Id>) -> Result<(), Why> {
        match &mut self.objects[object] {
            Object::Sequence(items) => items.extend(new),
            Object::Call(call) => call.items.extend(new.into_iter().map(|value| (value, value))),
            _ => return Err("items for what takes none"),
        }
        Ok(())
    }

    /// Adds items to a dict or an object with items.
    fn set_items(&mut self, object: Id, flat: &[Id]) -> Result<(), Why> {
        let (pairs, []) = flat.as_chunks::<2>() else { return Err("a key without a value") };
        let new = pairs.iter().map(|&[key, value]| (key, value));
        match &mut self.objects[object] {
            Object::Dict(items) => items.extend(new),
            Object::Call(call) => call.items.extend(new),
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
