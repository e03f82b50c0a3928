//! The limits of the machine: reading all input, reading it and writing a byte (`false`) for each
//! element, and copying.
//!
//! Written in assembly on x86-64, so that no compiler removes loads. Other machines have only
//! `copy`. The loops begin at a cache line, which is fastest, and leave out the bytes or elements
//! (fewer than 64) before it.
#![allow(unsafe_code, reason = "loops in assembly on x86-64")]

/// Copies the input.
pub fn copy(x: &[u8], out: &mut [u8]) {
    out.copy_from_slice(x);
}

/// A loop that reads and writes with the instruction `$move`, and ends with `$end`.
#[cfg(target_arch = "x86_64")]
macro_rules! floor {
    (
        $(#[$doc:meta])*
        $floor:ident $feature:tt $register:ident $bytes:literal
        $move:literal $or:literal $xor:literal $end:literal
    ) => {
        $(#[$doc])*
        pub fn $floor<const SIZE: usize>(x: &[u8], out: &mut [bool]) {
            #[target_feature(enable = $feature)]
            fn run<const SIZE: usize>(x: &[u8], out: &mut [bool]) {
                // SAFETY: each round reads `64 * SIZE` bytes of `x` and writes 64 of `out`, as
                // often as 64 goes into the length of `out`, which is at least once; `x` is `SIZE`
                // times as long. Stores that ask for alignment have an `out` at a multiple of 64.
                unsafe { std::arch::asm!(
                    concat!($xor, " {z}, {z}, {z}"),
                    "2:",
                    ".set at_, 0",
                    concat!(".rept {size} * 64 / ", $bytes),
                    concat!($or, " {t}, {z}, [{p} + at_]"),
                    concat!(".set at_, at_ + ", $bytes),
                    ".endr",
                    ".set at_, 0",
                    concat!(".rept 64 / ", $bytes),
                    concat!($move, " [{q} + at_], {z}"),
                    concat!(".set at_, at_ + ", $bytes),
                    ".endr",
                    "add {p}, 64 * {size}",
                    "add {q}, 64",
                    "dec {n}",
                    "jnz 2b",
                    $end,
                    size = const SIZE,
                    p = inout(reg) x.as_ptr() => _,
                    q = inout(reg) out.as_mut_ptr() => _,
                    n = inout(reg) out.len() / 64 => _,
                    t = out($register) _,
                    z = out($register) _,
                    options(nostack),
                ) }
            }
            assert!(is_x86_feature_detected!($feature));
            assert_eq!(x.len(), SIZE * out.len());
            let cached = $end.is_empty();
            let head = if cached {
                x.as_ptr().align_offset(64) / SIZE
            } else {
                out.as_ptr().align_offset(64)
            };
            let head = head.min(out.len());
            let (x, out) = (&x[SIZE * head..], &mut out[head..]);
            if out.len() >= 64 {
                // SAFETY: the CPU has the feature.
                unsafe { run::<SIZE>(x, out) }
                if let (1.., Some(out)) = (out.len() % 64, out.last_chunk_mut::<64>()) && cached {
                    // SAFETY: likewise.
                    unsafe { run::<SIZE>(&x[x.len() - 64 * SIZE..], out) }
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
macro_rules! limits {
    ($(
        $load:ident $floor:ident $past:ident $feature:tt $register:ident $bytes:literal
        $move:literal $or:literal $xor:literal;
    )*) => { $(
        /// Reads all of `x` into registers, from its first cache line on, if that leaves 512 bytes.
        ///
        /// # Panics
        /// If the CPU lacks the instructions.
        pub fn $load(x: &[u8]) {
            #[target_feature(enable = $feature)]
            fn run(x: &[u8]) {
                // SAFETY: the loop reads 512 bytes at a time from `x`, as often as 512 goes into
                // its length, which is at least once, and changes nothing but the registers named.
                unsafe { std::arch::asm!(
                    concat!($xor, " {z}, {z}, {z}"),
                    "2:",
                    ".set at_, 0",
                    concat!(".rept 512 / ", $bytes),
                    concat!($or, " {t}, {z}, [{p} + at_]"),
                    concat!(".set at_, at_ + ", $bytes),
                    ".endr",
                    "add {p}, 512",
                    "dec {n}",
                    "jnz 2b",
                    p = inout(reg) x.as_ptr() => _,
                    n = inout(reg) x.len() / 512 => _,
                    t = out($register) _,
                    z = out($register) _,
                    options(readonly, nostack),
                ) }
            }
            assert!(is_x86_feature_detected!($feature));
            let x = &x[x.as_ptr().align_offset(64).min(x.len())..];
            if x.len() >= 512 {
                // SAFETY: the CPU has the feature.
                unsafe { run(x) }
                if !x.len().is_multiple_of(512) {
                    // SAFETY: likewise.
                    unsafe { run(&x[x.len() - 512..]) }
                }
            }
        }

        floor! {
            /// Reads all of `x` and writes all of `out`, a block of 64 elements at a time, from the
            /// first cache line of `x` on, if that leaves 64 elements. (From the first of `out` on
            /// it takes up to 1.9 times as long.)
            ///
            /// # Panics
            /// If the CPU lacks the instructions, or `SIZE * out.len()` is not the length of `x`.
            $floor $feature $register $bytes $move $or $xor ""
        }
        floor! {
            /// Like the limit of masks, but past the caches: from the first cache line of `out` on.
            /// Elements behind the last whole block are left out.
            ///
            /// # Panics
            /// Likewise.
            $past $feature $register $bytes "vmovntdq" $or $xor "sfence"
        }
    )* };
}

#[cfg(target_arch = "x86_64")]
limits! {
    load_256 floor_256 past_256 "avx2" ymm_reg 32 "vmovdqu" "vpor" "vpxor";
    load_512 floor_512 past_512 "avx512f" zmm_reg 64 "vmovdqu64" "vporq" "vpxorq";
}

/// Reads all of the input.
pub type Load = fn(&[u8]);
/// Reads all of the input and writes a byte for each element.
pub type Floor = fn(&[u8], &mut [bool]);

/// The limits that can be measured on this CPU, for elements of `SIZE` bytes: the name of the
/// register width, and both loops.
pub fn limits<const SIZE: usize>() -> Vec<(&'static str, Load, Floor)> {
    #[allow(unused_mut, reason = "not filled on other machines")]
    let mut limits: Vec<(&'static str, Load, Floor)> = Vec::new();
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx2") {
            limits.push(("256", load_256, floor_256::<SIZE>));
        }
        if is_x86_feature_detected!("avx512f") {
            limits.push(("512", load_512, floor_512::<SIZE>));
        }
    }
    limits
}

/// Like the floors of [`limits`], but past the caches, into outputs at a multiple of 64 bytes.
pub fn past<const SIZE: usize>() -> Vec<(&'static str, Floor)> {
    #[allow(unused_mut, reason = "not filled on other machines")]
    let mut floors: Vec<(&'static str, Floor)> = Vec::new();
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx2") {
            floors.push(("256", past_256::<SIZE>));
        }
        if is_x86_feature_detected!("avx512f") {
            floors.push(("512", past_512::<SIZE>));
        }
    }
    floors
}
