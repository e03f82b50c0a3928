"""The report of a check. The fields are those of the JSON document (check/SCHEMA.md)."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html import escape
from typing import Any

from nonfinite._files import Document

_Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Element:
    """The first number of a kind."""

    coordinate: tuple[int, ...]
    """The index of the element on each axis. For a scale, of the first element of its block."""
    bits: str
    """The bits in hexadecimal, such as "0x7fc00000"."""
    quiet: bool | None
    """Whether a NaN is quiet. None for infinities, and for formats without the distinction."""
    part: str | None
    """"real" or "imaginary", or the name of a scale."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The numbers of one kind in a tensor."""

    count: int
    first: Element | None


@dataclass(frozen=True, slots=True)
class Extreme:
    """The minimum, the maximum, or the maximum magnitude, and where the first such number is."""

    value: float
    coordinate: tuple[int, ...]
    part: str | None


@dataclass(frozen=True, slots=True)
class Stats:
    """The finite numbers of a tensor. The extremes are None without a finite number."""

    min: Extreme | None
    max: Extreme | None
    max_abs: Extreme | None
    zeros: int
    subnormals: int
    normals: int


@dataclass(frozen=True, slots=True)
class Large:
    """The finite numbers of a larger magnitude than `bound`."""

    count: int
    bound: float
    largest: Extreme


@dataclass(frozen=True, slots=True)
class Scales:
    """The scales of quantised blocks."""

    block: int
    """Elements in a block."""
    format: str
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Axis:
    """The indices of bad elements on one axis."""

    extent: int
    indices: int
    """How many indices have a bad element."""
    ranges: tuple[tuple[int, int], ...]
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
    map: Map | None


@dataclass(frozen=True, slots=True)
class TensorReport:
    """The result of the check of a tensor."""

    name: str | None
    """None where the file format has no names."""
    shard: str | None
    """The file of the tensor, if that is not the file that was checked."""
    dtype: str
    """The type of the elements as the file spells it."""
    shape: tuple[int, ...]
    elements: int
    bytes: int
    looked_at: str
    """"values", "scales", "always_finite", "not_float" or "unreadable"."""
    reason: str | None
    """Why the tensor is unreadable."""
    scales: Scales | None
    nan: Finding
    pos_inf: Finding
    neg_inf: Finding
    stats: Stats | None
    """The finite numbers, with the option `stats`."""
    large: Large | None
    """The finite numbers above `max_abs`. None if there are none."""
    bad: tuple[str, ...]
    """What makes the tensor bad: some of "nan", "pos_inf", "neg_inf" and "large"."""
    where: Where | None

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
    asks: str | None
    """The keyword argument that lets a check look at it, such as `raw_dtype="V2=bf16"`."""


@dataclass(frozen=True, slots=True)
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
    damaged: bool
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
        return _frame(self._document)


@dataclass(frozen=True, slots=True)
class Totals:
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
    min: float | None = None
    """The minimum of all finite numbers. This and the following fields need the option `stats`."""
    max: float | None = None
    max_abs: float | None = None
    zeros: int | None = None
    subnormals: int | None = None
    normals: int | None = None
    all_zeros: int | None = None
    """Tensors in which every number is zero."""


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
    """That of the command: 2 if not complete (see `skip_unknown`), else 1 if bad, else 0."""
    totals: Totals
    by_dtype: dict[str, Totals] = field(repr=False)
    files: tuple[FileReport, ...] = field(repr=False)
    _document: Document = field(repr=False, compare=False)

    @property
    def ok(self) -> bool:
        """Whether everything was looked at, and nothing is bad. False if there are no files, as for
        `check(glob(...))` with a pattern that no file has."""
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
        """Return the document of `nonfinite check --json`, byte for byte, without line feed."""
        return self._document.json()

    def to_html(self) -> str:
        """Return the page of `nonfinite check --html`."""
        return self._document.page()

    def _repr_html_(self) -> str | None:
        return _frame(self._document)


def _frame(document: Document | None) -> str | None:
    """The page in a frame: its style and its script are then apart from those of a notebook."""
    if document is None:
        return None
    style = "width:100%;height:28em;border:0;resize:vertical;overflow:auto"
    page = escape(document.page())
    return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{page}"></iframe>'


def report(document: Document) -> Report:
    """Build the report from a document of the checker."""
    read: _Json = json.loads(document.json())
    totals: _Json = read["totals"]
    by_dtype: _Json = totals.pop("by_dtype")
    files = read["files"]
    return Report(
        schema_version=read["schema_version"],
        version=read["version"],
        is_bad=read["bad"],
        complete=read["complete"],
        exit_status=document.status,
        totals=Totals(**totals),
        by_dtype={dtype: Totals(**sums) for dtype, sums in by_dtype.items()},
        files=tuple(_file(file, document.file(number)) for number, file in enumerate(files)),
        _document=document,
    )


def _file(read: _Json, document: Document | None) -> FileReport:
    return FileReport(
        path=read["path"],
        format=read["format"],
        is_bad=read["bad"],
        complete=read["complete"],
        error=read["error"],
        damaged=read.get("damaged", False),
        not_looked_at=tuple(map(_not_looked_at, read["not_looked_at"])),
        tensors=tuple(map(_tensor, read["tensors"])),
        _document=document,
    )


def _not_looked_at(read: _Json) -> NotLookedAt:
    asks = read.get("asks")
    if asks is not None:
        # The schema has the names of the keyword arguments.
        option, example = asks["option"], asks.get("example")
        asks = option if example is None else f'{option}="{example}"'
    return NotLookedAt(read["name"], read["reason"], asks)


_NOTHING = Finding(0, None)


def _tensor(read: _Json) -> TensorReport:
    get = read.get
    scales = get("scales")
    large = get("large")
    where = get("where")
    return TensorReport(
        name=read["name"],
        shard=get("shard"),
        dtype=read["dtype"],
        shape=tuple(read["shape"]),
        elements=read["elements"],
        bytes=read["bytes"],
        looked_at=read["looked_at"],
        reason=get("reason"),
        scales=scales and Scales(scales["block"], scales["format"], tuple(scales["fields"])),
        nan=_finding(read["nan"]),
        pos_inf=_finding(read["pos_inf"]),
        neg_inf=_finding(read["neg_inf"]),
        stats=_stats(read) if "zeros" in read else None,
        large=large and Large(large["count"], large["bound"], _extreme(large, "max_abs")),
        bad=tuple(read["bad"]),
        where=where and _where(where),
    )


def _finding(read: _Json) -> Finding:
    first = read["first"]
    if first is None:
        return _NOTHING
    coordinate = tuple(first["coordinate"])
    element = Element(coordinate, first["bits"], first.get("quiet"), first.get("part"))
    return Finding(read["count"], element)


def _extreme(read: _Json, name: str) -> Extreme:
    place = read[f"{name}_at"]
    return Extreme(read[name], tuple(place["coordinate"]), place.get("part"))


def _stats(read: _Json) -> Stats:
    has_numbers = "max_abs" in read
    return Stats(
        min=_extreme(read, "min") if has_numbers else None,
        max=_extreme(read, "max") if has_numbers else None,
        max_abs=_extreme(read, "max_abs") if has_numbers else None,
        zeros=read["zeros"],
        subnormals=read["subnormals"],
        normals=read["normals"],
    )


def _pairs(read: list[list[int]]) -> tuple[tuple[int, int], ...]:
    return tuple((first, second) for first, second in read)


def _where(read: _Json) -> Where:
    axes = (
        Axis(axis["extent"], axis["indices"], _pairs(axis.get("ranges", [])))
        for axis in read["axes"]
    )
    drawn = read.get("map")
    return Where(read["statement"], read["elements"], tuple(axes), drawn and _map(drawn))


def _map(read: _Json) -> Map:
    groups, rows, columns = (Step(**read[name]) for name in ("groups", "rows", "columns"))
    return Map(groups, rows, columns, _pairs(read["lit"]))
