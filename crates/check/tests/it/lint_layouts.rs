//! Which rule holds in which layout: the table of docs/lint.md says yes where a fault is found.

use std::fs;

use crate::folder::folder;
use crate::lint::{
    FP8, GPTQ, MXFP4, NVFP4, Tensor, awq, bitsandbytes, filled, floats, fp8, gptq, lint, mlx,
    mxfp4, nvfp4, safetensors, state,
};

/// A layout: its configuration, a sound matrix, and the endings of its codes and its scale.
struct Layout {
    config: String,
    tensors: Vec<Tensor>,
    codes: &'static str,
    scale: &'static str,
}

const NAMES: [&str; 8] = ["NVFP4", "fp8", "int4", "gpt-oss", "GPTQ", "AWQ", "bitsandbytes", "MLX"];

fn layout(name: &str) -> Layout {
    let method = |method: &str, more: &str| {
        format!(r#"{{"quantization_config": {{"quant_method": "{method}"{more}}}}}"#)
    };
    let int4 = || {
        vec![
            filled("a.weight_packed", "I32", &[4, 8], 0x78),
            filled("a.weight_scale", "F16", &[4, 2], 0x22),
            Tensor("a.weight_shape".into(), "I32", vec![2], [4, 0, 0, 0, 64, 0, 0, 0].into()),
            filled("a.weight_g_idx", "I32", &[64], 0),
        ]
    };
    let mut act_order = gptq();
    act_order[1] = filled("a.qzeros", "I32", &[2, 1], 0x77);
    act_order[2] = filled("a.scales", "F16", &[2, 8], 0x22);
    let mut two_blocks = bitsandbytes();
    two_blocks[1] = floats("a.weight.absmax", &[2], 0.5);
    two_blocks[3] = state(32);
    let (config, mut tensors, codes, scale) = match name {
        "NVFP4" => (NVFP4.into(), nvfp4("a"), "weight_packed", "weight_scale"),
        "fp8" => (FP8.into(), fp8(), "weight", "weight_scale"),
        "int4" => {
            let more = r#", "bits": 4, "group_size": 32"#;
            (method("compressed-tensors", more), int4(), "weight_packed", "weight_scale")
        }
        "gpt-oss" => (MXFP4.into(), mxfp4(), "down_proj_blocks", "down_proj_scales"),
        "GPTQ" => (GPTQ.replace("64", "32"), act_order, "qweight", "scales"),
        "AWQ" => (method("awq", ""), awq(), "qweight", "scales"),
        "bitsandbytes" => (method("bitsandbytes", ""), two_blocks, "weight", "weight.absmax"),
        "MLX" => {
            let config = r#"{"quantization": {"bits": 4, "group_size": 64}}"#;
            (config.into(), mlx(), "weight", "scales")
        }
        _ => panic!("{name}"),
    };
    for tensor in &mut tensors {
        if tensor.0.ends_with("g_idx") {
            tensor.3[4] = 1;
        }
    }
    Layout { config, tensors, codes, scale }
}

/// Damages a model as a rule is meant for. None where there is nothing to damage.
fn damage(rule: &str, mut layout: Layout) -> Option<Layout> {
    let Layout { config, tensors, codes, scale } = &mut layout;
    let at = |tensors: &[Tensor], ending: &str| {
        tensors.iter().position(|tensor| tensor.0.ends_with(ending))
    };
    let (codes, scale) = (at(tensors, codes)?, at(tensors, scale)?);
    let size = tensors[scale].3.len() / tensors[scale].2.iter().product::<usize>();
    let dtype = tensors[scale].1;
    let first = &mut tensors[scale].3[..size];
    match rule {
        "scale-nonfinite" => first.fill(0xFF),
        "scale-zero" => tensors[scale].3.fill(0),
        "scale-negative" => first[size - 1] |= 0x80,
        "sibling-missing" => drop(tensors.remove(scale)),
        "orphan-scale" => drop(tensors.remove(codes)),
        "codes-all-zero" => tensors[codes].3.fill(0),
        "scale-shape" => {
            let Tensor(_, _, shape, bytes) = &mut tensors[scale];
            match shape.first_mut() {
                Some(rows) => *rows *= 3,
                None => shape.push(3),
            }
            *bytes = bytes.repeat(3);
        }
        "config-disagrees" => *config = "{}".to_owned(),
        "dequant-overflow" => {
            config.insert_str(1, r#""dtype": "float16", "#);
            *config = config.replace(r#""torch_dtype": "bfloat16","#, "");
            match (dtype, size) {
                ("F16", _) => first.copy_from_slice(&[0xFF, 0x7B]),
                ("U8", _) => first.fill(0xFD),
                (_, 4) => first.copy_from_slice(&1e6f32.to_le_bytes()),
                _ => {
                    tensors[scale].3.fill(0x7E);
                    let global = at(tensors, "global_scale")?;
                    tensors[global].3 = 1e-3f32.to_le_bytes().into();
                }
            }
        }
        // gpt-oss has the experts of a layer in one tensor.
        "expert-sibling-missing" if tensors[codes].0.starts_with("experts") => return None,
        "expert-sibling-missing" => {
            let all = ["experts.0", "experts.1"].map(|expert| {
                let mut tensors = tensors.clone();
                tensors.iter_mut().for_each(|tensor| tensor.0 = format!("{expert}.{}", tensor.0));
                tensors
            });
            let [mut with, without] = all;
            with.extend(without.into_iter().enumerate().filter(|(i, _)| *i != scale).map(|x| x.1));
            *tensors = with;
        }
        "g-idx" => {
            let index = at(tensors, "g_idx")?;
            tensors[index].3.fill(0);
        }
        "gptq-zero-format" => {
            let zeros = at(tensors, "qzeros")?;
            tensors[zeros].3.fill(0x88);
        }
        "inverse-overflow" => {
            let module = tensors[codes].0.strip_suffix(".weight_packed");
            let module = module.or(tensors[codes].0.strip_suffix(".weight"))?.to_owned();
            tensors.push(floats(&format!("{module}.input_scale"), &[1], 1e-39));
        }
        _ => panic!("{rule}"),
    }
    Some(layout)
}

const RULES: [&str; 13] = [
    "scale-nonfinite",
    "scale-zero",
    "scale-negative",
    "inverse-overflow",
    "sibling-missing",
    "expert-sibling-missing",
    "scale-shape",
    "orphan-scale",
    "config-disagrees",
    "dequant-overflow",
    "gptq-zero-format",
    "g-idx",
    "codes-all-zero",
];

#[test]
fn rules_by_layouts() {
    let found = |layout: &Layout| {
        let folder = folder("lint-layouts");
        fs::write(folder.join("config.json"), &layout.config).expect("a folder");
        fs::write(folder.join("x.safetensors"), safetensors(&layout.tensors)).expect("a folder");
        lint(&folder, &["x.safetensors"])
    };
    for name in NAMES {
        assert_eq!(found(&layout(name)), [], "{name}");
    }
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/lint.md");
    let page = fs::read_to_string(page).expect("the page is in the repository");
    let mut table = Vec::new();
    for rule in RULES {
        let is_found = |name: &&str| {
            damage(rule, layout(name))
                .is_some_and(|bad| found(&bad).iter().any(|finding| finding.rule.id == rule))
        };
        let start = format!("| {rule} | ");
        let row = page.lines().find(|line| line.starts_with(&start)).unwrap_or_default();
        let cells: Vec<_> = row.split(" | ").skip(1).take(NAMES.len()).collect();
        let says_yes: Vec<_> = cells.iter().map(|cell| cell.starts_with("yes")).collect();
        let finds: Vec<_> = NAMES.iter().map(is_found).collect();
        if says_yes != finds {
            table.push(format!("{rule}: {finds:?}, and the page says {cells:?}"));
        }
    }
    assert!(table.is_empty(), "{NAMES:?}\n{}", table.join("\n"));
}
