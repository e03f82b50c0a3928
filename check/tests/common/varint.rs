//! Numbers as Protocol Buffers and Thrift's compact protocol have them.

/// Seven bits a byte, the lowest first; the top bit tells that more follow.
pub(crate) fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}
