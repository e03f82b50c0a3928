//! What is right for a tensor: the answers of loops over its elements, computed once for all
//! backends.

use std::sync::OnceLock;

use nonfinite::{Format, Predicate};

use crate::kind::{Kind, holds, kind, read};
use crate::layout::Layout;
use crate::outputs::CANARY;
use crate::stats::{Summary, exceeds, summary, thresholds};

/// Which elements are asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Asked {
    /// Those for which a predicate holds.
    Is(Predicate),
    /// Those above a threshold.
    Above(f64),
}

impl Asked {
    /// The predicate for elements of this format.
    ///
    /// # Panics
    /// If the threshold is refused.
    #[must_use]
    pub fn of(self, format: Format) -> Predicate {
        match self {
            Self::Is(predicate) => predicate,
            Self::Above(threshold) => Predicate::exceeds(format, threshold).expect("a threshold"),
        }
    }
}

/// What is asked about the elements.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "each is the method of its name")]
pub enum Question {
    Any,
    All,
    Count,
    Position,
    Positions,
    Mask,
    /// Into outputs with strides, of views only.
    MaskInto,
    Bits,
    /// A new watch that looks at the elements.
    Watch,
    Census,
    Stats,
    /// Each row along each axis, of views only.
    Rows,
}

impl Question {
    /// All of them. `Rows` is the last, so the length says if one is missing.
    pub const ALL: &[Self; Self::Rows as usize + 1] = &[
        Self::Any,
        Self::All,
        Self::Count,
        Self::Position,
        Self::Positions,
        Self::Mask,
        Self::MaskInto,
        Self::Bits,
        Self::Watch,
        Self::Census,
        Self::Stats,
        Self::Rows,
    ];
}

/// The elements of a tensor in row-major order, and the right answers. By default all questions are
/// asked, about all predicates and three thresholds.
#[derive(Debug)]
pub struct Expected {
    pub(crate) format: Format,
    /// The sizes of a tensor whose rows are checked; else none.
    pub(crate) sizes: Vec<usize>,
    /// The only axis along which rows are checked, if not all are.
    axis: Option<usize>,
    pub(crate) codes: Vec<u64>,
    pub(crate) kinds: Vec<Kind>,
    pub(crate) valid: Option<Vec<bool>>,
    pub(crate) outputs: Vec<Layout>,
    /// How many positions are compared.
    pub(crate) positions: usize,
    /// Packed answers begin at this bit of an output, and at bit 0.
    bit: usize,
    asked: Vec<Asked>,
    pub(crate) questions: Vec<Question>,
    known: Known,
}

/// What was computed, since it was asked for.
#[derive(Debug, Default)]
struct Known {
    answers: OnceLock<Vec<Answer>>,
    classes: OnceLock<[Class; 3]>,
    summary: OnceLock<Summary>,
    row_stats: OnceLock<Vec<Vec<Summary>>>,
}

/// The right answer for the elements that are asked for.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) asked: Asked,
    /// 1 for each element that is asked for and valid.
    pub(crate) hits: Vec<u8>,
    /// The same as packed bits, and the bit of the output that the first one goes to. None if they
    /// are not asked for.
    pub(crate) bits: Vec<(usize, Vec<u8>)>,
    pub(crate) positions: Vec<usize>,
    pub(crate) count: usize,
    pub(crate) all: bool,
}

/// How many elements are of a kind, and the first of them.
pub(crate) type Class = (usize, Option<usize>);

impl Expected {
    /// For the elements in `bytes`.
    ///
    /// # Panics
    /// If `bytes` is no whole number of elements.
    #[must_use]
    pub fn new(format: Format, bytes: &[u8]) -> Self {
        let elements = bytes.chunks_exact(format.size_in_bytes());
        assert!(elements.remainder().is_empty(), "whole elements");
        let codes: Vec<u64> = elements.map(read).collect();
        let asked = Predicate::ALL.iter().map(|&predicate| Asked::Is(predicate));
        let above = thresholds(format, &codes).into_iter().map(Asked::Above);
        Self {
            format,
            sizes: Vec::new(),
            axis: None,
            kinds: codes.iter().map(|&bits| kind(format, bits)).collect(),
            valid: None,
            outputs: Vec::new(),
            positions: 500,
            bit: 1 + codes.len() % 29,
            asked: asked.chain(above).collect(),
            questions: Question::ALL.to_vec(),
            known: Known::default(),
            codes,
        }
    }

    /// For the elements of a strided tensor in `memory`. Its rows are checked too.
    ///
    /// # Panics
    /// If an element is not in `memory`.
    #[must_use]
    pub fn strided(format: Format, memory: &[u8], layout: &Layout) -> Self {
        let gathered = layout.gather(memory, format.size_in_bytes()).expect("all in memory");
        Self { sizes: layout.sizes.clone(), ..Self::new(format, &gathered) }
    }

    /// The same with nulls, where `valid` is false.
    #[must_use]
    pub fn with_nulls(self, valid: Vec<bool>) -> Self {
        assert_eq!(valid.len(), self.codes.len());
        Self { valid: Some(valid), known: Known::default(), ..self }
    }

    /// Rows are checked along this axis only.
    #[must_use]
    pub fn along(self, axis: usize) -> Self {
        Self { axis: Some(axis), ..self }
    }

    /// The masks go into outputs of these layouts too.
    #[must_use]
    pub fn into_outputs(self, outputs: Vec<Layout>) -> Self {
        Self { outputs, ..self }
    }

    /// Only these elements are asked for, and all classes.
    #[must_use]
    pub fn asking(self, asked: &[Asked]) -> Self {
        Self { asked: asked.to_vec(), known: Known::default(), ..self }
    }

    /// Only this predicate and the thresholds are asked for, and all classes.
    #[must_use]
    pub fn asking_about(mut self, predicate: Predicate) -> Self {
        self.asked.retain(|asked| !matches!(asked, Asked::Is(other) if *other != predicate));
        Self { known: Known::default(), ..self }
    }

    /// Of what would be asked for, only number `i`, counted around.
    #[must_use]
    pub fn asking_one(self, i: usize) -> Self {
        let one = self.asked[i % self.asked.len()];
        self.asking(&[one])
    }

    /// Only these questions are asked.
    #[must_use]
    pub fn only(self, questions: &[Question]) -> Self {
        Self { questions: questions.to_vec(), known: Known::default(), ..self }
    }

    /// Packed answers begin at bit `bit` of an output too.
    #[must_use]
    pub fn with_bits_from(self, bit: usize) -> Self {
        Self { bit, known: Known::default(), ..self }
    }

    /// All positions are compared, not the first 500. Each takes a search.
    #[must_use]
    pub fn with_all_positions(self) -> Self {
        Self { positions: usize::MAX, known: Known::default(), ..self }
    }

    /// The kind of each element.
    #[must_use]
    pub fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    pub(crate) fn is_valid(&self, i: usize) -> bool {
        self.valid.as_ref().is_none_or(|valid| valid[i])
    }

    pub(crate) fn asks(&self, question: Question) -> bool {
        self.questions.contains(&question)
    }

    pub(crate) fn answers(&self) -> &[Answer] {
        self.known
            .answers
            .get_or_init(|| self.asked.iter().map(|&asked| self.answer(asked)).collect())
    }

    fn answer(&self, asked: Asked) -> Answer {
        let mut hits: Vec<u8> = match asked {
            Asked::Is(predicate) => {
                self.kinds.iter().map(|&kind| holds(predicate, kind).into()).collect()
            }
            Asked::Above(threshold) => {
                let above = |&bits| exceeds(self.format, bits, threshold).into();
                self.codes.iter().map(above).collect()
            }
        };
        let mut valid = hits.len();
        for (hit, _) in hits.iter_mut().zip(self.valid.iter().flatten()).filter(|(_, v)| !**v) {
            (*hit, valid) = (0, valid - 1);
        }
        let count = hits.iter().map(|&hit| usize::from(hit)).sum();
        let positions = (0..hits.len()).filter(|&i| hits[i] == 1).take(self.positions).collect();
        let offsets = [0, self.bit].into_iter().filter(|_| self.asks(Question::Bits));
        let bits = offsets.map(|offset| {
            // The output may be longer than needed.
            let mut out = vec![CANARY; (offset + hits.len()).div_ceil(8) + 9 * (offset / 2 % 2)];
            for (bit, &hit) in (offset..).zip(&hits) {
                out[bit / 8] = out[bit / 8] & !(1 << (bit % 8)) | hit << (bit % 8);
            }
            (offset, out)
        });
        Answer { asked, bits: bits.collect(), hits, positions, count, all: count == valid }
    }

    /// The number and the first of NaN, +Inf and -Inf among these elements. Indices count from 0.
    pub(crate) fn classes(&self, indices: impl Iterator<Item = usize> + Clone) -> [Class; 3] {
        [Kind::Nan, Kind::PosInf, Kind::NegInf].map(|kind| {
            let is_hit = |i| self.kinds[i] == kind && self.is_valid(i);
            (indices.clone().filter(|&i| is_hit(i)).count(), indices.clone().position(is_hit))
        })
    }

    /// NaN, +Inf and -Inf of all elements.
    pub(crate) fn census(&self) -> [Class; 3] {
        *self.known.classes.get_or_init(|| self.classes(0..self.codes.len()))
    }

    pub(crate) fn stats(&self) -> Summary {
        let valid = || (0..self.codes.len()).filter(|&i| self.is_valid(i));
        let of_valid = || summary(self.format, valid().map(|i| (i, self.codes[i])));
        *self.known.summary.get_or_init(of_valid)
    }

    /// The statistics of each row, by [`Expected::axes`]. Indices count along the row.
    pub(crate) fn row_stats(&self) -> &[Vec<Summary>] {
        let of_row = |axis, r| {
            let valid = self.row(axis, r).enumerate().filter(|&(_, i)| self.is_valid(i));
            summary(self.format, valid.map(|(at, i)| (at, self.codes[i])))
        };
        let of_rows = |(axis, rows)| (0..rows).map(|r| of_row(axis, r)).collect();
        self.known.row_stats.get_or_init(|| self.axes().map(of_rows).collect())
    }

    /// The elements of row `r` along `axis`.
    pub(crate) fn row(&self, axis: usize, r: usize) -> impl Iterator<Item = usize> + Clone {
        let (columns, inner) = (self.sizes[axis], self.sizes[axis + 1..].iter().product::<usize>());
        (0..columns).map(move |i| (r / inner * columns + i) * inner + r % inner)
    }

    /// The number of rows along `axis`.
    pub(crate) fn rows(&self, axis: usize) -> usize {
        let others = || self.sizes.iter().enumerate().filter(|(i, _)| *i != axis);
        let empty = others().any(|(_, &size)| size == 0);
        others().fold(usize::from(!empty), |rows, (_, &size)| rows.saturating_mul(size))
    }

    /// The axes along which rows are checked, each with the number of its rows. A tensor without
    /// elements may have more rows than there is memory.
    pub(crate) fn axes(&self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.sizes.len())
            .filter(|axis| self.axis.is_none_or(|only| only == *axis))
            .map(|axis| (axis, self.rows(axis)))
            .filter(|(_, rows)| *rows < 1 << 20)
    }
}
