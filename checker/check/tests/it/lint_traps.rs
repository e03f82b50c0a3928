//! Lint of what looks like a fault and is none, and of faults that hide among other files.

use std::fs;
#[cfg(unix)]
use std::os::unix::{ffi::OsStrExt as _, fs::symlink};

use nonfinite_check::Options;
use nonfinite_check::lint::Linter;

use crate::folder::folder;
use crate::lint_model::{
    FP8, GPTQ, MATRIX_OF_AWQ, MATRIX_OF_FP8, MATRIX_OF_GPTQ, NVFP4, assert_lines, assert_lint,
    change, experts, file, lint_files, model, nvfp4, quantised, tensors,
};
use crate::write::{Entry, gguf, npy};

/// Lints a model in one file.
#[track_caller]
fn assert_model(config: &str, lines: &str, expected: &str) {
    assert_lint(&model(config, &tensors(lines)), expected);
}

/// Variants of a model are checked one by one. Shards have any name that ends as those of a set.
#[test]
fn files_of_a_folder() {
    let with = |config: &str, files: &[(&'static str, &str)]| {
        let files = files.iter().map(|(name, lines)| (*name, file(&tensors(lines))));
        [("config.json", config.into())].into_iter().chain(files).collect()
    };
    let bad = MATRIX_OF_FP8.replace("0.5", "0");
    assert_lint(
        &with(FP8, &[("a.safetensors", &bad), ("b.safetensors", MATRIX_OF_FP8)]),
        "error[scale-zero] a.weight_scale []\nnote[duplicate-set] a.weight: 2 tensors",
    );
    let other = [("a.safetensors", MATRIX_OF_FP8), ("b.safetensors", "a.weight F32 4,32 1")];
    assert_lint(&with(FP8, &other), "note[duplicate-set] a.weight: 1 tensor");
    let all = nvfp4("a");
    let (without_global, _) = all.rsplit_once('\n').expect("lines");
    let missing = "error[sibling-missing] a.weight_packed: no global";
    for (name, expected) in [
        ("Llama-3.1-8B-NVFP4-00001-of-00004.safetensors", ""),
        ("model-00001-of-00002.fp4.safetensors", ""),
        ("model-00001-of-00001.safetensors", missing),
        ("best-of-3.safetensors", missing),
        ("a-1-of-b.safetensors", missing),
    ] {
        assert_lint(&with(NVFP4, &[(name, without_global)]), expected);
    }
    // The codes are looked at although their scales are in another file.
    let scales = "a.weight_scale F8_E4M3 4,2 x38\na.weight_scale_2 F32 - 0.01";
    let quark = quantised(r#""quant_method": "quark""#);
    for (codes, expected) in [
        ("a.weight U8 4,16 x21", ""),
        ("a.weight U8 4,16 x00", "error[codes-all-zero] a.weight: 64 bytes"),
    ] {
        let files = [("x-1.safetensors", codes), ("x-2.safetensors", scales)];
        assert_lint(&with(&quark, &files), expected);
    }
}

/// Tensors are zero where those of other layers are not.
#[test]
fn kin_of_zeros() {
    let ones = [1f32; 4].map(f32::to_le_bytes).concat();
    let arrays = vec![
        ("a.npy", npy("<f4", &[2, 2], false, &[0; 16])),
        ("b.npy", npy("<f4", &[2, 2], false, &ones)),
    ];
    assert_lint(&arrays, "");
    for (lines, expected) in [
        ("0 F32 2,2 0\n1 F32 2,2 1", ""),
        ("0.weight F32 2,2 0\n2.weight F32 4,2 1", ""),
        ("0.weight F32 2,2 0\n2.weight F32 2,2 1", "error[all-zero] 0.weight: 1 of 2"),
    ] {
        assert_model("{}", lines, expected);
    }
}

/// What every model trains is not zero in all layers. Adapters, norms and the projections of a
/// block that was inserted may be.
#[test]
fn zeros_everywhere() {
    let numbers = |name: &str, factor: usize| {
        format!("{name}.weight F32 2,2 {},{},{},{}", factor, 2 * factor, 3 * factor, 4 * factor)
    };
    // The copy of a layer has its numbers, and adds nothing.
    let layer = |number: usize, of: usize, zero: &[&str]| {
        let parts = ["input_layernorm", "self_attn.q_proj", "self_attn.o_proj", "mlp.down_proj"];
        let part = |(i, part): (usize, &&str)| {
            let factor = if zero.contains(part) { 0 } else { of * 4 + i + 1 };
            numbers(&format!("model.layers.{number}.{part}"), factor)
        };
        parts.iter().enumerate().map(part).collect::<Vec<_>>().join("\n")
    };
    let of = |layers: &[String], head: usize| {
        let ends = [numbers("model.embed_tokens", 1), numbers("lm_head", head)];
        [layers, &ends].concat().join("\n")
    };
    let outputs = ["self_attn.o_proj", "mlp.down_proj"];
    let sound = of(&[layer(0, 0, &[]), layer(1, 1, &[])], 1);
    let zero = sound.lines().map(|line| format!("{} 0", line.rsplit_once(' ').expect(line).0));
    let zero = zero.collect::<Vec<_>>().join("\n");
    let expanded =
        [layer(0, 0, &[]), layer(1, 0, &outputs), layer(2, 2, &[]), layer(3, 2, &outputs)];
    let mut changed = expanded.clone();
    changed[3] = layer(3, 3, &outputs);
    let adapter = |part: &str| {
        let [a, b] = [0, 1].map(|layer| numbers(&format!("layers.{layer}.{part}"), 0));
        format!("{a}\n{b}\n{}", numbers("wte", 1))
    };
    let a = [0, 1].map(|layer| numbers(&format!("layers.{layer}.q_proj.lora_A"), 1)).join("\n");
    let all = "error[all-zero] model.layers.0.input_layernorm.weight: in all matrices";
    let lines = |of: [(usize, &str); 4], why: &str| {
        let parts = ["1.mlp.down", "1.self_attn.o", "3.mlp.down", "3.self_attn.o"];
        let line = |(part, severity)| {
            format!("{severity}[all-zero] model.layers.{}_proj.weight: {why}", parts[part])
        };
        of.map(line).join("\n")
    };
    let note = lines([0, 1, 2, 3].map(|part| (part, "note")), "block expansion");
    let error = lines([(2, "error"), (3, "error"), (0, "note"), (1, "note")], "2 of 4");
    for (lines, expected) in [
        (&sound, ""),
        (&zero, all),
        (&zero.replace("F32", "BF16"), all),
        (
            &of(&[layer(0, 0, &["mlp.down_proj"]), layer(1, 1, &["mlp.down_proj"])], 1),
            "error[all-zero] model.layers.0.mlp.down_proj.weight: 2 of 2",
        ),
        (&of(&[layer(0, 0, &[])], 0), "error[all-zero] lm_head.weight: 1 of 1"),
        (&of(&[layer(0, 0, &["input_layernorm"]), layer(1, 1, &["input_layernorm"])], 1), ""),
        (
            &[adapter("q_proj.lora_B"), a].join("\n"),
            "note[lora-b-zero] layers.0.q_proj.lora_B.weight",
        ),
        (&adapter("adapter_up"), ""),
        (&of(&expanded, 1), &note),
        (&of(&changed, 1), &error),
        (
            &of(&[layer(0, 0, &[]), layer(1, 1, &["self_attn.q_proj"])], 1),
            "error[all-zero] model.layers.1.self_attn.q_proj.weight: 1 of 2",
        ),
    ] {
        assert_model("{}", lines, expected);
    }
}

/// What a configuration says of some modules, and names that layouts share.
#[test]
fn modules_and_names() {
    let mixed = MATRIX_OF_GPTQ.replace("a.", "model.layers.0.q_proj.")
        + "
        model.layers.0.down_proj.qweight I32 16,8 x78
        model.layers.0.down_proj.qzeros I32 1,2 x7F
        model.layers.0.down_proj.scales F16 1,8 x22
        model.layers.1.q_proj.weight F32 8,8 1
        audio_tower.layers.0.q_proj.weight F32 8,8 1";
    let with = |more: &str| GPTQ.replace(r#""sym""#, &format!(r#"{more}, "sym""#));
    let dynamic = r#""dynamic": {"+:.*down_proj": {"bits": 8}, "-:.*1.q_proj": {}}"#;
    let look_ahead = r#""dynamic": {"+:.*down_proj": {"bits": 8}, "-:(?!.*0.q).*q_proj": {}}"#;
    let eight = r#""dynamic": {"+:.*down_proj": {"bits": 8}}"#;
    let exclude = r#""exclude": ["*1.q_proj"], "extra_config": {"model.layers.0.down_proj":
        {"bits": 8}}"#;
    let mistral = "wq.weight F8_E4M3 4,32 x38\nwq.qscale_weight F32 - 0.5\nwq.qscale_act F32 - 0.5";
    // The third expert was left as it was.
    let experts = experts();
    let of_expert: Vec<_> = experts.lines().take(8).collect();
    let of_expert = of_expert.join("\n") + "\nlayers.0.experts.2.w1.weight F16 4,32 x38";
    let ignoring = NVFP4.replace("-tensors\"", "-tensors\", \"ignore\": [\"re:.*experts.2.*\"]");
    let learned = "attn.k_scale F32 4 -0.5";
    for (config, lines, expected) in [
        (&*with(dynamic), &*mixed, ""),
        (&with(look_ahead), &mixed, ""),
        (&with(exclude), &mixed, ""),
        (&with(eight), &mixed, "warning[config-disagrees] model.layers.1.q_proj.weight"),
        ("", mistral, ""),
        (
            "",
            &mistral.replace("weight F32 - 0.5", "weight F32 - 0"),
            "error[scale-zero] wq.qscale_weight []",
        ),
        (&ignoring, &of_expert, ""),
        (NVFP4, &of_expert, "warning[config-disagrees] layers.0.experts.2.w1.weight: F16"),
        ("{}", "attn.qkv_proj.k_scale F32 1 0.5\nattn.qkv_proj.v_scale F32 1 0.5", ""),
        ("{}", learned, ""),
        (
            FP8,
            learned,
            "error[kv-scale] attn.k_scale [0]: -0.5
            warning[kv-scale] attn.k_scale: 4 scales
            warning[kv-scale] attn.k_scale: no attn.v_scale",
        ),
        (
            r#"{"torch_dtype": "float16"}"#,
            "w F32 1,4 7e4,inf,8e4,1",
            "error[nonfinite] w [0, 1]: one \nerror[magnitude] w [0, 0]: 80000 (2 above 65504)",
        ),
    ] {
        assert_model(config, lines, expected);
    }
    let awq = br#"{"zero_point": true, "q_group_size": 64, "w_bit": 4}"#;
    let mut files = model("{}", &tensors(MATRIX_OF_AWQ));
    files.push(("quant_config.json", awq.into()));
    assert_lint(&files, "");
}

/// All blocks with a scale of zero are looked at, and numbers have the byte order of their file.
#[test]
fn values() {
    let mut blocks = tensors(
        "a.weight_packed U8 20000,8 x00
        a.weight_scale F8_E4M3 20000,1 x00
        a.weight_global_scale F32 1 300",
    );
    change(&mut blocks, "a.weight_packed 0 x01\na.weight_scale 0 x01");
    let zeros = "warning[scale-zero] a.weight_scale [1, 0]: 19999 of 20000";
    assert_lint(&model(NVFP4, &blocks), zeros);
    change(&mut blocks, "a.weight_packed 159999 x01");
    let last = "error[scale-zero] a.weight_scale [19999, 0]: although";
    assert_lint(&model(NVFP4, &blocks), last);
    let code = [0x38; 36];
    for (input, expected) in
        [(1f32, ""), (1e-39, "error[inverse-overflow] a.input_scale [0]: (1e-39)")]
    {
        let [one, input] = [1.0, input].map(f32::to_be_bytes);
        let entry = |name, kind, shape, data| Entry { name, kind, shape, data };
        let entries = [
            entry("a.weight", 40, &[64][..], &code[..]),
            entry("a.scale", 0, &[1], &one),
            entry("a.input_scale", 0, &[1], &input),
        ];
        assert_lint(&vec![("x.gguf", gguf(&entries, true, &[]))], expected);
    }
}

/// A page or a tensor of garbage is told by other layers, and what is large everywhere is none.
#[test]
fn garbage() {
    let of = |part: &str, numbers: &[&str]| {
        let lines = numbers.iter().enumerate();
        let lines = lines.map(|(layer, number)| format!("layers.{layer}.{part} F32 2,2 {number}"));
        lines.collect::<Vec<_>>().join("\n")
    };
    let down = |numbers: &[&str]| of("mlp.down_proj.weight", numbers);
    let with = |line: &str| down(&["0.1", "0.2", "0.3"]) + "\n" + line;
    let garbage = |layer: usize, place: &str| {
        format!("error[magnitude] layers.{layer}.mlp.down_proj.weight {place}: is garbage beside")
    };
    for (lines, expected) in [
        (down(&["0.1", "0.2,1e25,0.2,0.2", "0.3"]), &*garbage(1, "[0, 1]")),
        (down(&["0.1", "1e25"]), &garbage(1, "[0, 0]")),
        (
            down(&["0.1", "1e25", "1e20", "0.2"]),
            &[garbage(1, "[0, 0]"), garbage(2, "[0, 0]")].join("\n"),
        ),
        (
            with("lm_head.weight F32 2,2 1e25"),
            "error[magnitude] lm_head.weight [0, 0]: is garbage beside",
        ),
        // Outliers, layers that are alike, and tables of other numbers than weights.
        (down(&["0.1", "548", "0.2"]), ""),
        (down(&["1e-9", "9e4", "1e-9"]), ""),
        (down(&["1e8", "2e8", "1e9"]), ""),
        (with("lm_head.weight F32 2,2 1e6"), ""),
        (with("scaler.mean F32 1,2 1.7e18"), ""),
        (with("norm.weight F32 2 1e7"), ""),
        (with("embed.freqs F32 2,2 1e10"), ""),
    ] {
        assert_model("{}", &lines, expected);
    }
}

/// What holds for a layout holds for the others, and what is legal stays so.
#[test]
fn parts_of_layouts() {
    let config = quantised(r#""quant_method": "compressed-tensors", "bits": 4"#);
    for (shape, expected) in [
        ("4,64", ""),
        ("4,57", ""),
        ("4,56", "error[scale-shape] a.weight_shape: codes [4, 8]"),
        ("8,64", "error[scale-shape] a.weight_shape: codes [4, 8]"),
    ] {
        let codes = "a.weight_packed I32 4,8 x78\na.weight_scale F16 4,2 x22";
        assert_model(&config, &format!("{codes}\na.weight_shape I64 2 {shape}"), expected);
    }
    let all = "error[codes-all-zero] a.weight_packed: 64 bytes";
    for (damage, expected) in [
        ("+ a.weight_shape I64 0 0", ""),
        ("a.weight_packed * x88\na.weight_packed 63 x81", ""),
        ("a.weight_packed * x88\na.weight_packed 63 x08", all),
    ] {
        let mut tensors = tensors(&nvfp4("a"));
        change(&mut tensors, damage);
        assert_lint(&model(NVFP4, &tensors), expected);
    }
    let b = "layers.0.q_proj.lora_B.weight";
    for (numbers, expected) in [
        ([1, 2], String::new()),
        ([0, 2], format!("warning[lora-b-zero] {b}: 1 of 2")),
        ([0, 0], format!("note[lora-b-zero] {b}: all 2")),
    ] {
        let [first, second] = numbers.map(|number| format!("{b} F32 2,2 {number}"));
        let lines = format!("{first}\n{}", second.replace("layers.0", "layers.1"));
        let a = lines.replace("lora_B", "lora_A").replace(" 0", " 1");
        assert_model("{}", &format!("{lines}\n{a}"), &expected);
    }
    let orphan = "warning[orphan-scale] a.w_scales: without quantised";
    assert_model("{}", "a.w_scales U8 4 x22\nb I8 4 x01", orphan);
    assert_model("{}", "a.w_scales F16 4 x22\nb I8 4 x01", "");
    let mut groups = tensors(
        &MATRIX_OF_GPTQ.replace("qzeros I32 1,1", "qzeros I32 2,1").replace("F16 1,8", "F16 2,8"),
    );
    let config = GPTQ.replace("64", "32");
    assert_lint(&model(&config, &groups), "warning[g-idx] a.g_idx: group 0 of 2");
    change(&mut groups, "a.g_idx 1 1");
    assert_lint(&model(&config, &groups), "");
}

/// Scales of MXFP4 in GGUF are finite, and their products may be none in f32.
#[test]
fn overflow_of_blocks() {
    for (scale, code, is_infinite) in [
        (0xFE, 0x04, true),
        (0xFE, 0x40, true),
        (0xFE, 0xC0, true),
        (0xFE, 0x3B, false),
        (0xFD, 0x06, true),
        (0xFD, 0x55, false),
        (0xFC, 0x77, false),
    ] {
        let mut data = [&[0x7F; 17][..], &[0; 17]].concat();
        (data[17], data[20]) = (scale, code);
        for name in ["a.weight", "blk.0.ffn_gate_exps", "x", "a.weight_q"] {
            let entries = [Entry { name, kind: 39, shape: &[2, 32][..], data: &data[..] }];
            let found = format!("error[dequant-overflow] {name} [1, 0]: f32 ends at");
            let files = vec![("x.gguf", gguf(&entries, false, &[]))];
            assert_lint(&files, if is_infinite { &found } else { "" });
        }
    }
}

/// A path need not be text, and a configuration may be anything.
#[cfg(unix)]
#[test]
fn paths() {
    let folder = folder("lint-paths");
    let path = folder.join(std::ffi::OsStr::from_bytes(b"\xFF.safetensors"));
    fs::write(&path, file(&tensors(MATRIX_OF_FP8))).expect("the build folder can be written to");
    symlink("/dev/zero", folder.join("config.json")).expect("so can this");
    let mut linter = Linter::new(Options::default());
    assert!(linter.check(&path).expect("a good file").is_complete());
    assert_lines(&linter.findings(), "error[config-unreadable] -");
}

/// Time is no product of experts and tensors.
#[test]
fn many_experts() {
    let lines = (0..20_000).map(|index| format!("experts.{index}.w.x{index} F32 1 1"));
    let tensors = tensors(&lines.collect::<Vec<_>>().join("\n"));
    let found = lint_files(&vec![("x.safetensors", file(&tensors))]);
    assert_eq!(found.len(), tensors.len());
    assert!(found[0].message.starts_with("19999 of 20000 experts lack"), "{}", found[0].message);
}
