//! Links the library so that it is never unloaded.
//!
//! ONNX Runtime unloads the library with the last session that uses it. What Rust made once (thread
//! locals, lazily made statics) would be lost each time: about 5 KiB for each session.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let elf = ["linux", "android", "freebsd", "netbsd", "openbsd"];
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| elf.contains(&os.as_str())) {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
