//! No call of a watch allocates, for clean and for bad tensors. Without the harness of the tests,
//! whose threads would allocate meanwhile.

use nonfinite::{Predicate, TensorView, Watch};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// The most bytes that were allocated during `run`, more than before.
fn allocated(run: impl FnOnce()) -> usize {
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    run();
    ALLOCATOR.peak_usage() - before
}

fn main() {
    assert!(allocated(|| drop(vec![0_u8; 100])) >= 100, "the allocator does not count");

    let (long, mut x) = ("layer.".repeat(100), vec![1.0f32; 1 << 16]);
    let watch = Watch::new(Predicate::NonFinite);
    // The first call of all may read NONFINITE_BACKEND, and some systems allocate a lock.
    watch.look("x", &x);
    watch.clear();
    let clean = allocated(|| {
        for name in ["x", "", &long] {
            watch.look(name, &x);
            watch.look(name, TensorView::shaped(&x, &[256, 256]).unwrap());
        }
    });
    assert_eq!((clean, watch.first(), watch.totals().tensors), (0, None, 6));

    x[40_000] = f32::NAN;
    let bad = allocated(|| {
        for _ in 0..3 {
            watch.look(&long, TensorView::shaped(&x, &[256, 256]).unwrap());
            watch.look("later", &x);
            assert_eq!(watch.first().unwrap().index, 40_000);
            assert_eq!(watch.totals().nan, 2);
            watch.clear();
        }
    });
    assert_eq!(bad, 0);
}
