"""The report of a check. The fields are those of the JSON document (checker/check/SCHEMA.md)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, is_dataclass
from functools import cache
from html import escape
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from nonfinite._native import Document


@dataclass(frozen=True, slots=True)
class Element:
    """The first number of a kind."""

    coordinate: tuple[int, ...]
    """The index of the element on each axis. For a scale, of the first element of its block."""
    bits: str
    """The bits in hexadecimal, such as "0x7fc00000"."""
    quiet: bool | None = None
    """Whether a NaN is quiet. None for infinities, and for formats without the distinction."""
    part: str | None = None
    """"real" or "imaginary", or the name of a scale."""


@dataclass(frozen=True, slots=True)
class KindReport:
    """The numbers of one kind in a tensor."""

    count: int
    first: Element | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the first number of a value is."""

    coordinate: tuple[int, ...]
    part: str | None = None
    """As that of an `Element`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FiniteStats:
    """The finite numbers, with the option `stats`. Without it, and without a finite number, the
    extremes are None. Without it the counts are None, too."""

    min: float | None = None
    max: float | None = None
    max_abs: float | None = None
    zeros: int | None = None
    subnormals: int | None = None
    normals: int | None = None


@dataclass(frozen=True, slots=True)
class Large:
    """The finite numbers of a larger magnitude than `bound`."""

    count: int
    bound: float
    max_abs: float
    max_abs_at: Place


@dataclass(frozen=True, slots=True)
class Scales:
    """The scales of quantised blocks."""

    block: int
    """Elements in a block."""
    format: str
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Storage:
    """Elements of a storage of PyTorch."""

    key: str
    start: int
    """The index of the first of these elements in the storage."""


@dataclass(frozen=True, slots=True)
class Axis:
    """The indices of bad elements on one axis."""

    extent: int
    indices: int
    """How many indices have a bad element."""
    ranges: tuple[tuple[int, int], ...] = ()
    """The first and the last index of each range. Empty for more than four ranges."""


@dataclass(frozen=True, slots=True)
class Step:
    """An axis of a map."""

    extent: int
    step: int
    """Indices in a cell."""


@dataclass(frozen=True, slots=True)
class Map:
    """How densely the bad elements lie."""

    groups: Step
    rows: Step
    columns: Step
    lit: tuple[tuple[int, int], ...] = field(repr=False)
    """The number of each cell with a bad element, and how many bad elements are in the cell."""


@dataclass(frozen=True, slots=True)
class Where:
    """The places of the bad NaN and infinities of a tensor."""

    statement: str
    """What the places have in common, such as "row 17 only, in full"."""
    elements: int
    axes: tuple[Axis, ...]
    map: Map | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorReport(FiniteStats):
    """The result of the check of a tensor."""

    name: str | None
    """None where the file format has no names."""
    shard: str | None = None
    """The file of the tensor, if that is not the file that was checked."""
    dtype: str
    """The type of the elements as the file spells it."""
    shape: tuple[int, ...]
    storage: Storage | None = None
    """The elements that were looked at in place of those of the tensor: a view of PyTorch that
    repeats elements. `shape` is their number."""
    left_out: bool = False
    """Whether the file leaves out the data. Then the shape is (0,)."""
    elements: int
    bytes: int
    looked_at: str
    """"values", "scales", "always_finite", "not_float" or "unreadable"."""
    reason: str | None = None
    """Why the tensor is unreadable."""
    scales: Scales | None = None
    nan: KindReport
    pos_inf: KindReport
    neg_inf: KindReport
    min_at: Place | None = None
    max_at: Place | None = None
    max_abs_at: Place | None = None
    large: Large | None = None
    """The finite numbers above the option `max_abs`. None if there are none."""
    bad: tuple[str, ...]
    """What makes the tensor bad: some of "nan", "pos_inf", "neg_inf" and "large"."""
    where: Where | None = None

    @property
    def is_bad(self) -> bool:
        """Whether the tensor holds a number that is not allowed."""
        return bool(self.bad)


@dataclass(frozen=True, slots=True)
class NotLookedAt:
    """A part of a file that could hold a NaN and was not looked at."""

    name: str | None
    """The tensor or the member of an archive. None for the whole file."""
    reason: str
    asks: str | None = None
    """The keyword argument that lets a check read the file: "max_bytes"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReport:
    """The result of the check of a file."""

    path: str
    format: str | None
    """The format. None if the file could not be checked."""
    is_bad: bool
    complete: bool
    """Whether every tensor that could hold a NaN was looked at."""
    error: str | None
    """Why the file could not be checked."""
    damaged: bool = False
    """Whether a part is damaged, and the other parts were checked."""
    not_looked_at: tuple[NotLookedAt, ...]
    tensors: tuple[TensorReport, ...] = field(repr=False)
    """In the order of their data."""
    _document: Document | None = field(repr=False, compare=False)

    @property
    def bad_tensors(self) -> tuple[TensorReport, ...]:
        """The tensors that are bad."""
        return tuple(tensor for tensor in self.tensors if tensor.is_bad)

    def _repr_html_(self) -> str | None:
        return frame(self._document)


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals(FiniteStats):
    """Sums over tensors. `tensors`, `elements` and `bytes` are of those that were looked at."""

    tensors: int
    elements: int
    bytes: int
    nan: int
    pos_inf: int
    neg_inf: int
    bad: int
    not_float: int
    always_finite: int
    unreadable: int
    all_zeros: int | None = None
    """With the option `stats`: tensors in which every number is zero."""


@dataclass(frozen=True, slots=True)
class Report:
    """The result of the check of several files. A notebook shows it as a page with maps."""

    schema_version: int
    version: str
    is_bad: bool
    """Whether a tensor is bad."""
    complete: bool
    """Whether every file could be read, and every tensor that could hold a NaN was looked at."""
    exit_status: int
    """That of the command: 2 if a file is damaged, else 1 if bad, else 2 if not complete, or 0.
    `strict` changes this."""
    totals: Totals
    by_dtype: dict[str, Totals] = field(repr=False)
    files: tuple[FileReport, ...] = field(repr=False)
    no_format: tuple[str, ...]
    """The files of no known format in folders and patterns. They do not count for `complete`."""
    _document: Document = field(repr=False, compare=False)

    @property
    def ok(self) -> bool:
        """Whether everything was looked at, and nothing is bad. False if there are no files."""
        return self.exit_status == 0 and bool(self.files)

    @property
    def bad_tensors(self) -> tuple[TensorReport, ...]:
        """The bad tensors of all files."""
        return tuple(tensor for file in self.files for tensor in file.bad_tensors)

    @property
    def not_looked_at(self) -> tuple[tuple[str, NotLookedAt], ...]:
        """The path of a file, and a part of it that could hold a NaN and was not looked at."""
        return tuple((file.path, part) for file in self.files for part in file.not_looked_at)

    def to_json(self) -> str:
        """Return the document of `nonfinite check --json --map`, byte for byte, without line feed.

        After a check with `map=False` it is that of `--json`.
        """
        return self._document.json()

    def to_html(self) -> str:
        """Return the page of `nonfinite check --html`."""
        return self._document.page()

    def _repr_html_(self) -> str | None:
        return frame(self._document)


def frame(document: Document | None) -> str | None:
    """The page in a frame: its style and its script are then apart from those of a notebook."""
    if document is None:
        return None
    style = "width:100%;height:28em;border:0;resize:vertical;overflow:auto"
    page = escape(document.page())
    return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{page}"></iframe>'


def report(document: Document) -> Report:
    """Build the report from a document of the checker."""
    read: dict[str, Any] = json.loads(document.json())
    read["by_dtype"] = read["totals"].pop("by_dtype")
    read |= {"is_bad": read["bad"], "exit_status": document.status, "_document": document}
    for number, file in enumerate(read["files"]):
        file |= {"is_bad": file["bad"], "_document": document.file(number)}
    built: Report = read_as(Report, read)
    return built


def read_as(kind: Any, read: Any) -> Any:
    """Make a value of JSON a value of this type. Leaves out fields that the type does not have."""
    return _reader(kind)(read)


@cache
def _reader(kind: Any) -> Callable[[Any], Any]:
    """The function that makes a value of JSON a value of this type. A field of a class that the
    JSON leaves out has its default."""
    parts, make = get_args(kind), kind
    if is_dataclass(kind):
        fields = [(name, _reader(hint)) for name, hint in get_type_hints(kind).items()]
        return lambda read: make(**{name: of(read[name]) for name, of in fields if name in read})
    if get_origin(kind) is UnionType:
        some = _reader(parts[0])
        return lambda read: None if read is None else some(read)
    if get_origin(kind) is tuple:
        item = _reader(parts[0])
        return lambda read: tuple(map(item, read))
    if get_origin(kind) is dict:
        item = _reader(parts[1])
        return lambda read: {name: item(value) for name, value in read.items()}
    return lambda read: read
