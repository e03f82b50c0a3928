//! The tensors of pickles: views of storages, arrays, scales, and unreadable data.

use std::ops::Range;

use nonfinite::Format;

use super::constructors::{self, Array, Bytes, PickledTensor};
use super::pickle::{Object, Pickle};
use super::strided;
use super::walk::{self, Item};
use super::{bad_tensor, long_names};
use crate::containers::zip::{Member, Method};
use crate::formats::{npy, opaque};
use crate::model::reader::Refused;
use crate::model::{ByteOrder, Content, Data, Layout, ReadAt, Tensor, span};

/// The data of a storage.
#[derive(Clone, Debug)]
pub(super) enum StorageData {
    /// These bytes of the file.
    Stored(Range<u64>),
    /// Data that cannot be read: why.
    Unreadable(String),
    /// The writer leaves out the data of this storage.
    LeftOut,
}

impl StorageData {
    pub(super) fn of(member: &Member) -> Self {
        match member.method {
            Method::Stored => Self::Stored(member.range.clone()),
            Method::Deflated => Self::Unreadable(format!("its storage {DEFLATED}")),
            Method::Other(_) | Method::Encrypted => {
                Self::Unreadable(member.unreadable().unwrap_or_default())
            }
        }
    }
}

/// Why data in a compressed member is not read.
const DEFLATED: &str = "is compressed: load the file with torch.load and save it with torch.save";

/// A pickle to read, and its surroundings.
pub(super) struct Source<'a> {
    /// Bytes that begin with the pickle.
    pub(super) bytes: &'a dyn ReadAt,
    /// The byte of the file where the pickle begins; none if it is deflated.
    pub(super) at: Option<u64>,
    /// The name of the pickle.
    pub(super) name: &'a str,
    /// The name of the object that the pickle stands for.
    pub(super) root: &'a str,
    /// The byte order of its storages.
    pub(super) order: ByteOrder,
}

/// The tensors of an archive, collected.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) tensors: Vec<Tensor>,
}

impl Parts {
    /// Adds the tensors of a pickle. `storage` finds the data of a storage.
    pub(super) fn pickle(
        &mut self,
        pickle: &Pickle,
        source: &Source<'_>,
        mut storage: impl FnMut(&constructors::StorageRef) -> Option<StorageData>,
    ) -> Result<(), Refused> {
        let mut add = |item| {
            match item {
                Item::Tensor(found) => {
                    let Some(place) = storage(&found.storage) else {
                        let why = format!("its storage {:?} is not in the file", found.storage.key);
                        return Err(bad_tensor(&found.name, &why));
                    };
                    self.tensor(found, place, source.order)?;
                }
                Item::Array(array) => self.array(array, pickle, source),
                Item::Scale { name, number } => self.scale(name, number),
                Item::Objects { name, bytes } => {
                    self.unreadable(name, bytes, "an array of objects with numbers of Python");
                }
                Item::Unknown { name, bytes } => {
                    let name = name.unwrap_or_else(|| source.name.to_owned());
                    self.unreadable(name, bytes, "bytes in a pickle that could be anything");
                }
            }
            Ok(())
        };
        let mut failed = Ok(());
        let walked = walk::walk(pickle, source.bytes, source.root, &mut |item| {
            if failed.is_ok() {
                failed = add(item);
            }
        });
        walked.ok_or_else(|| long_names(source.name)).and(failed)
    }

    /// Adds the objects that could hold numbers and that the check does not read.
    pub(super) fn unreadable(&mut self, name: String, size: u64, why: impl Into<String>) {
        self.tensors.push(opaque::tensor(name, size, why.into(), Data::Owned(Vec::new())));
    }

    fn scale(&mut self, name: String, number: f64) {
        let (format, order) = (Format::F64, ByteOrder::Little);
        let content = Content::Floats { format, parts: 1, order };
        let data = Data::Owned(number.to_le_bytes().to_vec());
        self.tensors.push(Tensor::new(name, "float", Vec::new(), content, data));
    }

    fn array(&mut self, array: Array, pickle: &Pickle, source: &Source<'_>) {
        let Array { name, descr, shape, fortran_order, bytes } = array;
        let (size, content) = match npy::content(&descr) {
            Ok(known) => known,
            Err(error) => return self.unreadable(name, bytes.length(), error.to_string()),
        };
        let length = shape.iter().try_fold(size, |size, &extent| size.checked_mul(extent));
        if length != Some(bytes.length()) {
            let why = "its length does not match dtype and shape";
            return self.unreadable(name, bytes.length(), why);
        }
        let Some(at) = source.at else {
            return self.unreadable(name, bytes.length(), format!("its pickle {DEFLATED}"));
        };
        let data = match bytes {
            Bytes::Here(range) => Data::Input(at + range.start..at + range.end),
            Bytes::Text { object, .. } => Data::Owned(match &pickle.objects[object] {
                Object::Text(text) => text.chars().map(|character| character as u8).collect(),
                _ => Vec::new(),
            }),
        };
        let layout = if fortran_order { Layout::ColumnMajor } else { Layout::RowMajor };
        self.tensors.push(Tensor { layout, ..Tensor::new(name, descr, shape, content, data) });
    }

    fn tensor(
        &mut self,
        found: PickledTensor,
        place: StorageData,
        order: ByteOrder,
    ) -> Result<(), Refused> {
        let name = found.name;
        let content = content(&found.dtype, order);
        let nothing = Data::Owned(Vec::new());
        let mut tensor = Tensor::new(name.clone(), found.dtype, found.shape, content, nothing);
        let unit = tensor.unit() as u64;
        // The rules of lint read bytes, which may be codes or scales.
        let is_bytes = matches!(&*tensor.dtype, "uint8" | "int8");
        if !tensor.is_scanned() && !is_bytes {
            self.tensors.push(tensor);
            return Ok(());
        }
        let storage = match place {
            StorageData::Stored(storage) => storage,
            StorageData::Unreadable(why) => {
                tensor.content = Content::Unreadable(why.into());
                self.tensors.push(tensor);
                return Ok(());
            }
            StorageData::LeftOut => {
                tensor.described().is_left_out = true;
                tensor.described().shape = vec![0];
                self.tensors.push(tensor);
                return Ok(());
            }
        };
        let size = span(&storage);
        if !size.is_multiple_of(unit) {
            let why = format!("its storage of {size} bytes is no whole number of elements");
            return Err(bad_tensor(&name, &why));
        }
        let view = strided::View::new(&tensor.shape, &found.strides, found.offset, unit, size);
        let view = view.map_err(|why| bad_tensor(&name, why))?;
        let range = view.bytes();
        tensor.layout = view.order();
        let is_dense = view.is_dense();
        tensor.data = if !is_dense && view.elements() <= size / unit {
            Data::Decoded(view.decode(storage.start))
        } else {
            // A view that is not dense repeats elements, such as overlapping windows. Each
            // element from the first to the last counts once.
            if !is_dense {
                tensor.stand_for(found.storage.key, range.start / unit..range.end / unit);
            }
            Data::Input(storage.start + range.start..storage.start + range.end)
        };
        self.tensors.push(tensor);
        Ok(())
    }
}

/// The content of a tensor of this dtype.
fn content(dtype: &str, order: ByteOrder) -> Content {
    Content::named(dtype, order).unwrap_or_else(|| match dtype {
        _ if constructors::is_integer(dtype) => Content::NotFloat,
        _ => Content::Unreadable("a dtype that is not known".into()),
    })
}
