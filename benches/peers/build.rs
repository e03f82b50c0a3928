//! The C++ peers, each for the instruction set it is compared at.

use std::process::{Command, Stdio};

/// What a program for AVX2 machines is built with. Not `-march=native`: the comparison would depend
/// on the builder.
const AVX2: &[&str] =
    &["-mavx2", "-mfma", "-mbmi", "-mbmi2", "-mlzcnt", "-mpopcnt", "-mf16c", "-maes", "-mpclmul"];
/// As Skylake-X has it. With whole vectors: compilers would take halves for some CPUs.
const AVX512: &[&str] = &[
    "-mavx512f",
    "-mavx512bw",
    "-mavx512dq",
    "-mavx512vl",
    "-mavx512cd",
    "-mprefer-vector-width=512",
];

fn build(compiler: Option<&str>, name: &str, file: &str, flags: &[&[&str]]) {
    let mut build = cc::Build::new();
    build.cpp(true).std("c++20").opt_level(3).file(file);
    if let Some(compiler) = compiler {
        build.compiler(compiler);
    }
    // Assertions of Highway are no part of the comparison.
    build.define("NDEBUG", None).define("NAME", name).flag_if_supported("-Wno-unused-variable");
    for flag in flags.iter().copied().flatten() {
        build.flag(flag);
    }
    build.compile(name);
}

fn runs(compiler: &str) -> bool {
    Command::new(compiler)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn main() {
    println!("cargo::rerun-if-changed=cpp");
    println!("cargo::rustc-check-cfg=cfg(clang, before)");
    println!("cargo::rerun-if-env-changed=BEFORE");
    // `compare` names the file with the calls of the crate as it was.
    if std::env::var_os("BEFORE").is_some() {
        println!("cargo::rustc-cfg=before");
    }
    let feature = |name: &str| std::env::var_os(format!("CARGO_FEATURE_{name}")).is_some();
    if feature("CPP") && std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("x86_64") {
        build(None, "peer_highway_avx2", "cpp/highway.cpp", &[AVX2]);
        build(None, "peer_highway_avx512", "cpp/highway.cpp", &[AVX2, AVX512]);
        build(Some("g++"), "peer_gcc_avx2", "cpp/loops.cpp", &[AVX2]);
        build(Some("g++"), "peer_gcc_avx512", "cpp/loops.cpp", &[AVX2, AVX512]);
        if runs("clang++") {
            println!("cargo::rustc-cfg=clang");
            build(Some("clang++"), "peer_clang_avx2", "cpp/loops.cpp", &[AVX2]);
            build(Some("clang++"), "peer_clang_avx512", "cpp/loops.cpp", &[AVX2, AVX512]);
        } else {
            println!("cargo::warning=no clang++: its loops are left out");
        }
    }
}
