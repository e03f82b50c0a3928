"""numpy's own tests of isnan, isinf, isfinite, isposinf, isneginf and nan_to_num, run with ours.

`python tests/upstream.py` prints which tests pass, and of the others the first line of the error.
The names of numpy are replaced inside the modules of the tests only, not in numpy itself. The
reasons for what does not pass stand in `EXPECTED`. The exit status is 1 if another test fails, or
if one of these passes.

`python tests/upstream.py FOLDER` runs the tests of ml_dtypes that call these functions instead.
The folder is `ml_dtypes/tests` of the source distribution of the installed version. The tests need
absl-py.
"""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nonfinite as nf

#: Tests that do not pass, and why.
COMPLEX = "questions about complex numbers are errors: ask about the parts"
NUMBER = "a number of Python gives a number of Python, not one of numpy"
EXPECTED: dict[str, str] = {
    "TestIsnan::test_complex": COMPLEX,
    "TestIsnan::test_complex1": COMPLEX,
    "TestIsfinite::test_complex": COMPLEX,
    "TestIsfinite::test_complex1": COMPLEX,
    "TestNanToNum::test_complex_bad": COMPLEX,
    "TestNanToNum::test_complex_bad2": COMPLEX,
    "TestNanToNum::test_float": NUMBER,
    "TestNanToNum::test_integer": NUMBER,
}

#: The package of numpy's native module, which numpy 1 names differently.
CORE = "core" if np.__version__.startswith("1.") else "_core"

TESTS = [
    "numpy.lib.tests.test_type_check::" + name
    for name in [
        "TestIsnan",
        "TestIsfinite",
        "TestIsinf",
        "TestIsposinf",
        "TestIsneginf",
        "TestNanToNum",
    ]
] + [f"numpy.{CORE}.tests.test_umath::TestFPClass"]


def ours() -> dict[str, Any]:
    """Our functions, by the names of numpy."""
    return {
        "isnan": nf.is_nan,
        "isinf": nf.is_inf,
        "isfinite": nf.is_finite,
        "isposinf": lambda x, out=None: nf.mask(x, "+inf", out),
        "isneginf": lambda x, out=None: nf.mask(x, "-inf", out),
        "nan_to_num": nf.nan_to_num,
    }


#: The tests that have called one of our functions.
CALLED: set[str] = set()


def noted(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which notes the test that calls it."""

    def call(*arguments: Any, **named: Any) -> Any:
        CALLED.add(os.environ.get("PYTEST_CURRENT_TEST", "").rsplit(" ", 1)[0].split("::", 1)[-1])
        return function(*arguments, **named)

    return call


class Mixed(types.ModuleType):
    """numpy with our functions."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


class Plugin:
    """Replaces the names, and keeps the outcomes."""

    def __init__(self) -> None:
        self.outcomes: dict[str, str] = {}
        self.reasons: dict[str, str] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        mixed = Mixed("numpy")
        vars(mixed).update({name: noted(function) for name, function in ours().items()})
        for item in items:
            module = item.getparent(pytest.Module).obj  # type: ignore[union-attr]
            module.np = mixed
            for name, function in ours().items():
                if hasattr(module, name):
                    setattr(module, name, noted(function))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = report.nodeid.split("::", 1)[1]
        # A test has failed if one of its parts has.
        if self.outcomes.get(name) == "failed":
            return
        if report.when == "call" or report.outcome != "passed":
            self.outcomes[name] = report.outcome
            if report.outcome == "failed":
                crash = getattr(report.longrepr, "reprcrash", None)
                self.reasons[name] = str(crash.message if crash else "").splitlines()[0]


def main() -> int:
    folder = sys.argv[1:]
    tests = folder or ["--pyargs", *TESTS]
    plugin = Plugin()
    arguments = ["-qq", "--no-header", "--tb=no", "-p", "no:cacheprovider", "-W", "ignore", "-rN"]
    pytest.main([*arguments, *tests], plugins=[plugin])
    outcomes = {name: outcome for name, outcome in plugin.outcomes.items() if name in CALLED}
    passed = [name for name, outcome in outcomes.items() if outcome == "passed"]
    failed = {name for name, outcome in outcomes.items() if outcome == "failed"}
    # The complex numbers of ml_dtypes, complex32 and bcomplex32, are in the names of its tests.
    of_complex = {name: COMPLEX for name in failed if "complex32" in name}
    expected = of_complex if folder else EXPECTED
    skipped = len(outcomes) - len(passed) - len(failed)
    print(f"{len(passed)} of {len(outcomes)} tests pass, {skipped} are skipped.")
    for name in sorted(failed):
        print(f"- {name}: {expected.get(name, 'UNEXPECTED')} ({plugin.reasons[name][:80]})")
    missing = set(expected) - failed
    for name in sorted(missing):
        print(f"- {name} passes now: take it from the list")
    return int(bool(failed - set(expected)) or bool(missing) or not passed)


if __name__ == "__main__":
    sys.exit(main())
