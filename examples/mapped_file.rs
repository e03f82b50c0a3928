//! Checks a file of raw f32 without reading the file into memory first: the kernels read the mapped
//! pages. Without an argument, the example writes such a file.
//!
//!     cargo run --example mapped_file [FILE]

use std::error::Error;
use std::fs::{self, File};
use std::path::Path;
use std::{env, process};

use memmap2::Mmap;
use nonfinite::{Census, Format, TensorView};

/// Elements are in the byte order of this machine.
#[expect(unsafe_code, reason = "a file is mapped")]
fn check(path: &Path) -> Result<Census, Box<dyn Error>> {
    let file = File::open(path)?;
    // SAFETY: no other process writes to the file or shortens it while it is mapped.
    let map = unsafe { Mmap::map(&file)? };
    Ok(TensorView::from_bytes(&map, Format::F32)?.census())
}

fn report(path: &Path, census: Census) {
    println!("{}:", path.display());
    let kinds = [("NaN", census.nan), ("+Inf", census.pos_inf), ("-Inf", census.neg_inf)];
    for (name, found) in kinds {
        println!("  {name}: {}, first at {:?}", found.count, found.first);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    if let Some(path) = env::args_os().nth(1) {
        report(path.as_ref(), check(path.as_ref())?);
        return Ok(());
    }

    let mut values = vec![1.0f32; 100_000];
    values[77_777] = f32::NAN;
    let mut bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
    let path = env::temp_dir().join(format!("nonfinite-example-{}.f32", process::id()));

    fs::write(&path, &bytes)?;
    let census = check(&path)?;
    report(&path, census);
    assert_eq!((census.nan.count, census.nan.first), (1, Some(77_777)));

    // A file that ends inside an element is an error, not a guess.
    bytes.pop();
    fs::write(&path, &bytes)?;
    println!("one byte less: {}", check(&path).expect_err("399,999 bytes are not whole elements"));
    fs::remove_file(&path)?;
    Ok(())
}
