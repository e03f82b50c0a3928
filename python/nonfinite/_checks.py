"""The names of the package that check files."""

# First: `__getattr__` of the package reads the list while the modules below are imported.
__all__ = [
    "ChangedError",
    "CheckError",
    "FileReport",
    "InvalidFileError",
    "LimitError",
    "LintReport",
    "NotBuiltError",
    "Options",
    "RemoteError",
    "Report",
    "TensorReport",
    "UnknownFormatError",
    "check",
    "check_file",
    "lint",
]

from nonfinite.errors import (
    ChangedError,
    CheckError,
    InvalidFileError,
    LimitError,
    NotBuiltError,
    RemoteError,
    UnknownFormatError,
)
from nonfinite.files import check, check_file
from nonfinite.linter import LintReport, lint
from nonfinite.options import Options
from nonfinite.report import FileReport, Report, TensorReport
