//! Damaged and malicious files: a message of one line and exit status 2, and names that cannot
//! drive the terminal. `crates/check` tests what its readers refuse.

use crate::{check, file, npy, refused, safetensors};

#[test]
fn damaged_files() {
    let short = npy("'<f4'", false, "(4,)", &[0; 12]);
    refused("short.npy", &short, "say 16 bytes of data, the file has 12");
    refused("escape.npy", &npy("'\x1b[2J'", false, "(3,)", &[0; 12]), "plain characters");
    refused("record.npy", &npy("[('a', '<f4')]", false, "(1,)", &[0; 4]), "a structured dtype");
    refused("object.npy", &npy("'|O'", false, "(1,)", &[0; 8]), "pickled Python objects");
    refused("long.npy", b"\x93NUMPY\x02\0\xFF\xFF\xFF\xFF{", "4294967295 bytes are too many");
    refused("model.safetensors", &safetensors("{}x", &[]), "trailing");
    refused("deep.safetensors", &safetensors("[".repeat(100_000), &[]), ".safetensors header");
    refused("damaged.pt", b"PK\x03\x04", "bad zip archive");
    refused("text.txt", b"hello, world", "not a file of a known format: this is text");
}

#[test]
fn names_cannot_drive_the_terminal() {
    let header = |name: &str, dtype: &str, offsets: &str| {
        format!(r#"{{"{name}":{{"dtype":"{dtype}","shape":[1],"data_offsets":{offsets}}}}}"#)
    };
    let name = r#"\u001b[2J\u202e\n\"x"#;
    let of_file = safetensors(header(name, "F8_E5M2", "[0,1]"), &[0x7C]);
    let run = check(&file("escape.safetensors", &of_file));
    let line = r#""\u{1b}[2J\u{202e}\n\"x" F8_E5M2 [1]: 0 NaN, 1 +Inf, 0 -Inf, first +Inf at [0]"#;
    assert!(run.status == 1 && run.out.contains(line), "{:?}", run.out);
    let of_file = safetensors(header("x", r"\u001b[2J\n", "[0,1]"), &[0]);
    refused("dtype.safetensors", &of_file, r#"dtype "\u{1b}[2J\n" is not known"#);
    let of_file = safetensors(header("x", &"F".repeat(100_000), "[0,1]"), &[0]);
    refused("dtype.safetensors", &of_file, "FFF...");
    refused("name.safetensors", &safetensors(header(name, "U8", "[1,2]"), &[0; 2]), r"\u{1b}[2J");
    #[cfg(unix)]
    {
        let nan = npy("'<f4'", false, "()", &f32::NAN.to_le_bytes());
        let run = check(&file("name\x1b[2J\n.npy", &nan));
        let line = r"name\u{1b}[2J\n.npy: <f4 []: 1 NaN";
        assert!(run.status == 1 && run.out.contains(line), "{:?}", run.out);
    }
}
