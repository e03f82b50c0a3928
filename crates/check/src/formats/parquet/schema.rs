//! Verifies the schema of a footer before the crate `parquet` reads it. That crate allocates the
//! lengths that groups claim, up to 16 GiB, recurses for each level, and copies the names of all
//! groups above a column for each column.

use super::bad;
use super::thrift::{BINARY, I32, I64, LIST, STRUCT, Thrift, Value};
use crate::model::reader::Refused;

const NOT_WHOLE: &str = "a schema that is not whole";

/// The deepest nesting of groups. Each level takes stack, and a stack overflow ends the process.
const MAX_DEPTH: usize = 64;

/// Verifies that the schema is one whole tree that is not too deep, and that the names of its
/// columns, with those of the groups above them, are not far longer than the footer.
///
/// The kind of each field must be that of the format. The crate `parquet` reads some fields by
/// number only, so a field of another kind would mean something else there than here.
pub(super) fn verify(footer: &[u8]) -> Result<(), Refused> {
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
    verified.and(read.ok_or_else(|| bad(NOT_WHOLE)))
}

/// The fields of a schema element that this module needs.
#[derive(Default)]
struct Element {
    /// Bytes of its name.
    name: usize,
    /// The number of members. A column has none or 0.
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
            // The last one counts if a field is repeated, as in the crate `parquet`.
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

/// A group with members that are not read yet.
struct Group {
    /// The number of these members.
    left: u64,
    /// Bytes of its name and of the names above it. Each column below has them in its path.
    path: usize,
}

/// Each element comes before its members.
#[derive(Default)]
struct Tree {
    open: Vec<Group>,
    /// Whether there is a root.
    begun: bool,
    /// Bytes that further paths may take.
    left: usize,
}

impl Tree {
    fn add(&mut self, Element { name, members }: Element) -> Result<(), Refused> {
        let above = match self.open.last_mut() {
            Some(group) => {
                group.left -= 1;
                group.path
            }
            None if self.begun => return Err(bad(NOT_WHOLE)),
            None => 0,
        };
        self.begun = true;
        let path = above.saturating_add(name).saturating_add(size_of::<String>());
        match u64::try_from(members).map_err(|_| bad(NOT_WHOLE))? {
            0 => {
                let left = self.left.checked_sub(path);
                self.left = left.ok_or_else(|| bad("names that are far longer than it"))?;
            }
            left => {
                if self.open.len() == MAX_DEPTH {
                    return Err(bad("groups that are nested too deeply"));
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
