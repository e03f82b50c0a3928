//! The schema of a footer, looked at before the crate `parquet` takes it in: that crate allocates
//! what groups claim, up to 16 GiB, calls itself for each level, and copies the names of all groups
//! above a column for each column.

use super::error::Error;
use super::thrift::{BINARY, I32, I64, LIST, STRUCT, Thrift, Value};

/// How far groups may be nested. Each level takes some stack, and a stack that overflows ends the
/// process.
const MAX_DEPTH: usize = 64;

/// Verifies that the schema is one whole tree that is not too deep, and that the names of its
/// columns, with those of the groups above them, are not far longer than the footer.
///
/// Kinds of fields are those of the format, since that crate reads some by their numbers alone, and
/// would read others than these here if they differed.
pub(super) fn verify(footer: &[u8]) -> Result<(), Error> {
    let mut verified = Ok(());
    let read = Thrift { rest: footer }.fields(&mut |thrift, number, kind, value| {
        let expected = match number {
            1 => I32,
            2 | 4 | 5 | 7 => LIST,
            3 => I64,
            6 | 9 => BINARY,
            8 => STRUCT,
            _ => kind,
        };
        let (2, Value::List(STRUCT, count)) = (number, value) else {
            return (kind == expected && number != 2).then_some(false);
        };
        let mut tree = Tree {
            left: footer.len().saturating_mul(64).saturating_add(1 << 16),
            ..Tree::default()
        };
        for _ in 0..count {
            let element = Element::read(thrift)?;
            verified = tree.add(element);
            verified.as_ref().ok()?;
        }
        tree.is_whole().then_some(true)
    });
    verified.and(read.ok_or(Error::Schema))
}

/// What is looked at of an element of the schema.
#[derive(Default)]
struct Element {
    /// Bytes of its name.
    name: usize,
    /// None or zero are those of a column.
    members: i64,
}

impl Element {
    fn read(thrift: &mut Thrift<'_>) -> Option<Self> {
        const NAME: i64 = 4;
        const MEMBERS: i64 = 5;
        let mut element = Self::default();
        thrift.fields(&mut |thrift, number, kind, value| {
            let expected = match number {
                NAME => BINARY,
                10 => STRUCT,
                1..=9 => I32,
                _ => kind,
            };
            if kind != expected {
                return None;
            }
            // Of a field that is repeated, the last counts, as it does there.
            match (number, value) {
                (NAME, _) => element.name = thrift.binary()?,
                (MEMBERS, Value::Number(members)) => element.members = members,
                _ => {}
            }
            Some(number == NAME)
        })?;
        Some(element)
    }
}

/// A group whose members are not all read.
struct Group {
    /// How many of them are to come.
    left: u64,
    /// Bytes that its name and those of the groups above it take in the path of each column.
    path: usize,
}

/// Elements come each before its members.
#[derive(Default)]
struct Tree {
    open: Vec<Group>,
    /// Whether there is a root.
    begun: bool,
    /// Bytes that paths may still take.
    left: usize,
}

impl Tree {
    fn add(&mut self, Element { name, members }: Element) -> Result<(), Error> {
        let above = match self.open.last_mut() {
            Some(group) => {
                group.left -= 1;
                group.path
            }
            None if self.begun => return Err(Error::Schema),
            None => 0,
        };
        self.begun = true;
        let path = above.saturating_add(name).saturating_add(size_of::<String>());
        match u64::try_from(members).map_err(|_| Error::Schema)? {
            0 => self.left = self.left.checked_sub(path).ok_or(Error::Names)?,
            left => {
                if self.open.len() == MAX_DEPTH {
                    return Err(Error::Depth);
                }
                self.open.push(Group { left, path });
            }
        }
        while self.open.pop_if(|group| group.left == 0).is_some() {}
        Ok(())
    }

    fn is_whole(&self) -> bool {
        self.begun && self.open.is_empty()
    }
}
