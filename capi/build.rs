//! Gives the shared library its soname. `capi/install` uses the same name for the file.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let var = |name: &str| std::env::var(name).expect("set by cargo");
    // As in cargo-c and semantic versioning: below 1.0, each minor version may break the interface.
    let (major, minor) = (var("CARGO_PKG_VERSION_MAJOR"), var("CARGO_PKG_VERSION_MINOR"));
    let abi = if major == "0" { format!("0.{minor}") } else { major };
    if var("CARGO_CFG_TARGET_OS") == "linux" {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libnonfinite.so.{abi}");
    }
}
