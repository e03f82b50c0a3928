//! `nonfinite-web-bind WASM FOLDER`: writes nonfinite.js, its types, and the final .wasm.
fn main() {
    let [wasm, folder] = [1, 2].map(|n| std::env::args().nth(n).expect("WASM FOLDER"));
    let mut bindgen = wasm_bindgen_cli_support::Bindgen::new();
    bindgen.input_path(wasm).out_name("nonfinite");
    bindgen.web(true).expect("a target").generate(folder).expect("a module of wasm-bindgen");
}
