//! The one comparison with the oracle. It returns mistakes as text, so that a caller can expect
//! them.

use std::fmt::{Debug, Display};

use nonfinite::{Census, Elements, Error, TensorView};

use crate::backends::backends;
use crate::expected::{Answer, Class, Expected, Question};
use crate::layout::Layout;
use crate::outputs::{CANARY, Outputs};
use crate::stats::Summary;
use crate::subject::{Subject, subjects};

/// Compares every answer of a view, or of an implementation that is known to be wrong, with what is
/// right. The answers go to `outputs`.
///
/// # Errors
/// What was wrong.
pub fn check(
    subject: &dyn Subject,
    expected: &Expected,
    outputs: &mut dyn Outputs,
) -> Result<(), String> {
    check_all(subject, expected, outputs)
        .map_err(|wrong| format!("{wrong}\nof {} elements: {subject:?}", expected.codes.len()))
}

/// [`check`] of a view on each backend.
///
/// # Errors
/// What was wrong.
pub fn check_view(
    view: TensorView<'_>,
    expected: &Expected,
    outputs: &mut dyn Outputs,
) -> Result<(), String> {
    backends().iter().try_for_each(|&one| check(&view.with_backend(one), expected, outputs))
}

/// [`check`] of all that answers about elements in one piece: [`subjects`].
///
/// # Errors
/// What was wrong.
pub fn check_elements(
    x: Elements<'_>,
    expected: &Expected,
    outputs: &mut dyn Outputs,
) -> Result<(), String> {
    subjects(x).iter().try_for_each(|subject| check(&**subject, expected, outputs))
}

fn check_all(
    subject: &dyn Subject,
    expected: &Expected,
    outputs: &mut dyn Outputs,
) -> Result<(), String> {
    let valid = (0..expected.codes.len()).filter(|&i| expected.is_valid(i)).count();
    same("valid_count", subject.valid_count(), valid)?;
    subject.view().map_or(Ok(()), |view| check_layout(view, expected))?;
    for &question in &expected.questions {
        match question {
            Question::Census => check_census(subject.census(), expected.census())?,
            Question::Stats => same("stats", subject.stats(), expected.stats())?,
            _ => {}
        }
        for answer in expected.answers() {
            check_answer(subject, expected, question, answer, outputs)
                .map_err(|wrong| format!("{:?}: {wrong}", answer.asked))?;
        }
        if let (Question::Rows, Some(view)) = (question, subject.view()) {
            check_rows(view, expected)?;
        }
    }
    Ok(())
}

fn same<T: PartialEq + Debug>(what: impl Display, got: T, want: T) -> Result<(), String> {
    if got == want {
        return Ok(());
    }
    let mut values = format!("{got:?}, not {want:?}");
    if values.len() > 1000 {
        values = "wrong".into();
    }
    Err(format!("{what}: {values}"))
}

/// Compares what was written to an output with what is right, also around the answers.
fn same_bytes(what: impl Display, outputs: &mut dyn Outputs, want: &[u8]) -> Result<(), String> {
    let room = outputs.written();
    // As a whole first: a fuzzer looks at each comparison.
    let other = || room.iter().zip(want).position(|(got, want)| got != want);
    if let Some(i) = if room == want { None } else { other() } {
        return Err(format!("{what}: byte {i} is {:#04x}, not {:#04x}", room[i], want[i]));
    }
    if outputs.is_intact() { Ok(()) } else { Err(format!("{what}: wrote outside of the output")) }
}

fn check_answer(
    subject: &dyn Subject,
    expected: &Expected,
    question: Question,
    answer: &Answer,
    outputs: &mut dyn Outputs,
) -> Result<(), String> {
    let Answer { asked, hits, .. } = answer;
    match question {
        Question::Any => same("any", subject.any(*asked), answer.count > 0),
        Question::All => same("all", subject.all(*asked), answer.all),
        Question::Count => same("count", subject.count(*asked), answer.count),
        Question::Position => {
            same("position", subject.position(*asked), answer.positions.first().copied())
        }
        Question::Positions => {
            let got = subject.positions(*asked, expected.positions);
            same("positions", &got, &answer.positions)
        }
        Question::Watch => {
            let first = answer.positions.first().copied();
            same("watch", subject.watch(*asked), (first, u64::from(first.is_some())))
        }
        Question::Mask => {
            subject.mask(*asked, outputs.room(hits.len()));
            same_bytes("mask", outputs, hits)
        }
        Question::Bits => answer.bits.iter().try_for_each(|(offset, want)| {
            subject.bits(*asked, outputs.room(want.len()), *offset);
            same_bytes(format_args!("bits from {offset}"), outputs, want)
        }),
        Question::MaskInto => {
            let Some(view) = subject.view() else { return Ok(()) };
            let mut into = |layout: &Layout, want: &[u8]| {
                let mut out = layout.output(outputs.room(want.len())).unwrap();
                view.mask_into(asked.of(expected.format), &mut out).unwrap();
                same_bytes(format_args!("mask into {layout:?}"), outputs, want)
            };
            into(&Layout::dense(view.shape()), hits)?;
            expected.outputs.iter().try_for_each(|layout| {
                let mut want = vec![CANARY; layout.memory()];
                for (place, &hit) in layout.places().into_iter().zip(hits) {
                    want[place as usize] = hit;
                }
                into(layout, &want)
            })
        }
        Question::Rows => {
            subject.view().map_or(Ok(()), |view| check_answer_of_rows(view, expected, answer))
        }
        Question::Census | Question::Stats => Ok(()),
    }
}

fn check_answer_of_rows(
    view: &TensorView<'_>,
    expected: &Expected,
    answer: &Answer,
) -> Result<(), String> {
    let predicate = answer.asked.of(expected.format);
    for (axis, rows) in expected.axes() {
        let hits = |r| expected.row(axis, r).map(|i| answer.hits[i]);
        let count: Vec<usize> = (0..rows).map(|r| hits(r).map(usize::from).sum()).collect();
        let first: Vec<_> = (0..rows).map(|r| hits(r).position(|hit| hit == 1)).collect();
        let valid = |r| expected.row(axis, r).filter(|&i| expected.is_valid(i)).count();
        let want_all = (0..rows).map(|r| count[r] == valid(r)).collect();
        let (mut counts, mut any, mut all) = (vec![77; rows], vec![true; rows], vec![true; rows]);
        let mut positions = vec![Some(77); rows];
        let asked = view.rows(axis).unwrap();
        asked.any(predicate, &mut any).unwrap();
        asked.all(predicate, &mut all).unwrap();
        asked.position(predicate, &mut positions).unwrap();
        asked.count(predicate, &mut counts).unwrap();
        same("all of rows", all, want_all)?;
        same("any of rows", any, count.iter().map(|&count| count > 0).collect())?;
        same(format_args!("count of rows along {axis}"), counts, count)?;
        same(format_args!("position in rows along {axis}"), positions, first)?;
    }
    Ok(())
}

fn check_census(census: Census, want: [Class; 3]) -> Result<(), String> {
    let classes = [census.nan, census.pos_inf, census.neg_inf];
    same("census", classes.map(|class| (class.count, class.first)), want)
}

/// What only a view with a layout has: sizes.
fn check_layout(view: &TensorView<'_>, expected: &Expected) -> Result<(), String> {
    same("len", (view.len(), view.is_empty()), (expected.codes.len(), expected.codes.is_empty()))?;
    same("format", view.format(), expected.format)?;
    if expected.sizes.is_empty() {
        return Ok(());
    }
    same("shape", view.shape(), &expected.sizes[..])?;
    let dimensions = expected.sizes.len();
    let refused = view.rows(dimensions).map(|rows| rows.len());
    same("no axis", refused, Err(Error::Axis { axis: dimensions, dimensions }))
}

fn check_rows(view: &TensorView<'_>, expected: &Expected) -> Result<(), String> {
    for (i, (axis, rows)) in expected.axes().enumerate() {
        let asked = view.rows(axis).unwrap();
        let shape = (asked.len(), asked.is_empty(), asked.row_len());
        same("rows", shape, (rows, rows == 0, expected.sizes[axis]))?;
        let mut out = vec![Census::default(); rows];
        asked.census(&mut out).unwrap();
        for (r, census) in out.into_iter().enumerate() {
            check_census(census, expected.classes(expected.row(axis, r)))
                .map_err(|wrong| format!("row {r} along {axis}: {wrong}"))?;
        }
        let refused = asked.census(&mut vec![Census::default(); rows + 1]);
        same("other rows", refused, Err(Error::Rows { rows, output: rows + 1 }))?;
        if !expected.asks(Question::Stats) {
            continue;
        }
        let mut out = vec![nonfinite::stats(&[1.0f32]); rows];
        asked.stats(&mut out).unwrap();
        let want = &expected.row_stats()[i];
        for (r, (stats, want)) in out.into_iter().zip(want).enumerate() {
            same(format_args!("stats of row {r} along {axis}"), &Summary::from(stats), want)?;
        }
    }
    Ok(())
}
