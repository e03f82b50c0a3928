//! The fuzz target of lint. An input is a `config.json`, a zero byte, and descriptions of tensors
//! of eight bytes each: see [`tensor`].

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::{env, fs, process};

use nonfinite_check::Options;
use nonfinite_check::lint::Linter;

use crate::read::{FACTOR, FIXED, counts_memory, within};

/// Names of modules. Rules compare layers, experts, and matrices that engines fuse.
const MODULES: [&str; 16] = [
    "a",
    "layers.0.mlp.gate_proj",
    "layers.0.mlp.up_proj",
    "layers.1.mlp.gate_proj",
    "layers.1.mlp.up_proj",
    "layers.0.self_attn.q_proj",
    "layers.0.self_attn.k_proj",
    "layers.0.self_attn.v_proj",
    "layers.0.self_attn",
    "layers.0.mlp.experts.0.w1",
    "layers.0.mlp.experts.1.w1",
    "layers.0.mlp.experts.0.w3",
    "layers.0.mlp.experts.gate_up_proj",
    "layers.0.norm",
    "model.embed_tokens",
    "base.lora_B",
];

/// What names end with, in all layouts.
const ENDINGS: [&str; 45] = [
    "",
    ".weight",
    ".weight_packed",
    ".weight_scale",
    ".weight_scale_inv",
    ".weight_scale_2",
    ".weight_global_scale",
    ".weight_zero_point",
    ".weight_g_idx",
    ".weight_shape",
    ".scale",
    ".scale_weight",
    ".scale_input",
    ".input_scale",
    ".input_global_scale",
    ".k_scale",
    ".v_scale",
    "_weight_scale",
    "_weight_scale_2",
    "_input_scale",
    "_scale_inv",
    "_blocks",
    ".blocks",
    "_scales",
    ".scales",
    ".biases",
    ".qweight",
    ".qzeros",
    ".g_idx",
    ".SCB",
    ".weight_format",
    ".weight.absmax",
    ".weight.nested_absmax",
    ".weight.quant_map",
    ".weight.nested_quant_map",
    ".weight.quant_state.bitsandbytes__nf4",
    ".weight.quant_state.bitsandbytes__fp4",
    ".input_quantizer._amax",
    "._double_scale",
    ".bias",
    ".attn_mask",
    ".comfy_quant",
    ".weight_bias",
    ".scaled_fp8",
    ".pre_quant_scale",
];

/// Names of dtypes, and bytes of an element.
const DTYPES: [(&str, usize); 16] = [
    ("U8", 1),
    ("I8", 1),
    ("F8_E4M3", 1),
    ("F8_E8M0", 1),
    ("F8_E5M2", 1),
    ("BOOL", 1),
    ("F16", 2),
    ("BF16", 2),
    ("I16", 2),
    ("F32", 4),
    ("I32", 4),
    ("U32", 4),
    ("F64", 8),
    ("I64", 8),
    ("C64", 8),
    ("U64", 8),
];

/// Lengths of axes: those that scales and codes have, and others.
const LENGTHS: [usize; 16] = [0, 1, 2, 3, 4, 8, 15, 16, 17, 32, 64, 65, 127, 128, 129, 256];

/// The most bytes of the tensors. Longer ones are left out. Some rules check tensors of 2^16
/// elements and more.
const MOST: usize = 1 << 18;

/// The most bytes for an expression of the configuration, compiled and with what its search needs.
const EXPRESSION: usize = 4 << 20;

/// Two pieces of data that lint reads again.
const PIECES: usize = 4 << 20;

/// A folder of this process.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = env::temp_dir().join(format!("nonfinite-fuzz-lint-{}", process::id()));
    fs::create_dir_all(&folder).expect("the folder for temporary files can be written to");
    folder
});

/// Prepares the process of the target.
///
/// # Panics
/// If the target does not allocate by [`PeakAlloc`](crate::read::PeakAlloc).
pub fn prepare() {
    counts_memory();
    LazyLock::force(&FOLDER);
}

/// A tensor: name, dtype, rank and lengths of axes, and its bytes: all the same, except one.
fn tensor(description: &[u8; 8]) -> Option<(String, &'static str, Vec<usize>, Vec<u8>)> {
    let [module, ending, kind, axes, more, fill, other, place] = description.map(usize::from);
    let name = MODULES[module % 16].to_owned() + ENDINGS[ending % 45];
    let (dtype, size) = DTYPES[kind % 16];
    let lengths = [axes % 16, axes / 16, more % 16, more / 16].map(|length| LENGTHS[length]);
    let shape = lengths[..kind / 16 % 5].to_vec();
    let length = size * shape.iter().product::<usize>();
    let mut bytes = vec![fill as u8; if length <= MOST { length } else { return None }];
    if let Some(last) = length.checked_sub(1) {
        bytes[place.min(last)] = other as u8;
    }
    Some((name, dtype, shape, bytes))
}

/// Writes the files of a model, and lints them.
///
/// # Panics
/// If lint panics, takes too much memory, or finds something outside of a tensor.
pub fn check(bytes: &[u8]) {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let (config, descriptions) = (&bytes[..end], bytes.get(end + 1..).unwrap_or_default());
    let (mut entries, mut data, mut shapes) = (Vec::new(), Vec::new(), Vec::new());
    let tensors = descriptions.as_chunks().0.iter().take(64).filter_map(tensor);
    for (name, dtype, shape, bytes) in tensors {
        let is_known = shapes.iter().any(|(other, _)| *other == name);
        if is_known || data.len() + bytes.len() > MOST {
            continue;
        }
        let (start, end) = (data.len(), data.len() + bytes.len());
        entries.push(format!(
            r#""{name}":{{"dtype":"{dtype}","shape":{shape:?},"data_offsets":[{start},{end}]}}"#
        ));
        data.extend(bytes);
        shapes.push((name, shape));
    }
    let header = format!("{{{}}}", entries.join(","));
    let model = [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &data].concat();
    let path = FOLDER.join("model.safetensors");
    fs::write(FOLDER.join("config.json"), config).expect("the folder can be written to");
    fs::write(&path, &model).expect("the folder can be written to");

    // Each expression is a text of its own.
    let expressions = config.iter().filter(|byte| **byte == b'"').count() / 2;
    let limit = FACTOR * (model.len() + config.len()) + FIXED + PIECES + EXPRESSION * expressions;
    let findings = within(limit, || {
        let options = Options { threads: NonZeroUsize::new(1), ..Options::default() };
        let mut linter = Linter::new(options);
        // A model is valid, unless it has no tensors.
        let checked = linter.check(&path);
        assert_eq!(checked.is_ok(), !shapes.is_empty(), "{checked:?}");
        linter.findings()
    });
    for finding in findings {
        assert!(!finding.message.is_empty(), "{}", finding.rule.id);
        let Some(coordinate) = finding.coordinate else { continue };
        let tensor = finding.tensor.expect("a place is in a tensor");
        let (_, shape) =
            shapes.iter().find(|(name, _)| **name == *tensor).expect("the tensor is there");
        let inside = coordinate.iter().zip(shape).all(|(index, length)| *index < *length as u64);
        assert!(inside && coordinate.len() == shape.len(), "{coordinate:?} is outside {shape:?}");
    }
}
