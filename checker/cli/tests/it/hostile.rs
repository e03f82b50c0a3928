//! Damaged and malicious files: a message of one line and exit status 2, and names that cannot
//! drive the terminal. `checker/check` tests what its readers refuse.

use crate::write::{Entry, npy, safetensors, safetensors_text};
use crate::{array, check, file, refused};

#[test]
fn damaged_files() {
    let short = npy("<f4", &[4], false, &[0; 12]);
    refused("short.npy", &short, "say 16 bytes of data, the file has 12");
    refused("escape.npy", &npy("\x1b[2J", &[3], false, &[0; 12]), "plain characters");
    refused("object.npy", &npy("|O", &[1], false, &[0; 8]), "pickled Python objects");
    refused("long.npy", b"\x93NUMPY\x02\0\xFF\xFF\xFF\xFF{", "4294967295 bytes are too many");
    refused("damaged.pt", b"PK\x03\x04", "bad zip archive");
    refused("text.txt", b"hello, world", "not a file of a known format: this is text");
}

#[test]
fn names_cannot_drive_the_terminal() {
    let file_of = |name: &str, kind: &str, data: &[u8]| {
        safetensors(&[Entry { name, kind, shape: &[1], data }])
    };
    let name = r#"\u001b[2J\u202e\n\"x"#;
    let run = check(&file("escape.safetensors", &file_of(name, "F8_E5M2", &[0x7C])));
    let line = r#""\u{1b}[2J\u{202e}\n\"x" F8_E5M2 [1]: 0 NaN, 1 +Inf, 0 -Inf, first +Inf at [0]"#;
    assert!(run.status == 1 && run.out.contains(line), "{:?}", run.out);
    let why = r#"dtype "\u{1b}[2J\n" is not known"#;
    refused("dtype.safetensors", &file_of("x", r"\u001b[2J\n", &[0]), why);
    refused("dtype.safetensors", &file_of("x", &"F".repeat(100_000), &[0]), "FFF...");
    let gap = format!(r#"{{"{name}":{{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}}}"#);
    refused("name.safetensors", &safetensors_text(&gap, &[0; 2]), r"\u{1b}[2J");
    #[cfg(unix)]
    {
        let run = check(&file("name\x1b[2J\n.npy", &array(&[f32::NAN])));
        let line = r"name\u{1b}[2J\n.npy: <f4 [1]: 1 NaN";
        assert!(run.status == 1 && run.out.contains(line), "{:?}", run.out);
    }
}
