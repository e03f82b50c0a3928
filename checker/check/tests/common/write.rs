//! Writers of small files, by the specifications of the formats, independent of the readers.

/// A tensor to write: its type in the format, its shape in the order of numpy, its bytes.
pub(crate) struct Entry<'a, Type> {
    pub(crate) name: &'a str,
    pub(crate) kind: Type,
    pub(crate) shape: &'a [usize],
    pub(crate) data: &'a [u8],
}

pub(crate) fn npy(descr: &str, shape: &[usize], fortran: bool, data: &[u8]) -> Vec<u8> {
    let shape: String = shape.iter().map(|extent| format!("{extent},")).collect();
    let order = if fortran { "True" } else { "False" };
    let text = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({shape}), }}\n");
    npy_text(&text, data)
}

/// A .npy file with this dictionary in its header.
pub(crate) fn npy_text(text: &str, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(text.len()).expect("a short header").to_le_bytes();
    [b"\x93NUMPY\x01\0", &length[..], text.as_bytes(), data].concat()
}

pub(crate) fn safetensors(entries: &[Entry<'_, &str>]) -> Vec<u8> {
    let (mut header, mut data) = (Vec::new(), Vec::new());
    for Entry { name, kind, shape, data: bytes } in entries {
        let (start, end) = (data.len(), data.len() + bytes.len());
        header.push(format!(
            r#""{name}":{{"dtype":"{kind}","shape":{shape:?},"data_offsets":[{start},{end}]}}"#
        ));
        data.extend_from_slice(bytes);
    }
    safetensors_text(&format!("{{{}}}", header.join(",")), &data)
}

/// A .safetensors file with this text as its header.
pub(crate) fn safetensors_text(text: &str, data: &[u8]) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes(), text.as_bytes(), data].concat()
}

/// A .gguf file in one of the byte orders. Data is written unchanged.
pub(crate) fn gguf(entries: &[Entry<'_, u32>], big: bool, metadata: &[Vec<u8>]) -> Vec<u8> {
    gguf_aligned(entries, big, metadata, 32)
}

/// A .gguf file with data at multiples of `alignment`, of which the metadata has to tell.
pub(crate) fn gguf_aligned(
    entries: &[Entry<'_, u32>],
    big: bool,
    metadata: &[Vec<u8>],
    alignment: usize,
) -> Vec<u8> {
    let mut bytes = b"GGUF".to_vec();
    bytes.extend(u32_in(3, big));
    bytes.extend(u64_in(entries.len(), big));
    bytes.extend(u64_in(metadata.len(), big));
    bytes.extend(metadata.concat());
    let mut offset = 0;
    for entry in entries {
        bytes.extend(string(entry.name, big));
        bytes.extend(u32_in(u32::try_from(entry.shape.len()).expect("few dimensions"), big));
        bytes.extend(entry.shape.iter().rev().flat_map(|&extent| u64_in(extent, big)));
        bytes.extend(u32_in(entry.kind, big));
        bytes.extend(u64_in(offset, big));
        offset = (offset + entry.data.len()).next_multiple_of(alignment);
    }
    for entry in entries {
        bytes.resize(bytes.len().next_multiple_of(alignment), 0);
        bytes.extend_from_slice(entry.data);
    }
    bytes
}

pub(crate) fn u32_in(value: u32, big: bool) -> [u8; 4] {
    if big { value.to_be_bytes() } else { value.to_le_bytes() }
}

pub(crate) fn u64_in(value: usize, big: bool) -> [u8; 8] {
    let value = value as u64;
    if big { value.to_be_bytes() } else { value.to_le_bytes() }
}

pub(crate) fn string(text: &str, big: bool) -> Vec<u8> {
    [&u64_in(text.len(), big)[..], text.as_bytes()].concat()
}
