//! JUnit XML, which services for tests read: a suite for each file, a test case for each tensor.
//!
//! A bad tensor is a failure, an unreadable tensor or file is an error, and a tensor without floats
//! is skipped.

use std::io::{self, Write};
use std::time::Duration;

use nonfinite_check::{LookedAt, Report, TensorReport};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use crate::problem::{Checked, Problem, Rule};
use crate::report::visible;

/// A test case: its name and its outcome.
struct Case<'a> {
    name: String,
    outcome: Outcome<'a>,
}

enum Outcome<'a> {
    Passed,
    Skipped,
    Problem(Problem<'a>),
}

/// The number of test cases, and of each outcome.
#[derive(Clone, Copy, Default)]
struct Counts {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
}

impl Counts {
    fn of<'a>(cases: impl IntoIterator<Item = &'a Case<'a>>) -> Self {
        let mut counts = Self::default();
        for case in cases {
            counts.tests += 1;
            match &case.outcome {
                Outcome::Passed => {}
                Outcome::Skipped => counts.skipped += 1,
                Outcome::Problem(Problem { is_expected: true, .. }) => counts.skipped += 1,
                Outcome::Problem(Problem { rule: Rule::NonFinite | Rule::Large, .. }) => {
                    counts.failures += 1;
                }
                Outcome::Problem(Problem { rule: Rule::NotChecked, .. }) => counts.errors += 1,
            }
        }
        counts
    }

    fn attributes(self) -> [(&'static str, String); 4] {
        let Self { tests, failures, errors, skipped } = self;
        [
            ("tests", tests.to_string()),
            ("failures", failures.to_string()),
            ("errors", errors.to_string()),
            ("skipped", skipped.to_string()),
        ]
    }
}

/// Writes a run as one document. `bad_only` leaves out tensors without a problem. `skip` is
/// `--skip-unknown`.
///
/// # Errors
/// The errors of `out`.
pub fn write(
    files: &[Checked],
    (bad_only, skip): (bool, bool),
    time: Duration,
    out: &mut impl Write,
) -> io::Result<()> {
    let suites: Vec<_> =
        files.iter().map(|file| (visible_path(file), cases(file, bad_only, skip))).collect();
    let counts = Counts::of(suites.iter().flat_map(|(_, cases)| cases));
    let mut writer = Writer::new_with_indent(&mut *out, b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let all = writer.create_element("testsuites").with_attribute(("name", "nonfinite"));
    // The schema of Jenkins has no `skipped` here.
    let all = attributes(all, &counts.attributes()[..3]);
    let all = attributes(all, &[("time", format!("{:.3}", time.as_secs_f64()))]);
    all.write_inner_content(|writer| {
        suites.iter().try_for_each(|(path, cases)| suite(writer, path, cases))
    })?;
    writeln!(out)
}

fn visible_path((path, _): &Checked) -> String {
    visible(&path.to_string_lossy())
}

fn cases(file: &Checked, bad_only: bool, skip: bool) -> Vec<Case<'_>> {
    let (path, result) = file;
    let of_tensor = |tensor| {
        let outcome = match Problem::of_tensor(path, tensor, skip) {
            Some(problem) => Outcome::Problem(problem),
            None => passed(tensor),
        };
        Case { name: tensor.name.as_deref().map_or_else(|| visible_path(file), visible), outcome }
    };
    let mut cases: Vec<_> = match result {
        Ok(Report { tensors, .. }) => tensors.iter().map(of_tensor).collect(),
        Err(error) => {
            let problem = Outcome::Problem(Problem::of_file(path, error, skip));
            vec![Case { name: visible_path(file), outcome: problem }]
        }
    };
    cases.retain(|case| !bad_only || matches!(case.outcome, Outcome::Problem(_)));
    cases
}

fn passed(tensor: &TensorReport) -> Outcome<'static> {
    match tensor.looked_at {
        LookedAt::Values | LookedAt::Scales { .. } => Outcome::Passed,
        LookedAt::AlwaysFinite
        | LookedAt::NotFloat
        | LookedAt::Unreadable(_)
        | LookedAt::Damaged(_) => Outcome::Skipped,
    }
}

type Element<'a, W> = quick_xml::writer::ElementWriter<'a, W>;

fn attributes<'a, W: Write>(
    element: Element<'a, W>,
    attributes: &[(&'static str, String)],
) -> Element<'a, W> {
    element.with_attributes(attributes.iter().map(|(name, value)| (*name, value.as_str())))
}

fn suite<W: Write>(writer: &mut Writer<W>, path: &str, cases: &[Case<'_>]) -> io::Result<()> {
    let suite = writer.create_element("testsuite").with_attribute(("name", path));
    let suite = attributes(suite, &Counts::of(cases).attributes());
    suite.write_inner_content(|writer| {
        for Case { name, outcome } in cases {
            let case = writer.create_element("testcase");
            let case =
                case.with_attribute(("name", name.as_str())).with_attribute(("classname", path));
            match outcome {
                Outcome::Passed => case.write_empty()?,
                Outcome::Skipped => case.write_inner_content(|writer| {
                    writer.create_element("skipped").write_empty().map(drop)
                })?,
                Outcome::Problem(problem) => {
                    case.write_inner_content(|writer| failure(writer, problem))?
                }
            };
        }
        Ok(())
    })?;
    Ok(())
}

fn failure<W: Write>(writer: &mut Writer<W>, problem: &Problem<'_>) -> io::Result<()> {
    let element = match problem.rule {
        _ if problem.is_expected => "skipped",
        Rule::NonFinite | Rule::Large => "failure",
        Rule::NotChecked => "error",
    };
    let element = writer.create_element(element);
    let element = element
        .with_attribute(("message", problem.title.as_str()))
        .with_attribute(("type", problem.rule.id()));
    element.write_text_content(BytesText::new(&problem.message)).map(drop)
}
