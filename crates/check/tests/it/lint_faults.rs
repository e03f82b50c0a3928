//! A fault and its mended twin for what `lint.rs` and `lint_traps.rs` leave out: one row for each
//! rule, severity and kind of part.

use std::fs;

use nonfinite_check::Options;
use nonfinite_check::lint::Severity::{self, Error, Note, Warning};
use nonfinite_check::lint::{Finding, Linter};

use crate::folder::{Folder, folder};
use crate::lint::{FP8, GPTQ, MXFP4, NVFP4, Tensor, filled, floats, gptq, lint, safetensors};
use crate::lint_names::tensors;

/// What is expected: rule, severity, tensor and coordinate.
type Found<'a> = (&'static str, Severity, &'a str, Option<&'a [usize]>);

/// A folder with a model in one file.
fn written(config: &str, file: &[u8]) -> Folder {
    let folder = folder("lint-faults");
    fs::write(folder.join("x.safetensors"), file).expect("the build folder can be written to");
    if !config.is_empty() {
        fs::write(folder.join("config.json"), config).expect("so can this");
    }
    folder
}

#[track_caller]
fn assert_findings(found: &[Finding], expected: &[Found<'_>]) {
    let all: Vec<_> = found
        .iter()
        .map(|it| {
            (it.rule.id, it.severity, it.tensor.as_deref().unwrap(), it.coordinate.as_deref())
        })
        .collect();
    assert_eq!(all, expected, "{found:#?}");
}

#[track_caller]
fn assert_found(config: &str, file: &[u8], expected: &[Found<'_>]) {
    assert_findings(&lint(&written(config, file), &["x.safetensors"]), expected);
}

/// The bytes of a tensor.
fn of<'a>(tensors: &'a mut [Tensor], name: &str) -> &'a mut [u8] {
    &mut tensors.iter_mut().find(|tensor| tensor.0 == name).expect(name).3
}

fn put(tensors: &mut [Tensor], name: &str, at: usize, number: f32) {
    of(tensors, name)[4 * at..][..4].copy_from_slice(&number.to_le_bytes());
}

fn remove(tensors: &mut Vec<Tensor>, name: &str) {
    tensors.retain(|tensor| tensor.0 != name);
}

const MODELOPT: &str = r#"{"quantization_config": {"quant_method": "modelopt"}}"#;

/// NVFP4 by ModelOpt.
fn modelopt() -> Vec<Tensor> {
    tensors(
        "a.weight U8 4,16 x21
         a.weight_scale F8_E4M3 4,2 x38
         a.weight_scale_2 F32 - 0.003
         a.input_scale F32 - 0.0014",
    )
}

fn nvfp4() -> Vec<Tensor> {
    let mut tensors = crate::lint::nvfp4("a");
    tensors.push(floats("a.input_global_scale", &[1], 672.0));
    tensors
}

/// Matrices of NVFP4 that engines fuse.
fn fused() -> Vec<Tensor> {
    let names = ["mlp.gate_proj", "mlp.up_proj", "attn.q_proj", "attn.k_proj", "attn.v_proj"];
    let matrix = |name: &&str| {
        let mut tensors = modelopt();
        tensors.iter_mut().for_each(|tensor| tensor.0 = tensor.0.replacen('a', name, 1));
        tensors
    };
    names.iter().flat_map(matrix).collect()
}

fn cache() -> Vec<Tensor> {
    ["attn.k_proj.k_scale", "attn.v_proj.v_scale"].map(|name| floats(name, &[], 0.5)).into()
}

fn layers(part: &str, shape: &[usize]) -> Vec<Tensor> {
    (0..3).map(|layer| floats(&format!("layers.{layer}.{part}"), shape, 1.0)).collect()
}

/// The configuration, a sound model, what is done to it, and all findings.
type Case<'a> = (&'a str, fn() -> Vec<Tensor>, fn(&mut Vec<Tensor>), &'a [Found<'a>]);

#[test]
fn faults_and_their_mended_twins() {
    let ue8m0 = FP8.replace("}}", r#", "scale_fmt": "ue8m0"}}"#);
    let v2 = GPTQ.replace(r#""sym""#, r#""checkpoint_format": "gptq_v2", "sym""#);
    let computes = |dtype: &str| MXFP4.replacen('{', &format!(r#"{{"dtype": "{dtype}", "#), 1);
    let [f16, bf16] = ["float16", "bfloat16"].map(computes);
    let (global, gate) = ("a.weight_scale_2", "mlp.gate_proj.weight_scale_2");
    let cases: [Case<'_>; 25] = [
        (
            "{}",
            || vec![floats("w", &[2, 2], 1.0)],
            |m| put(m, "w", 1, f32::NAN),
            &[("nonfinite", Error, "w", Some(&[0, 1]))],
        ),
        (
            NVFP4,
            nvfp4,
            |m| put(m, "a.input_global_scale", 0, f32::INFINITY),
            &[("scale-nonfinite", Error, "a.input_global_scale", Some(&[0]))],
        ),
        (
            MODELOPT,
            modelopt,
            |m| put(m, "a.input_scale", 0, 0.0),
            &[("scale-zero", Error, "a.input_scale", Some(&[]))],
        ),
        (
            MODELOPT,
            modelopt,
            |m| put(m, "a.input_scale", 0, 5e-39),
            &[("inverse-overflow", Warning, "a.input_scale", Some(&[]))],
        ),
        // ModelOpt multiplies by the global scale, and compressed-tensors divides.
        (
            MODELOPT,
            modelopt,
            |m| put(m, "a.weight_scale_2", 0, 32000.0),
            &[("global-direction", Warning, global, Some(&[]))],
        ),
        (
            NVFP4,
            nvfp4,
            |m| put(m, "a.weight_global_scale", 0, 3e-5),
            &[("global-direction", Warning, "a.weight_global_scale", Some(&[0]))],
        ),
        (
            MODELOPT,
            modelopt,
            |m| remove(m, "a.weight_scale_2"),
            &[("sibling-missing", Error, "a.weight", None)],
        ),
        // Without a configuration the weights may be meant so.
        (
            "",
            crate::lint::fp8,
            |m| remove(m, "a.weight_scale"),
            &[("sibling-missing", Warning, "a.weight", None)],
        ),
        (
            MODELOPT,
            modelopt,
            |m| m.push(floats("a.weight_quantizer._double_scale", &[], 3e-5)),
            &[("orphan-scale", Warning, "a.weight_quantizer._double_scale", None)],
        ),
        (
            MODELOPT,
            fused,
            |m| put(m, "mlp.gate_proj.weight_scale_2", 0, 0.03),
            &[("fused-global-mismatch", Error, gate, None)],
        ),
        (
            MODELOPT,
            fused,
            |m| put(m, "mlp.gate_proj.weight_scale_2", 0, 0.004),
            &[("fused-global-mismatch", Warning, gate, None)],
        ),
        (
            MODELOPT,
            fused,
            |m| put(m, "attn.q_proj.weight_scale_2", 0, 0.03),
            &[("fused-global-mismatch", Warning, "attn.q_proj.weight_scale_2", None); 2],
        ),
        (
            &ue8m0,
            || tensors("a.weight F8_E4M3 256,130 x38\na.weight_scale_inv F32 2,2 0.5"),
            |m| put(m, "a.weight_scale_inv", 3, 3.1e-4),
            &[("ue8m0-mantissa", Warning, "a.weight_scale_inv", Some(&[1, 1]))],
        ),
        (
            &f16,
            crate::lint::mxfp4,
            |m| of(m, "experts.down_proj_scales")[5] = 144,
            &[("dequant-overflow", Error, "experts.down_proj_scales", Some(&[1, 1, 0]))],
        ),
        (
            &bf16,
            crate::lint::mxfp4,
            |m| {
                of(m, "experts.down_proj_blocks").fill(0x77);
                of(m, "experts.down_proj_scales")[5] = 254;
            },
            &[("dequant-overflow", Warning, "experts.down_proj_scales", Some(&[1, 1, 0]))],
        ),
        (
            &v2,
            || [&gptq()[..1], &[filled("a.qzeros", "I32", &[1, 1], 0x88)], &gptq()[2..]].concat(),
            |m| of(m, "a.qzeros").fill(0x77),
            &[("gptq-zero-format", Warning, "a.qzeros", None)],
        ),
        (GPTQ, gptq, |m| of(m, "a.g_idx")[4 * 7] = 2, &[("g-idx", Error, "a.g_idx", Some(&[7]))]),
        (
            "{}",
            cache,
            |m| put(m, "attn.k_proj.k_scale", 0, f32::NAN),
            &[("kv-scale", Error, "attn.k_proj.k_scale", Some(&[]))],
        ),
        (
            "{}",
            cache,
            |m| remove(m, "attn.v_proj.v_scale"),
            &[("kv-scale", Warning, "attn.k_proj.k_scale", None)],
        ),
        (
            "{}",
            || layers("mlp.down_proj.weight", &[2, 2]),
            |m| put(m, "layers.1.mlp.down_proj.weight", 2, 3e31),
            &[("magnitude", Error, "layers.1.mlp.down_proj.weight", Some(&[1, 0]))],
        ),
        (
            "{}",
            || layers("input_layernorm.weight", &[4]),
            |m| of(m, "layers.1.input_layernorm.weight").fill(0),
            &[("norm-zero", Warning, "layers.1.input_layernorm.weight", None)],
        ),
        (
            "{}",
            || layers("q_proj.lora_A.weight", &[2, 2]),
            |m| m[1] = floats("layers.1.q_proj.lora_A.weight", &[0], 0.0),
            &[("empty-tensor", Error, "layers.1.q_proj.lora_A.weight", None)],
        ),
        (
            "{}",
            || vec![floats("model.embed_tokens.weight", &[3, 2], 1.0)],
            |m| of(m, "model.embed_tokens.weight")[8..16].fill(0),
            &[("dead-rows", Note, "model.embed_tokens.weight", Some(&[1, 0]))],
        ),
        (NVFP4, many, |m| saturate(m), &[("saturation", Warning, "a.weight_scale", None)]),
        // Blocks of zeros may have the largest scale.
        (NVFP4, pruned, |m| m[0].3.fill(0x21), &[("saturation", Warning, "a.weight_scale", None)]),
    ];
    for (config, sound, spoil, expected) in cases {
        let mut model = sound();
        assert_found(config, &safetensors(&model), &[]);
        spoil(&mut model);
        assert_found(config, &safetensors(&model), expected);
    }
}

/// 200 blocks of NVFP4.
fn many() -> Vec<Tensor> {
    tensors(
        "a.weight_packed U8 100,16 x21
         a.weight_scale F8_E4M3 100,2 x38
         a.weight_global_scale F32 1 300",
    )
}

fn saturate(tensors: &mut [Tensor]) {
    of(tensors, "a.weight_scale")[..20].fill(0x7E);
}

fn pruned() -> Vec<Tensor> {
    let mut tensors = many();
    saturate(&mut tensors);
    of(&mut tensors, "a.weight_packed")[..160].fill(0);
    tensors
}

/// A hole in a file has whole pages. Zeros that begin with a row are those of pruned neurons. The
/// file is checked as a whole, since a page that lies in two pieces is not counted.
#[test]
fn pages_of_zeros() {
    const ROW: usize = 3000;
    let sound = safetensors(&[floats("w", &[20, ROW], 1.0)]);
    let data = sound.len() - 4 * 20 * ROW;
    let page = 8192;
    let at = (page - data).div_ceil(4);
    let place = [at / ROW, at % ROW];
    let hole = [("zero-run", Warning, "w", Some(&place[..]))];
    for (zeros, expected) in
        [(0..0, &[][..]), (page..3 * page, &hole), (data + 4 * ROW..90_000, &[])]
    {
        let mut file = sound.clone();
        file[zeros].fill(0);
        let folder = written("{}", &file);
        let mut linter = Linter::new(Options::default());
        linter.check(&folder.join("x.safetensors")).expect("a good file");
        assert_findings(&linter.findings(), expected);
    }
}

/// A few neighbours that are far too large, and a column that is, which models have.
#[test]
fn runs_of_outliers() {
    let usual = floats("decoder.layers.1.flat_param_0", &[300 * 300], 0.02);
    let mut run = usual.clone();
    (0..18).for_each(|number| put(std::slice::from_mut(&mut run), &usual.0, 60_000 + number, 5e4));
    assert_found("{}", &safetensors(std::slice::from_ref(&usual)), &[]);
    let found = ("outlier-run", Warning, &*usual.0, Some(&[60_000][..]));
    assert_found("{}", &safetensors(&[run]), &[found]);
    let mut column = floats("mlp.down_proj.weight", &[300, 300], 0.02);
    let name = column.0.clone();
    (0..300).for_each(|row| put(std::slice::from_mut(&mut column), &name, 300 * row + 7, 50.0));
    assert_found("{}", &safetensors(&[column]), &[]);
}
