//! The objects that the calls of a pickle would make: tensors of PyTorch, arrays of numpy, bytes.

use std::ops::Range;

use super::pickle::{Id, Object, Pickle};
use crate::model::span;

/// A storage that a pickle refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StorageRef {
    /// The dtype of the storage type, by its name in torch. `uint8` for an untyped storage.
    pub(super) dtype: &'static str,
    /// Bytes of an element of this dtype.
    pub(super) unit: usize,
    /// The name of the storage in the archive.
    pub(super) key: String,
    /// The first element in the storage of this name. Nonzero only for views of storages, which
    /// PyTorch wrote before version 0.4.
    start: i64,
}

/// A tensor that a pickle describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PickledTensor {
    pub(super) name: String,
    pub(super) dtype: String,
    pub(super) storage: StorageRef,
    /// The offset, in elements like the strides.
    pub(super) offset: i64,
    pub(super) shape: Vec<u64>,
    pub(super) strides: Vec<i64>,
}

/// A tensor, and the other objects in its calls.
pub(super) struct Rebuilt {
    pub(super) found: PickledTensor,
    /// The nested calls that make the tensor.
    pub(super) calls: Vec<Id>,
    /// Other arguments, which may hold further tensors, each with a name.
    pub(super) rest: Vec<(Option<&'static str>, Id)>,
}

/// An array or a scalar of numpy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Array {
    pub(super) name: String,
    /// The dtype, as a .npy file spells it.
    pub(super) descr: String,
    pub(super) shape: Vec<u64>,
    pub(super) fortran_order: bool,
    pub(super) bytes: Bytes,
}

/// The place of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Bytes {
    /// In this range of the pickle.
    Here(Range<u64>),
    /// This number of bytes, each a character of a text, as protocols before 3 write them.
    Text { object: Id, length: u64 },
}

impl Bytes {
    pub(super) fn length(&self) -> u64 {
        match self {
            Self::Here(range) => span(range),
            Self::Text { length, .. } => *length,
        }
    }
}

/// Storage classes, their dtypes, and bytes of an element.
const STORAGES: [(&str, &str, usize); 19] = [
    ("FloatStorage", "float32", 4),
    ("DoubleStorage", "float64", 8),
    ("HalfStorage", "float16", 2),
    ("BFloat16Storage", "bfloat16", 2),
    ("ComplexFloatStorage", "complex64", 8),
    ("ComplexDoubleStorage", "complex128", 16),
    ("ByteStorage", "uint8", 1),
    ("CharStorage", "int8", 1),
    ("ShortStorage", "int16", 2),
    ("IntStorage", "int32", 4),
    ("LongStorage", "int64", 8),
    ("BoolStorage", "bool", 1),
    ("QInt8Storage", "qint8", 1),
    ("QUInt8Storage", "quint8", 1),
    ("QInt32Storage", "qint32", 4),
    ("QUInt4x2Storage", "quint4x2", 1),
    ("QUInt2x4Storage", "quint2x4", 1),
    ("UntypedStorage", "uint8", 1),
    ("TypedStorage", "uint8", 1),
];

/// Whether a dtype holds integers, booleans, quantised integers or raw bits.
pub(super) fn is_integer(dtype: &str) -> bool {
    let others = [
        "uint16", "uint32", "uint64", "long", "int", "short", "bits8", "bits16", "bits1x8",
        "bits2x4", "bits4x2",
    ];
    let float = dtype.contains("float") || dtype.contains("complex");
    STORAGES.iter().any(|(_, known, _)| *known == dtype && !float) || others.contains(&dtype)
}

/// The most extents of a shape. Bounds the time for each tensor, since many tensors can refer to
/// one shape.
const MAX_RANK: usize = 256;

/// The most arguments of a call that makes a tensor.
const MAX_ARGUMENTS: usize = 16;

/// The deepest nesting of wrappers around tensors and bytes. PyTorch makes two levels.
const MAX_WRAPPERS: usize = 8;

/// Reads the calls among these objects.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a>(pub(super) &'a Pickle);

impl<'a> Reader<'a> {
    /// A key, written as part of a name.
    pub(super) fn key(self, id: Id) -> String {
        match &self.0.objects[id] {
            Object::Text(text) => text.clone(),
            Object::Int(number) => number.to_string(),
            _ => "?".to_owned(),
        }
    }

    pub(super) fn sequence(self, id: Id) -> Option<&'a [Id]> {
        let Object::Sequence(items) = &self.0.objects[id] else { return None };
        Some(items)
    }

    fn integers(self, id: Id) -> Option<Vec<i64>> {
        let items = self.sequence(id).filter(|items| items.len() <= MAX_RANK)?;
        items.iter().map(|&item| self.integer(item)).collect()
    }

    pub(super) fn integer(self, id: Id) -> Option<i64> {
        let Object::Int(number) = &self.0.objects[id] else { return None };
        Some(*number)
    }

    /// The extents of a shape; none if one is negative.
    pub(super) fn shape(self, id: Id) -> Option<Vec<u64>> {
        self.integers(id)?.into_iter().map(|extent| u64::try_from(extent).ok()).collect()
    }

    fn global(self, id: Id) -> Option<&'a str> {
        let Object::Global(name) = &self.0.objects[id] else { return None };
        Some(name)
    }

    pub(super) fn text(self, id: Id) -> Option<&'a str> {
        let Object::Text(text) = &self.0.objects[id] else { return None };
        Some(text)
    }

    /// The name of the function of a call, its arguments, and the state that it is given.
    pub(super) fn call(self, id: Id) -> Option<(&'a str, &'a [Id], Option<Id>)> {
        let Object::Call(call) = &self.0.objects[id] else { return None };
        Some((self.global(call.function)?, self.sequence(call.arguments)?, call.state))
    }

    /// The storage of a reference `("storage", type, key, device, elements, view)`. A view is
    /// `(key, first element, elements)`.
    pub(super) fn storage(self, id: Id) -> Option<StorageRef> {
        let (key, dtype, unit, start) = self.storage_parts(id)?;
        Some(StorageRef { dtype, unit, key: key.to_owned(), start })
    }

    /// The name of a storage, its dtype, the bytes of an element, and its first element.
    pub(super) fn storage_parts(self, id: Id) -> Option<(&'a str, &'static str, usize, i64)> {
        let Object::Persistent(reference) = &self.0.objects[id] else { return None };
        let [_, class, key, rest @ ..] = self.sequence(*reference)? else { return None };
        let class = self.global(*class)?.rsplit(' ').next()?;
        let (_, dtype, unit) = STORAGES.iter().find(|(known, ..)| *known == class)?;
        let view = rest.get(2).and_then(|&view| self.sequence(view));
        let start = match view {
            Some([_, start, _]) => self.integer(*start)?,
            Some(_) => return None,
            None => 0,
        };
        Some((self.text(*key)?, *dtype, *unit, start))
    }

    /// The tensor that a call would make, without a name. Follows wrappers.
    pub(super) fn tensor(self, mut id: Id) -> Option<Rebuilt> {
        let (mut calls, mut rest) = (Vec::new(), Vec::new());
        let mut more = |ids: &[Id]| rest.extend(ids.iter().map(|&id| (None, id)));
        for _ in 0..MAX_WRAPPERS {
            let (mut function, mut arguments, _) = self.call(id)?;
            // Checked first, since many calls can share one long list of arguments.
            if arguments.len() > MAX_ARGUMENTS {
                return None;
            }
            calls.push(id);
            // (function, type, arguments, state)
            if let (
                "torch._tensor _rebuild_from_type_v2",
                [inner, _, inner_arguments, other @ ..],
            ) = (function, arguments)
            {
                more(other);
                function = self.global(*inner)?;
                arguments = self.sequence(*inner_arguments)?;
                if arguments.len() > MAX_ARGUMENTS {
                    return None;
                }
            }
            let (found, other) = match (function, arguments) {
                (
                    "torch._utils _rebuild_parameter"
                    | "torch._utils _rebuild_parameter_with_state",
                    [tensor, other @ ..],
                ) => {
                    more(other);
                    id = *tensor;
                    continue;
                }
                (
                    "torch._utils _rebuild_tensor"
                    | "torch._utils _rebuild_tensor_v2"
                    | "torch._utils _rebuild_qtensor",
                    [storage, offset, shape, strides, other @ ..],
                ) => (self.rebuild(*storage, *offset, *shape, *strides, None)?, other),
                (
                    "torch._utils _rebuild_tensor_v3",
                    [storage, offset, shape, strides, other @ ..],
                ) => {
                    let [_, _, dtype, ..] = other else { return None };
                    (self.rebuild(*storage, *offset, *shape, *strides, Some(*dtype))?, other)
                }
                _ => return None,
            };
            // (scheme, scale, zero point, axis), both numbers or both tensors.
            let scales = other.first().and_then(|&quantizer| self.sequence(quantizer));
            if let Some([_, scale, zero_point, ..]) = scales {
                rest.extend([(Some("scale"), *scale), (Some("zero_point"), *zero_point)]);
            }
            rest.extend(other.iter().map(|&id| (None, id)));
            return Some(Rebuilt { found, calls, rest });
        }
        None
    }

    fn rebuild(
        self,
        storage: Id,
        offset: Id,
        shape: Id,
        strides: Id,
        dtype: Option<Id>,
    ) -> Option<PickledTensor> {
        let storage = self.storage(storage)?;
        let dtype = match dtype {
            Some(dtype) => self.global(dtype)?.strip_prefix("torch ")?.to_owned(),
            None => storage.dtype.to_owned(),
        };
        Some(PickledTensor {
            name: String::new(),
            dtype,
            offset: self.integer(offset)?.checked_add(storage.start)?,
            storage,
            shape: self.shape(shape)?,
            strides: self.integers(strides)?,
        })
    }

    /// The bytes that an object would become, and the objects with these bytes.
    pub(super) fn bytes(self, mut id: Id) -> Option<(Bytes, Vec<Id>)> {
        let mut objects = Vec::new();
        for _ in 0..MAX_WRAPPERS {
            objects.push(id);
            if let Object::Bytes(range) = &self.0.objects[id] {
                return Some((Bytes::Here(range.clone()), objects));
            }
            match self.call(id)? {
                ("_codecs encode", [text, encoding, ..], _) => {
                    self.text(*encoding).filter(|name| ["latin1", "latin-1"].contains(name))?;
                    return Some((self.characters(*text)?, objects));
                }
                (
                    "builtins bytes"
                    | "__builtin__ bytes"
                    | "builtins bytearray"
                    | "__builtin__ bytearray",
                    [inner, ..],
                    _,
                ) => id = *inner,
                _ => return None,
            }
        }
        None
    }

    /// The characters of a text as bytes. None if a character is beyond U+00FF.
    fn characters(self, object: Id) -> Option<Bytes> {
        // Many calls can refer to one text. Its length counts for each of them, so the walk ends.
        let text = self.text(object).filter(|_| !self.0.wide.contains(&object))?;
        Some(Bytes::Text { object, length: text.chars().count() as u64 })
    }

    /// The array or scalar that a call would make, without a name, and the objects with its bytes.
    pub(super) fn array(self, id: Id) -> Option<(Array, Vec<Id>)> {
        let (function, arguments, state) = self.call(id)?;
        let module = function.strip_prefix("numpy.core.");
        let function = module.or_else(|| function.strip_prefix("numpy._core."))?;
        let (bytes, dtype, shape, fortran_order) = match (function, arguments) {
            ("multiarray _reconstruct", _) => {
                let [_, shape, dtype, fortran, bytes] = self.sequence(state?)? else { return None };
                let fortran =
                    matches!(self.0.objects[*fortran], Object::Bool(true) | Object::Int(1));
                (*bytes, *dtype, self.shape(*shape)?, fortran)
            }
            ("multiarray scalar", [dtype, bytes]) => (*bytes, *dtype, Vec::new(), false),
            ("numeric _frombuffer", [bytes, dtype, shape, order]) => {
                (*bytes, *dtype, self.shape(*shape)?, self.text(*order)? == "F")
            }
            _ => return None,
        };
        let descr = self.descr(dtype)?;
        // A string of Python 2 that is valid text.
        let text = || Some((self.characters(bytes)?, Vec::new()));
        let (bytes, objects) = self.bytes(bytes).or_else(text)?;
        Some((Array { name: String::new(), descr, shape, fortran_order, bytes }, objects))
    }

    /// The list with the elements of an array of objects.
    pub(super) fn elements(self, id: Id) -> Option<Id> {
        let (function, _, state) = self.call(id)?;
        let [_, _, _, _, elements] = self.sequence(state?)? else { return None };
        function.ends_with(".multiarray _reconstruct").then_some(*elements)
    }

    /// The dtype that a call makes, as a .npy file spells it. None for a dtype with fields or a
    /// shape.
    fn descr(self, id: Id) -> Option<String> {
        let ("numpy dtype", [kind, ..], Some(state)) = self.call(id)? else { return None };
        // (version, byte order, subarray, names, fields, ..)
        let [_, order, subarray, names, fields, ..] = self.sequence(state)? else { return None };
        let plain =
            [subarray, names, fields].iter().all(|&&id| self.0.objects[id] == Object::Other);
        plain.then_some(())?;
        let order = match self.text(*order)? {
            "=" => "<",
            order => order,
        };
        Some(format!("{order}{}", self.text(*kind)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_by_their_dtypes() {
        for dtype in ["int64", "uint8", "bool", "qint8", "quint2x4", "uint64", "bits1x8"] {
            assert!(is_integer(dtype), "{dtype}");
        }
        for dtype in ["float32", "bfloat16", "complex64", "float8_e5m2", "new"] {
            assert!(!is_integer(dtype), "{dtype}");
        }
    }
}
