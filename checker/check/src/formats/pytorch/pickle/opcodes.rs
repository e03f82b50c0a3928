//! The opcodes of a pickle, one by one.

use super::{Id, MAX_NAMES, Machine, Object, UNDERFLOW, Why};

impl Machine<'_> {
    /// Reads one opcode. Returns the top object at the end of the pickle.
    pub(super) fn step(&mut self) -> Result<Option<Id>, Why> {
        let opcode = self.take(1)?[0];
        match opcode {
            b'.' => return self.pop().map(Some),
            // Frames only help to read ahead.
            0x80 => drop(self.take(1)?),
            0x95 => drop(self.take(8)?),
            b'(' => self.marks.push(self.stack.len()),
            b'0' => drop(self.pop()?),
            b'1' => drop(self.pop_to_mark()?),
            b'2' => {
                let top = self.top()?;
                self.stack.push(top);
            }
            b'N' => self.push_none(),
            0x88 | 0x89 => self.push(Object::Bool(opcode == 0x88)),
            b'I' | b'L' | b'J' | b'K' | b'M' | 0x8A | 0x8B => {
                let integer = self.integer(opcode)?;
                self.push(integer);
            }
            b'F' => {
                let float = self.line()?.trim().parse();
                self.push(Object::Float(float.map_err(|_| "a float that cannot be parsed")?));
            }
            b'G' => {
                // Big-endian, unlike all other numbers.
                let bits = self.number(8)?.swap_bytes();
                self.push(Object::Float(f64::from_bits(bits)));
            }
            b'S' | b'V' | b'T' | b'U' | b'X' | 0x8C | 0x8D => {
                let text = self.any_text(opcode)?;
                self.push(text);
            }
            b'B' | b'C' | 0x8E | 0x96 => {
                let size = match opcode {
                    b'B' => 4,
                    b'C' => 1,
                    _ => 8,
                };
                let length = self.number(size)?;
                let bytes = self.bytes(length)?;
                self.push(Object::Bytes(bytes));
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
                return Ok(match self.line()?.as_str() {
                    // Booleans of protocol 0.
                    line @ ("00" | "01") => Object::Bool(line == "01"),
                    line => line.trim_end_matches('L').parse().map_or(Object::Other, Object::Int),
                });
            }
            b'J' => i64::from(self.number(4)? as u32 as i32),
            b'K' => self.number(1)? as i64,
            b'M' => self.number(2)? as i64,
            _ => {
                let length = self.number(if opcode == 0x8A { 1 } else { 4 })?;
                let range = self.bytes(length)?;
                if length > 8 {
                    return Ok(Object::Other);
                }
                let bytes = self.get(range)?;
                let negative = bytes.last().is_some_and(|&byte| byte >= 0x80);
                let start = if negative { -1 } else { 0 };
                bytes.iter().rev().fold(start, |value: i64, &byte| value << 8 | i64::from(byte))
            }
        };
        Ok(Object::Int(value))
    }

    fn any_text(&mut self, opcode: u8) -> Result<Object, Why> {
        let size = match opcode {
            b'S' => {
                let line = self.line()?;
                if line.contains(['\\', char::REPLACEMENT_CHARACTER]) {
                    return Err("there is a string of protocol 0 with escapes");
                }
                return Ok(Object::Text(line.trim_matches(['\'', '"']).to_owned()));
            }
            b'V' => return self.escaped_line().map(Object::Text),
            b'U' | 0x8C => 1,
            0x8D => 8,
            _ => 4,
        };
        let length = self.number(size)?;
        if matches!(opcode, b'U' | b'T') { self.string(length) } else { self.text(length) }
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

    /// A function or a class, by two lines.
    fn global(&mut self) -> Result<Object, Why> {
        Ok(Object::Global(format!("{} {}", self.line()?, self.line()?)))
    }

    /// Names of functions, and calls.
    fn reference(&mut self, opcode: u8) -> Result<(), Why> {
        match opcode {
            b'c' => {
                let global = self.global()?;
                self.push(global);
            }
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?);
                let name = format!("{} {}", self.name_of(module)?, self.name_of(name)?);
                self.names += name.len() as u64;
                if self.names > MAX_NAMES * self.length {
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
                // Other objects with a state are not needed, but the objects in the state are.
                // Store the state as an element, so that the walk finds it.
                match &mut self.objects[object] {
                    Object::Call(call) => call.state = Some(state),
                    Object::Sequence(items) => items.push(state),
                    Object::Dict(items) => items.push((state, state)),
                    _ => return Err("a state for what has none"),
                }
            }
            b'i' | b'o' => {
                let function = if opcode == b'i' { Some(self.global()?) } else { None };
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
                self.line()?;
                self.push(Object::Other);
            }
            _ => {
                let id = self.pop()?;
                self.push(Object::Persistent(id));
            }
        }
        Ok(())
    }
}
