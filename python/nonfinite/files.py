"""Checks of files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import Unpack

import nonfinite._native as _native
import nonfinite.report as report
from nonfinite._progress import shown
from nonfinite.options import Options, checked
from nonfinite.report import FileReport, Report

Path = str | PathLike[str]
Progress = bool | Callable[[int, int], object]
"""True shows a bar in notebooks and terminals. A function is called with the bytes that are done
and the bytes in total, as far as they are known, about 20 times a second."""


def as_list(paths: Path | Iterable[Path]) -> list[Path]:
    """Return one path or several as a list. Raises TypeError for what is neither, and ValueError
    for no path at all."""
    if isinstance(paths, (str, PathLike)):
        return [paths]
    several = isinstance(paths, Iterable) and not isinstance(paths, (bytes, Mapping))
    found = list(paths) if several else []
    if not several or not all(isinstance(path, (str, PathLike)) for path in found):
        raise TypeError(
            f"paths is a {type(paths).__name__}, and must be a str, an os.PathLike or several of "
            "them: check() looks at files. For an array, a tensor or a state_dict in memory call "
            "nonfinite.assert_finite(x)"
        )
    if not found:
        raise ValueError("paths is empty: there is no file to look at")
    return found


def check(
    paths: Path | Iterable[Path], *, progress: Progress = False, **options: Unpack[Options]
) -> Report:
    """Check files for NaN and infinities.

    `paths` are files, folders (every file in them, whatever its name), patterns (`*`, `?`, `[..]`,
    `**`), the index of a sharded set, or "-" for standard input; one of them or several. The
    options are those of `nonfinite check`: see `nonfinite.options.Options`.

    A file that could not be checked is in the report, with its `error`, and the report is not
    `complete`. `Report.ok` is True if everything was looked at and nothing is bad.

    Raises OSError (such as FileNotFoundError) for a path that leads to no file of a known format or
    to one that cannot be read, ValueError for no paths, and ValueError or TypeError for a wrong
    option.

    >>> report = nonfinite.check("checkpoints/", stats=True)        # doctest: +SKIP
    >>> [tensor.name for tensor in report.bad_tensors]              # doctest: +SKIP
    ['layers.3.weight']
    """
    known = checked(options, "check")
    return report.report(_native.check_paths(as_list(paths), known, shown(progress)))


def check_file(path: Path, *, progress: Progress = False, **options: Unpack[Options]) -> FileReport:
    """Check one file for NaN and infinities.

    `path` is not taken as a pattern. The options are those of `check`.

    Raises CheckError if the file could not be checked, OSError (such as FileNotFoundError) if the
    system refuses to read the file, and ValueError or TypeError for a wrong option. A file in
    which some tensors could not be looked at has a report that is not `complete`.
    """
    known = checked(options, "check_file")
    return report.report(_native.check_one(path, known, shown(progress))).files[0]
