# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""The line of the user's code."""

import linecache
import os
import sys
from functools import cache
from types import FrameType, TracebackType

import torch
from torch import nn

from nonfinite.torch import private

_OURS = os.path.dirname(os.path.abspath(__file__))
_REPLAY = os.path.join(_OURS, "replay.py")
_TORCH = os.path.dirname(os.path.abspath(torch.__file__))

Line = tuple[str, int]


@cache
def is_users(file: str) -> bool:
    """Whether a file is neither of torch, which also writes code, nor of this package."""
    written = file.startswith(("<frozen", "<eval_with_key>")) or "torchinductor_" in file
    return not written and not file.startswith((_OURS + os.sep, _TORCH + os.sep))


def caller() -> Line | None:
    """The innermost line of the user's code on the stack.

    None if the stack leads to a replay first: the lines behind that are those of the program when
    the replay began, which may be after the call.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == _REPLAY:
            return None
        if is_users(frame.f_code.co_filename):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return None


def of_user(trace: TracebackType | None) -> TracebackType | None:
    """A traceback with the lines of the user only, and with the first line, which is that of the
    `with` statement."""
    kept, first = [], trace
    while trace is not None:
        if trace is first or is_users(trace.tb_frame.f_code.co_filename):
            kept.append(trace)
        trace = trace.tb_next
    found: TracebackType | None = None
    for each in reversed(kept):
        found = TracebackType(found, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return found


def called(modules: list[nn.Module]) -> bool:
    """Whether calls of all these modules are on the stack, as often as here."""
    frame: FrameType | None = sys._getframe(1)
    left = list(modules)
    while frame is not None and left:
        if frame.f_code is private.CALL and frame.f_locals["self"] in left:
            left.remove(frame.f_locals["self"])
        frame = frame.f_back
    return not left


def code_of(place: Line | None) -> str | None:
    """The text of a line."""
    return (linecache.getline(*place).strip() or None) if place else None
