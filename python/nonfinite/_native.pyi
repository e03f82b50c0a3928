"""The native module: see the docstrings of the functions for shapes and errors."""

from collections.abc import Callable, ItemsView, Iterator, Mapping, Sequence, ValuesView
from os import PathLike
from typing import Any, Literal, Protocol, TypeVar, final, overload

import numpy as np
import numpy.typing as npt
from typing_extensions import Buffer

class _DLPack(Protocol):
    def __dlpack__(self) -> object: ...

class _Arrow(Protocol):
    def __arrow_c_array__(self) -> object: ...

class _ArrayMethod(Protocol):
    def __array__(self) -> Any: ...

class _Tensor(Protocol):
    """A tensor of torch."""

    def is_neg(self) -> bool: ...

class _Stream(Protocol):
    def __arrow_c_stream__(self) -> object: ...

_Array = Buffer | _DLPack | _Arrow | _Stream | _ArrayMethod | Sequence[Any]
# What has one answer about all of its arrays.
_Parts = Mapping[Any, Any] | Iterator[Any] | ValuesView[Any] | ItemsView[Any, Any]
_All = _Array | _Parts | float
_Axis = int | tuple[int, ...]
_Predicate = Literal[
    "nan", "inf", "+inf", "-inf", "finite", "non-finite", "nan or +inf", "never"
]
_Out = TypeVar("_Out")
_X = TypeVar("_X")
_T = TypeVar("_T", bound=_Tensor)

@final
class Occurrences:
    def __new__(cls, count: int, first: Sequence[int] | None) -> Occurrences: ...
    @property
    def count(self) -> int: ...
    @property
    def first(self) -> tuple[int, ...] | None: ...
    def __bool__(self) -> bool: ...

@final
class Census:
    def __new__(cls, nan: Occurrences, pos_inf: Occurrences, neg_inf: Occurrences) -> Census: ...
    @property
    def nan(self) -> Occurrences: ...
    @property
    def pos_inf(self) -> Occurrences: ...
    @property
    def neg_inf(self) -> Occurrences: ...
    @property
    def total(self) -> int: ...
    def __bool__(self) -> bool: ...

@final
class Extreme:
    def __new__(cls, value: float, bits: int, first: Sequence[int]) -> Extreme: ...
    @property
    def value(self) -> float: ...
    @property
    def bits(self) -> int: ...
    @property
    def first(self) -> tuple[int, ...]: ...

@final
class Stats:
    def __new__(
        cls, census: Census, min: Extreme | None, max: Extreme | None, max_abs: Extreme | None,
        zeros: int, subnormals: int, normals: int,
    ) -> Stats: ...
    @property
    def census(self) -> Census: ...
    @property
    def min(self) -> Extreme | None: ...
    @property
    def max(self) -> Extreme | None: ...
    @property
    def max_abs(self) -> Extreme | None: ...
    @property
    def zeros(self) -> int: ...
    @property
    def subnormals(self) -> int: ...
    @property
    def normals(self) -> int: ...
    @property
    def finite(self) -> int: ...

class NonFiniteError(ValueError):
    census: Census

__version__: str

def all_finite(x: _All, /, *, threads: int | None = None) -> bool: ...
def any_nan(x: _All, /, *, threads: int | None = None) -> bool: ...
def any_inf(x: _All, /, *, threads: int | None = None) -> bool: ...
@overload
def any(
    x: _All, predicate: _Predicate, /, *, axis: None = None, keepdims: Literal[False] = False,
    threads: int | None = None,
) -> bool: ...
@overload
def any(
    x: _T, predicate: _Predicate, /, *, axis: _Axis | None = None, keepdims: bool = False,
    threads: int | None = None,
) -> _T | bool: ...
@overload
def any(
    x: _Array, predicate: _Predicate, /, *, axis: _Axis | None = None, keepdims: bool = False,
    threads: int | None = None,
) -> npt.NDArray[np.bool_] | bool: ...
@overload
def all(
    x: _All, predicate: _Predicate, /, *, axis: None = None, keepdims: Literal[False] = False,
    threads: int | None = None,
) -> bool: ...
@overload
def all(
    x: _T, predicate: _Predicate, /, *, axis: _Axis | None = None, keepdims: bool = False,
    threads: int | None = None,
) -> _T | bool: ...
@overload
def all(
    x: _Array, predicate: _Predicate, /, *, axis: _Axis | None = None, keepdims: bool = False,
    threads: int | None = None,
) -> npt.NDArray[np.bool_] | bool: ...
@overload
def count(
    x: _All, predicate: _Predicate, /, *, axis: None = None, keepdims: Literal[False] = False,
    threads: int | None = None,
) -> int: ...
@overload
def count(
    x: _T, predicate: _Predicate, /, *, axis: _Axis | None = None, keepdims: bool = False,
    threads: int | None = None,
) -> _T | int: ...
@overload
def count(
    x: _Array, predicate: _Predicate, /, *, axis: _Axis | None = None, keepdims: bool = False,
    threads: int | None = None,
) -> npt.NDArray[np.intp] | int: ...
@overload
def position(
    x: _Array | float, predicate: _Predicate, /, *, axis: None = None,
    keepdims: Literal[False] = False, threads: int | None = None,
) -> tuple[int, ...] | None: ...
@overload
def position(
    x: _T, predicate: _Predicate, /, *, axis: _Axis | None = None, keepdims: bool = False,
    threads: int | None = None,
) -> _T | int: ...
@overload
def position(
    x: _Array, predicate: _Predicate, /, *, axis: _Axis | None = None, keepdims: bool = False,
    threads: int | None = None,
) -> npt.NDArray[np.intp] | int: ...
@overload
def census(
    x: _Array | float, /, *, axis: None = None, keepdims: Literal[False] = False,
    threads: int | None = None,
) -> Census: ...
@overload
def census(
    x: _Array, /, *, axis: _Axis | None = None, keepdims: bool = False, threads: int | None = None
) -> npt.NDArray[np.void] | np.void: ...
@overload
def stats(
    x: _Array | float, /, *, axis: None = None, keepdims: Literal[False] = False,
    threads: int | None = None,
) -> Stats: ...
@overload
def stats(
    x: _Array, /, *, axis: _Axis | None = None, keepdims: bool = False, threads: int | None = None
) -> npt.NDArray[np.void] | np.void: ...
def assert_finite(x: _All, /, name: str = "x", *, threads: int | None = None) -> None: ...
@overload
def mask(
    x: float, predicate: _Predicate, /, out: None = None, *, threads: int | None = None
) -> bool: ...
@overload
def mask(
    x: _T, predicate: _Predicate, /, out: None = None, *, threads: int | None = None
) -> _T: ...
@overload
def mask(
    x: _Array, predicate: _Predicate, /, out: None = None, *, threads: int | None = None
) -> npt.NDArray[np.bool_]: ...
@overload
def mask(
    x: _Array | float, predicate: _Predicate, /, out: _Out, *, threads: int | None = None
) -> _Out: ...
@overload
def is_nan(x: float, /, out: None = None, *, threads: int | None = None) -> bool: ...
@overload
def is_nan(x: _T, /, out: None = None, *, threads: int | None = None) -> _T: ...
@overload
def is_nan(
    x: _Array, /, out: None = None, *, threads: int | None = None
) -> npt.NDArray[np.bool_]: ...
@overload
def is_nan(x: _Array | float, /, out: _Out, *, threads: int | None = None) -> _Out: ...
@overload
def is_inf(x: float, /, out: None = None, *, threads: int | None = None) -> bool: ...
@overload
def is_inf(x: _T, /, out: None = None, *, threads: int | None = None) -> _T: ...
@overload
def is_inf(
    x: _Array, /, out: None = None, *, threads: int | None = None
) -> npt.NDArray[np.bool_]: ...
@overload
def is_inf(x: _Array | float, /, out: _Out, *, threads: int | None = None) -> _Out: ...
@overload
def is_finite(x: float, /, out: None = None, *, threads: int | None = None) -> bool: ...
@overload
def is_finite(x: _T, /, out: None = None, *, threads: int | None = None) -> _T: ...
@overload
def is_finite(
    x: _Array, /, out: None = None, *, threads: int | None = None
) -> npt.NDArray[np.bool_]: ...
@overload
def is_finite(x: _Array | float, /, out: _Out, *, threads: int | None = None) -> _Out: ...
@overload
def nan_to_num(
    x: float, copy: bool = True, nan: float = 0.0, posinf: float | None = None,
    neginf: float | None = None,
) -> float: ...
@overload
def nan_to_num(
    x: Sequence[Any], copy: bool = True, nan: float = 0.0, posinf: float | None = None,
    neginf: float | None = None,
) -> npt.NDArray[Any]: ...
@overload
def nan_to_num(
    x: _X, copy: bool = True, nan: float = 0.0, posinf: float | None = None,
    neginf: float | None = None,
) -> _X: ...
def unscale_and_check(x: _Array, factor: float, /) -> bool: ...

# The checker of files, for the modules of this package.
_Path = str | PathLike[str]
_Options = dict[str, Any]
_Progress = bool | Callable[[int, int], object]

@final
class Document:
    def __new__(cls, json: str, page: str, status: int) -> Document: ...
    @property
    def status(self) -> int: ...
    def json(self) -> str: ...
    def page(self) -> str: ...
    def file(self, number: int) -> Document | None: ...

def check_paths(paths: Sequence[_Path], options: _Options, progress: _Progress) -> Document: ...
def check_one(path: _Path, options: _Options, progress: _Progress) -> Document: ...
def lint_paths(paths: Sequence[_Path], options: _Options, progress: _Progress) -> Document: ...
def list_files(paths: Sequence[_Path], options: _Options) -> list[str]: ...
def tally_file(path: _Path, options: _Options) -> str | None: ...
def merge_paths(
    paths: Sequence[_Path], found: Mapping[str, str], options: _Options
) -> Document: ...
def run_command(arguments: Sequence[str]) -> int: ...
