//! The messages of refusals, each from an operation that refuses, and the debug output of views and
//! elements.

use nonfinite::{
    Elements, ElementsMut, Error, F8E4M3, Format, MaskView, Predicate, Replacement, TensorView,
    UnknownName,
};

/// The text of an error. The source is the layout error that was the reason, if one was.
fn text(error: &(dyn std::error::Error + 'static)) -> String {
    let layout = match error.downcast_ref() {
        Some(Error::Layout(layout)) => Some(layout),
        _ => None,
    };
    assert_eq!(error.source().and_then(|source| source.downcast_ref()), layout);
    error.to_string()
}

#[test]
fn of_errors() {
    let x = [0; 12];
    let partial = Elements::from_bytes(&x, Format::F64).unwrap_err();
    assert_eq!(text(&partial), "12 bytes are not a whole number of f64 elements, of 8 bytes each");
    let floats = TensorView::from_bytes(&x, Format::F32).unwrap();
    let length = floats.mask(Predicate::Nan, &mut [0; 2]).unwrap_err();
    assert_eq!(text(&length), "3 elements, but an output for 2");
    let bits = floats.bits(Predicate::Nan, &mut [0; 1], 6).unwrap_err();
    assert_eq!(text(&bits), "3 elements from bit 6 on, but an output of 1 bytes");
    let validity = floats.with_validity(&[0xFF], 6).unwrap_err();
    assert_eq!(text(&validity), "3 elements from bit 6 on, but a validity bitmap of 1 bytes");
    let zeros = Replacement { nan: 0, pos_inf: 0, neg_inf: 0 };
    let elements = Elements::from_bytes(&x, Format::F32).unwrap();
    let (mut room, mut codes) = ([0; 8], [0; 4]);
    let output = ElementsMut::from_bytes(&mut room, Format::F32).unwrap();
    let output = output.copy_replacing(elements, zeros).unwrap_err();
    assert_eq!(text(&output), "12 bytes, but an output of 8");
    let output = ElementsMut::from_bytes(&mut room, Format::F16).unwrap();
    let output = output.copy_replacing(elements, zeros).unwrap_err();
    assert_eq!(text(&output), "f32 elements, but an output of f16 elements");
    let code = Replacement { nan: 0x100, ..zeros };
    let refused = ElementsMut::from_bytes(&mut codes, Format::F8E5M2).unwrap();
    let code = refused.replace_non_finite(code).unwrap_err();
    assert_eq!(text(&code), "code 0x100 does not fit into f8e5m2 elements of 8 bits");
    let arithmetic = ElementsMut::from_bytes(&mut codes, Format::F8E4M3).unwrap();
    let arithmetic = arithmetic.unscale_and_check(2.0).unwrap_err();
    let only = "cannot multiply f8e4m3 elements, only f64, f32, f16 and bf16";
    assert_eq!(text(&arithmetic), only);
    let unknown: UnknownName = "f7".parse::<Format>().unwrap_err();
    assert!(text(&unknown).starts_with("no format has the name \"f7\"; names are f16, bf16,"));
    assert_eq!((room, codes), ([0; 8], [0; 4]), "nothing is written");
}

#[test]
fn of_refused_views() {
    let x = [1.0f32; 6];
    let view = |offset, sizes: &[usize], strides: &[isize]| {
        TensorView::strided(&x, offset, sizes, strides).map(|_| ())
    };
    let says =
        |refused: Result<(), Error>, says: &str| assert_eq!(text(&refused.unwrap_err()), says);
    says(view(0, &[2, 3], &[1]), "2 sizes, but 1 strides");
    says(
        view(0, &[2, usize::MAX], &[0, 0]),
        "with dimension 0 there are more elements than a usize can count",
    );
    let shaped = |shape: &[usize]| TensorView::shaped(&x, shape).map(|_| ());
    says(shaped(&[2, 4]), "8 elements, but 6 given");
    says(shaped(&[2, 2]), "4 elements, but 6 given");
    says(shaped(&[1; 65]), "65 dimensions, but at most 64 are possible");
    says(view(6, &[1], &[1]), "offset 6 is outside of the 6 elements given");
    says(
        view(0, &[2, 3], &[4, 1]),
        "dimension 1 (size 3, stride 1) leads outside of the 6 elements given",
    );
    says(
        MaskView::strided(&mut [0u8; 6], 0, &[2, 2], &[1, 1]).map(|_| ()).map_err(Error::from),
        "dimension 1 of the output (stride 1) may name bytes that others name: \
         its stride must be at least 2, forwards or backwards",
    );
}

#[test]
fn of_refused_operations() {
    let x = [1.0f32; 6];
    let view = TensorView::strided(&x[..], 0, &[2, 3], &[3, 1]).unwrap();
    let says =
        |refused: Result<(), Error>, says: &str| assert_eq!(text(&refused.unwrap_err()), says);
    let mut room = [7u8; 6];
    let mut out = MaskView::shaped(&mut room[..], &[6]).unwrap();
    says(
        view.mask_into(Predicate::Nan, &mut out),
        "the input has 2 dimensions, but the output has 1",
    );
    let mut out = MaskView::shaped(&mut room[..4], &[2, 2]).unwrap();
    says(
        view.mask_into(Predicate::Nan, &mut out),
        "dimension 1 has size 3, but size 2 in the output",
    );
    says(view.mask(Predicate::Nan, &mut room[..5]), "6 elements, but an output for 5");
    says(
        view.bits(Predicate::Nan, &mut room[..1], 3),
        "6 elements from bit 3 on, but an output of 1 bytes",
    );
    let rows = view.rows(1).unwrap();
    says(rows.any(Predicate::Nan, &mut [false; 3]), "2 rows, but an output for 3");
    says(rows.count(Predicate::Nan, &mut [0; 1]), "2 rows, but an output for 1");
    says(view.rows(2).map(|_| ()), "no axis 2 in a tensor of 2 dimensions");
    says(view.coordinate(6).map(|_| ()), "no element 6 in a tensor of 6");
    assert_eq!(room, [7; 6], "nothing is written");
}

#[test]
fn views_tell_their_layout() {
    let x = [1.0f64; 7];
    let view = TensorView::strided(&x[..], 6, &[2, 1, 3], &[-3, 9, -1]).unwrap();
    assert_eq!((view.len(), view.is_empty(), view.format()), (6, false, Format::F64));
    assert_eq!(view.shape(), [2, 1, 3]);
    let dense = TensorView::shaped(&x[..6], &[2, 3]).unwrap();
    assert_eq!((dense.shape(), TensorView::from(&x).shape()), (&[2, 3][..], &[7][..]));
    assert!(TensorView::shaped(&x[..0], &[2, 0]).unwrap().is_empty());

    let mut room = [false; 8];
    let out = MaskView::strided(&mut room[..], 1, &[2, 3], &[1, 2]).unwrap();
    assert_eq!((out.len(), out.is_empty(), out.shape()), (6, false, &[2, 3][..]));
    assert!(MaskView::shaped(&mut room[..0], &[0]).unwrap().is_empty());
}

#[test]
fn elements_tell_what_they_are() {
    let mut x = [F8E4M3::from_bits(0x78), F8E4M3::from_bits(0x38)];
    assert_eq!((x[0].to_bits(), x[1].to_bits()), (0x78, 0x38));
    let elements = Elements::from(&x[..]);
    assert_eq!(
        (elements.len(), elements.is_empty(), elements.format()),
        (2, false, Format::F8E4M3)
    );
    assert_eq!(elements.as_bytes(), [0x78, 0x38]);
    let (first, rest) = elements.split_at(1);
    assert_eq!((first.as_bytes(), rest.as_bytes()), (&[0x78][..], &[0x38][..]));
    let elements = ElementsMut::from(&mut x[..]);
    assert_eq!(
        (elements.len(), elements.is_empty(), elements.format()),
        (2, false, Format::F8E4M3)
    );
    assert!(ElementsMut::from_bytes(&mut [], Format::F32).unwrap().is_empty());
    let mut odd = [0; 3];
    assert_eq!(
        ElementsMut::from_bytes(&mut odd, Format::F16).map(|_| ()),
        Err(Error::PartialElement { bytes: 3, format: Format::F16 })
    );
}

#[test]
#[should_panic(expected = "split at element 4611686018427387904 of 4")]
#[cfg(target_pointer_width = "64")]
fn a_split_behind_the_end_is_refused_where_its_bytes_overflow() {
    let _ = Elements::from(&[1.0f32; 4][..]).split_at(1 << 62);
}

#[test]
#[should_panic(expected = "split at element 5 of 4")]
fn a_split_behind_the_end_is_refused() {
    let _ = Elements::from(&[1.0f32; 4][..]).split_at(5);
}
