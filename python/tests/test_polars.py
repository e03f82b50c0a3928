"""The namespace of Polars' expressions."""

from __future__ import annotations

import polars as pl
import pytest

import nonfinite.polars  # noqa: F401

NAN, INF = float("nan"), float("inf")
VALUES = [1.0, None, NAN, INF, -INF, 2.0]
GROUPS = ["a", "a", "a", "b", "b", "c"]


@pytest.fixture(params=["one chunk", "two chunks"])
def frame(request: pytest.FixtureRequest) -> pl.DataFrame:
    whole = pl.DataFrame({"g": GROUPS, "x": VALUES})
    if request.param == "one chunk":
        return whole
    halves = pl.concat([whole[:2], whole[2:]], rechunk=False)
    assert halves.n_chunks() == 2
    return halves


@pytest.mark.parametrize("dtype", [pl.Float32, pl.Float64])
def test_masks(frame: pl.DataFrame, dtype: type[pl.DataType]) -> None:
    x = pl.col("x").cast(dtype).nonfinite
    got = frame.select(n=x.is_nan(), i=x.is_inf(), f=x.is_finite(), p=x.mask("+inf"))
    assert got["n"].to_list() == [False, None, True, False, False, False]
    assert got["i"].to_list() == [False, None, False, True, True, False]
    assert got["f"].to_list() == [True, None, False, False, False, True]
    assert got["p"].to_list() == [False, None, False, True, False, False]
    assert got.dtypes == [pl.Boolean] * 4


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_groups(frame: pl.DataFrame, engine: pl._typing.EngineType) -> None:
    x = pl.col("x").nonfinite
    answers = {"nan": x.count("nan"), "any": x.any("inf"), "all": x.all("finite")}
    groups = frame.lazy().group_by("g").agg(**answers).sort("g").collect(engine=engine)
    assert groups["nan"].to_list() == [1, 0, 0]
    assert groups["any"].to_list() == [False, True, False]
    assert groups["all"].to_list() == [False, False, True]
    whole = frame.lazy().select(**answers).collect(engine=engine)
    assert whole.row(0) == (1, True, False)
    bad = frame.lazy().filter(x.mask("non-finite")).select("x").collect(engine=engine)
    assert str(bad["x"].to_list()) == "[nan, inf, -inf]"
    assert frame.select(x.count("non-finite").over("g"))["x"].to_list() == [1, 1, 1, 2, 2, 0]


def test_other_columns() -> None:
    empty = pl.DataFrame({"x": []}, schema={"x": pl.Float32}).select(
        n=pl.col("x").nonfinite.count("nan"), m=pl.col("x").nonfinite.all("finite")
    )
    assert empty.row(0) == (0, True)
    nulls = pl.DataFrame({"x": [None, None]}, schema={"x": pl.Float64})
    assert nulls.select(pl.col("x").nonfinite.is_nan())["x"].to_list() == [None, None]
    integers = pl.DataFrame({"x": [1, None]})
    assert integers.select(pl.col("x").nonfinite.is_finite())["x"].to_list() == [True, None]
    with pytest.raises(ValueError, match="no predicate: pass one of"):
        pl.col("x").nonfinite.count("NaN")
    with pytest.raises((TypeError, pl.exceptions.PolarsError), match="Arrow format"):
        pl.DataFrame({"x": ["a"]}).select(pl.col("x").nonfinite.is_nan())
