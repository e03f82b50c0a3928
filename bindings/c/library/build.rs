//! Gives the shared library the name that programs look for.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let var = |name: &str| std::env::var(name).expect("set by cargo");
    // As in cargo-c and semantic versioning: below 1.0, each minor version may break the interface.
    let (major, minor) = (var("CARGO_PKG_VERSION_MAJOR"), var("CARGO_PKG_VERSION_MINOR"));
    let abi = if major == "0" { format!("0.{minor}") } else { major };
    let name = match var("CARGO_CFG_TARGET_OS").as_str() {
        "linux" => format!("-soname,libnonfinite.so.{abi}"),
        "macos" => format!("-install_name,@rpath/libnonfinite.{abi}.dylib"),
        _ => return,
    };
    println!("cargo::rustc-cdylib-link-arg=-Wl,{name}");
}
