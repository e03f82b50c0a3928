//! A file with a NaN is never clean for the command, in any container and under any name.

use std::fs;

use crate::containers::wrapped;
use crate::folder::folder;
use crate::names::NAMES;
use crate::{check_in, tensor};

#[test]
fn no_file_is_clean() {
    for (container, bytes) in wrapped(&tensor("x", f32::NAN)) {
        let folder = folder("hidden");
        for (place, name) in NAMES.iter().enumerate() {
            let inner = folder.join(place.to_string());
            fs::create_dir_all(&inner).unwrap();
            fs::write(inner.join(name), &bytes).unwrap();
            // The folder, and the file by its path.
            for argument in [".", name] {
                let status = check_in(&inner, &[argument]).status;
                assert!(matches!(status, 1 | 2), "{container}, {name}, {argument}: {status}");
            }
        }
        let run = check_in(&folder, &["--json", "."]);
        let document: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        for file in document["files"].as_array().unwrap() {
            assert!(file["bad"] == true || file["complete"] == false, "{container}: {file}");
        }
        assert_eq!(document["files"].as_array().unwrap().len(), NAMES.len(), "{container}");
    }
}
