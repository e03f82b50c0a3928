//! Lint of small models of each layout: what is wrong is found at its place, and the mended twin
//! has no finding. `ci/lint` tests models that exporters wrote.

use std::fs;
use std::path::Path;

use nonfinite_check::Options;
use nonfinite_check::lint::{Finding, Linter, Severity};

use crate::folder::folder;
use crate::lint_pieces::lint_in_pieces;

/// A tensor: name, dtype, shape, bytes.
#[derive(Clone)]
pub(crate) struct Tensor(
    pub(crate) String,
    pub(crate) &'static str,
    pub(crate) Vec<usize>,
    pub(crate) Vec<u8>,
);

/// A tensor of bytes that are all the same.
pub(crate) fn filled(name: &str, dtype: &'static str, shape: &[usize], byte: u8) -> Tensor {
    let size = match dtype {
        "I32" | "U32" | "F32" => 4,
        "F16" => 2,
        _ => 1,
    };
    let length = size * shape.iter().product::<usize>();
    Tensor(name.to_owned(), dtype, shape.to_vec(), vec![byte; length])
}

pub(crate) fn floats(name: &str, shape: &[usize], value: f32) -> Tensor {
    let bytes = value.to_le_bytes().repeat(shape.iter().product());
    Tensor(name.to_owned(), "F32", shape.to_vec(), bytes)
}

pub(crate) fn safetensors(tensors: &[Tensor]) -> Vec<u8> {
    let (mut entries, mut data) = (Vec::new(), Vec::new());
    for Tensor(name, dtype, shape, bytes) in tensors {
        let (start, end) = (data.len(), data.len() + bytes.len());
        entries.push(format!(
            r#""{name}":{{"dtype":"{dtype}","shape":{shape:?},"data_offsets":[{start},{end}]}}"#
        ));
        data.extend(bytes);
    }
    let header = format!("{{{}}}", entries.join(","));
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &data].concat()
}

/// The findings in the files of a folder. They are the same if the files are checked in pieces.
pub(crate) fn lint(folder: &Path, files: &[&str]) -> Vec<Finding> {
    let options = Options { places: true, draw: true, ..Options::default() };
    let [mut linter, mut in_pieces] = [Linter::new(options.clone()), Linter::new(options)];
    for file in files {
        let path = folder.join(file);
        let report = linter.check(&path).expect("a good file");
        assert!(report.is_complete());
        let path = path.to_str().expect("a path of plain characters");
        assert_eq!(lint_in_pieces(&mut in_pieces, path), report);
    }
    let findings = linter.findings();
    assert_eq!(in_pieces.findings(), findings, "in pieces");
    findings
}

/// The report of a model in pieces has the same places: of one bad number, of many, of all.
#[test]
fn places_in_pieces() {
    const COUNT: usize = 1_200_000;
    let mut one = floats("one", &[COUNT], 1.0);
    one.3[4 * (COUNT - 2)..][..4].copy_from_slice(&f32::NAN.to_le_bytes());
    let mut many = floats("many", &[1200, 1000], 1.0);
    for place in [7, 8, COUNT / 2, COUNT - 1] {
        many.3[4 * place..][..4].copy_from_slice(&f32::INFINITY.to_le_bytes());
    }
    let tensors = [one, many, floats("all", &[300, 200], f32::NAN), floats("none", &[9], 1.0)];
    let folder = folder("lint-places");
    fs::write(folder.join("x.safetensors"), safetensors(&tensors)).expect("a file");
    assert!(!lint(&folder, &["x.safetensors"]).is_empty());
}

fn lint_one(config: &str, tensors: &[Tensor]) -> Vec<Finding> {
    let folder = folder("lint");
    fs::write(folder.join("config.json"), config).expect("the build folder can be written to");
    fs::write(folder.join("model.safetensors"), safetensors(tensors)).expect("so can this");
    lint(&folder, &["model.safetensors"])
}

pub(crate) const NVFP4: &str = r#"{"torch_dtype": "bfloat16",
    "quantization_config": {"quant_method": "compressed-tensors"}}"#;
pub(crate) const FP8: &str = r#"{"quantization_config": {"quant_method": "fp8"}}"#;
pub(crate) const MXFP4: &str = r#"{"quantization_config": {"quant_method": "mxfp4"}}"#;
const BITSANDBYTES: &str = r#"{"quantization_config": {"quant_method": "bitsandbytes"}}"#;
pub(crate) const GPTQ: &str = r#"{"quantization_config": {"quant_method": "gptq", "bits": 4,
    "group_size": 64, "sym": true}}"#;

pub(crate) fn nvfp4(module: &str) -> Vec<Tensor> {
    vec![
        filled(&format!("{module}.weight_packed"), "U8", &[4, 16], 0x21),
        filled(&format!("{module}.weight_scale"), "F8_E4M3", &[4, 2], 0x38),
        floats(&format!("{module}.weight_global_scale"), &[1], 300.0),
    ]
}

pub(crate) fn fp8() -> Vec<Tensor> {
    vec![filled("a.weight", "F8_E4M3", &[4, 32], 0x38), floats("a.weight_scale", &[], 0.5)]
}

fn blocks() -> Vec<Tensor> {
    vec![
        filled("a.weight", "F8_E4M3", &[256, 130], 0x38),
        floats("a.weight_scale_inv", &[2, 2], 0.5),
    ]
}

pub(crate) fn mxfp4() -> Vec<Tensor> {
    vec![
        filled("experts.down_proj_blocks", "U8", &[2, 4, 1, 16], 0x12),
        filled("experts.down_proj_scales", "U8", &[2, 4, 1], 0x7F),
    ]
}

pub(crate) fn gptq() -> Vec<Tensor> {
    vec![
        filled("a.qweight", "I32", &[8, 8], 0x78),
        filled("a.qzeros", "I32", &[1, 1], 0x77),
        filled("a.scales", "F16", &[1, 8], 0x22),
        filled("a.g_idx", "I32", &[64], 0),
    ]
}

pub(crate) fn awq() -> Vec<Tensor> {
    vec![
        filled("a.qweight", "I32", &[64, 1], 0x78),
        filled("a.qzeros", "I32", &[1, 1], 0x78),
        filled("a.scales", "F16", &[1, 8], 0x22),
    ]
}

pub(crate) fn mlx() -> Vec<Tensor> {
    vec![
        filled("a.weight", "U32", &[4, 8], 0x12),
        filled("a.scales", "F16", &[4, 1], 0xA2),
        filled("a.biases", "F16", &[4, 1], 0x22),
    ]
}

pub(crate) fn bitsandbytes() -> Vec<Tensor> {
    vec![
        filled("a.weight", "U8", &[32, 1], 0x12),
        floats("a.weight.absmax", &[1], 0.0),
        floats("a.weight.quant_map", &[16], 0.5),
        state(64),
    ]
}

/// The state of bitsandbytes for 64 weights in blocks of this size.
pub(crate) fn state(block: usize) -> Tensor {
    let text = format!(r#"{{"shape": [8, 8], "blocksize": {block}}}"#);
    let (name, shape) = ("a.weight.quant_state.bitsandbytes__nf4".to_owned(), vec![text.len()]);
    Tensor(name, "U8", shape, text.into())
}

fn cache() -> Vec<Tensor> {
    ["k", "v"].map(|of| floats(&format!("layers.0.self_attn.{of}_scale"), &[1], 0.5)).into()
}

pub(crate) fn experts() -> Vec<Tensor> {
    let expert = |expert| {
        let module = format!("layers.0.experts.{expert}.w1");
        let mut tensors = nvfp4(&module);
        tensors.push(floats(&format!("{module}.input_global_scale"), &[1], 2.0));
        tensors
    };
    (0..3).flat_map(expert).collect()
}

/// A sound model, what is done to it, and the only finding: rule, tensor and coordinate.
type Case = (
    &'static str,
    fn() -> Vec<Tensor>,
    fn(&mut Vec<Tensor>),
    &'static str,
    &'static str,
    Option<&'static [usize]>,
);

#[test]
fn a_fault_and_its_mended_twin() {
    let one = || nvfp4("layers.0.mlp.up_proj");
    let up = "layers.0.mlp.up_proj.weight_scale";
    let cases: [Case; 28] = [
        (NVFP4, one, |m| m[1].3[5] = 0x7F, "scale-nonfinite", up, Some(&[2, 1])),
        (NVFP4, one, |m| m[1].3[5] = 0, "scale-zero", up, Some(&[2, 1])),
        (NVFP4, one, |m| m[1].3[5] = 0xB8, "scale-negative", up, Some(&[2, 1])),
        (
            NVFP4,
            one,
            |m| m.truncate(2),
            "sibling-missing",
            "layers.0.mlp.up_proj.weight_packed",
            None,
        ),
        (
            NVFP4,
            one,
            |m| m[0].3.fill(0),
            "codes-all-zero",
            "layers.0.mlp.up_proj.weight_packed",
            None,
        ),
        (
            NVFP4,
            one,
            |m| m.push(floats("layers.0.mlp.up_proj.input_global_scale", &[1], 1e-39)),
            "inverse-overflow",
            "layers.0.mlp.up_proj.input_global_scale",
            Some(&[0]),
        ),
        (
            NVFP4,
            experts,
            |m| drop(m.remove(7)),
            "expert-sibling-missing",
            "layers.0.experts.0.w1.input_global_scale",
            None,
        ),
        (FP8, fp8, |m| m[1].3[3] |= 0x80, "scale-negative", "a.weight_scale", Some(&[])),
        (FP8, fp8, |m| drop(m.remove(0)), "orphan-scale", "a.weight_scale", None),
        (
            FP8,
            blocks,
            |m| m[1] = floats("a.weight_scale_inv", &[3, 2], 0.5),
            "scale-shape",
            "a.weight_scale_inv",
            None,
        ),
        // Blocks of NVFP4 have 16 weights, those of MXFP8 32, though no configuration says so.
        (
            NVFP4,
            one,
            |m| m[1] = filled("layers.0.mlp.up_proj.weight_scale", "F8_E4M3", &[4, 1], 0x38),
            "scale-shape",
            up,
            None,
        ),
        (
            FP8,
            || {
                vec![
                    filled("a.weight", "F8_E4M3", &[4, 64], 0x38),
                    filled("a.weight_scale", "F8_E8M0", &[4, 2], 0x7F),
                ]
            },
            |m| m[1] = filled("a.weight_scale", "F8_E8M0", &[4, 4], 0x7F),
            "scale-shape",
            "a.weight_scale",
            None,
        ),
        (
            MXFP4,
            mxfp4,
            |m| m[1].3[6] = 0xFF,
            "scale-nonfinite",
            "experts.down_proj_scales",
            Some(&[1, 2, 0]),
        ),
        (MXFP4, mxfp4, |m| m[1].3.fill(9), "e8m0-implausible", "experts.down_proj_scales", None),
        (GPTQ, gptq, |m| m[3].3[36..40].fill(0xFF), "g-idx", "a.g_idx", Some(&[9])),
        (GPTQ, gptq, |m| m[1].3.fill(0x88), "gptq-zero-format", "a.qzeros", None),
        (
            r#"{"quantization_config": {"quant_method": "awq"}}"#,
            awq,
            |m| m[2].3[6..8].fill(0),
            "scale-zero",
            "a.scales",
            Some(&[0, 3]),
        ),
        (
            r#"{"quantization": {"bits": 4, "group_size": 64}}"#,
            mlx,
            |m| m[2] = filled("a.biases", "F16", &[4, 2], 0x22),
            "scale-shape",
            "a.biases",
            None,
        ),
        (
            BITSANDBYTES,
            bitsandbytes,
            |m| m[1].3 = f32::NAN.to_le_bytes().into(),
            "scale-nonfinite",
            "a.weight.absmax",
            Some(&[0]),
        ),
        (
            BITSANDBYTES,
            bitsandbytes,
            |m| m[3].3[0] = 0,
            "config-unreadable",
            "a.weight.quant_state.bitsandbytes__nf4",
            None,
        ),
        (
            BITSANDBYTES,
            bitsandbytes,
            |m| m[3] = state(32),
            "scale-shape",
            "a.weight.quant_state.bitsandbytes__nf4",
            None,
        ),
        (
            BITSANDBYTES,
            bitsandbytes,
            |m| m[2] = floats("a.weight.quant_map", &[8], 0.5),
            "scale-shape",
            "a.weight.quant_map",
            None,
        ),
        (
            BITSANDBYTES,
            || {
                let mut tensors = bitsandbytes();
                tensors.push(floats("a.weight.nested_quant_map", &[256], 0.5));
                tensors.push(floats("a.weight.nested_absmax", &[1], 0.5));
                tensors
            },
            |m| m[5].3.fill(0),
            "scale-zero",
            "a.weight.nested_absmax",
            None,
        ),
        (BITSANDBYTES, bitsandbytes, |m| m[2].3.fill(0), "scale-zero", "a.weight.quant_map", None),
        (
            BITSANDBYTES,
            bitsandbytes,
            |m| m[2] = floats("a.weight.quant_map", &[0], 0.0),
            "sibling-missing",
            "a.weight",
            None,
        ),
        ("{}", cache, |m| m[0].3.fill(0), "kv-scale", "layers.0.self_attn.k_scale", Some(&[0])),
        (
            "{}",
            || vec![floats("layers.0.w", &[2, 2], 1.0), floats("layers.1.w", &[2, 2], 1.0)],
            |m| m[1].3.fill(0),
            "all-zero",
            "layers.1.w",
            None,
        ),
        (
            r#"{"torch_dtype": "float16"}"#,
            || vec![floats("layers.0.w", &[2, 2], 1.0)],
            |m| m[0].3[4..8].copy_from_slice(&7e4f32.to_le_bytes()),
            "magnitude",
            "layers.0.w",
            Some(&[0, 1]),
        ),
    ];
    for (config, sound, spoil, rule, tensor, coordinate) in cases {
        let mut model = sound();
        assert_eq!(lint_one(config, &model), [], "{rule} {tensor}: the twin");
        spoil(&mut model);
        let found = lint_one(config, &model);
        let [finding] = &found[..] else { panic!("{rule} {tensor}: {found:#?}") };
        let place = finding.coordinate.as_deref();
        let found = (finding.rule.id, finding.tensor.as_deref(), place);
        assert_eq!(found, (rule, Some(tensor), coordinate));
        assert!(finding.file.ends_with("model.safetensors") && !finding.message.is_empty());
    }
}

/// Codes in one shard and scales in the other belong together. A shard alone lacks siblings, and
/// that is no finding; the same tensors as a whole model are.
#[test]
fn shards() {
    let folder = folder("lint-shards");
    let write = |name: &str, bytes: &[u8]| {
        fs::write(folder.join(name), bytes).expect("the build folder can be written to");
    };
    let tensors = nvfp4("layers.0.mlp.up_proj");
    let names = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"];
    write(names[0], &safetensors(&tensors[..1]));
    write(names[1], &safetensors(&tensors[1..]));
    write("config.json", NVFP4.as_bytes());
    let map: Vec<_> = tensors
        .iter()
        .zip([names[0], names[1], names[1]])
        .map(|(tensor, file)| format!(r#""{}":"{file}""#, tensor.0))
        .collect();
    let index = format!(r#"{{"metadata":{{}},"weight_map":{{{}}}}}"#, map.join(","));
    write("model.safetensors.index.json", index.as_bytes());
    for files in [&names[..], &["model.safetensors.index.json"], &names[..1], &names[1..]] {
        assert_eq!(lint(&folder, files), [], "{files:?}");
    }
    for (range, rule) in [(0..1, "sibling-missing"), (1..3, "orphan-scale")] {
        let found = lint_one(NVFP4, &tensors[range]);
        assert!(!found.is_empty() && found.iter().all(|finding| finding.rule.id == rule));
    }
}

/// A missing scale has the name of those that are there.
#[test]
fn missing_scales_are_named() {
    for (config, ending, scale) in
        [(FP8, "weight_scale_inv", "F32"), (FP8, "scale", "F32"), (NVFP4, "weight_scale", "F32")]
    {
        let codes = ["a", "b"].map(|of| filled(&format!("{of}.weight"), "F8_E4M3", &[4, 32], 0x38));
        let [first, second] = codes;
        let scale = filled(&format!("a.{ending}"), scale, &[1, 1], 0x3A);
        let found = lint_one(config, &[first, second, scale]);
        let [finding] = &found[..] else { panic!("{found:#?}") };
        assert_eq!(finding.rule.id, "sibling-missing");
        assert!(
            finding.message.ends_with(&format!("there is no b.{ending}")),
            "{}",
            finding.message
        );
    }
}

/// The names of the configuration decide, in any of its files. A broken file is an error.
#[test]
fn configurations() {
    let quantised = nvfp4("model.layers.0.mlp.up_proj");
    let ignoring = |name: &str| {
        format!(
            r#"{{"quantization_config": {{"quant_method": "modelopt", "ignore": ["{name}"]}}}}"#
        )
    };
    for (config, rule) in [
        (ignoring("lm_head"), None),
        (ignoring("model.layers.0*"), Some(("config-disagrees", Severity::Warning))),
        // The configuration says nothing of it.
        ("{}".to_owned(), Some(("config-disagrees", Severity::Warning))),
        ("{".to_owned(), Some(("config-unreadable", Severity::Error))),
    ] {
        let found = lint_one(&config, &quantised);
        let rules: Vec<_> =
            found.iter().map(|finding| (finding.rule.id, finding.severity)).collect();
        assert_eq!(rules, rule.into_iter().collect::<Vec<_>>(), "{config}");
    }
}
