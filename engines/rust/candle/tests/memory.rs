//! No storage is copied, however large: a narrow view of it costs no memory.

use candle_core::{Device, Result, Tensor};
use nonfinite::{Predicate, Watch};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

const MIB: usize = 1 << 20;

#[test]
fn a_narrow_view_copies_no_storage() -> Result<()> {
    let codes = vec![float8::F8E4M3::from_bits(0x7F); 64 * MIB];
    let fp8 = Tensor::from_vec(codes, (8, 8 * MIB), &Device::Cpu)?;
    let f16 = Tensor::from_vec(vec![half::f16::NAN; 32 * MIB], (8, 4 * MIB), &Device::Cpu)?;
    for tensor in [fp8, f16] {
        let view = tensor.narrow(1, 100, 3)?;
        let before = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        assert_eq!(nonfinite_candle::mask(&view, Predicate::Nan)?.elem_count(), 24);
        assert!(nonfinite_candle::any(&view, Predicate::Nan)?);
        assert!(nonfinite_candle::all(&view, Predicate::Nan)?);
        assert_eq!(nonfinite_candle::first(&view, Predicate::Nan)?, Some(vec![0, 0]));
        assert_eq!(nonfinite_candle::census(&view)?.nan.count, 24);
        let watch = Watch::new(Predicate::Nan);
        nonfinite_candle::look(&watch, "view", &view)?;
        assert_eq!(watch.totals().nan, 24);
        let more = ALLOCATOR.peak_usage() - before;
        assert!(more < MIB, "{:?}: {more} bytes", tensor.dtype());
    }
    Ok(())
}
