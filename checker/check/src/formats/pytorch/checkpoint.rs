//! Checkpoints of `torch.distributed.checkpoint`: a folder with files `.distcp`, and a pickle
//! `.metadata` with the place of each tensor in these files. Each part of a file was written by
//! `torch.save`.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::constructors::Reader as Calls;
use super::pickle::{self, Id, Object, Pickle};
use super::{bad_tensor, long_names, malformed, read, walk};
use crate::containers::zip;
use crate::formats::{beginning, opaque};
use crate::model::ranges::Part;
use crate::model::reader::{Contents, Read, Reader, Refused, truncated};
use crate::model::{self, Data, FileFormat, Input, ReadAt, span};

impl FileFormat {
    /// The `.metadata` of `torch.distributed.checkpoint`, which stands for the files beside it.
    pub const PYTORCH_CHECKPOINT: Self = Self::named("distcp");
}

pub(in crate::formats) static READER: Reader = Reader {
    format: FileFormat::PYTORCH_CHECKPOINT,
    // The whole name must be `.metadata`. Names of other files end in `.metadata` too.
    endings: &[],
    begins,
    read: Read::Anywhere(contents),
    shards: Some(|source| {
        let parts = metadata(source).and_then(|pickle| parts(&pickle));
        let refused = |error| model::Error::refused(FileFormat::PYTORCH_CHECKPOINT, error);
        Ok(parts.map_err(refused)?.into_keys().collect())
    }),
};

/// The name of a checkpoint's pickle.
pub(in crate::formats) const NAME: &str = ".metadata";

/// Whether this is a pickle that begins with the class names of a checkpoint's metadata.
fn begins(bytes: &[u8], _: &dyn ReadAt) -> bool {
    const MODULE: &[u8] = b"torch.distributed.checkpoint.metadata";
    let beginning = bytes.get(..128).unwrap_or(bytes);
    bytes.first() == Some(&0x80) && beginning.windows(MODULE.len()).any(|window| window == MODULE)
}

const PART: &str = "torch.distributed.checkpoint.filesystem _StorageInfo";
const INDEX: &str = "torch.distributed.checkpoint.metadata MetadataIndex";

/// A part of a file, and the name of the object in it.
struct StoredObject {
    name: String,
    range: Range<u64>,
    /// Whether it was compressed or encrypted.
    transformed: bool,
}

fn metadata(source: &dyn ReadAt) -> Result<Pickle, Refused> {
    pickle::read(source).map_err(|why| malformed(NAME, why))
}

/// The parts of each file, in the order of their bytes.
fn parts(pickle: &Pickle) -> Result<BTreeMap<String, Vec<StoredObject>>, Refused> {
    let calls = Calls(pickle);
    let mut files = BTreeMap::<String, Vec<StoredObject>>::new();
    let mut room = walk::room(pickle);
    // Each pair of an index and a part is an item of a dict. Take each dict once, although several
    // references may lead to it.
    let dicts = pickle.objects.iter().filter_map(|object| match object {
        Object::Dict(items) => Some(items),
        _ => None,
    });
    for &(key, value) in dicts.flatten() {
        let Some((PART, _, Some(state))) = calls.call(value) else { continue };
        let name = name(pickle, key).unwrap_or_default();
        let bad = |why| bad_tensor(&name, why);
        let state = fields(pickle, state);
        let text = |field| state.get(field).and_then(|&id| calls.text(id));
        let number = |field| {
            let number = state.get(field).and_then(|&id| calls.integer(id));
            number.and_then(|number| u64::try_from(number).ok())
        };
        let file = text("relative_path").ok_or_else(|| bad("the name of its file is missing"))?;
        let range = number("offset")
            .zip(number("length"))
            .and_then(|(start, length)| Some(start..start.checked_add(length)?));
        let range = range.ok_or_else(|| bad("its offset or length is missing or invalid"))?;
        let transforms = state.get("transform_descriptors");
        let transformed = transforms.is_some_and(|&id| pickle.objects[id] != Object::Other);
        // Many parts can refer to one long name, empty parts too.
        let left = room.checked_sub((name.len() + file.len()) as u64);
        room = left.ok_or_else(|| long_names(NAME))?;
        if range.is_empty() {
            continue;
        }
        files.entry(file.to_owned()).or_default().push(StoredObject { name, range, transformed });
    }
    for parts in files.values_mut() {
        parts.sort_by_key(|part| part.range.start);
        let overlap = parts.windows(2).find(|pair| pair[0].range.end > pair[1].range.start);
        if let Some([_, part]) = overlap {
            return Err(bad_tensor(&part.name, "its data overlaps that of another"));
        }
    }
    Ok(files)
}

/// The name of a tensor by its index. Parts behind the first also get their place in the name.
fn name(pickle: &Pickle, index: Id) -> Option<String> {
    let calls = Calls(pickle);
    let (INDEX, _, Some(state)) = calls.call(index)? else { return None };
    let fields = fields(pickle, state);
    let name = calls.text(*fields.get("fqn")?)?.to_owned();
    // torch.Size(offsets)
    let size = fields.get("offset").and_then(|&id| calls.call(id));
    let offset = size.and_then(|(_, arguments, _)| calls.shape(*arguments.first()?));
    Some(match offset.filter(|offset| offset.iter().any(|&place| place > 0)) {
        Some(offset) => format!("{name} (from {offset:?} on)"),
        None => name,
    })
}

/// The most fields of an index or a part.
const MAX_FIELDS: usize = 16;

/// The fields of an object, by their names.
fn fields(pickle: &Pickle, state: Id) -> HashMap<&str, Id> {
    let calls = Calls(pickle);
    match &pickle.objects[state] {
        Object::Dict(items) if items.len() <= MAX_FIELDS => {
            items.iter().filter_map(|&(key, value)| Some((calls.text(key)?, value))).collect()
        }
        _ => HashMap::new(),
    }
}

fn contents(input: Input<'_>) -> Result<Contents, Refused> {
    let files = parts(&metadata(input.source)?)?;
    if files.is_empty() {
        return Err("no metadata of a checkpoint: it names no file".into());
    }
    let mut all = Contents::default();
    // The first error, as long as no part was read.
    let (mut failed, mut is_any_read) = (None, false);
    for (file, parts) in files {
        let (path, source) = match input.open_beside(&file, FileFormat::PYTORCH_CHECKPOINT) {
            Ok(opened) => opened,
            // Bytes alone have no files at all.
            Err(error @ model::Error::NoFolder(_)) => return Err(error.into()),
            Err(error) => {
                all.tensors.push(opaque::damaged(file, error.to_string()));
                failed.get_or_insert(error);
                continue;
            }
        };
        let other = |error: Refused| model::Error::Other {
            path: path.clone(),
            error: model::Error::refused(FileFormat::PYTORCH, error).into(),
        };
        let file: Arc<Path> = path.as_path().into();
        let mut add = |contents: Contents, range: Range<u64>| {
            let mut moved = Part(source.clone(), range).moved_contents(contents);
            for tensor in &mut moved.tensors {
                tensor.described().file = Some(Arc::clone(&file));
            }
            all.add(moved);
        };
        for StoredObject { name, range, transformed } in parts {
            if range.end > source.length() {
                let why = truncated(source.length(), range.end, "it ends behind its file");
                failed.get_or_insert(other(bad_tensor(&name, &why)));
                add(vec![opaque::damaged(name, why)].into(), 0..source.length());
                continue;
            }
            let part = Part(source.clone(), range.clone());
            let unreadable = |name, why: &str| {
                let nothing = Data::Owned(Vec::new());
                vec![opaque::tensor(name, span(&range), why.to_owned(), nothing)].into()
            };
            let contents = if transformed {
                unreadable(name, "compressed or encrypted by an extension of PyTorch")
            } else if beginning(&part)?.starts_with(zip::MAGIC) {
                match read(&part, &name) {
                    Ok(contents) => contents,
                    Err(error) => {
                        let why = error.to_string();
                        add(vec![opaque::damaged(name, why)].into(), 0..source.length());
                        failed.get_or_insert(other(error));
                        continue;
                    }
                }
            } else {
                unreadable(name, "not an archive of PyTorch")
            };
            is_any_read = true;
            add(contents, range);
        }
    }
    match failed {
        Some(error) if !is_any_read => Err(error.into()),
        Some(_) | None => Ok(all),
    }
}
