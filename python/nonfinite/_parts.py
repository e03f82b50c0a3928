# mypy: disable-error-code="import-untyped"
"""Collections, and columns and tables of other libraries, for the native module, which reads one
array at a time."""

from collections.abc import Callable, Iterable, ItemsView, Iterator, Mapping, ValuesView
from typing import Any

import nonfinite as nf

_QUESTIONS: dict[str, tuple[Callable[..., Any], Callable[[Iterable[Any]], Any]]]
_QUESTIONS = {"any": (nf.any, any), "all": (nf.all, all), "count_nonzero": (nf.count, sum)}


def _parts(x: Any) -> Iterable[tuple[Any, Any]] | None:
    """Each part of a collection or a table with its key. None for everything else."""
    if isinstance(x, type):
        return None
    if isinstance(x, Mapping):
        return x.items()
    if hasattr(x, "column_names"):  # pyarrow
        return zip(x.column_names, x.columns, strict=True)
    if hasattr(x, "iter_columns"):  # Polars
        return zip(x.columns, x.iter_columns(), strict=True)
    if hasattr(x, "iloc") and x.ndim == 2:  # pandas
        items: Iterable[tuple[Any, Any]] = x.items()
        return items
    if isinstance(x, ItemsView):
        return x
    if isinstance(x, (Iterator, ValuesView, list, tuple)):
        return (part if _has_name(part) else (i, part) for i, part in enumerate(x))
    return None


def _has_name(part: Any) -> bool:
    """Whether the part is a pair as those of `named_parameters()`."""
    return isinstance(part, tuple) and len(part) == 2 and isinstance(part[0], str)


def _asked(parts: Iterable[tuple[Any, Any]], ask: Callable[[Any, Any], Any]) -> Iterator[Any]:
    """The answers about parts that are not None, such as gradients that do not exist."""
    for key, part in parts:
        if part is not None:
            try:
                yield ask(key, part)
            except Exception as error:
                if not isinstance(error, nf.NonFiniteError):
                    error.add_note(f"This is about the part {key!r} of x.")
                raise


def answer(x: Any, question: str, predicate: str, threads: int | None) -> Any:
    """What all parts together answer. None if x has no parts."""
    if (parts := _parts(x)) is None:
        return None
    ask, join = _QUESTIONS[question]
    return join(_asked(parts, lambda _, part: ask(part, predicate, threads=threads)))


def assert_finite(x: Any, name: str, threads: int | None) -> bool:
    """Raises NonFiniteError for the first bad part. Returns whether x has parts."""
    if (parts := _parts(x)) is None:
        return False

    def ask(key: Any, part: Any) -> None:
        nf.assert_finite(part, f"{name}[{key!r}]", threads=threads)

    for _ in _asked(parts, ask):
        pass
    return True


def array(x: Any) -> Any:
    """A column as an array of Arrow if it has nulls of its own, else as what numpy reads.

    Nulls of pandas are those of its own arrays: NaN in an array of numpy is a number there.
    """
    is_frame = hasattr(x, "iloc") and x.ndim == 2
    if is_frame and not any(hasattr(dtype, "na_value") for dtype in x.dtypes):
        return x
    if _parts(x) is not None:
        raise TypeError("x is a table: ask about one column, such as x['name']")
    x = getattr(x, "array", x)  # A Series or an Index of pandas.
    if hasattr(x, "__arrow_array__"):
        x = x.__arrow_array__()
    if not hasattr(x, "__arrow_c_stream__"):
        return x
    import pyarrow

    chunks = pyarrow.chunked_array(x)
    return chunks.chunk(0) if chunks.num_chunks == 1 else chunks.combine_chunks()
