//! The floating-point environment: kernels do not change it, and it does not change answers.
#![allow(unsafe_code, reason = "control registers of x86-64 and AArch64 are written")]

use nonfinite::{Backend, Census, Error, Format, Predicate, Stats, TensorView};

use crate::tensors::{either, formats, tensor};
use crate::{backends, oracle};

/// Signalling NaNs, subnormals, infinities: elements on which a floating-point comparison would set
/// a flag, flush or trap. Long enough for groups of every backend, and a rest.
fn signalling(format: Format) -> Vec<u8> {
    let signalling = match format {
        Format::F16 => vec![0x7C01, 0x0001, 0x7C00, 0xFDFF, 0x83FF],
        Format::Bf16 => vec![0x7F81, 0x0001, 0x7F80, 0xFFBF, 0x807F],
        Format::F32 => vec![0x7F80_0001, 0x0000_0001, 0x7F80_0000, 0xFFBF_FFFF, 0x807F_FFFF],
        Format::F64 => vec![
            0x7FF0_0000_0000_0001,
            0x0000_0000_0000_0001,
            0x7FF0_0000_0000_0000,
            0xFFF7_FFFF_FFFF_FFFF,
            0x800F_FFFF_FFFF_FFFF,
        ],
        _ => oracle::edges(format),
    };
    tensor(format, either(200, 2100), |i| signalling[i % signalling.len()])
}

/// The answers of all sinks to one question.
#[derive(Clone, Debug, PartialEq)]
struct Answers {
    mask: Vec<u8>,
    bits: Vec<u8>,
    searches: (bool, bool, usize, Option<usize>),
    census: Census,
    stats: Stats,
    above: [Result<usize, Error>; 3],
}

/// Thresholds: a number, a subnormal number, and a signalling NaN, which is refused.
const THRESHOLDS: [u64; 3] = [0x3FF0_0000_0000_0000, 0x0000_0000_0000_0001, 0x7FF0_0000_0000_0001];

impl Answers {
    fn room(elements: usize) -> Self {
        let bits = vec![0; elements.div_ceil(8)];
        Self {
            mask: vec![0; elements],
            bits,
            searches: (false, false, 0, None),
            census: Census::default(),
            stats: Stats::default(),
            above: [Ok(0); 3],
        }
    }

    /// Asks all questions of a view. Runs only kernels: no allocation, no panic.
    fn ask(&mut self, x: TensorView<'_>, predicate: Predicate) {
        x.mask(predicate, &mut self.mask[..]).unwrap();
        x.bits(predicate, &mut self.bits, 0).unwrap();
        self.searches =
            (x.any(predicate), x.all(predicate), x.count(predicate), x.position(predicate));
        (self.census, self.stats) = (x.census(), x.stats());
        let above = |bits| Predicate::exceeds(x.format(), f64::from_bits(bits));
        self.above = THRESHOLDS.map(|bits| above(bits).map(|predicate| x.count(predicate)));
    }
}

/// In every environment: the same answers as in the default one, no flag raised, no trap, and the
/// environment unchanged. (The answers in the default environment are compared with the scalar
/// backend here, and with the oracle in other tests.)
#[test]
fn environments_make_no_difference() {
    let scalar = Backend::by_name("scalar").unwrap();
    for format in formats() {
        let bytes = signalling(format);
        let x = TensorView::from_bytes(&bytes, format).unwrap();
        for predicate in Predicate::ALL.iter().copied() {
            let mut want = Answers::room(x.len());
            want.ask(x.with_backend(scalar), predicate);
            for &backend in backends() {
                for &control in &register::environments() {
                    let (x, mut answers) = (x.with_backend(backend), Answers::room(x.len()));
                    let after = register::with(control, || answers.ask(x, predicate));
                    let at = || format!("{backend:?} {format} {predicate:?} under {control:#x}");
                    assert_eq!(after, control, "{}: flags or control bits changed", at());
                    assert!(answers == want, "{}: other answers", at());
                }
            }
        }
    }
    println!("environments: {:x?}", register::environments());
}

/// Tests the test: floating-point code does change the register that is compared.
#[test]
fn the_register_shows_an_invalid_operation() {
    use std::hint::black_box;
    let control = register::environments()[0];
    let after = register::with(control, || {
        black_box(black_box(f64::INFINITY) - black_box(f64::INFINITY));
    });
    assert!(after != control || control == register::NONE, "the flag is not seen");
}

/// Tests the test: in a trapping environment, a signal ends a child process that subtracts
/// infinities.
#[cfg(all(unix, target_arch = "x86_64"))]
#[test]
fn unmasked_exceptions_trap() {
    use std::hint::black_box;
    let trapping = *register::environments().last().unwrap();
    for (environment, ends_by) in
        [(register::environments()[0], None), (trapping, Some(libc::SIGFPE))]
    {
        let signal = crate::child::signal_of(|| {
            register::with(environment, || {
                black_box(black_box(f64::INFINITY) - black_box(f64::INFINITY));
            });
        });
        assert_eq!(signal, ends_by, "under {environment:#x}");
    }
}

/// MXCSR: Intel's Software Developer's Manual, volume 1, section 10.2.3.
#[cfg(target_arch = "x86_64")]
mod register {
    use core::arch::asm;

    /// No value of the register: there is one to read.
    pub(super) const NONE: u64 = u64::MAX;
    const MASKS: u64 = 0x1F80;
    const FLUSH: u64 = 0x8040;

    /// Every rounding, with and without flush-to-zero and denormals-are-zero, with exceptions
    /// masked and unmasked; the usual first, and one that traps last.
    pub(super) fn environments() -> Vec<u64> {
        let mut all = Vec::new();
        for masks in [MASKS, 0] {
            for flush in [0, FLUSH] {
                all.extend((0..4).map(|rounding| masks | flush | rounding << 13));
            }
        }
        all
    }

    /// Runs with the register at `control`, and tells what it was at the end; it is then again as
    /// before.
    pub(super) fn with(control: u64, run: impl FnOnce()) -> u64 {
        let (control, mut before, mut after) = (control as u32, 0u32, 0u32);
        // SAFETY: stores the register into a local of its size and loads it from another, with
        // reserved bits zero.
        unsafe {
            asm!("stmxcsr [{}]", in(reg) &raw mut before, options(nostack));
            asm!("ldmxcsr [{}]", in(reg) &raw const control, options(nostack));
        }
        run();
        // SAFETY: as above; what is loaded is what the register held.
        unsafe {
            asm!("stmxcsr [{}]", in(reg) &raw mut after, options(nostack));
            asm!("ldmxcsr [{}]", in(reg) &raw const before, options(nostack));
        }
        u64::from(after)
    }
}

/// FPCR in the upper half, FPSR in the lower: Arm Architecture Reference Manual, C5.2.8 and
/// C5.2.10.
#[cfg(target_arch = "aarch64")]
mod register {
    use core::arch::asm;

    /// No value of the registers: there are some to read.
    pub(super) const NONE: u64 = u64::MAX;
    const FLUSH: u64 = 1 << 24 | 1 << 19;
    const DEFAULT_NAN: u64 = 1 << 25;
    const TRAPS: u64 = 0x9F00;

    /// Every rounding, with and without flush-to-zero and default NaNs, with and without traps; the
    /// usual first. Bits that the CPU does not have, such as those of traps mostly, are left out.
    pub(super) fn environments() -> Vec<u64> {
        let mut all = Vec::new();
        for traps in [0, TRAPS] {
            for other in [0, FLUSH, DEFAULT_NAN, FLUSH | DEFAULT_NAN] {
                all.extend((0..4).map(|rounding| (traps | other | rounding << 22) << 32));
            }
        }
        let kept = all.into_iter().map(|control| with(control, || ()));
        let mut kept: Vec<_> = kept.collect();
        kept.dedup();
        kept
    }

    /// Runs with the registers at `control`, and tells what they were at the end; they are then
    /// again as before.
    pub(super) fn with(control: u64, run: impl FnOnce()) -> u64 {
        let (fpcr, fpsr) = (control >> 32, control & 0xFFFF_FFFF);
        let (before_control, before_status, after_control, after_status): (u64, u64, u64, u64);
        // SAFETY: reads and writes the two registers, which any program may; unknown bits are
        // ignored.
        unsafe {
            asm!("mrs {}, fpcr", out(reg) before_control, options(nostack));
            asm!("mrs {}, fpsr", out(reg) before_status, options(nostack));
            asm!("msr fpcr, {}", in(reg) fpcr, options(nostack));
            asm!("msr fpsr, {}", in(reg) fpsr, options(nostack));
        }
        run();
        // SAFETY: as above; what is written is what the registers held.
        unsafe {
            asm!("mrs {}, fpcr", out(reg) after_control, options(nostack));
            asm!("mrs {}, fpsr", out(reg) after_status, options(nostack));
            asm!("msr fpcr, {}", in(reg) before_control, options(nostack));
            asm!("msr fpsr, {}", in(reg) before_status, options(nostack));
        }
        after_control << 32 | after_status & 0xFFFF_FFFF
    }
}

/// Other targets have no register that could be read here: one environment.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod register {
    pub(super) const NONE: u64 = u64::MAX;

    pub(super) fn environments() -> Vec<u64> {
        vec![NONE]
    }

    pub(super) fn with(control: u64, run: impl FnOnce()) -> u64 {
        run();
        control
    }
}
