# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""The table that the sinks write: the library of the wheel `nonfinite_onnxruntime`, by ctypes.

The structs are those of `engines/onnxruntime/src/trace/`.
"""

import ctypes
from collections.abc import Sequence
from typing import Any

from nonfinite.findings import Look

VERSION = 1
NONE = 2**64 - 1
RANK = 8

# ONNX's numbers of the floating-point types that a sink looks at, and the names used in reports.
FLOATS = {
    1: "float32",
    10: "float16",
    11: "float64",
    16: "bfloat16",
    17: "float8e4m3fn",
    18: "float8e4m3fnuz",
    19: "float8e5m2",
    20: "float8e5m2fnuz",
    24: "float8e8m0",
}


class _Look(ctypes.Structure):
    _fields_ = [
        *[
            (name, ctypes.c_uint64)
            for name in "elements nan pos_inf neg_inf zeros subnormals first max_abs_index".split()
        ],
        *[(name, ctypes.c_double) for name in "min max max_abs limit".split()],
    ]


class _Shape(ctypes.Structure):
    _fields_ = [
        ("element", ctypes.c_int32),
        ("rank", ctypes.c_uint32),
        ("sizes", ctypes.c_int64 * RANK),
    ]


class Row(ctypes.Structure):
    """What a sink has seen in all its calls."""

    _fields_ = [
        *[(name, ctypes.c_uint64) for name in "calls bad_calls sequence kept_call".split()],
        ("largest", ctypes.c_double),
        ("shape", _Shape),
        ("look", _Look),
    ]


class Event(ctypes.Structure):
    """A call that saw a NaN or an infinity."""

    _fields_ = [
        *[(name, ctypes.c_uint64) for name in "sequence number call".split()],
        ("shape", _Shape),
        ("look", _Look),
    ]


def _size(shape: _Shape) -> tuple[int, ...] | None:
    """The sizes, or None if the tensor has more dimensions than a row keeps."""
    return tuple(shape.sizes[: shape.rank]) if shape.rank <= RANK else None


def look_of(name: str, found: Row | Event) -> Look:
    """What a row or an event says about the tensor `name`."""
    return _look(name, found.look, FLOATS.get(found.shape.element, "?"), _size(found.shape))


def _look(name: str, found: _Look, dtype: str, shape: Sequence[int] | None) -> Look:
    empty = found.min != found.min
    return Look(
        name=name,
        dtype=dtype,
        shape=None if shape is None else tuple(shape),
        elements=found.elements,
        nan=found.nan,
        pos_inf=found.pos_inf,
        neg_inf=found.neg_inf,
        zeros=found.zeros,
        first=None if found.first == NONE else found.first,
        min=None if empty else found.min,
        max=None if empty else found.max,
        max_abs=None if empty else found.max_abs,
        limit=None if found.limit != found.limit else found.limit,
    )


class Library:
    """The library, loaded."""

    def __init__(self) -> None:
        install = "pip install ./engines/onnxruntime in a checkout of nonfinite"
        from nonfinite_onnxruntime import library_path

        self.path: str = library_path()
        c = ctypes.CDLL(self.path)
        size, pointer, u64 = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_uint64
        try:
            signatures: list[tuple[str, Any, list[Any]]] = [
                ("version", u64, []),
                ("open", u64, [size]),
                ("close", None, [u64]),
                ("reset", None, [u64]),
                ("rows", size, [u64, pointer, size]),
                ("events", size, [u64, pointer, size]),
                ("look", ctypes.c_bool, [pointer, size, ctypes.c_int, pointer]),
            ]
            for name, result, arguments in signatures:
                function = getattr(c, f"nonfinite_trace_{name}")
                function.restype, function.argtypes = result, arguments
                setattr(self, name, function)
        except AttributeError as error:
            raise ImportError(f"{self.path} is too old for trace_onnx: {install}") from error
        if self.version() != VERSION:
            raise ImportError(
                f"{self.path} has version {self.version()} of the trace; need {VERSION}"
            )

    version: Any
    open: Any
    close: Any
    reset: Any
    rows: Any
    events: Any
    look: Any

    def look_at(
        self, name: str, data: Any, element: int, shape: Sequence[int] | None
    ) -> Look | None:
        """Looks at the bytes of a numpy array. None if `element` is no floating-point type."""
        found = _Look()
        if not self.look(data.ctypes.data, data.nbytes, element, ctypes.byref(found)):
            return None
        return _look(name, found, FLOATS[element], shape)


class Table:
    """An open table of the library."""

    def __init__(self, library: Library, rows: int) -> None:
        self._library = library
        self._rows = rows
        self.id: int = library.open(rows)

    def reset(self) -> None:
        """Forgets all calls."""
        self._library.reset(self.id)

    def close(self) -> None:
        """Closes the table."""
        self._library.close(self.id)

    def rows(self) -> list[Row]:
        """A row for each sink."""
        rows = (Row * self._rows)()
        self._library.rows(self.id, rows, self._rows)
        return list(rows)

    def events(self) -> list[Event]:
        """The calls that saw a NaN or an infinity, in the order of execution."""
        count = self._library.events(self.id, None, 0)
        events = (Event * count)()
        self._library.events(self.id, events, count)
        return list(events)
