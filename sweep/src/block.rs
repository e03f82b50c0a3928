//! A block of patterns: the answers of the standard library, and the comparison with every sink of
//! a backend.

use nonfinite::{Backend, Census, Occurrences, Predicate, TensorView};

use crate::patterns::{Number, Patterns};

/// Patterns that are checked at a time: their bytes and all answers stay in the second cache.
pub const LEN: usize = 1 << 13;

/// The predicates of a sweep: all that depend on the elements.
const PREDICATES: [Predicate; 7] = [
    Predicate::Nan,
    Predicate::Inf,
    Predicate::PositiveInf,
    Predicate::NegativeInf,
    Predicate::Finite,
    Predicate::NonFinite,
    Predicate::NanOrPositiveInf,
];

/// The thresholds that are swept: the largest numbers of f16, bf16 and E4M3, a subnormal number,
/// and numbers that f32 does not have.
const THRESHOLDS: [f64; 7] = [0.0, 1e-40, 0.1, 448.0, 65504.0, 3.389_531_389_251_535_5e38, 1e300];

/// The right answers for one predicate.
struct Answers {
    predicate: Predicate,
    mask: Vec<u8>,
    bits: Vec<u8>,
    class: Occurrences,
}

/// Patterns with consecutive numbers, and the right answers for them.
pub struct Block<N> {
    x: Vec<N>,
    answers: Vec<Answers>,
    /// The mask of each threshold.
    above: Vec<(f64, Vec<u8>)>,
    out: Vec<u8>,
}

impl<N: Number> Default for Block<N> {
    fn default() -> Self {
        Self {
            x: vec![N::default(); LEN],
            answers: PREDICATES
                .map(|predicate| Answers {
                    predicate,
                    mask: vec![0; LEN],
                    bits: vec![0; LEN / 8],
                    class: Occurrences::default(),
                })
                .into(),
            above: THRESHOLDS.map(|threshold| (threshold, vec![0; LEN])).into(),
            out: vec![0; LEN],
        }
    }
}

impl<N: Number> Block<N>
where
    for<'a> &'a [N]: Into<nonfinite::Elements<'a>>,
{
    /// Takes the patterns from number `first` on, `step` numbers apart. The first pattern follows
    /// the last.
    pub fn load(&mut self, patterns: impl Patterns<Number = N>, first: u64, step: u64) {
        let len = patterns.len();
        for (i, x) in (0..).zip(&mut self.x) {
            let index = first + i * step;
            *x = patterns.get(if index < len { index } else { index % len });
        }
        let x = &self.x;
        for (threshold, mask) in &mut self.above {
            judge(x, mask, |x| x.exceeds(*threshold));
        }
        for answers in &mut self.answers {
            let mask = &mut answers.mask;
            // Written out so that each oracle is inlined into a loop of its own.
            match answers.predicate {
                Predicate::Nan => judge(x, mask, N::is_nan),
                Predicate::Inf => judge(x, mask, N::is_infinite),
                Predicate::PositiveInf => judge(x, mask, |x| x == N::INFINITY),
                Predicate::NegativeInf => judge(x, mask, |x| x == N::NEG_INFINITY),
                Predicate::Finite => judge(x, mask, N::is_finite),
                Predicate::NanOrPositiveInf => judge(x, mask, |x| x.is_nan() || x == N::INFINITY),
                _ => judge(x, mask, |x| !x.is_finite()),
            }
            for (packed, group) in answers.bits.iter_mut().zip(answers.mask.as_chunks::<8>().0) {
                *packed = (0..8).fold(0, |byte, i| byte | group[i] << i);
            }
            answers.class = Occurrences::new(
                answers.mask.iter().map(|&hit| usize::from(hit)).sum(),
                answers.mask.iter().position(|&hit| hit == 1),
            );
        }
    }

    /// Asks a backend about the thresholds.
    fn check_thresholds(&mut self, backend: Backend) -> Result<(), String> {
        for (threshold, mask) in &self.above {
            let view = TensorView::from(&self.x[..]).on(backend);
            let question = view.exceeds(*threshold).map_err(|error| error.to_string())?;
            question.mask(&mut self.out[..]).map_err(|error| error.to_string())?;
            let count: usize = mask.iter().map(|&hit| usize::from(hit)).sum();
            let first = mask.iter().position(|&hit| hit == 1);
            let wrong = match () {
                () if self.out != *mask => "mask",
                () if question.count() != count => "count",
                () if question.position() != first => "position",
                () if question.any() != first.is_some() => "any",
                () => continue,
            };
            return Err(format!("{} above {threshold:e}: {wrong}", backend.name()));
        }
        Ok(())
    }

    /// Replaces one number and keeps the right answers, to test the test.
    pub fn replace(&mut self, index: usize, number: N) {
        self.x[index] = number;
    }

    /// Asks every sink of a backend about these patterns.
    ///
    /// # Errors
    /// The first answer that is wrong.
    pub fn check(&mut self, backend: Backend) -> Result<(), String> {
        let [nan, _, pos_inf, neg_inf, ..] = &self.answers[..] else {
            unreachable!("seven predicates")
        };
        let want = Census::new(nan.class, pos_inf.class, neg_inf.class);
        let census = TensorView::from(&self.x[..]).on(backend).census();
        if census != want {
            return Err(format!("{} census: {census:?}, not {want:?}", backend.name()));
        }
        for answers in &self.answers {
            wrong(&self.x, answers, backend, &mut self.out)
                .map_err(|sink| format!("{} {:?}: {sink}", backend.name(), answers.predicate))?;
        }
        self.check_thresholds(backend)
    }
}

#[inline(always)]
fn judge<N: Number>(x: &[N], mask: &mut [u8], oracle: impl Fn(N) -> bool) {
    x.iter().zip(mask).for_each(|(&x, hit)| *hit = u8::from(oracle(x)));
}

/// All sinks for one predicate.
fn wrong<N: Number>(
    x: &[N],
    answers: &Answers,
    backend: Backend,
    out: &mut [u8],
) -> Result<(), &'static str>
where
    for<'a> &'a [N]: Into<nonfinite::Elements<'a>>,
{
    let Answers { predicate, mask, bits, class } = answers;
    let expect = |right, sink| if right { Ok(()) } else { Err(sink) };
    TensorView::from(x).on(backend).mask(*predicate, &mut *out).unwrap();
    expect(out == mask, "mask")?;
    let packed = &mut out[..LEN / 8];
    TensorView::from(x).on(backend).bits(*predicate, packed, 0).unwrap();
    expect(packed == bits, "bits")?;
    expect(TensorView::from(x).on(backend).count(*predicate) == class.count, "count")?;
    expect(TensorView::from(x).on(backend).any(*predicate) == (class.count != 0), "any")?;
    expect(TensorView::from(x).on(backend).all(*predicate) == (class.count == x.len()), "all")?;
    expect(TensorView::from(x).on(backend).position(*predicate) == class.first, "position")?;
    // A search ends at the first hit. Continue behind it, so that each hit is found by itself. Skip
    // 61 elements where this would take too long: among finite elements, and where many hits are
    // mixed with others.
    let (many, mixed) = (class.count > x.len() / 64, class.count < x.len());
    let step = if many && (mixed || *predicate == Predicate::Finite) { 61 } else { 1 };
    let mut start = class.first.map_or(x.len(), |first| first + step);
    while start < x.len() {
        let next = mask[start..].iter().position(|&hit| hit == 1);
        expect(
            TensorView::from(&x[start..]).on(backend).position(*predicate) == next,
            "position behind a hit",
        )?;
        start = next.map_or(x.len(), |next| start + next + step);
    }
    Ok(())
}
