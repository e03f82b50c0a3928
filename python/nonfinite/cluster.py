"""The unit of work of a cluster: a file in pieces that any machine can check.

`plan` reads the header of a file. `check_piece` looks at one of its pieces, on any machine that
finds the file by the same path or URL. `merge` makes the report. Plans, pieces and tallies can be
pickled. Each also has a text, `json`, for engines that carry texts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from os import fspath
from typing import Any, Unpack

import nonfinite._native as _native
import nonfinite.report as report
from nonfinite.files import Path
from nonfinite.options import Options, checked
from nonfinite.report import FileReport

PIECE = 256 << 20
"""A good length of a piece, in bytes: much work for one task, and many tasks for a large file."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a tensor. Holds everything that `check_piece` needs, except the file."""

    length: int
    """Bytes to look at."""
    json: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Tallies:
    """The findings in one piece or in several. They add up in any order: `tallies + others`."""

    json: str = field(repr=False)

    def __add__(self, other: Tallies) -> Tallies:
        """Add tallies of other pieces. Raises ClusterError if both have the same piece."""
        return Tallies(_native.add_tallies([self.json, other.json]))


@dataclass(frozen=True, slots=True)
class Plan:
    """A file in pieces, and the options of its check."""

    path: str
    pieces: tuple[Piece, ...] = field(repr=False)
    json: str = field(repr=False)
    """The plan without its pieces."""
    options: dict[str, Any]

    def tasks(self, length: int = PIECE) -> list[tuple[Piece, ...]]:
        """Return the pieces in groups of about `length` bytes, for `check_pieces`.

        A file of many small tensors has many small pieces, too many for one task each.
        """
        tasks: list[list[Piece]] = []
        left = 0
        for piece in self.pieces:
            if piece.length > left or not tasks:
                tasks.append([])
                left = length
            tasks[-1].append(piece)
            left -= piece.length
        return [tuple(task) for task in tasks]


def plan(path: Path, *, piece: int = PIECE, **options: Unpack[Options]) -> Plan:
    """Read the header of a file, and cut its data into pieces of at most `piece` bytes.

    Elements and blocks stay whole. Data that has to be decoded as a stream is one
    piece for each tensor. The options are those of `check`; `merge` uses them as well. The option
    `threads` counts for neither.

    Raises the errors of `check_file`, and ValueError if `piece` is less than 1.
    """
    if piece < 1:
        raise ValueError(f"piece={piece}, and the least is 1 byte")
    known = checked(options, "plan")
    text, pieces = _native.plan_file(fspath(path), piece, known)
    return Plan(fspath(path), tuple(Piece(*piece) for piece in pieces), text, known)


def check_piece(piece: Piece, *, threads: int | None = 1) -> Tallies:
    """Look at a piece, with one thread: engines give a task one core.

    Raises ChangedError if the file has changed since the plan, OSError if it cannot be read here,
    and InvalidFileError if data cannot be decoded.
    """
    return check_pieces([piece], threads=threads)


def check_pieces(pieces: Iterable[Piece], *, threads: int | None = 1) -> Tallies:
    """Look at several pieces. Pieces of the same file share reads. Errors: see `check_piece`."""
    return Tallies(_native.look_at_pieces([piece.json for piece in pieces], threads))


def merge(plan: Plan, tallies: Iterable[Tallies]) -> FileReport:
    """Make the report on a file from the tallies of all of its pieces.

    The report is that of `check_file` with `places=False`: the places of bad numbers are not known.

    Raises ClusterError for tallies that leave out a piece, have one twice, or belong to another
    plan, and InvalidFileError if a checksum of the file is wrong.
    """
    texts = [some.json for some in tallies]
    return report.report(_native.merge_file(plan.path, plan.json, texts, plan.options)).files[0]
