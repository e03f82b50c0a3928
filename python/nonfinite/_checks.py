"""The names of the package that check files."""

# First: `__getattr__` of the package reads the list while the modules below are imported.
__all__ = [
    "ChangedError",
    "CheckError",
    "ClusterError",
    "FileReport",
    "InvalidFileError",
    "LimitError",
    "LintReport",
    "NotBuiltError",
    "Options",
    "Piece",
    "Plan",
    "RemoteError",
    "Report",
    "Tallies",
    "TensorReport",
    "UnknownFormatError",
    "check",
    "check_file",
    "check_piece",
    "check_pieces",
    "lint",
    "merge",
    "plan",
]

from nonfinite.cluster import Piece, Plan, Tallies, check_piece, check_pieces, merge, plan
from nonfinite.errors import (
    ChangedError,
    CheckError,
    ClusterError,
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
