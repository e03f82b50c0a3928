//! Small models in lines of text, and what lint finds in them.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use nonfinite_check::lint::{Finding, Linter};
use nonfinite_check::work::Plan;
use nonfinite_check::{Options, Report};

use crate::folder::folder;
use crate::pieces::{Random, sent, tallies};
use crate::write::{Entry, safetensors};

/// A tensor with its bytes.
#[derive(Clone)]
pub(crate) struct Tensor {
    pub(crate) name: String,
    pub(crate) dtype: String,
    pub(crate) shape: Vec<usize>,
    pub(crate) bytes: Vec<u8>,
}

/// Tensors, one in a line: name, dtype, shape (`-` of a scalar), and elements with commas between
/// them. A single element stands for all. Bytes may be the words of a text instead, whose shape is
/// its length.
pub(crate) fn tensors(lines: &str) -> Vec<Tensor> {
    let tensor = |line: &str| {
        let [name, dtype, shape, elements] =
            line.trim().splitn(4, ' ').collect::<Vec<_>>().try_into().expect(line);
        let (name, dtype) = (String::from(name), String::from(dtype));
        if shape == "text" {
            return Tensor { name, dtype, shape: vec![elements.len()], bytes: elements.into() };
        }
        let extents = shape.split(',').filter(|extent| *extent != "-");
        let shape: Vec<usize> = extents.map(|extent| extent.parse().expect(line)).collect();
        let bytes: Vec<u8> = elements.split(',').flat_map(|one| element(&dtype, one)).collect();
        let is_one = !elements.contains(',');
        let bytes = bytes.repeat(if is_one { shape.iter().product() } else { 1 });
        Tensor { name, dtype, shape, bytes }
    };
    lines.lines().map(tensor).collect()
}

/// The bytes of an element: those of a number, or the byte after an `x` again and again.
fn element(dtype: &str, text: &str) -> Vec<u8> {
    let number = || text.parse::<f32>().expect(text);
    match (text.strip_prefix('x'), dtype) {
        (Some(byte), _) => {
            let size = match dtype {
                "I64" => 8,
                "I32" | "U32" | "F32" => 4,
                "F16" | "BF16" => 2,
                _ => 1,
            };
            vec![u8::from_str_radix(byte, 16).expect(text); size]
        }
        (None, "F32") => number().to_le_bytes().into(),
        (None, "BF16") => number().to_le_bytes()[2..].into(),
        (None, "I32") => (number() as u32).to_le_bytes().into(),
        (None, "I64") => (number() as u64).to_le_bytes().into(),
        (None, _) => panic!("{dtype} {text}"),
    }
}

/// Changes tensors, as each line says: `- NAME` removes one, `+ NAME DTYPE SHAPE ELEMENTS` adds one
/// or puts it in the place of another, and `NAME AT ELEMENT` writes an element at an index, in a
/// range of them such as `0..20`, or everywhere (`*`).
pub(crate) fn change(model: &mut Vec<Tensor>, lines: &str) {
    for line in lines.lines() {
        let line = line.trim();
        if let Some(name) = line.strip_prefix("- ") {
            model.retain(|tensor| tensor.name != name);
        } else if let Some(new) = line.strip_prefix("+ ") {
            let new = tensors(new).remove(0);
            match model.iter_mut().find(|tensor| tensor.name == new.name) {
                Some(old) => *old = new,
                None => model.push(new),
            }
        } else {
            let [name, at, text] = line.split(' ').collect::<Vec<_>>().try_into().expect(line);
            let tensor = model.iter_mut().find(|tensor| tensor.name == name).expect(line);
            let element = element(&tensor.dtype, text);
            let index = |text: &str| text.parse::<usize>().expect(line);
            let range = match at.split_once("..") {
                _ if at == "*" => 0..tensor.bytes.len() / element.len(),
                Some((start, end)) => index(start)..index(end),
                None => index(at)..index(at) + 1,
            };
            tensor.bytes[range.start * element.len()..range.end * element.len()]
                .copy_from_slice(&element.repeat(range.len()));
        }
    }
}

/// A safetensors file.
pub(crate) fn file(tensors: &[Tensor]) -> Vec<u8> {
    let entries = tensors.iter().map(|Tensor { name, dtype, shape, bytes }| Entry {
        name,
        kind: &**dtype,
        shape,
        data: bytes,
    });
    safetensors(&entries.collect::<Vec<_>>())
}

/// Names of files, and their bytes.
pub(crate) type Files = Vec<(&'static str, Vec<u8>)>;

/// A model in one file, with its configuration, if there is one.
pub(crate) fn model(config: &str, tensors: &[Tensor]) -> Files {
    let config = (!config.is_empty()).then(|| ("config.json", config.into()));
    config.into_iter().chain([("x.safetensors", file(tensors))]).collect()
}

/// A configuration that says this of the quantisation.
pub(crate) fn quantised(by: &str) -> String {
    format!(r#"{{"quantization_config": {{{by}}}}}"#)
}

/// The report of a linter on a file that is checked in pieces.
pub(crate) fn lint_in_pieces(linter: &mut Linter, path: &str) -> Report {
    let most = NonZeroUsize::new(1 << 12).expect("not 0");
    let mut plan: Plan = sent(&linter.plan(path, most).expect("a good file"));
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let found = tallies(plan.take_pieces(), &mut random).expect("good pieces");
    let mut report = linter.merge(&plan, found.clone()).expect("every piece is there");
    assert!(report.tensors.iter().all(|tensor| tensor.places.is_none()));
    report.add_places(linter.places(&plan, found).expect("the same file"));
    report
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

/// The findings in a folder of these files, of which those in JSON are its configuration.
pub(crate) fn lint_files(files: &Files) -> Vec<Finding> {
    let folder = folder("lint");
    for (name, bytes) in files {
        fs::write(folder.join(name), bytes).expect("the build folder can be written to");
    }
    let names = files.iter().map(|(name, _)| *name).filter(|name| !name.ends_with(".json"));
    let found = lint(&folder, &names.collect::<Vec<_>>());
    let is_of = |finding: &Finding| files.iter().any(|(name, _)| finding.file.ends_with(name));
    assert!(found.iter().all(|found| is_of(found) && !found.message.is_empty()), "{found:#?}");
    found
}

/// Asserts that these are the findings, each in a line, such as
/// `error[scale-zero] a.scale [3]: although`. A part of the message is enough, and it may be left
/// out. `$` is the end of the message.
#[track_caller]
pub(crate) fn assert_lines(found: &[Finding], expected: &str) {
    let lines = found.iter().map(|finding| {
        let tensor = finding.tensor.as_deref().unwrap_or("-");
        let place = finding.coordinate.as_ref().map(|place| format!(" {place:?}"));
        let head = format!("{}[{}] {tensor}", finding.severity.name(), finding.rule.id);
        (head + &place.unwrap_or_default(), finding.message.clone() + "$")
    });
    let lines: Vec<_> = lines.collect();
    let is_line = |((head, message), line): (&(String, String), &str)| {
        let (start, part) = line.split_once(": ").unwrap_or((line, ""));
        head == start && message.contains(part)
    };
    let expected = expected.lines().map(str::trim);
    assert!(
        lines.len() == expected.clone().count() && lines.iter().zip(expected.clone()).all(is_line),
        "expected {:#?}, found {lines:#?}",
        expected.collect::<Vec<_>>()
    );
}

/// Lints files, as [`lint_files`], and asserts that these are the findings, as [`assert_lines`].
#[track_caller]
pub(crate) fn assert_lint(files: &Files, expected: &str) {
    assert_lines(&lint_files(files), expected);
}

pub(crate) const NVFP4: &str = r#"{"torch_dtype": "bfloat16",
    "quantization_config": {"quant_method": "compressed-tensors"}}"#;
pub(crate) const FP8: &str = r#"{"quantization_config": {"quant_method": "fp8"}}"#;
pub(crate) const MXFP4: &str = r#"{"quantization_config": {"quant_method": "mxfp4"}}"#;
pub(crate) const GPTQ: &str = r#"{"quantization_config": {"quant_method": "gptq", "bits": 4,
    "group_size": 64, "sym": true}}"#;

pub(crate) const MATRIX_OF_FP8: &str = "a.weight F8_E4M3 4,32 x38\na.weight_scale F32 - 0.5";
pub(crate) const MATRIX_OF_GPTQ: &str = "a.qweight I32 8,8 x78
    a.qzeros I32 1,1 x77
    a.scales F16 1,8 x22
    a.g_idx I32 64 0";
pub(crate) const MATRIX_OF_AWQ: &str = "a.qweight I32 64,1 x78
    a.qzeros I32 1,1 x78
    a.scales F16 1,8 x22";
pub(crate) const MATRIX_OF_MXFP4: &str = "w_blocks U8 2,4,1,16 x12
    w_scales U8 2,4,1 x7F";
pub(crate) const MATRIX_OF_MLX: &str = "a.weight U32 4,8 x12
    a.scales F16 4,1 xA2
    a.biases F16 4,1 x22";
pub(crate) const MATRIX_OF_BITSANDBYTES: &str = r#"a.weight U8 32,1 x12
    a.weight.absmax F32 1 0
    a.weight.quant_map F32 16 0.5
    a.weight.quant_state.bitsandbytes__nf4 U8 text {"shape": [8, 8], "blocksize": 64}"#;

/// A matrix of NVFP4.
pub(crate) fn nvfp4(module: &str) -> String {
    format!(
        "{module}.weight_packed U8 4,16 x21
        {module}.weight_scale F8_E4M3 4,2 x38
        {module}.weight_global_scale F32 1 300"
    )
}

/// Three experts of NVFP4.
pub(crate) fn experts() -> String {
    let expert = |expert| {
        let module = format!("layers.0.experts.{expert}.w1");
        format!("{}\n{module}.input_global_scale F32 1 2", nvfp4(&module))
    };
    [0, 1, 2].map(expert).join("\n")
}
