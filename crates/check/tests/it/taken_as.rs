//! Tensors of integers and raw bytes that the options treat as floats, by their names or dtypes.

use nonfinite_check::{Asks, FileFormat, LookedAt, Options, Selector, TakenAs, check_bytes};

use crate::write::{Entry, Member, gguf, npy, safetensors, zip};

fn options(taken_as: &[&str]) -> Options {
    let taken_as = taken_as.iter().map(|text| text.parse().expect("a pattern and a format"));
    Options { taken_as: taken_as.collect(), ..Options::default() }
}

#[test]
fn scales_as_bytes() {
    let entry = |name, kind, data| Entry { name, kind, shape: &[3], data };
    let file = safetensors(&[
        entry("a.w_scales", "U8", &[1, 0xFF, 0xFE]),
        entry("b.w", "I8", &[0x7F, 1, 2]),
        entry("c.w_scales", "U8", &[1, 2, 0xFF]),
        entry("d.w_scales", "F8_E4M3", &[1, 2, 0xFF]),
        entry("e.w_scales", "I16", &[0; 6]),
    ]);
    let plain = check_bytes(&file, FileFormat::SAFETENSORS, &Options::default()).unwrap();
    let counts = |report: &nonfinite_check::Report| -> Vec<_> {
        report.tensors.iter().map(|tensor| tensor.found.nan.count).collect()
    };
    assert_eq!(counts(&plain), [0, 0, 0, 1, 0]);
    // The first pattern counts; floats stay as they are; lengths have to agree.
    let options = options(&["c.*=f8e5m2", "*_scales=f8e8m0fnu", "b.*=f8e4m3fn"]);
    let report = check_bytes(&file, FileFormat::SAFETENSORS, &options).unwrap();
    assert_eq!(counts(&report), [1, 1, 1, 1, 0]);
    let first = report.tensors[0].found.nan.first.as_ref().unwrap();
    assert_eq!((&first.coordinate[..], first.bits), (&[1][..], 0xFF));
    assert_eq!(
        (&*report.tensors[0].dtype, &report.tensors[0].looked_at),
        ("U8", &LookedAt::Values)
    );
    let LookedAt::Unreadable(why) = &report.tensors[4].looked_at else { panic!("{report:?}") };
    assert!(why.cause().contains("no elements of 1 bytes to be taken as f8e8m0fnu"), "{why}");
}

#[test]
fn other_formats() {
    let data = npy("|u1", &[3], false, &[1, 0xFF, 2]);
    let wide = npy(">u2", &[2], false, &[0x7F, 0xC0, 1, 2]);
    let archive = zip(&[
        Member { name: "a.npy", data: &data, deflate: true },
        Member { name: "b.npy", data: &wide, deflate: false },
    ]);
    let report = check_bytes(&archive, FileFormat::NPZ, &options(&["a=f8e8m0fnu", "?=bf16"]));
    let tensors = report.unwrap().tensors;
    assert_eq!(tensors[0].found.nan.first.as_ref().unwrap().coordinate, [1]);
    assert_eq!(tensors[1].found.nan.first.as_ref().unwrap().coordinate, [0]);
    // An array alone has no name.
    let report = check_bytes(&data, FileFormat::NPY, &options(&["*=f8e8m0fnu"])).unwrap();
    assert_eq!(report.tensors[0].found.nan.count, 1);
    // GGUF's type 24 is I8.
    let file = gguf(&[Entry { name: "i", kind: 24, shape: &[3], data: &[1, 0x7F, 3] }], false, &[]);
    let report = check_bytes(&file, FileFormat::GGUF, &options(&["i=f8e4m3fn"])).unwrap();
    assert_eq!(report.tensors[0].found.nan.count, 1);
}

/// The name of the dtype of a tensor does not make it a part of an archive.
#[test]
fn a_dtype_with_the_name_of_bytes() {
    let inner = npy("<f4", &[1], false, &f32::NAN.to_le_bytes());
    let header =
        format!(r#"{{"w":{{"dtype":"bytes","shape":[1],"data_offsets":[0,{}]}}}}"#, inner.len());
    let file = [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &inner].concat();
    let report = check_bytes(&file, FileFormat::SAFETENSORS, &Options::default()).unwrap();
    let named: Vec<_> = report.not_looked_at().collect();
    assert_eq!(named.len(), 1);
    assert_eq!(named[0].0.name.as_deref(), Some("w"));
    assert!(!named[0].1.is_of_part() && named[0].1.to_string().contains("not known"));
}

#[test]
fn words_that_say_nothing() {
    for (text, message) in [
        ("*", "no '='"),
        ("*=half2", "is no format"),
        ("[=f16", "is no pattern"),
        ("a**=f16", "is no pattern"),
        ("V2=f8e5m2", "f8e5m2 has 1 bytes, not 2"),
    ] {
        let error = text.parse::<TakenAs>().unwrap_err().to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
}

/// The message names what a caller of the library can set, and no flag of the command.
#[test]
fn raw_bytes_without_a_format() {
    let file = npy("|V1", &[1], false, &[0]);
    let report = check_bytes(&file, FileFormat::NPY, &Options::default()).unwrap();
    let (_, why) = report.not_looked_at().next().unwrap();
    let expected = "say what they are by Options::taken_as, such as V1=f8e4m3fn";
    let text = why.to_string();
    assert!(text.contains(expected) && !text.contains("--"), "{text}");
    let TakenAs { of, format } = "V1=f8e4m3fn".parse().unwrap();
    assert!(matches!(why.asks(), Some(Asks::TakenAs { dtype, format: example })
        if of == Selector::Dtype(dtype.to_owned()) && example == format));
    let worded = why.worded(|asks| format!("as=[{:?}]", asks.example().unwrap()));
    assert!(worded.ends_with(": say what they are by as=[\"V1=f8e4m3fn\"]"), "{worded}");
    // No format has elements of this length.
    let file = npy("|V3", &[1], false, &[0; 3]);
    let report = check_bytes(&file, FileFormat::NPY, &Options::default()).unwrap();
    let (_, why) = report.not_looked_at().next().unwrap();
    assert_eq!(why.to_string(), "dtype '|V3' is raw bytes, as bf16 and fp8 are saved");
}

/// An option for raw bytes is for elements of its own dtype only.
#[test]
fn raw_dtypes() {
    let counts = |dtype: &str, data: &[u8], raw: &[&str]| {
        let file = npy(dtype, &[1], false, data);
        let report = check_bytes(&file, FileFormat::NPY, &options(raw)).unwrap();
        let tensor = &report.tensors[0];
        (tensor.looked_at == LookedAt::Values).then_some(tensor.found.nan.count)
    };
    let both = ["V1=f8e4m3fn", "V2=bf16"];
    assert_eq!(counts("<V2", &[0xC0, 0x7F], &both), Some(1));
    assert_eq!(counts("|V1", &[0x7F], &both), Some(1));
    assert_eq!(counts("|V1", &[0x7F], &["f1=f8e5m2"]), None);
    assert_eq!(counts("<f1", &[0x7F], &["f1=f8e5m2"]), Some(1));
    assert_eq!(counts("<f1", &[0x7F], &["V1=f8e5m2"]), None);
}
