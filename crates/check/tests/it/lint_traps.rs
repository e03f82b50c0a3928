//! Lint of what looks like a fault and is none, and of faults that hide among other files.

use std::fs;
#[cfg(unix)]
use std::os::unix::{ffi::OsStrExt as _, fs::symlink};

use nonfinite_check::Options;
use nonfinite_check::lint::Linter;
use nonfinite_check::lint::Severity::{self, Error, Note, Warning};

use crate::folder::folder;
use crate::lint::safetensors;
use crate::lint::{FP8, GPTQ, NVFP4, Tensor, awq, experts, filled, floats, fp8, gptq, lint, nvfp4};
use crate::write::{Entry, gguf, npy};

type Files = Vec<(&'static str, Vec<u8>)>;

/// What is expected: rule, severity, tensor, and a part of the message.
type Expected<'a> = &'a [(&'static str, Severity, &'a str, &'static str)];

/// Lints all files of a folder whose names are not those of configurations.
#[track_caller]
fn assert_lint(files: &Files, expected: Expected<'_>) {
    let folder = folder("lint-traps");
    for (name, bytes) in files {
        fs::write(folder.join(name), bytes).expect("the build folder can be written to");
    }
    let names = files.iter().map(|(name, _)| *name).filter(|name| !name.ends_with(".json"));
    let found = lint(&folder, &names.collect::<Vec<_>>());
    let is_expected = found.len() == expected.len()
        && found.iter().zip(expected).all(|(finding, (rule, severity, tensor, message))| {
            (finding.rule.id, finding.severity) == (*rule, *severity)
                && finding.tensor.as_deref() == Some(*tensor)
                && finding.message.contains(message)
        });
    assert!(is_expected, "{expected:?}: {found:#?}");
}

/// A model in one file.
fn model(config: &str, tensors: &[Tensor]) -> Files {
    vec![("config.json", config.into()), ("x.safetensors", safetensors(tensors))]
}

fn renamed(mut tensors: Vec<Tensor>, module: &str) -> Vec<Tensor> {
    tensors.iter_mut().for_each(|tensor| tensor.0 = tensor.0.replacen('a', module, 1));
    tensors
}

/// Variants of a model are checked one by one. Shards have any name that ends as those of a set.
#[test]
fn files_of_a_folder() {
    let config = ("config.json", FP8.as_bytes().to_vec());
    let file = |name, tensors: &[Tensor]| (name, safetensors(tensors));
    let (sound, mut bad) = (fp8(), fp8());
    bad[1] = floats("a.weight_scale", &[], 0.0);
    assert_lint(
        &vec![config.clone(), file("a.safetensors", &bad), file("b.safetensors", &sound)],
        &[
            ("scale-zero", Error, "a.weight_scale", ""),
            ("duplicate-set", Note, "a.weight", "2 tensors"),
        ],
    );
    assert_lint(
        &vec![
            config,
            file("a.safetensors", &sound),
            file("b.safetensors", &[floats("a.weight", &[4, 32], 1.0)]),
        ],
        &[("duplicate-set", Note, "a.weight", "1 tensor")],
    );
    let nvfp4 = nvfp4("layers.0.up_proj");
    let missing: Expected<'_> =
        &[("sibling-missing", Error, "layers.0.up_proj.weight_packed", "no global")];
    for (name, expected) in [
        ("Llama-3.1-8B-NVFP4-00001-of-00004.safetensors", &[][..]),
        ("model-00001-of-00002.fp4.safetensors", &[]),
        ("model-00001-of-00001.safetensors", missing),
        ("best-of-3.safetensors", missing),
        ("a-1-of-b.safetensors", missing),
    ] {
        assert_lint(&vec![("config.json", NVFP4.into()), file(name, &nvfp4[..2])], expected);
    }
    // The codes are looked at although their scales are in another file.
    let config = r#"{"quantization_config": {"quant_method": "quark"}}"#;
    let scales =
        [filled("a.weight_scale", "F8_E4M3", &[4, 2], 0x38), floats("a.weight_scale_2", &[], 0.01)];
    for (code, expected) in
        [(0x21, &[][..]), (0, &[("codes-all-zero", Error, "a.weight", "64 bytes")])]
    {
        let codes = filled("a.weight", "U8", &[4, 16], code);
        assert_lint(
            &vec![
                ("config.json", config.into()),
                file("x-1.safetensors", &[codes]),
                file("x-2.safetensors", &scales),
            ],
            expected,
        );
    }
}

/// Tensors are zero where those of other layers are not.
#[test]
fn kin_of_zeros() {
    let of = |names: [&str; 2], shape: &[usize]| {
        model("{}", &[floats(names[0], &[2, 2], 0.0), floats(names[1], shape, 1.0)])
    };
    let ones = [1f32; 4].map(f32::to_le_bytes).concat();
    let arrays = vec![
        ("a.npy", npy("<f4", &[2, 2], false, &[0; 16])),
        ("b.npy", npy("<f4", &[2, 2], false, &ones)),
    ];
    let name = "layers.0.experts.0.w1.weight";
    for (files, expected) in [
        (arrays, &[][..]),
        (of(["0", "1"], &[2, 2]), &[]),
        (of(["0.weight", "2.weight"], &[4, 2]), &[]),
        (of(["0.weight", "2.weight"], &[2, 2]), &[("all-zero", Error, "0.weight", "1 of 2")]),
        (
            of([name, "layers.0.experts.1.w1.weight"], &[2, 2]),
            &[("all-zero", Warning, "layers.0.experts.0.w1.weight", "1 of 2")],
        ),
    ] {
        assert_lint(&files, expected);
    }
}

/// What every model trains is not zero in all layers. Adapters, norms and the projections of a
/// block that was inserted may be.
#[test]
fn zeros_everywhere() {
    let numbers = |name: String, factor: f32| {
        let data = (0..4).flat_map(|i| (factor * (i + 1) as f32).to_le_bytes()).collect();
        Tensor(name, "F32", vec![2, 2], data)
    };
    // The copy of a layer has its numbers, and adds nothing.
    let layer = |number: usize, of: usize, zero: &[&str]| {
        let parts = ["input_layernorm", "self_attn.q_proj", "self_attn.o_proj", "mlp.down_proj"];
        let part = move |(i, part): (usize, &&str)| {
            let factor = (of * 4 + i + 1) as f32;
            let factor = if zero.contains(part) { 0.0 } else { factor };
            numbers(format!("model.layers.{number}.{part}.weight"), factor)
        };
        parts.iter().enumerate().map(part).collect::<Vec<_>>()
    };
    let of = |layers: &[Vec<Tensor>], head: f32| {
        let ends = ["model.embed_tokens.weight", "lm_head.weight"].into_iter();
        let ends = ends.zip([1.0, head]).map(|(name, factor)| numbers(name.to_owned(), factor));
        layers.concat().into_iter().chain(ends).collect::<Vec<_>>()
    };
    let outputs = ["self_attn.o_proj", "mlp.down_proj"];
    let sound = of(&[layer(0, 0, &[]), layer(1, 1, &[])], 1.0);
    let zero: Vec<_> = sound.iter().map(|tensor| floats(&tensor.0, &tensor.2, 0.0)).collect();
    let mut of_bf16 = zero.clone();
    of_bf16.iter_mut().for_each(|tensor| {
        tensor.1 = "BF16";
        tensor.3.truncate(8);
    });
    let expanded =
        [layer(0, 0, &[]), layer(1, 0, &outputs), layer(2, 2, &[]), layer(3, 2, &outputs)];
    let mut changed = expanded.clone();
    changed[3] = layer(3, 3, &outputs);
    let norms = of(&[layer(0, 0, &["input_layernorm"]), layer(1, 1, &["input_layernorm"])], 1.0);
    let down = "model.layers.0.mlp.down_proj.weight";
    let adapters = ["q_proj.lora_B", "adapter_up"].map(|part| {
        let name = |layer: usize| format!("layers.{layer}.{part}.weight");
        [numbers(name(0), 0.0), numbers(name(1), 0.0), numbers("wte.weight".into(), 1.0)]
    });
    let all: Expected<'_> =
        &[("all-zero", Error, "model.layers.0.input_layernorm.weight", "in all matrices")];
    let note = ["1.mlp.down", "1.self_attn.o", "3.mlp.down", "3.self_attn.o"]
        .map(|part| format!("model.layers.{part}_proj.weight"));
    let note = note.each_ref().map(|name| ("all-zero", Note, name.as_str(), "block expansion"));
    let error = [(2, Error), (3, Error), (0, Note), (1, Note)]
        .map(|(index, severity)| ("all-zero", severity, note[index].2, "2 of 4"));
    let sets: [(&[Tensor], &[_]); 11] = [
        (&sound, &[]),
        (&zero, all),
        (&of_bf16, all),
        (
            &of(&[layer(0, 0, &["mlp.down_proj"]), layer(1, 1, &["mlp.down_proj"])], 1.0),
            &[("all-zero", Error, down, "2 of 2")],
        ),
        (&of(&[layer(0, 0, &[])], 0.0), &[("all-zero", Error, "lm_head.weight", "1 of 1")]),
        (&norms, &[]),
        (&adapters[0], &[("lora-b-zero", Note, "layers.0.q_proj.lora_B.weight", "")]),
        (&adapters[1], &[]),
        (&of(&expanded, 1.0), &note),
        (&of(&changed, 1.0), &error),
        (
            &of(&[layer(0, 0, &[]), layer(1, 1, &["self_attn.q_proj"])], 1.0),
            &[("all-zero", Error, "model.layers.1.self_attn.q_proj.weight", "1 of 2")],
        ),
    ];
    for (tensors, expected) in sets {
        assert_lint(&model("{}", tensors), expected);
    }
}

/// What a configuration says of some modules, and names that layouts share.
#[test]
fn modules_and_names() {
    let gptq_with = |more: &str| GPTQ.replace(r#""sym""#, &format!(r#"{more}, "sym""#));
    let mut mixed = renamed(gptq(), "model.layers.0.q_proj");
    mixed.extend([
        filled("model.layers.0.down_proj.qweight", "I32", &[16, 8], 0x78),
        filled("model.layers.0.down_proj.qzeros", "I32", &[1, 2], 0x7F),
        filled("model.layers.0.down_proj.scales", "F16", &[1, 8], 0x22),
        floats("model.layers.1.q_proj.weight", &[8, 8], 1.0),
        floats("audio_tower.layers.0.q_proj.weight", &[8, 8], 1.0),
    ]);
    let dynamic = r#""dynamic": {"+:.*down_proj": {"bits": 8}, "-:.*1.q_proj": {}}"#;
    let look_ahead = r#""dynamic": {"+:.*down_proj": {"bits": 8}, "-:(?!.*0.q).*q_proj": {}}"#;
    let eight = r#""dynamic": {"+:.*down_proj": {"bits": 8}}"#;
    let exclude = r#""exclude": ["*1.q_proj"], "extra_config": {"model.layers.0.down_proj":
        {"bits": 8}}"#;
    let not_excluded: Expected<'_> =
        &[("config-disagrees", Warning, "model.layers.1.q_proj.weight", "")];
    for (more, expected) in
        [(dynamic, &[][..]), (look_ahead, &[]), (exclude, &[]), (eight, not_excluded)]
    {
        assert_lint(&model(&gptq_with(more), &mixed), expected);
    }
    let mistral = |scale| {
        vec![
            filled("layers.0.attention.wq.weight", "F8_E4M3", &[4, 32], 0x38),
            floats("layers.0.attention.wq.qscale_weight", &[], scale),
            floats("layers.0.attention.wq.qscale_act", &[], 0.5),
        ]
    };
    let zero: Expected<'_> = &[("scale-zero", Error, "layers.0.attention.wq.qscale_weight", "")];
    let of_expert = |ignored: &str| {
        let config = NVFP4.replace("-tensors\"", &format!("-tensors\", \"ignore\": [{ignored}]"));
        let mut tensors = experts();
        tensors.drain(8..);
        tensors.push(filled("layers.0.experts.2.w1.weight", "F16", &[4, 32], 0x38));
        model(&config, &tensors)
    };
    let qkv = ["k", "v"].map(|of| floats(&format!("attn.qkv_proj.{of}_scale"), &[1], 0.5));
    let learned = [floats("attn.k_scale", &[4], -0.5)];
    let not_learned: Expected<'_> = &[
        ("kv-scale", Error, "attn.k_scale", "-0.5"),
        ("kv-scale", Warning, "attn.k_scale", "4 scales"),
        ("kv-scale", Warning, "attn.k_scale", "no attn.v_scale"),
    ];
    let large = [7e4f32, f32::INFINITY, 8e4, 1.0].map(f32::to_le_bytes).concat();
    let large = Tensor("w".to_owned(), "F32", vec![1, 4], large);
    let too_large: Expected<'_> =
        &[("nonfinite", Error, "w", "one "), ("magnitude", Error, "w", "80000 (2 above 65504)")];
    for (files, expected) in [
        (vec![("x.safetensors", safetensors(&mistral(0.5)))], &[][..]),
        (vec![("x.safetensors", safetensors(&mistral(0.0)))], zero),
        (of_expert(r#""re:.*experts.2.*""#), &[]),
        (of_expert(""), &[("config-disagrees", Warning, "layers.0.experts.2.w1.weight", "F16")]),
        (model("{}", &qkv), &[]),
        (model("{}", &learned), &[]),
        (model(FP8, &learned), not_learned),
        (model(r#"{"torch_dtype": "float16"}"#, &[large]), too_large),
        (
            vec![
                ("config.json", "{}".into()),
                (
                    "quant_config.json",
                    br#"{"zero_point": true, "q_group_size": 64, "w_bit": 4}"#.into(),
                ),
                ("x.safetensors", safetensors(&awq())),
            ],
            &[],
        ),
    ] {
        assert_lint(&files, expected);
    }
}

/// All blocks with a scale of zero are looked at, and numbers have the byte order of their file.
#[test]
fn values() {
    const ROWS: usize = 20_000;
    let mut tensors = vec![
        filled("a.weight_packed", "U8", &[ROWS, 8], 0),
        filled("a.weight_scale", "F8_E4M3", &[ROWS, 1], 0),
        floats("a.weight_global_scale", &[1], 300.0),
    ];
    (tensors[0].3[0], tensors[1].3[0]) = (1, 1);
    let zeros = model(NVFP4, &tensors);
    tensors[0].3[8 * ROWS - 1] = 1;
    let code = [0x38; 36];
    let of_gguf = |input: f32| {
        let [one, input] = [1.0, input].map(f32::to_be_bytes);
        let entry = |name, kind, shape, data| Entry { name, kind, shape, data };
        let entries = [
            entry("a.weight", 40, &[64][..], &code[..]),
            entry("a.scale", 0, &[1], &one),
            entry("a.input_scale", 0, &[1], &input),
        ];
        vec![("x.gguf", gguf(&entries, true, &[]))]
    };
    for (files, expected) in [
        (zeros, &[("scale-zero", Warning, "a.weight_scale", "19999 of 20000")][..]),
        (model(NVFP4, &tensors), &[("scale-zero", Error, "a.weight_scale", "although")]),
        (of_gguf(1.0), &[]),
        (of_gguf(1e-39), &[("inverse-overflow", Error, "a.input_scale", "(1e-39)")]),
    ] {
        assert_lint(&files, expected);
    }
}

/// A page or a tensor of garbage is told by other layers, and what is large everywhere is none.
#[test]
fn garbage() {
    let of = |part: &str, numbers: &[f32]| {
        let tensors: Vec<_> = numbers
            .iter()
            .enumerate()
            .map(|(layer, &number)| floats(&format!("layers.{layer}.{part}"), &[2, 2], number))
            .collect();
        tensors
    };
    let with = |part: &str, shape: &[usize], number: f32| {
        let mut tensors = of("mlp.down_proj.weight", &[0.1, 0.2, 0.3]);
        tensors.push(floats(part, shape, number));
        tensors
    };
    let mut page = of("mlp.down_proj.weight", &[0.1, 0.2, 0.3]);
    page[1].3[4..8].copy_from_slice(&1e25f32.to_le_bytes());
    let second: Expected<'_> =
        &[("magnitude", Error, "layers.1.mlp.down_proj.weight", "is garbage beside")];
    let two = [second[0], ("magnitude", Error, "layers.2.mlp.down_proj.weight", "is garbage")];
    let head: Expected<'_> = &[("magnitude", Error, "lm_head.weight", "is garbage beside")];
    for (tensors, expected) in [
        (page, second),
        (of("mlp.down_proj.weight", &[0.1, 1e25]), second),
        (of("mlp.down_proj.weight", &[0.1, 1e25, 1e20, 0.2]), &two),
        (with("lm_head.weight", &[2, 2], 1e25), head),
        // Outliers, layers that are alike, and tables of other numbers than weights.
        (of("mlp.down_proj.weight", &[0.1, 548.0, 0.2]), &[]),
        (of("mlp.down_proj.weight", &[1e-9, 9e4, 1e-9]), &[]),
        (of("mlp.down_proj.weight", &[1e8, 2e8, 1e9]), &[]),
        (with("lm_head.weight", &[2, 2], 1e6), &[]),
        (with("scaler.mean", &[1, 2], 1.7e18), &[]),
        (with("norm.weight", &[2], 1e7), &[]),
        (with("embed.freqs", &[2, 2], 1e10), &[]),
        (of("q_proj.exp_avg_sq", &[1e-9, 1e8, 1e-9]), &[]),
        (of("attn.mask", &[1e-9, 1e9, 1e-9]), &[]),
    ] {
        assert_lint(&model("{}", &tensors), expected);
    }
}

/// What holds for a layout holds for the others, and what is legal stays so.
#[test]
fn parts_of_layouts() {
    let int4 = |rows: u8, columns: u8| {
        let shape = [rows, 0, 0, 0, 0, 0, 0, 0, columns, 0, 0, 0, 0, 0, 0, 0];
        model(
            r#"{"quantization_config": {"quant_method": "compressed-tensors", "bits": 4}}"#,
            &[
                filled("a.weight_packed", "I32", &[4, 8], 0x78),
                filled("a.weight_scale", "F16", &[4, 2], 0x22),
                Tensor("a.weight_shape".into(), "I64", vec![2], shape.into()),
            ],
        )
    };
    let wrong: Expected<'_> = &[("scale-shape", Error, "a.weight_shape", "codes [4, 8]")];
    let mut empty = nvfp4("a");
    empty.push(filled("a.weight_shape", "I64", &[0], 0));
    let minus_zero = |last: u8| {
        let mut tensors = nvfp4("a");
        tensors[0].3.fill(0x88);
        tensors[0].3[63] = last;
        model(NVFP4, &tensors)
    };
    let adapter = |numbers: [f32; 2]| {
        let names = ["layers.0.q_proj.lora_B.weight", "layers.1.q_proj.lora_B.weight"];
        let tensors: Vec<_> =
            names.iter().zip(numbers).map(|(name, it)| floats(name, &[2, 2], it)).collect();
        model("{}", &tensors)
    };
    let b = "layers.0.q_proj.lora_B.weight";
    let scales = |config: &str, dtype| {
        model(config, &[filled("a.w_scales", dtype, &[4], 0x22), filled("b", "I8", &[4], 1)])
    };
    let orphan: Expected<'_> = &[("orphan-scale", Warning, "a.w_scales", "without quantised")];
    let mut groups = gptq();
    groups[1] = filled("a.qzeros", "I32", &[2, 1], 0x77);
    groups[2] = filled("a.scales", "F16", &[2, 8], 0x22);
    let of_groups = |groups: &[Tensor]| model(&GPTQ.replace("64", "32"), groups);
    let mut indexed = groups.clone();
    indexed[3].3[4] = 1;
    for (files, expected) in [
        (int4(4, 64), &[][..]),
        (int4(4, 57), &[]),
        (model(NVFP4, &empty), &[]),
        (int4(4, 56), wrong),
        (int4(8, 64), wrong),
        (minus_zero(0x81), &[]),
        (minus_zero(0x08), &[("codes-all-zero", Error, "a.weight_packed", "64 bytes")]),
        (adapter([1.0, 2.0]), &[]),
        (adapter([0.0, 2.0]), &[("lora-b-zero", Warning, b, "1 of 2")]),
        (adapter([0.0, 0.0]), &[("lora-b-zero", Note, b, "all 2")]),
        (scales("{}", "U8"), orphan),
        (scales("{}", "F16"), &[]),
        (of_groups(&groups), &[("g-idx", Warning, "a.g_idx", "group 0 of 2")]),
        (of_groups(&indexed), &[]),
    ] {
        assert_lint(&files, expected);
    }
}

/// Scales of MXFP4 in GGUF are finite, and their products may be none in f32.
#[test]
fn overflow_of_blocks() {
    let at: Expected<'_> = &[("dequant-overflow", Error, "a.weight", "f32 ends at")];
    for (scale, code, is_infinite) in [
        (0xFE, 0x04, true),
        (0xFE, 0x40, true),
        (0xFE, 0xC0, true),
        (0xFE, 0x3B, false),
        (0xFD, 0x06, true),
        (0xFD, 0x55, false),
        (0xFC, 0x77, false),
    ] {
        let mut data = [&[0x7F; 17][..], &[0x7F; 17]].concat();
        (data[17], data[20]) = (scale, code);
        data[18..20].fill(0);
        data[21..].fill(0);
        let entries = [Entry { name: "a.weight", kind: 39, shape: &[2, 32][..], data: &data[..] }];
        let file = vec![("x.gguf", gguf(&entries, false, &[]))];
        assert_lint(&file, if is_infinite { at } else { &[] });
    }
}

/// A path need not be text, and a configuration may be anything.
#[cfg(unix)]
#[test]
fn paths() {
    let folder = folder("lint-paths");
    let name = std::ffi::OsStr::from_bytes(b"\xFF.safetensors");
    fs::write(folder.join(name), safetensors(&fp8())).expect("the build folder can be written to");
    symlink("/dev/zero", folder.join("config.json")).expect("so can this");
    let mut linter = Linter::new(Options::default());
    assert!(linter.check(&folder.join(name)).expect("a good file").is_complete());
    let found = linter.findings();
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0].rule.id, "config-unreadable");
}

/// Time is no product of experts and tensors.
#[test]
fn many_experts() {
    let tensor = |index: usize| floats(&format!("experts.{index}.w.x{index}"), &[1], 1.0);
    let tensors: Vec<_> = (0..20_000).map(tensor).collect();
    let folder = folder("lint-experts");
    fs::write(folder.join("x.safetensors"), safetensors(&tensors)).expect("a file");
    let found = lint(&folder, &["x.safetensors"]);
    assert_eq!(found.len(), tensors.len());
    assert!(found[0].message.starts_with("19999 of 20000 experts lack"), "{}", found[0].message);
}
