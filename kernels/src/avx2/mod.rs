//! AVX2: 32 bytes a register, comparisons into lanes of all ones.

mod layout;
mod scale;

#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;
use core::mem::MaybeUninit;

use crate::replace::Codes;
use crate::rule::{Operation, Screen, Test};
use crate::scale::format;
use crate::simd::{Aligned, Block, Line, Loop, Simd, Slots, op, padded};

cpufeatures::new!(cpu, "avx2", "popcnt", "bmi1", "bmi2");

/// Proves that the CPU has AVX2, F16C, POPCNT, BMI1 and BMI2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(());

impl Avx2 {
    pub(crate) fn detect() -> Option<Self> {
        (cpu::get() && has_f16c()).then_some(Self(()))
    }
}

/// F16C, which `cpufeatures` cannot ask for. No CPU with AVX2 is known that lacks it.
fn has_f16c() -> bool {
    // In an enclave CPUID faults: there only what is known at compile time counts.
    if cfg!(any(target_feature = "f16c", target_env = "sgx")) {
        return cfg!(target_feature = "f16c");
    }
    // Leaf 1, ECX, bit 29 (Intel SDM volume 2A, CPUID). That the system keeps the registers is
    // known of AVX2.
    #[allow(unused_unsafe, reason = "an unsafe function in older versions of Rust")]
    // SAFETY: a CPU with AVX2 has the instruction, and the leaf.
    let features = unsafe { __cpuid(1) }.ecx;
    features >> 29 & 1 != 0
}

type V = __m256i;

/// The registers of a test.
#[derive(Clone, Copy)]
pub(crate) struct With {
    mask: V,
    bound: V,
    /// The top 16 bits of the mask, in lanes of 16 bits.
    top: V,
    /// All ones if the comparison is `GREATER`, for `EITHER`.
    greater: V,
    /// 1 in every byte.
    ones: V,
}

// SAFETY of all blocks below, unless they say more: `self` proves the features that the intrinsics
// ask for. Loads and stores ask for no alignment; each reads or writes one array, as long as a
// register.
impl Avx2 {
    /// The 32 bytes at `at`.
    #[inline(always)]
    fn load(self, bytes: &[u8], at: usize) -> V {
        let bytes: &[u8; 32] = bytes[at..].first_chunk().unwrap();
        // SAFETY: see above.
        unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
    }

    /// The low `W` bytes of a number in every lane.
    #[inline(always)]
    fn splat<const W: usize>(self, bits: u64) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm256_set1_epi8(bits as i8),
                2 => _mm256_set1_epi16(bits as i16),
                4 => _mm256_set1_epi32(bits as i32),
                _ => _mm256_set1_epi64x(bits as i64),
            }
        }
    }

    #[inline(always)]
    fn and(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe { _mm256_and_si256(a, b) }
    }

    /// -1 in every lane where they are equal, else 0.
    #[inline(always)]
    fn equal<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm256_cmpeq_epi8(a, b),
                2 => _mm256_cmpeq_epi16(a, b),
                4 => _mm256_cmpeq_epi32(a, b),
                _ => _mm256_cmpeq_epi64(a, b),
            }
        }
    }

    /// Signed.
    #[inline(always)]
    fn greater<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm256_cmpgt_epi8(a, b),
                2 => _mm256_cmpgt_epi16(a, b),
                4 => _mm256_cmpgt_epi32(a, b),
                _ => _mm256_cmpgt_epi64(a, b),
            }
        }
    }

    /// Unsigned. AVX2 has none for lanes of 64 bits: their halves are compared.
    #[inline(always)]
    fn max<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm256_max_epu8(a, b),
                2 => _mm256_max_epu16(a, b),
                _ => _mm256_max_epu32(a, b),
            }
        }
    }

    #[inline(always)]
    fn subtract<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm256_sub_epi8(a, b),
                2 => _mm256_sub_epi16(a, b),
                4 => _mm256_sub_epi32(a, b),
                _ => _mm256_sub_epi64(a, b),
            }
        }
    }

    /// Lanes as a screen compares them.
    #[inline(always)]
    fn masked<const FLIP: bool>(self, lanes: V, mask: V) -> V {
        // SAFETY: see above.
        if FLIP { unsafe { _mm256_xor_si256(lanes, mask) } } else { self.and(lanes, mask) }
    }

    /// Where `EQUAL` or `GREATER` holds for the lanes at `at`.
    #[inline(always)]
    fn hits<const W: usize, const OP: u8>(self, bytes: &[u8], at: usize, with: With) -> V {
        let masked = self.and(self.load(bytes, at), with.mask);
        match OP {
            op::GREATER => self.greater::<W>(masked, with.bound),
            op::EITHER => {
                let (equal, greater) =
                    (self.equal::<W>(masked, with.bound), self.greater::<W>(masked, with.bound));
                self.blend(equal, greater, with.greater)
            }
            _ => self.equal::<W>(masked, with.bound),
        }
    }

    /// The bytes of `b` where those of `hits` are -1, else those of `a`.
    #[inline(always)]
    fn blend(self, a: V, b: V, hits: V) -> V {
        // SAFETY: see above.
        unsafe { _mm256_blendv_epi8(a, b, hits) }
    }

    /// Writes 32 bytes at `at`.
    #[inline(always)]
    fn write(self, v: V, bytes: &mut [u8], at: usize) {
        let bytes: &mut [u8; 32] = bytes[at..].first_chunk_mut().unwrap();
        // SAFETY: see above.
        unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), v) }
    }

    /// The sum of all counters. No lane of `a` or `b` is above 64 after [`crate::simd::COUNTED`]
    /// bytes, so only the lowest byte of each lane of `a + b` is not zero.
    #[inline(always)]
    fn sum(self, a: V, b: V) -> usize {
        let mut lanes = [0u64; 4];
        // SAFETY: see above; `lanes` has 32 bytes.
        unsafe {
            let sums = _mm256_sad_epu8(_mm256_add_epi8(a, b), _mm256_setzero_si256());
            _mm256_storeu_si256(lanes.as_mut_ptr().cast(), sums);
        }
        lanes.iter().sum::<u64>() as usize
    }

    /// The sign of every byte.
    #[inline(always)]
    fn signs(self, v: V) -> u64 {
        // SAFETY: see above.
        u64::from(unsafe { _mm256_movemask_epi8(v) }.cast_unsigned())
    }
}

impl Avx2 {
    /// Bit `i` for element `i` of a block.
    #[inline(always)]
    fn bits<const W: usize, const OP: u8>(self, block: &Block<W>, with: With) -> u64 {
        let bytes = block.as_flattened();
        let mut bits = 0;
        for half in 0..2 {
            let packed = self.packed::<W, OP>(bytes, half, with);
            let hits = if OP == op::ONES || OP == op::ONES_NOT {
                self.equal::<1>(packed, self.splat::<1>(0))
            } else {
                packed
            };
            bits |= self.signs(hits) << (32 * half);
        }
        if OP == op::ONES_NOT { !bits } else { bits }
    }
}

/// The registers of a replacement: a test, and each code with what takes its place.
#[derive(Clone, Copy)]
pub(crate) struct Replace {
    special: With,
    nan: V,
    pos_inf: [V; 2],
    neg_inf: [V; 2],
}

impl Simd for Avx2 {
    /// `detect` asks for these five features.
    #[target_feature(enable = "avx2,popcnt,bmi1,bmi2,f16c")]
    unsafe fn vectorize<L: Loop>(x: &[u8], test: &Test, out: L::Out<'_>) -> L::Output {
        L::vector(Self(()), x, test, out)
    }

    type With = With;

    #[inline(always)]
    fn with<const W: usize>(self, test: &Test) -> With {
        With {
            mask: self.splat::<W>(test.mask()),
            bound: self.splat::<W>(test.bound()),
            top: self.splat::<4>(test.top()),
            greater: self.splat::<8>(if test.operation() == Operation::Greater { u64::MAX } else { 0 }),
            ones: self.splat::<4>(test.ones()),
        }
    }

    const STORES_NEGATED: bool = false;

    #[inline(always)]
    fn store<const W: usize, const OP: u8>(self, block: &Block<W>, with: With, out: &mut Slots) {
        let bytes = block.as_flattened();
        for half in 0..2 {
            let packed = self.packed::<W, OP>(bytes, half, with);
            let to: &mut [MaybeUninit<bool>; 32] = &mut out.as_chunks_mut().0[half];
            // SAFETY: see above; `to` has 32 bytes.
            unsafe {
                let answers = match OP {
                    // Saturates: 1 - 0 is 1, 1 - anything else is 0.
                    op::ONES => _mm256_subs_epu8(with.ones, packed),
                    op::ONES_NOT => _mm256_min_epu8(packed, with.ones),
                    // -1 + 1 is 0, 0 + 1 is 1.
                    op::EQUAL_NOT => _mm256_add_epi8(packed, with.ones),
                    _ => self.and(packed, with.ones),
                };
                _mm256_storeu_si256(to.as_mut_ptr().cast(), answers);
            }
        }
    }

    #[inline(always)]
    fn fill(self, answer: u64, out: &mut Slots) {
        let answers = self.splat::<4>(answer);
        for half in out.as_chunks_mut::<32>().0 {
            // SAFETY: see above; `half` has 32 bytes.
            unsafe { _mm256_storeu_si256(half.as_mut_ptr().cast(), answers) }
        }
    }

    #[inline(always)]
    fn store_few<const W: usize>(self, x: &[u8], test: &Test, out: &mut [MaybeUninit<bool>]) {
        crate::scalar::spread(self.bits_few::<W>(x, test), out);
    }

    #[inline(always)]
    fn put_bits<const W: usize, const OP: u8>(
        self,
        block: &Block<W>,
        with: With,
        usual: u64,
        word: &mut [u8; 8],
    ) {
        *word = (self.bits::<W, OP>(block, with) ^ usual).to_le_bytes();
    }

    #[inline(always)]
    fn bits_few<const W: usize>(self, x: &[u8], test: &Test) -> u64 {
        if x.len() <= 8 * W {
            return crate::scalar::bits_few::<W>(x, test);
        }
        let (block, with) = (padded(x), self.with::<W>(test));
        let bits = self.bits::<W, { op::EITHER }>(&block, with);
        (bits ^ test.usual_bits()) & !u64::MAX.unbounded_shl((x.len() / W) as u32)
    }

    #[inline(always)]
    fn find<const W: usize>(self, line: &Line, test: &Test, with: With) -> usize {
        let mut bytes = 0;
        for half in 0..2 {
            let hits = match test.operation() {
                Operation::Greater => self.hits::<W, { op::GREATER }>(line, 32 * half, with),
                Operation::Ones | Operation::Equal => self.hits::<W, { op::EQUAL }>(line, 32 * half, with),
            };
            bytes |= self.signs(hits) << (32 * half);
        }
        bytes ^= test.usual_bits();
        if bytes == 0 { 64 } else { bytes.trailing_zeros() as usize / W }
    }

    type Screen = [V; 2];

    #[inline(always)]
    fn screen<const W: usize>(self, screen: Screen) -> [V; 2] {
        match screen {
            Screen::None => [self.splat::<1>(0); 2],
            // Lanes of 32 bits, of which the mask keeps the upper half of each element. The lower
            // ones are zero: they are below any other bound, and if that is zero nothing is
            // skipped.
            Screen::Masked { mask, least } if W == 8 => {
                [self.splat::<8>(mask >> 32 << 32), self.splat::<4>(least >> 32)]
            }
            Screen::Masked { mask, least } => [self.splat::<W>(mask), self.splat::<W>(least)],
            Screen::Flipped { flip } => [self.splat::<W>(flip), self.splat::<1>(0xFF)],
        }
    }

    type Seen = [V; 2];

    #[inline(always)]
    fn unseen(self) -> [V; 2] {
        [self.splat::<1>(0); 2]
    }

    #[inline(always)]
    fn look<const W: usize, const FLIP: bool>(
        self,
        [mut a, mut b]: [V; 2],
        lines: &[Line; 2],
        [mask, _]: [V; 2],
    ) -> [V; 2] {
        let bytes = lines.as_flattened();
        a = self.max::<W>(a, self.masked::<FLIP>(self.load(bytes, 0), mask));
        b = self.max::<W>(b, self.masked::<FLIP>(self.load(bytes, 32), mask));
        a = self.max::<W>(a, self.masked::<FLIP>(self.load(bytes, 64), mask));
        b = self.max::<W>(b, self.masked::<FLIP>(self.load(bytes, 96), mask));
        [a, b]
    }

    #[inline(always)]
    fn reaches<const W: usize>(self, [a, b]: [V; 2], [_, least]: [V; 2]) -> bool {
        let largest = self.max::<W>(a, b);
        let lanes = if W == 8 {
            self.equal::<4>(self.max::<4>(largest, least), largest)
        } else {
            self.equal::<W>(self.max::<W>(largest, least), largest)
        };
        // SAFETY: see above.
        unsafe { _mm256_testz_si256(lanes, lanes) == 0 }
    }

    #[inline(always)]
    fn count<const W: usize, const OP: u8>(self, pairs: &[[Line; 2]], with: With) -> usize {
        let [mut a, mut b] = [self.splat::<1>(0); 2];
        for pair in pairs {
            let bytes = pair.as_flattened();
            a = self.subtract::<W>(a, self.hits::<W, OP>(bytes, 0, with));
            b = self.subtract::<W>(b, self.hits::<W, OP>(bytes, 32, with));
            a = self.subtract::<W>(a, self.hits::<W, OP>(bytes, 64, with));
            b = self.subtract::<W>(b, self.hits::<W, OP>(bytes, 96, with));
        }
        self.sum(a, b)
    }

    /// The mask without the sign, and the codes of infinity and of the negative one.
    type Classes = [V; 3];

    #[inline(always)]
    fn classes<const W: usize>(self, nan: &Test) -> [V; 3] {
        let (mask, inf) = (nan.mask(), nan.bound());
        [self.splat::<W>(mask), self.splat::<W>(inf), self.splat::<W>(inf | (mask + 1))]
    }

    #[inline(always)]
    fn classify<const W: usize>(self, pairs: &[[Line; 2]], [mask, code, neg_code]: [V; 3]) -> [usize; 3] {
        let [mut nan, mut inf, mut neg] = [[self.splat::<1>(0); 2]; 3];
        for pair in pairs {
            let bytes = pair.as_flattened();
            for half in 0..4 {
                let (lanes, i) = (self.load(bytes, 32 * half), half % 2);
                let magnitude = self.and(lanes, mask);
                nan[i] = self.subtract::<W>(nan[i], self.greater::<W>(magnitude, code));
                inf[i] = self.subtract::<W>(inf[i], self.equal::<W>(magnitude, code));
                neg[i] = self.subtract::<W>(neg[i], self.equal::<W>(lanes, neg_code));
            }
        }
        [self.sum(nan[0], nan[1]), self.sum(inf[0], inf[1]), self.sum(neg[0], neg[1])]
    }

    type Codes = Replace;

    #[inline(always)]
    fn codes<const W: usize>(self, test: &Test, codes: &Codes) -> Replace {
        Replace {
            special: self.with::<W>(test),
            nan: self.splat::<W>(codes.values.nan),
            pos_inf: [self.splat::<W>(codes.pos_inf), self.splat::<W>(codes.values.pos_inf)],
            neg_inf: [self.splat::<W>(codes.neg_inf), self.splat::<W>(codes.values.neg_inf)],
        }
    }

    #[inline(always)]
    fn replace<const W: usize>(self, line: &mut Line, codes: Replace) -> usize {
        let [pos_inf, for_pos] = codes.pos_inf;
        let [neg_inf, for_neg] = codes.neg_inf;
        let mut signs = 0;
        for at in [0, 32] {
            let lanes = self.load(line, at);
            let special = self.hits::<W, { op::EQUAL }>(line, at, codes.special);
            let mut value = self.blend(codes.nan, for_neg, self.equal::<W>(lanes, neg_inf));
            value = self.blend(value, for_pos, self.equal::<W>(lanes, pos_inf));
            self.write(self.blend(lanes, value, special), line, at);
            signs += self.signs(special).count_ones() as usize;
        }
        signs / W
    }

    type Factor = V;

    #[inline(always)]
    fn factor<const F: u8>(self, factor: f64) -> V {
        match F {
            format::F64 => self.splat::<8>(factor.to_bits()),
            _ => self.splat::<4>((factor as f32).to_bits().into()),
        }
    }

    #[inline(always)]
    fn multiply<const F: u8>(self, line: &mut Line, factor: V) {
        for at in [0, 32] {
            self.write(self.times::<F>(self.load(line, at), factor), line, at);
        }
    }

    const STREAMS: bool = true;

    #[inline(always)]
    fn stream(self, from: &Slots, to: &mut Aligned) {
        // SAFETY: see above; both have 64 bytes, and `to` is aligned to 64, where the stores ask
        // for 32.
        unsafe {
            let (from, to) = (from.as_ptr().cast::<__m256i>(), to.0.as_mut_ptr().cast::<__m256i>());
            _mm256_stream_si256(to, _mm256_loadu_si256(from));
            _mm256_stream_si256(to.add(1), _mm256_loadu_si256(from.add(1)));
        }
    }

    #[inline(always)]
    fn fence(self) {
        // SAFETY: no CPU with AVX2 lacks SSE.
        unsafe { _mm_sfence() }
    }
}
