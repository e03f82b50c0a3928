//! Files of PyTorch before version 1.6: five pickles, one behind the other, and then the storages.
//!
//! The pickles are a magic number, the version of the protocol, facts about the machine, the
//! object, and a list of the names of the storages. A storage is the number of its elements (8
//! bytes, little-endian) and the elements (little-endian on every machine).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use super::constructors::Reader;
use super::pickle::{self, Pickle};
use super::tensors::{Parts, Source, StorageData};
use super::{Malformed, malformed};
use crate::model::ranges::{Part, ReadAhead};
use crate::model::reader::{Contents, Refused, truncated};
use crate::model::{ByteOrder, ReadAt, may_hold_numbers, span};

/// The magic number as a pickle: the opcode, the number, and the end.
const MAGIC: &[u8] = b"\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19.";

/// The possible places of the magic number: behind the version of the pickle, or behind its frame.
const PLACES: [usize; 2] = [2, 11];

/// The parts of a file before the storages.
const PICKLES: [&str; 5] = [
    "the magic number",
    "the version",
    "facts about the machine",
    "the object",
    "the list of storages",
];

/// The magic number as the pickles of protocols 0 and 1 have it.
const DECIMAL: &[u8] = b"L119547037146038801333356L\n.";

pub(super) fn begins(bytes: &[u8]) -> bool {
    bytes.starts_with(DECIMAL)
        || bytes.first() == Some(&0x80)
            && PLACES
                .iter()
                .any(|&at| bytes.get(at..).is_some_and(|bytes| bytes.starts_with(MAGIC)))
}

/// Reads a file. `root` is the name of the object.
pub(super) fn read(file: &dyn ReadAt, root: &str) -> Result<Contents, Refused> {
    let mut at = 0;
    let rest = |start: u64| Part(file, start..file.length());
    let mut next = |name: &str| {
        let start = at;
        let pickle = pickle::read(&rest(start))
            .map_err(|Malformed { at, why }| malformed(name, Malformed { at: start + at, why }))?;
        at += pickle.length;
        Ok::<_, Refused>((pickle, start, name.to_owned()))
    };
    let pickles = PICKLES.map(&mut next);
    let pickles = pickles.into_iter().collect::<Result<Vec<_>, _>>()?;
    let (storages, end) = storages(file, at, &pickles)?;
    let mut parts = Parts::default();
    let mut used = HashSet::new();
    for (pickle, start, name) in &pickles {
        let source =
            Source { bytes: &rest(*start), at: Some(*start), name, root, order: ByteOrder::Little };
        parts.pickle(pickle, &source, |storage| {
            used.insert(storage.key.clone());
            storages.get(&storage.key).cloned().map(StorageData::Stored)
        })?;
    }
    let unused =
        storages.into_iter().filter(|(key, place)| !used.contains(key) && !place.is_empty());
    for (key, place) in unused {
        let why = "no tensor that this version knows refers to this storage";
        parts.unreadable(format!("storage {key}"), span(&place), why);
    }
    let behind = rest(end);
    if may_hold_numbers(&behind)? {
        let name = "bytes behind the storages".to_owned();
        let why = "no storage that this version knows holds these bytes";
        parts.unreadable(name, behind.length(), why);
    }
    Ok(parts.tensors.into())
}

type PickleAt = (Pickle, u64, String);

/// The storages by their names, and the end of the last one. Stops at a storage that cannot be
/// located.
///
/// # Errors
/// If a storage ends behind the file.
fn storages(
    file: &dyn ReadAt,
    mut at: u64,
    pickles: &[PickleAt],
) -> Result<(BTreeMap<String, Range<u64>>, u64), Refused> {
    let mut found = BTreeMap::new();
    let [.., (object, ..), (list, ..)] = pickles else { return Ok((found, at)) };
    // Bytes of an element, by the name of a storage.
    let reader = Reader(object);
    let known = (0..object.objects.len()).filter_map(|id| reader.storage_parts(id));
    let units: HashMap<&str, u64> = known.map(|(key, _, unit, _)| (key, unit as u64)).collect();
    let names = Reader(list);
    let mut bytes = ReadAhead::new(file);
    for &key in names.sequence(list.root).unwrap_or_default() {
        let mut storage = || {
            let key = names.text(key)?;
            let count = bytes.get(at..at + 8).ok()?.first_chunk()?;
            let length = u64::from_le_bytes(*count).checked_mul(*units.get(key)?)?;
            Some((key, at + 8..length.checked_add(at + 8)?))
        };
        let Some((key, place)) = storage() else { break };
        if place.end > file.length() {
            let why = format!("storage {key:?} ends behind the file");
            return Err(truncated(file.length(), place.end, why).into());
        }
        at = place.end;
        found.insert(key.to_owned(), place);
    }
    Ok((found, at))
}
