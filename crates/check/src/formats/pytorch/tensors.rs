//! The tensors of pickles: views of storages, arrays, numbers, and unreadable data.

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
use crate::model::{ByteOrder, Content, Data, Layout, Tensor};

/// The data of a storage.
#[derive(Clone, Debug)]
pub(super) enum StorageData {
    /// These bytes of the file.
    Stored(Range<usize>),
    /// This deflated member.
    Deflated(Member),
    /// Data that cannot be read: why.
    Unreadable(String),
    /// The writer leaves out the data of this storage.
    LeftOut,
}

impl StorageData {
    pub(super) fn of(member: &Member) -> Self {
        match member.method {
            Method::Stored => Self::Stored(member.range.clone()),
            Method::Deflated => Self::Deflated(member.clone()),
            Method::Other(_) | Method::Encrypted => {
                Self::Unreadable(member.unreadable().unwrap_or_default())
            }
        }
    }

    fn size(&self) -> usize {
        match self {
            Self::Stored(range) => range.len(),
            Self::Deflated(member) => member.size,
            Self::Unreadable(_) | Self::LeftOut => 0,
        }
    }

    /// All of a storage.
    fn whole(self) -> Data {
        match self {
            Self::Stored(range) => Data::Input(range),
            Self::Deflated(member) => Data::Decoded(member.decode(0)),
            Self::Unreadable(_) | Self::LeftOut => Data::Owned(Vec::new()),
        }
    }
}

/// A pickle to read, and its surroundings.
pub(super) struct Source<'a> {
    /// Bytes that begin with the pickle.
    pub(super) bytes: &'a [u8],
    /// The byte of the file where the pickle begins; none if it is deflated.
    pub(super) at: Option<usize>,
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
    /// Bytes of deflated storages before the first element of a tensor. They have to be inflated
    /// too.
    pub(super) skipped: usize,
}

impl Parts {
    /// Adds the tensors of a pickle. `storage` finds the data of a storage.
    pub(super) fn pickle(
        &mut self,
        pickle: &Pickle,
        source: &Source<'_>,
        mut storage: impl FnMut(&constructors::StorageRef) -> Option<StorageData>,
    ) -> Result<(), Refused> {
        let has_state = pickle.has_any(&STATES);
        let items =
            walk::walk(pickle, source.bytes, source.root).ok_or_else(|| long_names(source.name))?;
        for item in items {
            let before = self.tensors.len();
            match item {
                Item::Tensor(found) => {
                    let Some(place) = storage(&found.storage) else {
                        let why = format!("its storage {:?} is not in the file", found.storage.key);
                        return Err(bad_tensor(&found.name, &why));
                    };
                    self.tensor(found, place, source.order)?;
                }
                Item::Array(array) => self.array(array, pickle, source),
                Item::Numbers { name, shape, numbers } => self.numbers(name, shape, &numbers),
                Item::OtherNumbers(numbers) => {
                    let name = format!("numbers of {}", source.name);
                    self.numbers(name, vec![numbers.len()], &numbers);
                }
                Item::Unknown { name, bytes } => {
                    let name = name.unwrap_or_else(|| source.name.to_owned());
                    self.unreadable(name, bytes, "bytes in a pickle that could be anything");
                }
            }
            for tensor in self.tensors[before..].iter_mut().filter(|_| has_state) {
                let key = tensor.name.as_deref().and_then(|name| name.rsplit('.').next());
                if tensor.is_scanned() && tensor.elements() == 1 && key.is_some_and(is_best) {
                    tensor.description.is_of_trainer = true;
                }
            }
        }
        Ok(())
    }

    /// Adds the objects that could hold numbers and that the check does not read.
    pub(super) fn unreadable(&mut self, name: String, size: usize, why: impl Into<String>) {
        self.tensors.push(opaque::tensor(name, size, why.into(), Data::Owned(Vec::new())));
    }

    fn numbers(&mut self, name: String, shape: Vec<usize>, numbers: &[f64]) {
        let (format, order) = (Format::F64, ByteOrder::Little);
        let content = Content::Floats { format, parts: 1, order };
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.tensors.push(Tensor::new(name, "float", shape, content, Data::Owned(bytes)));
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
        let data = match (bytes, source.at) {
            (Bytes::Here(range), Some(at)) => Data::Input(at + range.start..at + range.end),
            (Bytes::Here(range), None) => Data::Owned(source.bytes[range].to_vec()),
            (Bytes::Text { object, .. }, _) => Data::Owned(match &pickle.objects[object] {
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
        let unit = tensor.unit();
        // Bytes may hold numbers of 8 bits, if the user says so.
        let is_bytes = matches!(tensor.dtype.as_str(), "uint8" | "int8");
        if !tensor.is_scanned() && !is_bytes {
            self.tensors.push(tensor);
            return Ok(());
        }
        match place {
            StorageData::Unreadable(why) => {
                tensor.content = Content::Unreadable(why.into());
                self.tensors.push(tensor);
                return Ok(());
            }
            StorageData::LeftOut => {
                tensor.description.is_left_out = true;
                tensor.description.shape = vec![0];
                self.tensors.push(tensor);
                return Ok(());
            }
            StorageData::Stored(_) | StorageData::Deflated(_) => {}
        }
        let size = place.size();
        if !size.is_multiple_of(unit) {
            let why = format!("its storage of {size} bytes is no whole number of elements");
            return Err(bad_tensor(&name, &why));
        }
        let view = strided::View::new(&tensor.shape, &found.strides, found.offset, unit, size);
        let view = view.map_err(|why| bad_tensor(&name, why))?;
        let range = view.bytes();
        tensor.layout = view.order();
        tensor.data = match (view.is_dense(), place) {
            (true, StorageData::Stored(storage)) => {
                Data::Input(storage.start + range.start..storage.start + range.end)
            }
            (true, StorageData::Deflated(member)) if range.end == size => {
                self.skipped = self.skipped.saturating_add(range.start);
                Data::Decoded(member.decode(range.start))
            }
            (false, StorageData::Stored(storage)) if view.elements() <= size / unit => {
                Data::Decoded(view.decode(storage.start))
            }
            // The view repeats elements, such as overlapping windows. Look once at all elements
            // from the first to the last.
            (false, StorageData::Stored(storage)) => {
                let elements = range.start / unit..range.end / unit;
                tensor.stand_for(found.storage.key, elements);
                Data::Input(storage.start + range.start..storage.start + range.end)
            }
            // The view is a part of a deflated storage. Look once at the whole storage.
            (_, place) => {
                tensor.stand_for(found.storage.key, 0..size / unit);
                place.whole()
            }
        };
        self.tensors.push(tensor);
        Ok(())
    }
}

/// Keys of states of schedulers, optimizers and early stopping.
const STATES: [&str; 5] =
    ["param_groups", "mode_worse", "num_bad_epochs", "wait_count", "best_model_score"];

/// Whether a state has its best number so far, which is infinite at first, under this key.
fn is_best(key: &str) -> bool {
    let keys = [
        "best",
        "mode_worse",
        "best_metric",
        "best_score",
        "best_loss",
        "best_val_loss",
        "kth_value",
    ];
    keys.contains(&key)
}

/// The content of a tensor of this dtype.
fn content(dtype: &str, order: ByteOrder) -> Content {
    Content::named(dtype, order).unwrap_or_else(|| match dtype {
        _ if constructors::is_integer(dtype) => Content::NotFloat,
        _ => Content::Unreadable("a dtype that is not known".into()),
    })
}
