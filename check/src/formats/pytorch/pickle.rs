//! Pickles as data: the objects that a pickle describes, without making any. Functions are never
//! called; a call stays what it is, a name and arguments.
//!
//! The opcodes are those of Python's `pickletools`, protocols 0 to 5.

use std::collections::HashMap;
use std::fmt;

/// The place of an object among all.
pub(super) type Id = usize;

/// An object.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Object {
    /// None, a number with a point, bytes: nothing that is asked for.
    Other,
    Bool(bool),
    /// An integer; those beyond 64 bits are [`Object::Other`].
    Int(i64),
    Text(String),
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
    /// Bytes of the pickle.
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

/// Reads a pickle. What it allocates is a multiple of its length, and bounded by the number of
/// objects.
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
                return Ok(Pickle { objects: machine.objects, root, length: bytes.len() });
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

    fn text(&mut self, length: u64) -> Result<Object, Why> {
        Ok(Object::Text(String::from_utf8_lossy(self.take(length)?).into_owned()))
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

    /// One opcode. The object that the pickle stands for, at its end.
    fn step(&mut self) -> Result<Option<Id>, Why> {
        let opcode = self.take(1)?[0];
        match opcode {
            b'.' => return self.pop().map(Some),
            // Frames say how much to read ahead.
            0x80 => drop(self.take(1)?),
            0x95 => drop(self.take(8)?),
            b'(' => self.marks.push(self.stack.len()),
            b'0' => drop(self.pop()?),
            b'1' => drop(self.pop_to_mark()?),
            b'2' => {
                let top = self.top()?;
                self.stack.push(top);
            }
            b'N' => self.push(Object::Other),
            0x88 | 0x89 => self.push(Object::Bool(opcode == 0x88)),
            b'I' | b'L' | b'J' | b'K' | b'M' | 0x8A | 0x8B => {
                let integer = self.integer(opcode)?;
                self.push(integer);
            }
            b'F' => {
                self.line()?;
                self.push(Object::Other);
            }
            b'G' => {
                self.take(8)?;
                self.push(Object::Other);
            }
            b'S' | b'V' | b'T' | b'U' | b'X' | 0x8C | 0x8D => {
                let text = self.any_text(opcode)?;
                self.push(text);
            }
            b'B' | b'C' | 0x8E | 0x96 => {
                let length = self.number(if opcode == b'B' {
                    4
                } else if opcode == b'C' {
                    1
                } else {
                    8
                })?;
                self.take(length)?;
                self.push(Object::Other);
            }
            b')' | b']' | 0x8F => self.push(Object::Sequence(Vec::new())),
            b'}' => self.push(Object::Dict(Vec::new())),
            b't' | b'l' | 0x91 => {
                let items = self.pop_to_mark()?;
                self.push(Object::Sequence(items));
            }
            0x85..=0x87 => {
                let items = self.pop_last(usize::from(opcode - 0x84))?;
                self.push(Object::Sequence(items));
            }
            b'd' => {
                let items = self.pop_to_mark()?;
                self.push(Object::Dict(Vec::new()));
                self.set_items(self.objects.len() - 1, &items)?;
            }
            b'a' => {
                let item = self.pop()?;
                self.extend(self.top()?, vec![item])?;
            }
            b'e' | 0x90 => {
                let items = self.pop_to_mark()?;
                self.extend(self.top()?, items)?;
            }
            b's' => {
                let items = self.pop_last(2)?;
                self.set_items(self.top()?, &items)?;
            }
            b'u' => {
                let items = self.pop_to_mark()?;
                self.set_items(self.top()?, &items)?;
            }
            b'p' | b'q' | b'r' | 0x94 | b'g' | b'h' | b'j' => self.memo(opcode)?,
            b'c' | 0x93 | b'R' | 0x81 | 0x92 | b'b' | b'i' | b'o' | b'P' | b'Q' => {
                self.reference(opcode)?
            }
            _ => {
                return Err(
                    "no such opcode, or one that needs a table of the program that wrote it",
                );
            }
        }
        Ok(None)
    }

    fn integer(&mut self, opcode: u8) -> Result<Object, Why> {
        let value = match opcode {
            b'I' | b'L' => {
                let line = self.line()?;
                match line.as_str() {
                    // Booleans of protocol 0.
                    "00" | "01" => return Ok(Object::Bool(line == "01")),
                    _ => {
                        return Ok(line
                            .trim_end_matches('L')
                            .parse()
                            .map_or(Object::Other, Object::Int));
                    }
                }
            }
            b'J' => i64::from(self.number(4)? as u32 as i32),
            b'K' => self.number(1)? as i64,
            b'M' => self.number(2)? as i64,
            _ => {
                let length = self.number(if opcode == 0x8A { 1 } else { 4 })?;
                let bytes = self.take(length)?;
                if bytes.len() > 8 {
                    return Ok(Object::Other);
                }
                let negative = bytes.last().is_some_and(|&byte| byte >= 0x80);
                let start = if negative { -1 } else { 0 };
                bytes.iter().rev().fold(start, |value: i64, &byte| value << 8 | i64::from(byte))
            }
        };
        Ok(Object::Int(value))
    }

    fn any_text(&mut self, opcode: u8) -> Result<Object, Why> {
        let size = match opcode {
            b'S' | b'V' => {
                let line = self.line()?;
                return Ok(Object::Text(line.trim_matches(['\'', '"']).to_owned()));
            }
            b'U' | 0x8C => 1,
            0x8D => 8,
            _ => 4,
        };
        let length = self.number(size)?;
        self.text(length)
    }

    fn memo(&mut self, opcode: u8) -> Result<(), Why> {
        let key = match opcode {
            0x94 => self.memo.len() as u64,
            b'p' | b'g' => {
                self.line()?.parse().map_err(|_| "a place in the memo that is no number")?
            }
            b'q' | b'h' => self.number(1)?,
            _ => self.number(4)?,
        };
        match opcode {
            b'g' | b'h' | b'j' => self.recall(key),
            _ => self.remember(key),
        }
    }

    /// Names of functions, and what would call them.
    fn reference(&mut self, opcode: u8) -> Result<(), Why> {
        match opcode {
            b'c' => {
                let name = format!("{} {}", self.line()?, self.line()?);
                self.push(Object::Global(name));
            }
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?);
                let name = format!("{} {}", self.name_of(module)?, self.name_of(name)?);
                self.names += name.len();
                if self.names > MAX_NAMES * self.bytes.len() {
                    return Err("names of functions that are far longer than the pickle");
                }
                self.push(Object::Global(name));
            }
            b'R' | 0x81 => {
                let (arguments, function) = (self.pop()?, self.pop()?);
                self.call(function, arguments);
            }
            0x92 => {
                let (keywords, arguments, function) = (self.pop()?, self.pop()?, self.pop()?);
                self.push(Object::Sequence(vec![arguments, keywords]));
                let both = self.pop()?;
                self.call(function, both);
            }
            b'b' => {
                let state = self.pop()?;
                let object = self.top()?;
                // Others with a state are of no interest; what it holds still is, and is found as
                // an item.
                match &mut self.objects[object] {
                    Object::Call { state: slot, .. } => *slot = Some(state),
                    Object::Sequence(items) => items.push(state),
                    Object::Dict(items) => items.push((state, state)),
                    _ => return Err("a state for what has none"),
                }
            }
            b'i' | b'o' => {
                let function = if opcode == b'i' {
                    let name = format!("{} {}", self.line()?, self.line()?);
                    Some(Object::Global(name))
                } else {
                    None
                };
                let mut arguments = self.pop_to_mark()?.into_iter();
                let function = match function {
                    Some(global) => {
                        self.objects.push(global);
                        self.objects.len() - 1
                    }
                    None => arguments.next().ok_or(UNDERFLOW)?,
                };
                self.objects.push(Object::Sequence(arguments.collect()));
                self.call(function, self.objects.len() - 1);
            }
            b'P' => {
                let line = self.line()?;
                self.objects.push(Object::Text(line));
                self.push(Object::Persistent(self.objects.len() - 1));
            }
            _ => {
                let id = self.pop()?;
                self.push(Object::Persistent(id));
            }
        }
        Ok(())
    }
}
