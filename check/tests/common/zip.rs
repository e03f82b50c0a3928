//! Zip archives, by APPNOTE.TXT.

use std::io::Write;

/// A zip archive of stored members.
pub(crate) fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    zip_with(members, false)
}

/// A zip archive of deflated members.
pub(crate) fn deflated(members: &[(&str, &[u8])]) -> Vec<u8> {
    zip_with(members, true)
}

fn zip_with(members: &[(&str, &[u8])], deflate: bool) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, data) in members {
        let at = file.len() as u32;
        let mut crc = flate2::Crc::new();
        crc.update(data);
        let mut stored = data.to_vec();
        if deflate {
            let mut encoder =
                flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
            encoder.write_all(data).unwrap();
            stored = encoder.finish().unwrap();
        }
        let sizes =
            [(stored.len() as u32).to_le_bytes(), (data.len() as u32).to_le_bytes()].concat();
        let common = [
            &[20, 0, 0, 0, if deflate { 8 } else { 0 }, 0, 0, 0, 0, 0][..],
            &crc.sum().to_le_bytes(),
            &sizes,
            &(name.len() as u16).to_le_bytes(),
            &[0, 0],
        ]
        .concat();
        file.extend([b"PK\x03\x04", &common[..], name.as_bytes(), &stored].concat());
        directory.extend(
            [b"PK\x01\x02\x14\x00", &common[..], &[0; 10], &at.to_le_bytes(), name.as_bytes()]
                .concat(),
        );
    }
    let count = (members.len() as u16).to_le_bytes();
    let (size, at) = ((directory.len() as u32).to_le_bytes(), (file.len() as u32).to_le_bytes());
    [&file[..], &directory, b"PK\x05\x06\0\0\0\0", &count, &count, &size, &at, &[0, 0]].concat()
}

/// Bytes that are not data of the member of an archive.
#[derive(Default)]
pub(crate) struct Beside<'a> {
    pub(crate) local_name: Option<&'a [u8]>,
    /// Extra fields of the local header, and of the directory.
    pub(crate) local: &'a [u8],
    pub(crate) entry: &'a [u8],
    /// Of the member.
    pub(crate) comment: &'a [u8],
    /// Behind the data of the member.
    pub(crate) descriptor: &'a [u8],
    /// The extensible data sector of zip64.
    pub(crate) sector: Option<&'a [u8]>,
}

/// An archive of one stored member, with records of zip64 at its end if
/// there is a sector.
pub(crate) fn zip_beside(name: &str, data: &[u8], beside: &Beside<'_>) -> Vec<u8> {
    let length = |bytes: &[u8]| (bytes.len() as u16).to_le_bytes();
    let plain = zip(&[(name, data)]);
    let at = 30 + name.len() + data.len();
    let (local, rest) = plain.split_at(at);
    let (entry, end) = rest.split_at(rest.len() - 22);
    let local_name = beside.local_name.unwrap_or(name.as_bytes());
    let local = [
        &local[..26],
        &length(local_name),
        &length(beside.local),
        local_name,
        beside.local,
        data,
        beside.descriptor,
    ]
    .concat();
    let entry = [
        &entry[..30],
        &length(beside.entry),
        &length(beside.comment),
        &entry[34..],
        beside.entry,
        beside.comment,
    ]
    .concat();
    let directory = [local.len(), local.len() + entry.len()];
    let mut end = end.to_vec();
    end[12..16].copy_from_slice(&(entry.len() as u32).to_le_bytes());
    end[16..20].copy_from_slice(&(directory[0] as u32).to_le_bytes());
    let mut records = Vec::new();
    if let Some(sector) = beside.sector {
        let number = |number: usize| (number as u64).to_le_bytes();
        records = [
            &b"PK\x06\x06"[..],
            &number(44 + sector.len()),
            &[45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            &number(1),
            &number(1),
            &number(entry.len()),
            &number(directory[0]),
            sector,
            b"PK\x06\x07\0\0\0\0",
            &number(directory[1]),
            &[1, 0, 0, 0],
        ]
        .concat();
        end[8..20].fill(0xFF);
    }
    [local, entry, records, end].concat()
}

/// An extra field.
pub(crate) fn field(id: u16, data: &[u8]) -> Vec<u8> {
    [&id.to_le_bytes()[..], &(data.len() as u16).to_le_bytes(), data].concat()
}
