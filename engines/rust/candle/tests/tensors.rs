//! Tensors of candle, of every type and layout, against loops over what candle itself hands out.

use candle_core::{D, DType, Device, Result, Tensor};
use nonfinite::{Format, Predicate, Totals, Watch};

const VALUES: [f64; 8] =
    [0.0, f64::NAN, 1.0, f64::INFINITY, f64::NEG_INFINITY, -0.5, f64::NAN, 2.0];

fn holds(predicate: Predicate, x: f64) -> bool {
    match predicate {
        Predicate::Nan => x.is_nan(),
        Predicate::Inf => x.is_infinite(),
        Predicate::PositiveInf => x == f64::INFINITY,
        Predicate::NegativeInf => x == f64::NEG_INFINITY,
        Predicate::Finite => x.is_finite(),
        Predicate::NonFinite => !x.is_finite(),
        Predicate::NanOrPositiveInf => x.is_nan() || x == f64::INFINITY,
        Predicate::Never => false,
        Predicate::Exceeds(threshold) => x.is_nan() || x.abs() > threshold.value(),
        _ => panic!("no answer for {predicate:?}"),
    }
}

fn check(tensor: &Tensor) -> Result<()> {
    // candle copies in row-major order and converts exactly, except fp8, where its conversion
    // (0.11.1) calls itself for ever.
    let flat = tensor.contiguous()?.flatten_all()?;
    let values: Vec<f64> = if tensor.dtype() == DType::F8E4M3 {
        flat.to_vec1::<float8::F8E4M3>()?.iter().map(float8::F8E4M3::to_f64).collect()
    } else {
        flat.to_dtype(DType::F64)?.to_vec1()?
    };
    let format = nonfinite_candle::format(tensor.dtype()).expect("no integers");
    let above = Predicate::exceeds(format, 0.5).expect("a threshold");
    for predicate in Predicate::ALL.iter().copied().chain([above]) {
        let want: Vec<u8> = values.iter().map(|&x| u8::from(holds(predicate, x))).collect();
        let mask = nonfinite_candle::mask(tensor, predicate)?;
        assert_eq!(mask.dims(), tensor.dims());
        assert_eq!(
            mask.flatten_all()?.to_vec1::<u8>()?,
            want,
            "{predicate:?} {:?}",
            tensor.layout()
        );
        assert_eq!(nonfinite_candle::any(tensor, predicate)?, want.contains(&1));
        assert_eq!(nonfinite_candle::all(tensor, predicate)?, !want.contains(&0));
        let first = nonfinite_candle::first(tensor, predicate)?;
        let index = |coordinate: &Vec<usize>| {
            coordinate.iter().zip(tensor.dims()).fold(0, |all, (i, n)| all * n + i)
        };
        assert_eq!(first.as_ref().map(index), want.iter().position(|&answer| answer == 1));
        if let Some(first) = first {
            // The coordinate leads to the same element by candle's own indexing.
            let at = first.iter().try_fold(mask.clone(), |rest, &place| rest.get(place))?;
            assert_eq!((at.rank(), at.to_scalar::<u8>()?), (0, 1));
        }
    }
    let census = nonfinite_candle::census(tensor)?;
    assert_eq!(census.nan.count, values.iter().filter(|x| x.is_nan()).count());
    for predicate in [Predicate::NonFinite, above] {
        let watch = Watch::new(predicate);
        let stats = nonfinite_candle::look(&watch, "x", tensor)?.expect("no integers");
        assert_eq!((stats.census, watch.totals().elements), (census, values.len() as u64));
        let first = watch.first().map(|bad| bad.coordinate().to_vec());
        assert_eq!(first, nonfinite_candle::first(tensor, predicate)?);
    }
    Ok(())
}

fn sample(dtype: DType) -> Result<Tensor> {
    let values: Vec<f64> = (0..2 * 3 * 5 * 70).map(|i| VALUES[i * i % 11 % 8]).collect();
    Tensor::from_vec(values, (2, 3, 5, 70), &Device::Cpu)?.to_dtype(dtype)
}

#[test]
fn types_and_layouts() -> Result<()> {
    for dtype in [DType::F32, DType::F64, DType::F16, DType::BF16, DType::F8E4M3] {
        let tensor = sample(dtype)?;
        check(&tensor)?;
        check(&tensor.t()?)?;
        check(&tensor.permute((0, 2, 3, 1))?)?;
        check(&tensor.narrow(3, 7, 41)?)?;
        check(&tensor.narrow(1, 1, 1)?.narrow(2, 2, 3)?)?;
        check(&tensor.narrow(0, 0, 1)?.broadcast_as((4, 3, 5, 70))?)?;
        check(&tensor.narrow(3, 0, 0)?)?;
        check(&tensor.flatten_all()?.get(3)?)?;
    }
    Ok(())
}

#[test]
fn fp8() -> Result<()> {
    let codes: Vec<float8::F8E4M3> = (0..=255).map(float8::F8E4M3::from_bits).collect();
    let tensor = Tensor::from_vec(codes, 256, &Device::Cpu)?;
    let mask = nonfinite_candle::mask(&tensor, Predicate::Nan)?.to_vec1::<u8>()?;
    let nan: Vec<usize> = (0..256).filter(|&code| mask[code] == 1).collect();
    assert_eq!(nan, [0x7F, 0xFF]);
    Ok(())
}

#[test]
fn integers_are_finite() -> Result<()> {
    let tensor = Tensor::arange(0u32, 12, &Device::Cpu)?.reshape((3, 4))?;
    assert_eq!(
        nonfinite_candle::mask(&tensor, Predicate::Finite)?.sum_all()?.to_scalar::<u8>()?,
        12
    );
    assert!(!nonfinite_candle::any(&tensor, Predicate::NonFinite)?);
    assert!(nonfinite_candle::all(&tensor, Predicate::Finite)?);
    assert_eq!(nonfinite_candle::first(&tensor, Predicate::Finite)?, Some(vec![0, 0]));
    assert_eq!(nonfinite_candle::first(&tensor.narrow(1, 0, 0)?, Predicate::Finite)?, None);
    let watch = Watch::new(Predicate::NonFinite);
    assert_eq!(nonfinite_candle::look(&watch, "integers", &tensor)?, None);
    assert_eq!(watch.totals(), Totals::default());
    Ok(())
}

/// Integers have no thresholds, and each type has its own.
#[test]
fn a_threshold_for_another_type_is_refused() -> Result<()> {
    let above = Predicate::exceeds(Format::F32, 1.0).expect("a threshold");
    let watch = Watch::new(above);
    for other in [Tensor::new(&[1000u32], &Device::Cpu)?, Tensor::new(&[f64::NAN], &Device::Cpu)?] {
        let error = nonfinite_candle::mask(&other, above).unwrap_err().to_string();
        assert!(error.contains("\"exceeds 1 of f32\" asked of a tensor of"), "{error}");
        nonfinite_candle::any(&other, above).unwrap_err();
        nonfinite_candle::all(&other, above).unwrap_err();
        nonfinite_candle::first(&other, above).unwrap_err();
    }
    nonfinite_candle::look(&watch, "x", &Tensor::new(&[2f64], &Device::Cpu)?).unwrap_err();
    assert_eq!(watch.totals(), Totals::default());
    Ok(())
}

/// Logits that are not finite are replaced before a softmax.
#[test]
fn inside_a_model() -> Result<()> {
    let logits = sample(DType::F32)?;
    let finite = nonfinite_candle::mask(&logits, Predicate::Finite)?;
    let floor = Tensor::full(-1e4f32, logits.shape(), &Device::Cpu)?;
    let clean = finite.where_cond(&logits, &floor)?;
    let shifted = clean.broadcast_sub(&clean.max_keepdim(D::Minus1)?)?.exp()?;
    let softmax = shifted.broadcast_div(&shifted.sum_keepdim(D::Minus1)?)?;
    assert!(nonfinite_candle::all(&softmax, Predicate::Finite)?);
    assert!(!nonfinite_candle::all(&logits, Predicate::Finite)?);
    Ok(())
}
