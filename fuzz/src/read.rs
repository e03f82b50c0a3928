//! What must hold of a report on any bytes.

use std::num::NonZeroUsize;

use nonfinite_check::{Error, FileFormat, LookedAt, Options, Report, check_bytes, check_stream};

/// Reads the bytes as a file of this format; a report, if there is one, is checked, and so is that of the same bytes as a
/// stream.
pub fn check(bytes: &[u8], format: FileFormat) {
    let options = Options { stats: true, threads: NonZeroUsize::new(1), ..Options::default() };
    let whole = check_bytes(bytes, format, &options);
    if let Ok(report) = &whole {
        verify(report);
    }
    // A stream is told by its first bytes, which must say the same.
    if FileFormat::detect(bytes.get(..16).unwrap_or(bytes), None) == Some(format) {
        match (check_stream(bytes, &options), whole) {
            (Ok(stream), Ok(whole)) => assert_eq!(stream, whole),
            (Err(Error::NoStream(_)), _) | (Err(_), Err(_)) => {}
            (stream, whole) => panic!("stream {stream:?}, whole {whole:?}"),
        }
    }
}

fn verify(report: &Report) {
    for tensor in &report.tensors {
        assert_eq!(tensor.shape.iter().product::<usize>(), tensor.elements);
        let looked_at = matches!(tensor.looked_at, LookedAt::Values | LookedAt::Scales { .. });
        for finding in [&tensor.nan, &tensor.pos_inf, &tensor.neg_inf] {
            assert_eq!(finding.first.is_some(), finding.count > 0);
            assert!(looked_at || finding.count == 0);
            if let Some(first) = &finding.first {
                assert_eq!(first.coordinate.len(), tensor.shape.len());
                let inside = first.coordinate.iter().zip(&tensor.shape).all(|(index, extent)| index < extent);
                assert!(inside, "{:?} is outside {:?}", first.coordinate, tensor.shape);
            }
        }
        if let Some(range) = tensor.range {
            assert!(range.min <= range.max && range.min.is_finite() && range.max.is_finite());
        }
    }
}
