//! Which rule holds in which layout: the table of checker/docs/lint.md says yes where a fault is
//! found.

use std::fs;

use crate::lint_model::{
    FP8, GPTQ, MATRIX_OF_AWQ, MATRIX_OF_FP8, MATRIX_OF_MLX, MATRIX_OF_MXFP4, MXFP4, NVFP4, Tensor,
    assert_lint, change, lint_files, model, nvfp4, quantised, tensors,
};

/// A layout: its configuration, a sound matrix, and the endings of its codes and its scale.
struct Layout {
    config: String,
    tensors: Vec<Tensor>,
    codes: &'static str,
    scale: &'static str,
}

const NAMES: [&str; 8] = ["NVFP4", "fp8", "int4", "gpt-oss", "GPTQ", "AWQ", "bitsandbytes", "MLX"];

const INT4: &str = "a.weight_packed I32 4,8 x78
    a.weight_scale F16 4,2 x22
    a.weight_shape I32 2 4,64
    a.weight_g_idx I32 64 0";

/// The rows of GPTQ are in two groups.
const ACT_ORDER: &str = "a.qweight I32 8,8 x78
    a.qzeros I32 2,1 x77
    a.scales F16 2,8 x22
    a.g_idx I32 64 0";

const BITSANDBYTES: &str = r#"a.weight U8 32,1 x12
    a.weight.absmax F32 2 0.5
    a.weight.quant_map F32 16 0.5
    a.weight.quant_state.bitsandbytes__nf4 U8 text {"shape": [8, 8], "blocksize": 32}"#;

fn layout(name: &str) -> Layout {
    let of = |method: &str| quantised(&format!(r#""quant_method": "{method}""#));
    let int4 = r#""quant_method": "compressed-tensors", "bits": 4, "group_size": 32"#;
    let mlx = r#"{"quantization": {"bits": 4, "group_size": 64}}"#;
    let (config, lines, codes, scale) = match name {
        "NVFP4" => (NVFP4.into(), &*nvfp4("a"), "weight_packed", "weight_scale"),
        "fp8" => (FP8.into(), MATRIX_OF_FP8, "weight", "weight_scale"),
        "int4" => (quantised(int4), INT4, "weight_packed", "weight_scale"),
        "gpt-oss" => (MXFP4.into(), MATRIX_OF_MXFP4, "_blocks", "_scales"),
        "GPTQ" => (GPTQ.replace("64", "32"), ACT_ORDER, "qweight", "scales"),
        "AWQ" => (of("awq"), MATRIX_OF_AWQ, "qweight", "scales"),
        "bitsandbytes" => (of("bitsandbytes"), BITSANDBYTES, "weight", "weight.absmax"),
        "MLX" => (mlx.into(), MATRIX_OF_MLX, "weight", "scales"),
        _ => panic!("{name}"),
    };
    let mut tensors = tensors(lines);
    let index = tensors.iter_mut().find(|tensor| tensor.name.ends_with("g_idx"));
    if let Some(index) = index {
        index.bytes[4] = 1;
    }
    Layout { config, tensors, codes, scale }
}

/// Damages a model as a rule is meant for. None where there is nothing to damage.
fn damage(rule: &str, mut layout: Layout) -> Option<Layout> {
    let Layout { config, tensors, codes, scale } = &mut layout;
    let at = |tensors: &[Tensor], ending: &str| {
        tensors.iter().position(|tensor| tensor.name.ends_with(ending))
    };
    let (codes, scale) = (at(tensors, codes)?, at(tensors, scale)?);
    let name = tensors[scale].name.clone();
    let size = tensors[scale].bytes.len() / tensors[scale].shape.iter().product::<usize>();
    match rule {
        "scale-nonfinite" => change(tensors, &format!("{name} 0 xFF")),
        "scale-zero" => change(tensors, &format!("{name} * x00")),
        "scale-negative" => tensors[scale].bytes[size - 1] |= 0x80,
        "sibling-missing" => drop(tensors.remove(scale)),
        "orphan-scale" => drop(tensors.remove(codes)),
        "codes-all-zero" => tensors[codes].bytes.fill(0),
        "scale-shape" => {
            let Tensor { shape, bytes, .. } = &mut tensors[scale];
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
            let large = match (&*tensors[scale].dtype, size) {
                ("F16", _) => format!("{name} 0 x7B"),
                ("U8", _) => format!("{name} 0 xFD"),
                (_, 4) => format!("{name} 0 1e6"),
                _ => format!("{name} * x7E\na.weight_global_scale 0 1e-3"),
            };
            change(tensors, &large);
        }
        // gpt-oss has the experts of a layer in one tensor.
        "expert-sibling-missing" if tensors[codes].name.ends_with("_blocks") => return None,
        "expert-sibling-missing" => {
            let [mut with, mut without] = ["experts.0", "experts.1"].map(|expert| {
                let mut tensors = tensors.clone();
                let name = |tensor: &mut Tensor| tensor.name = format!("{expert}.{}", tensor.name);
                tensors.iter_mut().for_each(name);
                tensors
            });
            without.remove(scale);
            with.append(&mut without);
            *tensors = with;
        }
        "g-idx" => {
            let index = at(tensors, "g_idx")?;
            tensors[index].bytes.fill(0);
        }
        "gptq-zero-format" => {
            let zeros = at(tensors, "qzeros")?;
            tensors[zeros].bytes.fill(0x88);
        }
        "inverse-overflow" => {
            let module = tensors[codes].name.strip_suffix(".weight_packed");
            let module = module.or(tensors[codes].name.strip_suffix(".weight"))?.to_owned();
            change(tensors, &format!("+ {module}.input_scale F32 1 1e-39"));
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
    for name in NAMES {
        let Layout { config, tensors, .. } = layout(name);
        assert_lint(&model(&config, &tensors), "");
    }
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/lint.md");
    let page = fs::read_to_string(page).expect("the page is in the repository");
    let mut table = Vec::new();
    for rule in RULES {
        let is_found = |name: &&str| {
            damage(rule, layout(name)).is_some_and(|Layout { config, tensors, .. }| {
                let found = lint_files(&model(&config, &tensors));
                found.iter().any(|finding| finding.rule.id == rule)
            })
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
