//! AVX-512 (F, BW, VL and DQ): 64 bytes a register, comparisons into mask registers.

mod layout;
mod scale;

#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;
use core::hint::black_box;
use core::mem::MaybeUninit;

use crate::replace::Codes;
use crate::rule::{Operation, Screen, Test};
use crate::scale::format;
use crate::simd::{Aligned, Block, Line, Loop, Simd, Slots, op};

cpufeatures::new!(
    cpu, "avx512f", "avx512bw", "avx512vl", "avx512dq", "fma", "avx2", "popcnt", "bmi1", "bmi2"
);

/// Proves that the CPU has AVX-512 F, BW, VL and DQ, FMA, AVX2, POPCNT, BMI1 and BMI2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512(());

impl Avx512 {
    pub(crate) fn detect() -> Option<Self> {
        cpu::get().then_some(Self(()))
    }
}

type V = __m512i;

/// The registers of a test.
#[derive(Clone, Copy)]
pub(crate) struct With {
    mask: V,
    bound: V,
    /// The top 16 bits of the mask, in lanes of 16 bits.
    top: V,
    /// The answer for an element that is no hit, and the other one, in bytes.
    usual: V,
    other: V,
    /// 1 in every byte, and 1 in every lane.
    ones: V,
    one: V,
}

// SAFETY of all blocks below, unless they say more: `self` proves the features that the intrinsics
// ask for. Loads and stores ask for no alignment; each reads or writes one array, as long as a
// register.
impl Avx512 {
    #[inline(always)]
    fn load(self, line: &Line) -> V {
        // SAFETY: see above; a line has 64 bytes.
        unsafe { _mm512_loadu_si512(line.as_ptr().cast()) }
    }

    /// The low `W` bytes of a number in every lane.
    #[inline(always)]
    fn splat<const W: usize>(self, bits: u64) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm512_set1_epi8(bits as i8),
                2 => _mm512_set1_epi16(bits as i16),
                4 => _mm512_set1_epi32(bits as i32),
                _ => _mm512_set1_epi64(bits as i64),
            }
        }
    }

    #[inline(always)]
    fn and(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe { _mm512_and_si512(a, b) }
    }

    /// Bit `i` for lane `i`.
    #[inline(always)]
    fn equal<const W: usize>(self, a: V, b: V) -> u64 {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm512_cmpeq_epi8_mask(a, b),
                2 => _mm512_cmpeq_epi16_mask(a, b).into(),
                4 => _mm512_cmpeq_epi32_mask(a, b).into(),
                _ => _mm512_cmpeq_epi64_mask(a, b).into(),
            }
        }
    }

    /// Signed.
    #[inline(always)]
    fn greater<const W: usize>(self, a: V, b: V) -> u64 {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm512_cmpgt_epi8_mask(a, b),
                2 => _mm512_cmpgt_epi16_mask(a, b).into(),
                4 => _mm512_cmpgt_epi32_mask(a, b).into(),
                _ => _mm512_cmpgt_epi64_mask(a, b).into(),
            }
        }
    }

    /// Unsigned.
    #[inline(always)]
    fn max<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm512_max_epu8(a, b),
                2 => _mm512_max_epu16(a, b),
                4 => _mm512_max_epu32(a, b),
                _ => _mm512_max_epu64(a, b),
            }
        }
    }

    /// Unsigned.
    #[inline(always)]
    fn at_least<const W: usize>(self, a: V, b: V) -> bool {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm512_cmpge_epu8_mask(a, b) != 0,
                2 => _mm512_cmpge_epu16_mask(a, b) != 0,
                4 => _mm512_cmpge_epu32_mask(a, b) != 0,
                _ => _mm512_cmpge_epu64_mask(a, b) != 0,
            }
        }
    }

    #[inline(always)]
    fn unequal<const W: usize>(self, a: V, b: V) -> u64 {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm512_cmpneq_epi8_mask(a, b),
                2 => _mm512_cmpneq_epi16_mask(a, b).into(),
                4 => _mm512_cmpneq_epi32_mask(a, b).into(),
                _ => _mm512_cmpneq_epi64_mask(a, b).into(),
            }
        }
    }

    /// Adds `one` to the lanes whose bits are set.
    #[inline(always)]
    fn increment<const W: usize>(self, counts: V, hits: u64, one: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm512_mask_add_epi8(counts, hits, counts, one),
                2 => _mm512_mask_add_epi16(counts, hits as u32, counts, one),
                4 => _mm512_mask_add_epi32(counts, hits as u16, counts, one),
                _ => _mm512_mask_add_epi64(counts, hits as u8, counts, one),
            }
        }
    }

    /// The sum of all counters. No lane of `a` or `b` is above 32 after [`crate::simd::COUNTED`]
    /// bytes, so only the lowest byte of each lane of `a + b` is not zero.
    #[inline(always)]
    fn sum(self, a: V, b: V) -> usize {
        // SAFETY: see above.
        unsafe {
            let sums = _mm512_sad_epu8(_mm512_add_epi8(a, b), _mm512_setzero_si512());
            _mm512_reduce_add_epi64(sums) as usize
        }
    }

    /// Lanes as a screen compares them.
    #[inline(always)]
    fn masked<const FLIP: bool>(self, lanes: V, mask: V) -> V {
        // SAFETY: see above.
        if FLIP { unsafe { _mm512_xor_si512(lanes, mask) } } else { self.and(lanes, mask) }
    }

    /// The results of `EQUAL` or `GREATER` for the lanes of a register.
    #[inline(always)]
    fn hits<const W: usize, const OP: u8>(self, lanes: V, with: With) -> u64 {
        let masked = self.and(lanes, with.mask);
        if OP == op::GREATER {
            self.greater::<W>(masked, with.bound)
        } else {
            self.equal::<W>(masked, with.bound)
        }
    }

    /// [`Avx512::hits`] of either comparison.
    #[inline(always)]
    fn hits_of<const W: usize>(self, lanes: V, test: &Test, with: With) -> u64 {
        match test.operation() {
            Operation::Greater => self.hits::<W, { op::GREATER }>(lanes, with),
            Operation::Ones | Operation::Equal => self.hits::<W, { op::EQUAL }>(lanes, with),
        }
    }

    /// At most 64 bytes, with zeros behind them.
    #[inline(always)]
    fn load_few(self, bytes: &[u8]) -> V {
        let keep = u64::MAX.unbounded_shr(64 - bytes.len() as u32);
        // SAFETY: see above; only bytes whose bits are set are read: the first `bytes.len()`.
        unsafe { _mm512_maskz_loadu_epi8(keep, bytes.as_ptr().cast()) }
    }

    /// Writes the answers for the lanes of a register, `64 / W` bytes, or as many as `out` has.
    #[inline(always)]
    fn put<const W: usize>(self, hits: u64, with: With, out: &mut [MaybeUninit<bool>]) {
        let keep = u64::MAX.unbounded_shr(64 - out.len() as u32);
        let to = out.as_mut_ptr().cast();
        // SAFETY: see above; only bytes whose bits are set are written: the first `out.len()`.
        unsafe {
            if W == 1 {
                let answers = _mm512_mask_blend_epi8(hits, with.usual, with.other);
                _mm512_mask_storeu_epi8(to, keep, answers);
            } else {
                let (usual, other) = (_mm512_castsi512_si256(with.usual), _mm512_castsi512_si256(with.other));
                let answers = _mm256_mask_blend_epi8(hits as u32, usual, other);
                _mm256_mask_storeu_epi8(to, keep as u32, answers);
            }
        }
    }

    /// Lane `i` of `b` where bit `i` is set, else that of `a`.
    #[inline(always)]
    fn blend<const W: usize>(self, hits: u64, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm512_mask_blend_epi8(hits, a, b),
                2 => _mm512_mask_blend_epi16(hits as u32, a, b),
                4 => _mm512_mask_blend_epi32(hits as u16, a, b),
                _ => _mm512_mask_blend_epi64(hits as u8, a, b),
            }
        }
    }

    #[inline(always)]
    fn write_line(self, lanes: V, line: &mut Line) {
        // SAFETY: see above; `line` has 64 bytes.
        unsafe { _mm512_storeu_si512(line.as_mut_ptr().cast(), lanes) }
    }

    /// Writes 64 bytes.
    #[inline(always)]
    fn write(self, answers: V, out: &mut Slots) {
        // SAFETY: see above; `out` has 64 bytes.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), answers) }
    }

    /// The mask of a block by `EQUAL` or `GREATER`: register by register, so that nothing waits for
    /// all.
    #[inline(always)]
    fn store_compared<const W: usize, const OP: u8>(self, block: &Block<W>, with: With, out: &mut Slots) {
        for (line, slots) in block.iter().zip(out.chunks_exact_mut(64 / W)) {
            let hits = self.hits::<W, OP>(self.load(line), with);
            let to = slots.as_mut_ptr();
            // SAFETY: see above; `slots` has `64 / W` bytes.
            unsafe {
                match W {
                    1 => _mm512_storeu_si512(to.cast(), _mm512_mask_blend_epi8(hits, with.usual, with.other)),
                    2 => {
                        let (usual, other) =
                            (_mm512_castsi512_si256(with.usual), _mm512_castsi512_si256(with.other));
                        _mm256_storeu_si256(to.cast(), _mm256_mask_blend_epi8(hits as u32, usual, other));
                    }
                    4 => _mm_storeu_si128(
                        to.cast(),
                        _mm_mask_blend_epi8(
                            hits as u16,
                            _mm512_castsi512_si128(with.usual),
                            _mm512_castsi512_si128(with.other),
                        ),
                    ),
                    _ => _mm_storel_epi64(
                        to.cast(),
                        _mm_mask_blend_epi8(
                            hits as u16,
                            _mm512_castsi512_si128(with.usual),
                            _mm512_castsi512_si128(with.other),
                        ),
                    ),
                }
            }
        }
    }
}

/// Stores the bits of a line.
#[inline(always)]
fn put<const W: usize>(hits: u64, to: &mut [u8]) {
    to.copy_from_slice(&hits.to_le_bytes()[..8 / W]);
}

/// The registers of a replacement: a test, and each code with what takes its place.
#[derive(Clone, Copy)]
pub(crate) struct Replace {
    special: With,
    nan: V,
    pos_inf: [V; 2],
    neg_inf: [V; 2],
}

impl Simd for Avx512 {
    /// `detect` asks for these features, and for FMA, which the compiler takes AVX-512 F to imply.
    /// The compiler takes it to imply F16C too, which `cpufeatures` cannot ask for; no CPU with
    /// AVX-512 F lacks it.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,popcnt,bmi1,bmi2")]
    unsafe fn vectorize<L: Loop>(x: &[u8], test: &Test, out: L::Out<'_>) -> L::Output {
        L::vector(Self(()), x, test, out)
    }

    type With = With;

    #[inline(always)]
    fn with<const W: usize>(self, test: &Test) -> With {
        let ([usual, other], ones) = (test.answers(), test.ones());
        With {
            mask: self.splat::<W>(test.mask()),
            bound: self.splat::<W>(test.bound()),
            top: self.splat::<4>(test.top()),
            usual: self.splat::<4>(usual),
            other: self.splat::<4>(other),
            ones: self.splat::<4>(ones),
            one: self.splat::<W>(ones & 1),
        }
    }

    const STORES_NEGATED: bool = true;

    #[inline(always)]
    fn store<const W: usize, const OP: u8>(self, block: &Block<W>, with: With, out: &mut Slots) {
        // SAFETY: see above.
        unsafe {
            match OP {
                // Saturates: 1 - 0 is 1, 1 - anything else is 0.
                op::ONES => self.write(_mm512_subs_epu8(with.ones, self.lacking(block, with.top)), out),
                op::ONES_NOT => self.write(_mm512_min_epu8(with.ones, self.lacking(block, with.top)), out),
                _ => self.store_compared::<W, OP>(block, with, out),
            }
        }
    }

    #[inline(always)]
    fn fill(self, answer: u64, out: &mut Slots) {
        self.write(self.splat::<4>(answer), out);
    }

    #[inline(always)]
    fn store_few<const W: usize>(self, x: &[u8], test: &Test, out: &mut [MaybeUninit<bool>]) {
        let with = self.with::<W>(test);
        let (lines, few) = x.as_chunks();
        let (slots, last) = out.split_at_mut((lines.len() * (64 / W)).min(out.len()));
        for (line, slots) in lines.iter().zip(slots.chunks_exact_mut(64 / W)) {
            self.put::<W>(self.hits_of::<W>(self.load(line), test, with), with, slots);
        }
        if !last.is_empty() {
            self.put::<W>(self.hits_of::<W>(self.load_few(few), test, with), with, last);
        }
    }

    #[inline(always)]
    fn put_bits<const W: usize, const OP: u8>(
        self,
        block: &Block<W>,
        with: With,
        usual: u64,
        word: &mut [u8; 8],
    ) {
        for (line, bits) in block.iter().zip(word.chunks_exact_mut(8 / W)) {
            let lanes = self.load(line);
            let hits = match OP {
                op::ONES_NOT => self.unequal::<W>(self.and(lanes, with.mask), with.bound),
                _ => self.hits::<W, OP>(lanes, with),
            };
            let hits = if W == 1 { hits ^ usual } else { hits };
            put::<W>(hits, bits);
        }
        // Only for rules that no format has. Hidden, or the loop would be compiled twice.
        if W > 1 && black_box(usual) != 0 {
            *word = (!u64::from_le_bytes(*word)).to_le_bytes();
        }
    }

    #[inline(always)]
    fn bits_few<const W: usize>(self, x: &[u8], test: &Test) -> u64 {
        let with = self.with::<W>(test);
        let (lines, few) = x.as_chunks();
        let mut bits = 0;
        for (i, line) in lines.iter().enumerate() {
            bits |= self.hits_of::<W>(self.load(line), test, with) << (i * (64 / W));
        }
        if !few.is_empty() {
            bits |= self.hits_of::<W>(self.load_few(few), test, with) << (lines.len() * (64 / W));
        }
        (bits ^ test.usual_bits()) & !u64::MAX.unbounded_shl((x.len() / W) as u32)
    }

    #[inline(always)]
    fn find<const W: usize>(self, line: &Line, test: &Test, with: With) -> usize {
        let hits = self.hits_of::<W>(self.load(line), test, with);
        let hits = hits ^ (test.usual_bits() >> (64 - 64 / W));
        hits.trailing_zeros() as usize
    }

    #[inline(always)]
    fn padded(self, few: &[u8]) -> Line {
        let mut line = [0; 64];
        self.write_line(self.load_few(few), &mut line);
        line
    }

    type Screen = [V; 2];

    #[inline(always)]
    fn screen<const W: usize>(self, screen: Screen) -> [V; 2] {
        match screen {
            Screen::None => [self.splat::<1>(0); 2],
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
        [a, b]: [V; 2],
        [even, odd]: &[Line; 2],
        [mask, _]: [V; 2],
    ) -> [V; 2] {
        let (even, odd) = (self.load(even), self.load(odd));
        [self.max::<W>(a, self.masked::<FLIP>(even, mask)), self.max::<W>(b, self.masked::<FLIP>(odd, mask))]
    }

    #[inline(always)]
    fn reaches<const W: usize>(self, [a, b]: [V; 2], [_, least]: [V; 2]) -> bool {
        self.at_least::<W>(self.max::<W>(a, b), least)
    }

    #[inline(always)]
    fn count<const W: usize, const OP: u8>(self, pairs: &[[Line; 2]], with: With) -> usize {
        let [mut a, mut b] = [self.splat::<1>(0); 2];
        for [even, odd] in pairs {
            a = self.increment::<W>(a, self.hits::<W, OP>(self.load(even), with), with.one);
            b = self.increment::<W>(b, self.hits::<W, OP>(self.load(odd), with), with.one);
        }
        self.sum(a, b)
    }

    /// The mask without the sign, the codes of infinity and of the negative one, and 1.
    type Classes = [V; 4];

    #[inline(always)]
    fn classes<const W: usize>(self, nan: &Test) -> [V; 4] {
        let (mask, inf, one) = (nan.mask(), nan.bound(), nan.ones() & 1);
        let neg = inf | (mask + 1);
        [self.splat::<W>(mask), self.splat::<W>(inf), self.splat::<W>(neg), self.splat::<W>(one)]
    }

    #[inline(always)]
    fn classify<const W: usize>(
        self,
        pairs: &[[Line; 2]],
        [mask, code, neg_code, one]: [V; 4],
    ) -> [usize; 3] {
        let [mut nan, mut inf, mut neg] = [[self.splat::<1>(0); 2]; 3];
        for pair in pairs {
            for (i, line) in pair.iter().enumerate() {
                let lanes = self.load(line);
                let magnitude = self.and(lanes, mask);
                nan[i] = self.increment::<W>(nan[i], self.greater::<W>(magnitude, code), one);
                inf[i] = self.increment::<W>(inf[i], self.equal::<W>(magnitude, code), one);
                neg[i] = self.increment::<W>(neg[i], self.equal::<W>(lanes, neg_code), one);
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
        let lanes = self.load(line);
        let special = self.hits::<W, { op::EQUAL }>(lanes, codes.special);
        let [pos_inf, for_pos] = codes.pos_inf;
        let [neg_inf, for_neg] = codes.neg_inf;
        let mut value = self.blend::<W>(self.equal::<W>(lanes, neg_inf), codes.nan, for_neg);
        value = self.blend::<W>(self.equal::<W>(lanes, pos_inf), value, for_pos);
        self.write_line(self.blend::<W>(special, lanes, value), line);
        special.count_ones() as usize
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
        self.write_line(self.times::<F>(self.load(line), factor), line);
    }

    const STREAMS: bool = true;

    #[inline(always)]
    fn stream(self, from: &Slots, to: &mut Aligned) {
        // SAFETY: see above; both have 64 bytes, and `to` is aligned to 64, as the store asks for.
        unsafe { _mm512_stream_si512(to.0.as_mut_ptr().cast(), _mm512_loadu_si512(from.as_ptr().cast())) }
    }

    #[inline(always)]
    fn fence(self) {
        // SAFETY: no CPU with AVX-512 F lacks SSE.
        unsafe { _mm_sfence() }
    }
}
