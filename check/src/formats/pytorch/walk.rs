//! Finds the tensors in a pickle of PyTorch, and gives them the names of the keys that lead to
//! them.

use std::collections::HashSet;

use super::pickle::{Id, Object, Pickle};

/// A storage that a pickle refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Storage {
    /// The dtype that goes with its type, as torch names dtypes; of an untyped one, `uint8`.
    dtype: String,
    /// Its name in the archive.
    pub(super) key: String,
}

/// A tensor that a pickle describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) name: String,
    pub(super) dtype: String,
    pub(super) storage: Storage,
    /// In elements, as the strides.
    pub(super) offset: i64,
    pub(super) shape: Vec<usize>,
    pub(super) strides: Vec<i64>,
}

/// Storage classes and dtypes.
const STORAGES: [(&str, &str); 19] = [
    ("FloatStorage", "float32"),
    ("DoubleStorage", "float64"),
    ("HalfStorage", "float16"),
    ("BFloat16Storage", "bfloat16"),
    ("ComplexFloatStorage", "complex64"),
    ("ComplexDoubleStorage", "complex128"),
    ("ByteStorage", "uint8"),
    ("CharStorage", "int8"),
    ("ShortStorage", "int16"),
    ("IntStorage", "int32"),
    ("LongStorage", "int64"),
    ("BoolStorage", "bool"),
    ("QInt8Storage", "qint8"),
    ("QUInt8Storage", "quint8"),
    ("QInt32Storage", "qint32"),
    ("QUInt4x2Storage", "quint4x2"),
    ("QUInt2x4Storage", "quint2x4"),
    ("UntypedStorage", "uint8"),
    ("TypedStorage", "uint8"),
];

/// Whether a dtype is one of integers, booleans or integers that stand for something else.
pub(super) fn is_integer(dtype: &str) -> bool {
    let others = [
        "uint16", "uint32", "uint64", "long", "int", "short", "bits8", "bits16", "bits1x8",
        "bits2x4", "bits4x2",
    ];
    STORAGES
        .iter()
        .any(|(_, known)| *known == dtype && !known.contains("float") && !known.contains("complex"))
        || others.contains(&dtype)
}

/// The most extents that a shape may have. Many tensors can refer to one, so that this bounds the
/// time for each.
const MAX_RANK: usize = 256;

/// Bytes of names and shapes for a byte of pickle. References could make a few long ones stand for
/// many.
const MAX_NAMES: usize = 64;
/// What is granted to a small pickle beyond that.
const MIN_NAMES: usize = 128 << 10;

/// All tensors of a pickle; none if their names and shapes would take far more memory than the
/// pickle.
pub(super) fn walk(pickle: &Pickle) -> Option<Vec<Found>> {
    let mut room = pickle.length.saturating_mul(MAX_NAMES).saturating_add(MIN_NAMES);
    let mut take = |bytes: usize| {
        room = room.checked_sub(bytes)?;
        Some(())
    };
    let mut found = Vec::new();
    // Each object is visited once, under the first name that leads to it: references could make a
    // maze otherwise.
    let mut seen = HashSet::new();
    let mut todo = vec![(pickle.root, String::new())];
    while let Some((id, name)) = todo.pop() {
        if !seen.insert(id) {
            continue;
        }
        let reader = Reader(&pickle.objects);
        if let Some(tensor) = reader.tensor(id) {
            take(tensor.dtype.len() + tensor.storage.key.len() + size_of_val(&*tensor.shape))?;
            found.push(Found { name, ..tensor });
            continue;
        }
        let at = todo.len();
        // A name is made only for what can hold a tensor.
        let mut add = |id: Id, key: Option<&str>| {
            let holds = matches!(
                pickle.objects[id],
                Object::Sequence(_) | Object::Dict(_) | Object::Call { .. }
            );
            if !holds || seen.contains(&id) {
                return Some(());
            }
            let name = match key {
                None => name.clone(),
                Some(key) if name.is_empty() => key.to_owned(),
                Some(key) => format!("{name}.{key}"),
            };
            take(name.len())?;
            todo.push((id, name));
            Some(())
        };
        match &pickle.objects[id] {
            Object::Sequence(items) => {
                for (i, &item) in items.iter().enumerate() {
                    add(item, Some(&i.to_string()))?;
                }
            }
            Object::Dict(items) => {
                for &(key, value) in items {
                    add(value, Some(&reader.key(key)))?;
                }
            }
            // What a function of somebody's own makes of these is not known; what they hold is
            // looked at.
            Object::Call { arguments, state, items, .. } => {
                add(*arguments, None)?;
                if let Some(state) = state {
                    add(*state, None)?;
                }
                for &(key, value) in items {
                    add(value, Some(&reader.key(key)))?;
                }
            }
            _ => {}
        }
        // In the order of the pickle.
        todo[at..].reverse();
    }
    Some(found)
}

struct Reader<'a>(&'a [Object]);

impl<'a> Reader<'a> {
    /// A key as part of a name.
    fn key(&self, id: Id) -> String {
        match &self.0[id] {
            Object::Text(text) => text.clone(),
            Object::Int(number) => number.to_string(),
            _ => "?".to_owned(),
        }
    }

    fn sequence(&self, id: Id) -> Option<&'a [Id]> {
        match &self.0[id] {
            Object::Sequence(items) => Some(items),
            _ => None,
        }
    }

    fn integers(&self, id: Id) -> Option<Vec<i64>> {
        let items = self.sequence(id).filter(|items| items.len() <= MAX_RANK)?;
        items.iter().map(|&item| self.integer(item)).collect()
    }

    fn integer(&self, id: Id) -> Option<i64> {
        match &self.0[id] {
            Object::Int(number) => Some(*number),
            _ => None,
        }
    }

    fn global(&self, id: Id) -> Option<&'a str> {
        match &self.0[id] {
            Object::Global(name) => Some(name),
            _ => None,
        }
    }

    /// The storage that `("storage", type, key, device, elements)` refers to.
    fn storage(&self, id: Id) -> Option<Storage> {
        let Object::Persistent(reference) = &self.0[id] else { return None };
        let [_, class, key, ..] = self.sequence(*reference)? else { return None };
        let class = self.global(*class)?.rsplit(' ').next()?;
        let (_, dtype) = STORAGES.iter().find(|(known, _)| *known == class)?;
        let Object::Text(key) = &self.0[*key] else { return None };
        Some(Storage { dtype: (*dtype).to_owned(), key: key.clone() })
    }

    /// The tensor that a call would make, without a name. Wrappers hand one on.
    fn tensor(&self, mut id: Id) -> Option<Found> {
        // As deep as wrappers may go; PyTorch makes two.
        for _ in 0..8 {
            let Object::Call { function, arguments, .. } = &self.0[id] else { return None };
            let function = self.global(*function)?;
            let arguments = self.sequence(*arguments)?;
            match (function, arguments) {
                (
                    "torch._utils _rebuild_tensor"
                    | "torch._utils _rebuild_tensor_v2"
                    | "torch._utils _rebuild_qtensor",
                    [storage, offset, shape, strides, ..],
                ) => return self.rebuild(*storage, *offset, *shape, *strides, None),
                (
                    "torch._utils _rebuild_tensor_v3",
                    [storage, offset, shape, strides, _, _, dtype, ..],
                ) => {
                    return self.rebuild(*storage, *offset, *shape, *strides, Some(*dtype));
                }
                (
                    "torch._utils _rebuild_parameter"
                    | "torch._utils _rebuild_parameter_with_state",
                    [tensor, ..],
                ) => id = *tensor,
                // (function, type, arguments, state)
                ("torch._tensor _rebuild_from_type_v2", [function, _, arguments, ..]) => {
                    let function = self.global(*function)?;
                    let arguments = self.sequence(*arguments)?;
                    return match (function, arguments) {
                        (
                            "torch._utils _rebuild_tensor_v2",
                            [storage, offset, shape, strides, ..],
                        ) => self.rebuild(*storage, *offset, *shape, *strides, None),
                        _ => None,
                    };
                }
                _ => return None,
            }
        }
        None
    }

    fn rebuild(
        &self,
        storage: Id,
        offset: Id,
        shape: Id,
        strides: Id,
        dtype: Option<Id>,
    ) -> Option<Found> {
        let storage = self.storage(storage)?;
        let dtype = match dtype {
            Some(dtype) => self.global(dtype)?.strip_prefix("torch ")?.to_owned(),
            None => storage.dtype.clone(),
        };
        let shape: Option<Vec<usize>> =
            self.integers(shape)?.into_iter().map(|extent| usize::try_from(extent).ok()).collect();
        Some(Found {
            name: String::new(),
            dtype,
            storage,
            offset: self.integer(offset)?,
            shape: shape?,
            strides: self.integers(strides)?,
        })
    }
}
