"""Collections, tables and columns: dicts, iterators, torch's names, pyarrow, Polars, pandas."""

from __future__ import annotations

import itertools
import re
from collections import OrderedDict, namedtuple
from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch

import nonfinite as nf

NAN, INF = float("nan"), float("inf")
GOOD, BAD = np.ones(2), np.array([1, NAN, INF, -INF])
State = namedtuple("State", "count mu")
MODEL = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.Linear(1, 4))
with torch.no_grad():
    MODEL[1].bias.copy_(torch.tensor(BAD))
    MODEL[1].bias.grad = MODEL[1].bias.clone()
# NaN of pandas' own arrays beside a null.
MASKED = pd.arrays.FloatingArray(BAD, np.array([False, False, False, True]))
NULLS = pa.array([1, NAN, INF, None])
FRAME = pd.DataFrame({"a": np.float32([1, 2, 3, 4]), "b": MASKED, "c": [True, False, True, True]})
# What has parts, the finite elements of it, whether it has a -Inf, and the name of its bad part.
COLLECTIONS: dict[str, tuple[Callable[[], Any], int, bool, str]] = {
    "dict": (lambda: {"a": GOOD, "b": BAD}, 3, True, "x['b']"),
    "inside": (lambda: {"a": [GOOD, {"b": BAD}], "c": 1.0}, 4, True, "x['a'][1]['b']"),
    "keys": (lambda: OrderedDict({1: GOOD, (2, 3): BAD}).items(), 3, True, "x[(2, 3)]"),
    "values": (lambda: {"a": GOOD, "b": BAD}.values(), 3, True, "x[1]"),
    "generator": (lambda: (x for x in (None, GOOD, BAD)), 3, True, "x[2]"),
    "list": (lambda: [GOOD, None, torch.tensor(BAD)], 3, True, "x[2]"),
    "columns": (lambda: [NULLS, NULLS[3:], pd.Series(MASKED)[:1]], 2, False, "x[0]"),
    "tuple": (lambda: State(np.int32(3), {"w": BAD}), 2, True, "x[1]['w']"),
    "numbers": (lambda: iter([1, 2.5, NAN]), 2, False, "x[2]"),
    "state_dict": (lambda: MODEL.state_dict(), 7, True, "x['1.bias']"),
    "parameters": (lambda: MODEL.parameters(), 7, True, "x[3]"),
    "named_parameters": (lambda: MODEL.named_parameters(), 7, True, "x['1.bias']"),
    "all named": (lambda: list(MODEL.named_parameters()), 7, True, "x['1.bias']"),
    "gradients": (lambda: (p.grad for p in MODEL.parameters()), 1, True, "x[3]"),
    "Table": (lambda: pa.table({"a": [1, None, 3, 4], "b": NULLS}), 4, False, "x['b']"),
    "same names": (lambda: pa.table([[1.0], [NAN]], names=["b", "b"]), 1, False, "x['b']"),
    "RecordBatch": (lambda: pa.record_batch({"a": [1.0] * 4, "b": NULLS}), 5, False, "x['b']"),
    "polars": (lambda: pl.DataFrame({"a": range(4), "b": NULLS}), 5, False, "x['b']"),
    "pandas": (lambda: FRAME, 9, False, "x['b']"),
    "pandas bool": (lambda: pd.DataFrame({"a": [True], "b": [NAN]}), 1, False, "x['b']"),
    "pandas numpy": (lambda: pd.DataFrame({"a": GOOD, "b": [NAN, 1]}), 3, False, "x"),
    "chunks": (lambda: pa.chunked_array([[1.0], NULLS]), 2, False, "x"),
}


@pytest.mark.parametrize("case", COLLECTIONS)
def test_one_answer_about_all_parts(case: str) -> None:
    make, finite, negative, first = COLLECTIONS[case]
    nan_only = case in ("numbers", "same names", "pandas bool", "pandas numpy")
    assert nf.all_finite(make()) is False and nf.all_finite(make(), threads=2) is False
    assert nf.any_nan(make()) is True and nf.any_inf(make()) is not nan_only
    assert nf.count(make(), "nan") == 1 and nf.count(make(), "finite", threads=2) == finite
    assert nf.count(make(), "inf") == (not nan_only) + negative
    assert nf.any(make(), "-inf") is negative
    with pytest.raises(nf.NonFiniteError) as error:
        nf.assert_finite(make())
    assert str(error.value).startswith(f"{first}: ") and error.value.census.nan.count == 1
    with pytest.raises(nf.NonFiniteError, match="^model" + re.escape(f"{first[1:]}: ")):
        nf.assert_finite(make(), name="model", threads=2)


def test_finite_collections() -> None:
    for make in (dict, list, lambda: iter([]), lambda: {"a": GOOD, "b": None}):
        assert nf.all_finite(make()) is True and nf.any_nan(make()) is False
        assert nf.count(make(), "nan") == 0 and nf.assert_finite(make()) is None


def test_wrong_parts() -> None:
    loop: dict[str, Any] = {"w": GOOD}
    loop["self"] = loop
    with pytest.raises(RecursionError):
        nf.all_finite(loop)
    for ask in (nf.all_finite, nf.assert_finite, lambda x: nf.count(x, "nan")):
        with pytest.raises(TypeError, match="x is of the type str") as error:
            ask({"w": GOOD, "inside": {"name": "llama"}})
        parts = ["'name'", "'inside'"]
        assert error.value.__notes__ == [f"This is about the part {part} of x." for part in parts]
        for wrong in ({GOOD.size}, MODEL, Mock(), pd.DataFrame, dict):
            with pytest.raises(TypeError, match="no array.* such as model.state_dict"):
                ask(wrong)
    for x, threads in itertools.product((1.0, {}, [1.0], {"w": GOOD}), (-1, 1025)):
        with pytest.raises(ValueError, match=f"threads={threads}, and must be from 0") as error:
            nf.all_finite(x, threads=threads)
        assert not hasattr(error.value, "__notes__")
    for one in (nf.census, nf.stats, nf.is_nan, lambda x: nf.any(x, "nan", axis=0)):
        for make in ("dict", "parameters"):
            with pytest.raises(TypeError, match="no array.* assert_finite also take dicts"):
                one(COLLECTIONS[make][0]())
        for make in ("Table", "polars", "pandas"):
            with pytest.raises(TypeError, match="one column"):
                one(COLLECTIONS[make][0]())


# Each stands for 1, NaN, +Inf and a null. Integers and bool stand for two of each.
COLUMNS: dict[str, Any] = {
    "pandas, own": pd.Series(MASKED),
    "pandas, f32": pd.Series(MASKED, dtype="Float32"),
    "pandas, Arrow": pd.Series(pd.arrays.ArrowExtensionArray(NULLS)),
    "pandas, array": MASKED,
    "pandas, index": pd.Index(MASKED),
    "pandas, column": FRAME["b"],
    "chunk": pa.chunked_array([NULLS]),
    "chunks": pa.chunked_array([NULLS[:1], NULLS[1:]]),
    "polars": pl.Series(NULLS),
    "polars, chunks": pl.concat([pl.Series(NULLS[:3]), pl.Series(NULLS[3:])], rechunk=False),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_with_nulls(name: str) -> None:
    x = COLUMNS[name]
    assert nf.is_nan(x).tolist() == [False, True, False, False]
    assert nf.is_finite(x).tolist() == [True, False, False, False]
    assert (nf.position(x, "nan"), nf.position(x, "inf", axis=0)) == ((1,), 2)
    assert nf.census(x).total == 2 and nf.stats(x).finite == 1
    assert nf.all_finite(x) is False and nf.all_finite(x[:1]) is True and nf.all_finite(x[3:])
    assert nf.any(x, "nan", axis=(0,), keepdims=True).tolist() == [True]
    with pytest.raises(nf.NonFiniteError, match=r"x: 2 of 4 .*\(f\d\d, shape \[4\]\)"):
        nf.assert_finite(x)


def test_other_columns() -> None:
    for x in (pd.Series([1, None], dtype="Int64"), pd.array([True, None])):
        assert nf.all_finite(x) is True and nf.is_finite(x).tolist() == [True, False]
    with pytest.raises(TypeError, match="Arrow format") as error:
        nf.all_finite(pd.DataFrame({"a": [1.0], "b": pd.array(["text"], dtype="string")}))
    assert error.value.__notes__ == ["This is about the part 'b' of x."]
