"""What a strict type checker accepts. Nobody runs this."""

from typing import assert_type

import nonfinite
from nonfinite import distributed
from nonfinite.errors import CheckError

report = nonfinite.check(["a", "b"], stats=True, allow="x:nan")
assert_type(report, nonfinite.Report)
assert_type(nonfinite.check_file("x").tensors[0].nan.count, int)
assert_type(nonfinite.check_file("x").not_looked_at[0].reason, str)
assert_type(distributed.check("x", distributed.executor(), stats=True), nonfinite.Report)
nonfinite.check("x", progress=lambda done, total: print(done))
nonfinite.check("x", statz=True)  # type: ignore[call-arg]
linted = nonfinite.lint("x", allow=["scale-zero"], warnings="notes", threads=2)
assert_type(linted, nonfinite.LintReport)
assert_type(linted.errors[0].coordinate, tuple[int, ...] | None)
nonfinite.lint("x", warnings="some")  # type: ignore[arg-type]
try:
    nonfinite.check_file("x")
except CheckError as error:
    assert_type(error.path, str)
