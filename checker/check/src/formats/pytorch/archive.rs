//! Zip archives of PyTorch.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::io::Read;
use std::sync::Arc;

use super::tensors::{Parts, Source, StorageData};
use super::{constructors, malformed, pickle};
use crate::containers::zip::{self, Member, Method};
use crate::formats::opaque;
use crate::model::ranges::{Part, ReadAhead};
use crate::model::reader::{Contents, Refused};
use crate::model::{ByteOrder, Content, ReadAt, Reason, holds_text, is_text};

/// The longest deflated pickle that is read. PyTorch deflates only pickles about lines of source.
/// In other pickles a few deflated bytes could inflate to very many objects.
const MAX_DEFLATED_PICKLE: u64 = 1 << 20;

/// Whether this is a zip archive with a `data.pkl` in a folder.
pub(super) fn begins(bytes: &[u8], source: &dyn ReadAt) -> bool {
    bytes.starts_with(zip::MAGIC) && zip::has_member(source, |name| root_of(name).is_some())
}

/// The folder of an archive, by its `data.pkl`.
fn root_of(name: &str) -> Option<&str> {
    name.strip_suffix("data.pkl")
        .filter(|root| root.ends_with('/') && !root[..root.len() - 1].contains('/'))
}

/// Reads an archive. `root` is the name of the object in its `data.pkl`.
pub(super) fn read(source: &dyn ReadAt, root: &str) -> Result<Contents, Refused> {
    let zip::Archive { members: all, range } = zip::read(source)?;
    let folder = all.iter().find_map(|member| root_of(&member.name));
    let folder = folder.ok_or("not an archive of PyTorch: it has no data.pkl")?.to_owned();
    let members: BTreeMap<&str, &Member> = all
        .iter()
        .filter_map(|member| Some((member.name.strip_prefix(&folder)?, member)))
        .collect();
    let order = byte_order(&members, source)?;
    let pickles: Vec<&str> = members.keys().copied().filter(|name| is_pickle(name)).collect();
    let mut archive =
        Archive { source, members, order, used: HashSet::new(), parts: Parts::default() };
    for name in pickles {
        archive.pickle(name, root)?;
    }
    let Archive { used, mut parts, .. } = archive;
    for member in all.iter().filter(|member| member.size > 0 && !used.contains(&member.name)) {
        let name = member.name.strip_prefix(&folder).unwrap_or(&member.name);
        let is_storage = STORAGES.iter().any(|folder| name.starts_with(folder));
        let content = if is_storage {
            Content::Unreadable(Reason::Part(member.unreadable().unwrap_or_else(|| {
                "no tensor that this version knows refers to this storage".to_owned()
            })))
        } else {
            opaque::content(member, source, "a member that is no pickle and no storage")?
        };
        if content != Content::NotFloat {
            parts.tensors.push(opaque::member(name, member, content));
        }
    }
    parts.tensors.extend(opaque::around(source, &range)?);
    // PyTorch never verifies the checksums, and writes 0 instead of them after
    // `torch.serialization.set_crc32_options(False)`.
    let mut checksums = zip::checksums(&all);
    checksums.retain(|checksum| checksum.crc != 0);
    Ok(Contents { tensors: parts.tensors, checksums, ..Contents::default() })
}

/// The folders of the storages of `data.pkl` and of `constants.pkl`.
const STORAGES: [&str; 2] = ["data/", "constants/"];

/// The storages of this pickle are empty: `torch.jit.trace` keeps only the shapes of example
/// inputs.
const TRACED_INPUTS: &str = "traced_inputs";

/// Whether a member is a pickle: `data.pkl`, other pickles of TorchScript beside it, and the
/// pickles with lines of its source.
fn is_pickle(name: &str) -> bool {
    name.ends_with(".pkl") && !name.contains('/')
        || name.starts_with("code/") && name.ends_with(".debug_pkl")
}

fn byte_order(
    members: &BTreeMap<&str, &Member>,
    archive: &dyn ReadAt,
) -> Result<ByteOrder, Refused> {
    let Some(member) = members.get("byteorder") else { return Ok(ByteOrder::Little) };
    let mut word = Vec::new();
    let read = member.open(ReadAhead::new(archive)).take(16).read_to_end(&mut word);
    read.map_err(|error| failed(member, error))?;
    match word.as_slice() {
        b"little" => Ok(ByteOrder::Little),
        b"big" => Ok(ByteOrder::Big),
        _ => Err(failed(member, "neither little nor big")),
    }
}

struct Archive<'a> {
    source: &'a dyn ReadAt,
    /// The members by their names within the folder of the archive.
    members: BTreeMap<&'a str, &'a Member>,
    order: ByteOrder,
    /// The names of the members that were read, and of the storages that tensors refer to.
    used: HashSet<Arc<str>>,
    parts: Parts,
}

impl Archive<'_> {
    /// Reads a pickle and adds its tensors.
    fn pickle(&mut self, name: &str, root: &str) -> Result<(), Refused> {
        let member = self.members[name];
        let bytes: Box<dyn ReadAt + '_> = match member.method {
            Method::Stored => Box::new(Part(self.source, member.range.clone())),
            Method::Deflated => Box::new(inflated(member, self.source)?),
            _ => return Err(failed(member, member.unreadable().unwrap_or_default())),
        };
        let pickle = pickle::read(&*bytes).map_err(|why| malformed(&member.name, why))?;
        // TorchScript has the storages of `constants.pkl` in a folder of that name, unless it
        // shares those of `data`.
        let folder = name.strip_suffix(".pkl").unwrap_or(name);
        let source = Source {
            bytes: &*bytes,
            at: (member.method == Method::Stored).then_some(member.range.start),
            name,
            root: if folder == "data" { root } else { folder },
            order: self.order,
        };
        self.used.insert(member.name.clone());
        let (members, used) = (&self.members, &mut self.used);
        self.parts.pickle(&pickle, &source, |storage| find(members, folder, storage, used))?;
        let rest = Part(&*bytes, pickle.length..bytes.length());
        if !holds_text(&rest, is_text)? {
            let name = format!("{name} behind its end");
            self.parts.unreadable(name, rest.length(), "no pickle");
        }
        Ok(())
    }
}

/// The bytes of a deflated pickle.
fn inflated(member: &Member, archive: &dyn ReadAt) -> Result<Vec<u8>, Refused> {
    let mut bytes = Vec::new();
    let most = MAX_DEFLATED_PICKLE + 1;
    let read = member.open(ReadAhead::new(archive)).take(most).read_to_end(&mut bytes);
    read.map_err(|error| failed(member, error))?;
    if bytes.len() as u64 <= MAX_DEFLATED_PICKLE {
        return Ok(bytes);
    }
    Err(failed(member, "longer than a deflated pickle of names and shapes"))
}

fn failed(member: &Member, why: impl fmt::Display) -> Refused {
    format!("member {:?}: {why}", member.name).into()
}

/// The member that holds a storage.
fn find(
    members: &BTreeMap<&str, &Member>,
    folder: &str,
    storage: &constructors::StorageRef,
    used: &mut HashSet<Arc<str>>,
) -> Option<StorageData> {
    [folder, "data"].iter().find_map(|folder| {
        let member = *members.get(format!("{folder}/{}", storage.key).as_str())?;
        used.insert(member.name.clone());
        let left_out = *folder == TRACED_INPUTS && member.size == 0;
        Some(if left_out { StorageData::LeftOut } else { StorageData::of(member) })
    })
}
