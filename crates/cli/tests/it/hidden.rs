//! A file with a NaN is never clean for the command, in any container and under any name.

use std::fs;

use crate::folder::folder;
use crate::names::NAMES;
use crate::{command, safetensors};

fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ ((crc & 1) * 0xEDB8_8320))
    })
}

/// A zip archive of one stored member.
pub(crate) fn zip(name: &str, data: &[u8]) -> Vec<u8> {
    let size = (data.len() as u32).to_le_bytes();
    let length = (name.len() as u16).to_le_bytes();
    let fields = [&[20, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &crc(data).to_le_bytes(), &size, &size];
    let fields = [&fields.concat()[..], &length, &[0, 0]].concat();
    let file = [b"PK\x03\x04", &fields[..], name.as_bytes(), data].concat();
    let directory = [b"PK\x01\x02\x14\0", &fields[..], &[0; 14], name.as_bytes()].concat();
    let place = |bytes: &[u8]| (bytes.len() as u32).to_le_bytes();
    let end = [&[0, 0, 0, 0, 1, 0, 1, 0], &place(&directory)[..], &place(&file), &[0, 0]].concat();
    [&file[..], &directory, b"PK\x05\x06", &end].concat()
}

#[test]
fn no_file_is_clean() {
    let header = r#"{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
    let file = safetensors(header, &f32::NAN.to_le_bytes());
    let mut tar = vec![0; 512];
    tar[257..262].copy_from_slice(b"ustar");
    let wrapped = [
        ("alone", file.clone()),
        ("zip", zip("x.bin", &file)),
        ("zip in zip", zip("y", &zip("x.bin", &file))),
        ("torch", zip("m/data.pkl", &[b"\x80\x02}.", &file[..]].concat())),
        ("before a zip", [&file[..], &zip("a.txt", b"text")].concat()),
        ("behind a zip", [&zip("a.txt", b"text")[..], &file].concat()),
        ("pickle", [b"\x80\x03B", &(file.len() as u32).to_le_bytes()[..], &file, b"."].concat()),
        ("gzip", [b"\x1F\x8B\x08\0", &file[..]].concat()),
        ("tar", [&tar[..], &file].concat()),
        ("HDF5", [b"\x89HDF\r\n\x1A\n", &file[..]].concat()),
    ];
    for (container, bytes) in wrapped {
        let folder = folder("hidden");
        for (place, name) in NAMES.iter().enumerate() {
            let inner = folder.join(place.to_string());
            fs::create_dir_all(&inner).unwrap();
            fs::write(inner.join(name), &bytes).unwrap();
            // The folder, and the file by its path.
            for argument in [".", name] {
                let run = command().arg("check").arg(argument).current_dir(&inner).output();
                let status = run.expect("the command starts").status.code();
                assert!(
                    matches!(status, Some(1 | 2)),
                    "{container}, {name}, {argument}: {status:?}"
                );
            }
        }
        let run = command().args(["check", "--json", "."]).current_dir(&folder).output().unwrap();
        let document: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
        for file in document["files"].as_array().unwrap() {
            assert!(file["bad"] == true || file["complete"] == false, "{container}: {file}");
        }
        assert_eq!(document["files"].as_array().unwrap().len(), NAMES.len(), "{container}");
    }
}
