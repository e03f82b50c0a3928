//! What the tables hold.

use super::*;
use crate::rule::{Operation, Rule};

/// Tells which loop it is.
struct Told<const TESTS: usize>;

/// Whether a loop is not the scalar one, its bytes of a lane, its operation, and whether its answer is negated.
type Which = (bool, usize, Operation, bool);

impl<const TESTS: usize> Sink for Told<TESTS> {
    const TESTS: Tests = match TESTS {
        0 => Tests::All,
        1 => Tests::Positive,
        2 => Tests::Greater,
        _ => Tests::Masked,
    };
    type Out<'o> = ();
    type Output = Which;

    #[inline(always)]
    fn vector<L: Lane, I: Select<L>, O: Op, const NEGATE: bool>(
        _: I,
        _: &[L::Raw],
        _: &Test,
        (): (),
    ) -> Self::Output {
        (true, size_of::<L>(), O::OP, NEGATE)
    }

    fn scalar<L: Lane>(_: &[L::Raw], test: &Test, (): ()) -> Self::Output {
        (false, size_of::<L>(), test.operation(), test.negate())
    }
}

/// Gives a test to a sink, which tells the loop it got.
type Ask<'a> = &'a dyn Fn(&Test) -> Which;

/// Of elements of this size, a test of each operation.
fn tests_of(size: usize) -> [(Test, Operation); 3] {
    let ones = 0x40 << (8 * size - 8);
    [
        (Rule::equal(size, ones, ones), Operation::Ones),
        (Rule::equal(size, 3, 2), Operation::Equal),
        (Rule::greater(size, 3, 2), Operation::Greater),
    ]
    .map(|(rule, operation)| match rule {
        Rule::Test(test) => (test, operation),
        Rule::Constant { .. } => unreachable!(),
    })
}

/// Whether all kinds of sinks that ask for a test get its loop, and the first kind that of the opposite too.
fn has_loops(test: Test, operation: Operation, loops: [Ask<'_>; 4], name: &str) {
    let [all, positive, greater, masked] = loops;
    let (vector, size) = (name != "scalar", test.size());
    let want = (vector, size, operation, false);
    assert_eq!([all(&test), all(&test.not())], [want, (vector, size, operation, true)], "{name}");
    assert_eq!(positive(&test), want, "{name}");
    if operation == Operation::Greater {
        assert_eq!(greater(&test), want, "{name}");
    }
    if operation == Operation::Ones || (operation, size) == (Operation::Equal, 1) {
        assert_eq!(masked(&test), want, "{name}");
    }
}

/// The loops that a sink asks for are where the table of each path is read for them.
#[test]
fn each_test_has_its_loop() {
    for (name, path) in Path::all() {
        std::println!("path {name}: {}", if path.is_some() { "ran" } else { "not on this CPU" });
        let Some(path) = path.map(Some) else { continue };
        for (test, operation) in [1, 2, 4, 8].into_iter().flat_map(tests_of) {
            let all = |test: &Test| Path::run::<Told<0>>(path, &[], test, ());
            let positive = |test: &Test| Path::run::<Told<1>>(path, &[], test, ());
            let greater = |test: &Test| Path::run::<Told<2>>(path, &[], test, ());
            let masked = |test: &Test| Path::run::<Told<3>>(path, &[], test, ());
            has_loops(test, operation, [&all, &positive, &greater, &masked], name);
        }
    }
}

/// The compiler fills the tables; this fills the rows of the portable path while the tests run.
#[test]
#[cfg(feature = "portable")]
fn rows_at_run_time() {
    fn filled<const TESTS: usize>(test: &Test) -> Which {
        type Portable<S> = Loops<S, crate::portable::Portable>;
        let row = match test.size() {
            1 => Portable::<Told<TESTS>>::of::<i8>(),
            2 => Portable::<Told<TESTS>>::of::<i16>(),
            4 => Portable::<Told<TESTS>>::of::<i32>(),
            _ => Portable::<Told<TESTS>>::of::<i64>(),
        };
        // SAFETY: the portable path needs nothing that a CPU might not have.
        unsafe { row[test.index() % 6](&[], test, ()) }
    }
    for (test, operation) in [1, 2, 4, 8].into_iter().flat_map(tests_of) {
        let loops: [Ask<'_>; 4] = [&filled::<0>, &filled::<1>, &filled::<2>, &filled::<3>];
        has_loops(test, operation, loops, "portable");
    }
}
