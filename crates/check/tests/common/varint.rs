//! Numbers of variable length, as in Protocol Buffers and Thrift's compact protocol.

/// Seven bits in each byte, the lowest first. The top bit means that more bytes follow.
pub(crate) fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}
