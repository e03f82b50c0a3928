//! Zip archives, by APPNOTE.TXT.

use std::io::Write;

/// A zip archive of stored members.
pub(crate) fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    zip_with(&members.iter().map(|&(name, data)| (name, data, false)).collect::<Vec<_>>())
}

/// A zip archive of deflated members.
pub(crate) fn deflated(members: &[(&str, &[u8])]) -> Vec<u8> {
    zip_with(&members.iter().map(|&(name, data)| (name, data, true)).collect::<Vec<_>>())
}

/// A zip archive of members, each with whether it is deflated.
pub(crate) fn zip_with(members: &[(&str, &[u8], bool)]) -> Vec<u8> {
    let (mut file, mut directory, mut count) = (Vec::new(), Vec::new(), 0u16);
    for &(name, data, deflate) in members {
        count += 1;
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
    let count = count.to_le_bytes();
    let (size, at) = ((directory.len() as u32).to_le_bytes(), (file.len() as u32).to_le_bytes());
    [&file[..], &directory, b"PK\x05\x06\0\0\0\0", &count, &count, &size, &at, &[0, 0]].concat()
}
