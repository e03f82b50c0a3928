//! The C++ peers, each for the instruction set it is compared at.

/// What a program for AVX2 machines is built with. Not `-march=native`: the comparison would depend on the builder.
const AVX2: &[&str] =
    &["-mavx2", "-mfma", "-mbmi", "-mbmi2", "-mlzcnt", "-mpopcnt", "-mf16c", "-maes", "-mpclmul"];
const AVX512: &[&str] = &["-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mavx512cd"];

fn build(name: &str, file: &str, flags: &[&[&str]]) {
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").opt_level(3).file(file).include("/usr/include/eigen3");
    // Assertions of the libraries are no part of the comparison.
    build.define("NDEBUG", None).define("NAME", name).flag_if_supported("-Wno-unused-variable");
    for flag in flags.iter().copied().flatten() {
        build.flag(flag);
    }
    build.compile(name);
}

fn main() {
    println!("cargo::rerun-if-changed=cpp");
    let feature = |name: &str| std::env::var_os(format!("CARGO_FEATURE_{name}")).is_some();
    if feature("CPP") && std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("x86_64") {
        build("peer_highway_avx2", "cpp/highway.cpp", &[AVX2]);
        build("peer_highway_avx512", "cpp/highway.cpp", &[AVX2, AVX512]);
        build("peer_eigen", "cpp/eigen.cpp", &[AVX2]);
        build("peer_xsimd", "cpp/xsimd.cpp", &[AVX2]);
    }
}
