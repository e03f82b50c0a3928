//! Compares a subject with the oracle, sink by sink. Returns mistakes as text, so that a caller can
//! expect them.

use std::iter;

use nonfinite::{Backend, Elements, Format, Predicate};

use crate::kind::{Kind, holds, kind, read};
use crate::stats::{Above, summary, thresholds};
use crate::subject::Subject;

/// The backends to test: all that this CPU can run. The environment variable `NONFINITE_ONLY`, a
/// list with commas, restricts them. This is for emulators, which are slow and test one backend.
///
/// # Panics
/// If none is left.
#[must_use]
pub fn backends() -> Vec<Backend> {
    let only = std::env::var("NONFINITE_ONLY").ok();
    let wanted =
        |name: &str| only.as_ref().is_none_or(|only| only.split(',').any(|one| one == name));
    let backends: Vec<_> = Backend::available().filter(|backend| wanted(backend.name())).collect();
    assert!(
        !backends.is_empty(),
        "NONFINITE_ONLY={} names no backend of this CPU",
        only.unwrap_or_default()
    );
    backends
}

/// Checks that all backends in the environment variable `NONFINITE_REQUIRE`, a list with commas,
/// can run. Otherwise a test would pass on a machine or in an emulator without them.
///
/// # Panics
/// If one cannot.
pub fn require(backends: &[Backend]) {
    let names: Vec<_> = backends.iter().map(|backend| backend.name()).collect();
    let required = std::env::var("NONFINITE_REQUIRE").unwrap_or_default();
    for name in required.split(',').filter(|name| !name.is_empty()) {
        assert!(names.contains(&name), "backend {name} is required, but only {names:?} can run");
    }
}

/// The kind of each element of `bytes`.
#[must_use]
pub fn kinds(format: Format, bytes: &[u8]) -> Vec<Kind> {
    bytes.chunks_exact(format.size_in_bytes()).map(|raw| kind(format, read(raw))).collect()
}

/// Compares every sink with the oracle for the elements of `bytes`, for every predicate.
///
/// # Errors
/// What was wrong.
///
/// # Panics
/// If `bytes` is no whole number of elements.
pub fn check(
    subject: &dyn Subject,
    format: Format,
    bytes: &[u8],
    kinds: &[Kind],
) -> Result<(), String> {
    let x = Elements::from_bytes(bytes, format).expect("whole elements");
    for predicate in Predicate::ALL.iter().copied() {
        let hits: Vec<bool> = kinds.iter().map(|&kind| holds(predicate, kind)).collect();
        check_mask(subject, x, predicate, &hits)?;
        for offset in [0, 1 + hits.len() % 7, 8, 29] {
            check_bits(subject, x, predicate, &hits, offset)?;
        }
        check_searches(subject, x, predicate, &hits)?;
    }
    check_census(subject, x, kinds)?;
    check_stats(subject, x)?;
    thresholds(x).into_iter().try_for_each(|threshold| check_above(subject, x, threshold))
}

/// The value of outputs before a call: neither a result nor a likely mistake.
pub const CANARY: u8 = 0xA5;
/// Canaries before and behind an output.
const FRAME: usize = 64;

/// The subject and the question, for messages.
fn question(sink: &str, subject: &dyn Subject, x: Elements<'_>, predicate: Predicate) -> String {
    format!("{sink} {} {} {predicate:?} of {} elements", subject.name(), x.format(), x.len())
}

/// Compares a byte mask, and the bytes around it.
///
/// # Errors
/// What was wrong.
pub fn check_mask(
    subject: &dyn Subject,
    x: Elements<'_>,
    predicate: Predicate,
    hits: &[bool],
) -> Result<(), String> {
    let mut out = vec![CANARY; FRAME + hits.len() + FRAME];
    subject.mask(x, predicate, &mut out[FRAME..FRAME + hits.len()]);
    let inside = &out[FRAME..FRAME + hits.len()];
    if let Some(i) = inside.iter().zip(hits).position(|(&byte, &hit)| byte != u8::from(hit)) {
        let question = question("mask", subject, x, predicate);
        return Err(format!(
            "{question}: element {i} gave {}, not {}",
            inside[i],
            u8::from(hits[i])
        ));
    }
    let mut outside = out[..FRAME].iter().chain(&out[FRAME + hits.len()..]);
    if outside.any(|&byte| byte != CANARY) {
        return Err(format!("{}: wrote outside", question("mask", subject, x, predicate)));
    }
    Ok(())
}

/// The byte with these hits as its bits from `bit` on. A byte at a time, since one bit at a time in
/// memory took a fifth of the time of `tests/backends`.
fn with_bits(byte: u8, bit: usize, hits: &[bool]) -> u8 {
    let set =
        |byte, (i, &hit): (usize, &bool)| byte & !(1 << (bit + i)) | u8::from(hit) << (bit + i);
    hits.iter().enumerate().fold(byte, set)
}

/// Compares packed bits from bit `offset` on, and the bits around them.
///
/// # Errors
/// What was wrong.
pub fn check_bits(
    subject: &dyn Subject,
    x: Elements<'_>,
    predicate: Predicate,
    hits: &[bool],
    offset: usize,
) -> Result<(), String> {
    let len = (offset + hits.len()).div_ceil(8);
    let mut out = vec![CANARY; FRAME + len + FRAME];
    let mut want = out.clone();
    let (first, rest) = hits.split_at(hits.len().min(8 - offset % 8));
    let mut bytes = want[FRAME + offset / 8..].iter_mut();
    for (part, bit) in iter::once((first, offset % 8)).chain(rest.chunks(8).map(|part| (part, 0))) {
        let byte = bytes.next().expect("a byte for each part");
        *byte = with_bits(*byte, bit, part);
    }
    subject.bits(x, predicate, &mut out[FRAME..FRAME + len], offset);
    match out.iter().zip(&want).position(|(got, want)| got != want) {
        None => Ok(()),
        Some(i) => {
            let (question, at) =
                (question("bits", subject, x, predicate), i as isize - FRAME as isize);
            Err(format!(
                "{question} from bit {offset}: byte {at} is {:#04x}, not {:#04x}",
                out[i], want[i]
            ))
        }
    }
}

/// Compares `any`, `all`, `count` and `position`.
///
/// # Errors
/// What was wrong.
pub fn check_searches(
    subject: &dyn Subject,
    x: Elements<'_>,
    predicate: Predicate,
    hits: &[bool],
) -> Result<(), String> {
    let first = hits.iter().position(|&hit| hit);
    let count = hits.iter().filter(|&&hit| hit).count();
    let same =
        |sink, got: &dyn std::fmt::Debug, want: &dyn std::fmt::Debug, equal: bool| match equal {
            true => Ok(()),
            false => {
                Err(format!("{}: {got:?}, not {want:?}", question(sink, subject, x, predicate)))
            }
        };
    let position = subject.position(x, predicate);
    same("position", &position, &first, position == first)?;
    let counted = subject.count(x, predicate);
    same("count", &counted, &count, counted == count)?;
    let any = subject.any(x, predicate);
    same("any", &any, &first.is_some(), any == first.is_some())?;
    let all = subject.all(x, predicate);
    same("all", &all, &(count == hits.len()), all == (count == hits.len()))
}

/// Compares the census.
///
/// # Errors
/// What was wrong.
pub fn check_census(subject: &dyn Subject, x: Elements<'_>, kinds: &[Kind]) -> Result<(), String> {
    let census = subject.census(x);
    let classes =
        [(census.nan, Kind::Nan), (census.pos_inf, Kind::PosInf), (census.neg_inf, Kind::NegInf)];
    for (class, kind) in classes {
        let count = kinds.iter().filter(|&&k| k == kind).count();
        let first = kinds.iter().position(|&k| k == kind);
        if (class.count, class.first) != (count, first) {
            let (name, format, n) = (subject.name(), x.format(), x.len());
            return Err(format!(
                "census {name} {format} of {n} elements: {kind:?} {class:?}, \
                 not {count} and {first:?}"
            ));
        }
    }
    Ok(())
}

/// Compares the statistics.
///
/// # Errors
/// What was wrong.
pub fn check_stats(subject: &dyn Subject, x: Elements<'_>) -> Result<(), String> {
    let elements = x.as_bytes().chunks_exact(x.format().size_in_bytes()).map(read);
    let (got, want) = (subject.stats(x), summary(x.format(), elements));
    if got == want {
        return Ok(());
    }
    let (name, format, n) = (subject.name(), x.format(), x.len());
    Err(format!("stats {name} {format} of {n} elements:\n{got:?}, not\n{want:?}"))
}

/// Compares all answers about a threshold, which is neither negative, infinite nor NaN.
///
/// # Errors
/// What was wrong.
pub fn check_above(subject: &dyn Subject, x: Elements<'_>, threshold: f64) -> Result<(), String> {
    let (got, want) = (subject.above(x, threshold), Above::right(x, threshold));
    if got == want {
        return Ok(());
    }
    let (name, format, n) = (subject.name(), x.format(), x.len());
    let counts = (got.count, want.count, got.position, want.position);
    Err(format!("above {threshold:e} {name} {format} of {n} elements: {counts:?}"))
}
