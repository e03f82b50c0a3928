# mypy: disable-error-code="import-untyped,no-any-return"
"""What the native module refuses: tensors on a GPU, collections, and columns of other libraries."""

import sys
from collections.abc import Callable, Iterable, ItemsView, Iterator, Mapping, ValuesView
from typing import Any

import nonfinite as nf

_QUESTIONS: dict[str, tuple[Callable[..., Any], Callable[[Iterable[Any]], Any]]]
_QUESTIONS = {"any": (nf.any, any), "all": (nf.all, all), "count_nonzero": (nf.count, sum)}


def _parts(x: Any) -> Iterable[Any] | None:
    """Pairs of the keys and parts of a collection or a table. None for everything else."""
    kind = type(x)  # A mock has all attributes, its type has not.
    if hasattr(kind, "itercolumns"):  # pyarrow
        return zip(x.column_names, x.itercolumns(), strict=True)
    if hasattr(kind, "iter_columns"):  # Polars
        return zip(x.columns, x.iter_columns(), strict=True)
    if isinstance(x, Mapping) or (hasattr(kind, "iloc") and x.ndim == 2):  # pandas
        return x.items()
    if isinstance(x, (Iterator, ValuesView, list, tuple)):
        return (part if _has_name(part) else (i, part) for i, part in enumerate(x))
    return x if isinstance(x, ItemsView) else None


def _has_name(part: Any) -> bool:
    """Whether the part is a pair as those of `named_parameters()`."""
    return isinstance(part, tuple) and len(part) == 2 and isinstance(part[0], str)


def answer(x: Any, question: str, name: str, threads: int | None) -> Any:
    """What all parts of x together answer. None if x has no parts, and is no tensor elsewhere.

    A part that is None, such as a gradient that does not exist, counts for nothing.
    """
    torch = sys.modules.get("torch")
    if torch and isinstance(x, torch.Tensor):
        from nonfinite import _away

        return None if question == "assert_finite" else _away.answer(x, question, name)
    if (parts := _parts(x)) is None:
        return None

    def ask(key: Any, part: Any) -> Any:
        try:
            if question == "assert_finite":
                return nf.assert_finite(part, f"{name}[{key!r}]", threads=threads)
            return _QUESTIONS[question][0](part, name, threads=threads)
        except Exception as error:
            if not isinstance(error, (nf.NonFiniteError, RecursionError)):
                error.add_note(f"This is about the part {key!r} of x.")
            raise

    join = _QUESTIONS[question][1] if question in _QUESTIONS else list
    return join(ask(key, part) for key, part in parts if part is not None)


def array(x: Any) -> Any:
    """A column as an array of Arrow if it has nulls of its own, else as what numpy reads.

    Nulls of pandas are those of its own arrays: NaN in an array of numpy is a number there.
    """
    is_frame = hasattr(type(x), "iloc") and x.ndim == 2
    if is_frame and not any(hasattr(dtype, "na_value") for dtype in x.dtypes):
        return x
    if _parts(x) is not None:
        raise TypeError("x is a table: ask about one column, such as x['name']")
    x = x.array if hasattr(type(x), "array") else x  # A Series or an Index of pandas.
    if hasattr(x, "__arrow_array__"):
        x = x.__arrow_array__()
    if not hasattr(x, "__arrow_c_stream__"):
        return x
    import pyarrow

    chunks = pyarrow.chunked_array(x)
    return chunks.chunk(0) if chunks.num_chunks == 1 else chunks.combine_chunks()
