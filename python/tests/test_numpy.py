"""Arrays of numpy and ml_dtypes against the oracle, over dtypes, layouts and byte orders."""

from __future__ import annotations

import copy
import importlib.metadata
import itertools
import math
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from conftest import DTYPES
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import PREDICATES, expected, first

import nonfinite as nf

NAN, INF = float("nan"), float("inf")


def bits_of(dtype: np.dtype) -> np.dtype:
    return np.dtype(f"u{dtype.itemsize}")


@st.composite
def arrays(draw: st.DrawFn, most_dimensions: int = 4) -> np.ndarray:
    """An array of any dtype, layout and byte order, with many specials."""
    dtype = draw(st.sampled_from(DTYPES))
    rank = draw(st.integers(0, most_dimensions))
    shape = tuple(draw(st.integers(0, 7)) for _ in range(rank))
    steps = [draw(st.sampled_from([1, 1, 2, 3, -1, -2])) for _ in range(rank)]
    whole = tuple(size * abs(step) for size, step in zip(shape, steps))
    seed = draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    codes = random.integers(0, 256, size=(*whole, dtype.itemsize), dtype=np.uint8)
    x = np.ascontiguousarray(codes).view(bits_of(dtype)).reshape(whole)
    mask = {"float4_e2m1fn": 0xF, "float6_e2m3fn": 0x3F, "float6_e3m2fn": 0x3F}.get(dtype.name)
    if mask is not None:
        x = x & np.uint8(mask)
    x = x.view(dtype)
    # Random codes of wide formats are rarely special.
    names = [v for v in (np.nan, np.inf, -np.inf) if dtype.itemsize > 1]
    specials = random.choice([1.0, *names], size=whole).astype(dtype)
    x = np.where(random.random(whole) < draw(st.sampled_from([0.0, 0.02, 0.5])), specials, x)
    # The ellipsis keeps an array of 0 dimensions an array.
    x = x[(..., *(slice(None, None, step) for step in steps))]
    if draw(st.booleans()):
        x = x.T
    if dtype.itemsize > 1 and dtype.kind == "f" and draw(st.booleans()):
        x = x.astype(x.dtype.newbyteorder())
    assert x.dtype.newbyteorder("=") == dtype
    return x


def axes_of(x: np.ndarray) -> list[int | tuple[int, ...] | None]:
    """All axes, and all sets of them, in turn as positive and negative numbers."""
    sets = [c for n in range(x.ndim + 1) for c in itertools.combinations(range(x.ndim), n)]
    mixed = [tuple(axis - x.ndim * (i % 2) for i, axis in enumerate(each[::-1])) for each in sets]
    return [None, *range(-x.ndim, x.ndim), *mixed]


def rows_along(x: np.ndarray, axes: int | tuple[int, ...] | None) -> np.ndarray:
    """The elements with the rows along some axes as the last dimension."""
    several = range(x.ndim) if axes is None else axes if isinstance(axes, tuple) else (axes,)
    order = sorted(axis % x.ndim for axis in several)
    moved = np.moveaxis(x, order, range(x.ndim - len(order), x.ndim))
    kept = moved.shape[: x.ndim - len(order)]
    return moved.reshape(*kept, math.prod(moved.shape[x.ndim - len(order) :]))


def first_along(mask: np.ndarray, axes: int | tuple[int, ...] | None) -> np.ndarray:
    """The index of the first True along each row, or -1."""
    rows = rows_along(mask, axes)
    if rows.shape[-1] == 0:
        return np.full(rows.shape[:-1], -1)
    return np.where(rows.any(-1), rows.argmax(-1), -1)


@settings(max_examples=400, deadline=None)
@given(arrays(), st.sampled_from(list(PREDICATES)))
def test_answers(x: np.ndarray, predicate: str) -> None:
    want = expected(x, predicate)
    got = nf.mask(x, predicate)
    if x.ndim == 0:
        assert got is bool(want)
    else:
        assert type(got) is np.ndarray and got.dtype == bool
        assert np.array_equal(got, want)
    out = np.full(x.shape, 7, np.uint8).view(bool)
    assert nf.mask(x, predicate, out=out) is out
    assert np.array_equal(out.view(np.uint8), want.view(np.uint8))
    assert nf.any(x, predicate) is bool(want.any())
    assert nf.all(x, predicate) is bool(want.all())
    assert nf.count(x, predicate) == want.sum()
    assert nf.position(x, predicate) == first(want)
    for axis, keep in itertools.product(axes_of(x), (False, True)):
        how = {"axis": axis, "keepdims": keep}
        shape = np.any(want, **how).shape
        assert np.array_equal(nf.any(x, predicate, **how), np.any(want, **how))
        assert np.array_equal(nf.all(x, predicate, **how), np.all(want, **how))
        assert np.array_equal(nf.count(x, predicate, **how), np.sum(want, **how))
        if axis is not None or keep:
            found = nf.position(x, predicate, **how)
            assert np.array_equal(found, first_along(want, axis).reshape(shape))


@settings(max_examples=200, deadline=None)
@given(arrays())
def test_named_questions(x: np.ndarray) -> None:
    nan, finite = expected(x, "nan"), expected(x, "finite")
    assert nf.all_finite(x) is bool(finite.all())
    assert nf.any_nan(x) is bool(nan.any())
    assert nf.any_inf(x) is bool(expected(x, "inf").any())
    assert np.array_equal(nf.is_nan(x), nan)
    assert np.array_equal(nf.is_inf(x), expected(x, "inf"))
    assert np.array_equal(nf.is_finite(x), finite)
    census = nf.census(x)
    for got, name in [(census.nan, "nan"), (census.pos_inf, "+inf"), (census.neg_inf, "-inf")]:
        want = expected(x, name)
        assert (got.count, got.first) == (want.sum(), first(want))
    assert census.total == (~finite).sum()
    if finite.all():
        nf.assert_finite(x)
    else:
        with pytest.raises(nf.NonFiniteError) as error:
            nf.assert_finite(x, name="gradient")
        assert str(error.value).startswith(f"gradient: {census.total} of {x.size} element")
        assert error.value.census == census


def test_an_error_with_a_census_is_pickled() -> None:
    """As by a process of `concurrent.futures`."""
    with pytest.raises(nf.NonFiniteError) as error:
        nf.assert_finite(np.array([[1, np.nan], [np.nan, -np.inf]]))
    wanted = nf.Census(
        nan=nf.Occurrences(2, (0, 1)),
        pos_inf=nf.Occurrences(count=0, first=None),
        neg_inf=nf.Occurrences(1, first=[1, 1]),
    )
    found = pickle.loads(pickle.dumps(error.value))
    assert str(found) == str(error.value) and found.census == wanted
    assert hash(found.census) == hash(wanted) and repr(found.census) == repr(wanted)
    assert found.census.total == 3 and found.census and not found.census.pos_inf
    assert wanted != nf.Census(wanted.nan, wanted.neg_inf, wanted.pos_inf)
    for count, place in [(-1, None), (1, (-1,)), (1.5, None), (1, "0")]:
        with pytest.raises((OverflowError, TypeError)):
            nf.Occurrences(count, place)
    with pytest.raises(TypeError):
        nf.Census(1, 0, 0)


ANSWERS = [
    nf.stats(np.float32([[1, NAN], [-2, INF], [0, 1e-42]])), nf.stats(np.zeros(0)),
    nf.stats(np.float64([-0.0])), nf.census(np.array([NAN])), nf.Occurrences(2**40, (1, 2)),
]  # fmt: skip


def test_answers_are_copied_pickled_and_hashed() -> None:
    answers = [*ANSWERS, *(each.max for each in ANSWERS[:3])]
    protocols = range(pickle.HIGHEST_PROTOCOL + 1)
    ways = [lambda x, n=n: pickle.loads(pickle.dumps(x, n)) for n in protocols]
    for answer, way in itertools.product(answers, [copy.copy, copy.deepcopy, *ways]):
        found = way(answer)
        assert type(found) is type(answer) and repr(found) == repr(answer)
        assert found == answer and hash(found) == hash(answer) and len({found, answer}) == 1
    assert len({*answers}) == len(answers)
    assert nf.Extreme(value=1.0, bits=3, first=[1, 2]).first == (1, 2)


def test_names_of_numpy() -> None:
    assert (nf.isnan, nf.isinf, nf.isfinite) == (nf.is_nan, nf.is_inf, nf.is_finite)
    assert np.array_equal(nf.isnan(np.array([1, NAN])), [False, True])
    assert nf.__version__ == importlib.metadata.version("nonfinite") and "isnan" in dir(nf)


@settings(max_examples=200, deadline=None)
@given(arrays())
def test_stats(x: np.ndarray) -> None:
    stats = nf.stats(x)
    with np.errstate(all="ignore"):
        wide = np.asarray(x).astype(np.float64)
    finite = np.isfinite(wide)
    assert stats.finite == finite.sum()
    assert stats.zeros == (wide == 0).sum()
    assert stats.finite == stats.zeros + stats.subnormals + stats.normals
    if not finite.any():
        assert stats.min is None and stats.max is None and stats.max_abs is None
        return
    for got, want in [
        (stats.min, np.where(finite, wide, np.inf).min()),
        (stats.max, np.where(finite, wide, -np.inf).max()),
    ]:
        assert got.value == want
        assert got.first == first(np.asarray(wide == want))
    assert stats.max_abs.value == np.where(finite, abs(wide), -1).max()


@settings(max_examples=100, deadline=None)
@given(arrays())
def test_records_of_rows(x: np.ndarray) -> None:
    """Each record says what the row alone says."""
    for axis in axes_of(x)[1:]:
        rows = rows_along(x, axis)
        census, stats = nf.census(x, axis=axis), nf.stats(x, axis=axis)
        assert census.shape == stats.shape == rows.shape[:-1]
        assert census.dtype.fields is not None
        kept = nf.census(x, axis=axis, keepdims=True)
        assert kept.shape == np.any(x == x, axis=axis, keepdims=True).shape
        assert np.array_equal(kept.ravel(), census.ravel())
        for i in np.ndindex(rows.shape[:-1]):
            check_record(census[i], nf.census(rows[i]))
            check_record(stats[i], nf.stats(rows[i]))


def check_record(record: np.void, answer: object) -> None:
    """Compares the fields with the attributes of the same names."""
    for name in record.dtype.names:
        got, want = record[name], getattr(answer, name, None)
        if record.dtype[name].names is not None and want is not None:
            check_record(got, want)
        elif want is None and name != "first":
            value, bits, index = got.item()
            assert np.isnan(value) and (bits, index) == (0, -1)
        elif name == "first":
            assert got == (-1 if want is None else want[0])
        else:
            assert got == want


@pytest.mark.parametrize("threads", [0, 1, 2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16], ids=lambda d: d.__name__)
def test_threads(threads: int, dtype: type) -> None:
    x = np.ones((1500, 1500), dtype)
    x[1203, 5], x[1300, 1499], x[7, 7] = np.nan, np.inf, -np.inf
    for view in (x, x[::2, ::-1], x.T):
        want = expected(view, "finite")
        assert np.array_equal(nf.is_finite(view, threads=threads), want)
        assert nf.count(view, "finite", threads=threads) == want.sum()
        assert nf.position(view, "nan", threads=threads) == first(expected(view, "nan"))
        rows = nf.count(view, "non-finite", axis=1, threads=threads)
        assert np.array_equal(rows, (~want).sum(1))
        assert nf.census(view, threads=threads) == nf.census(view)


@pytest.mark.parametrize("dtype", ["?", "b", "B", "h", "i", "l", "q", "Q"])
def test_integers_are_finite(dtype: str) -> None:
    x = np.arange(6).astype(dtype).reshape(2, 3)[::-1, ::2]
    assert nf.all_finite(x) is True and nf.any_nan(x) is False
    assert nf.is_finite(x).all() and not nf.is_nan(x).any()
    assert np.array_equal(nf.count(x, "finite", axis=0), [2, 2])
    assert nf.position(x, "finite") == (0, 0) and nf.position(x, "nan") is None
    with pytest.raises(TypeError, match="integers"):
        nf.stats(x)


def test_records_with_odd_strides() -> None:
    records = np.zeros(5, dtype=[("tag", "u1"), ("value", "<f4"), ("other", ">f8")])
    records["value"] = [1, np.nan, np.inf, -np.inf, 2]
    records["other"] = [np.nan, 1, 2, np.inf, 3]
    assert records["value"].strides == (13,)
    assert np.array_equal(nf.is_finite(records["value"]), [1, 0, 0, 0, 1])
    assert nf.position(records["other"], "inf") == (3,)


def test_broadcast_and_read_only() -> None:
    x = np.broadcast_to(np.float32([1, np.nan]), (1000, 2))
    assert nf.count(x, "nan") == 1000 and nf.position(x, "nan") == (0, 1)
    assert np.array_equal(nf.any(x, "nan", axis=0), [False, True])
    huge = np.broadcast_to(np.float32(1), (1 << 40,))
    assert nf.position(huge[:10], "nan") is None


@pytest.mark.parametrize("size", [1 << 50, (1 << 60) - 1])
def test_a_copy_larger_than_memory(size: int) -> None:
    x = np.broadcast_to(np.array([1.0], ">f8"), (size,))
    with pytest.raises(MemoryError, match=f"{8 * size} bytes"):
        nf.all_finite(x)


def test_many_dimensions() -> None:
    x = np.zeros((1,) * 30 + (2, 3), np.float32)
    x[..., 1, 2] = np.nan
    assert nf.position(x, "nan") == (0,) * 30 + (1, 2)
    assert np.array_equal(nf.is_nan(x), np.isnan(x))
    assert np.array_equal(nf.any(x, "nan", axis=-1), np.isnan(x).any(-1))


class TestOut:
    x = np.float32([[1, np.nan], [np.inf, 2]])

    def test_strided(self) -> None:
        whole = np.zeros((4, 4), bool)
        out = whole[::2, ::-2]
        assert nf.mask(self.x, "finite", out) is out
        assert np.array_equal(out, [[True, False], [False, True]])
        assert whole.sum() == 2

    def test_other_memory(self) -> None:
        out = memoryview(bytearray(4)).cast("?", (2, 2))
        assert nf.is_nan(self.x, out=out) is out
        assert out.tolist() == [[False, True], [False, False]]

    @pytest.mark.parametrize(
        ("out", "error", "message"),
        [
            (np.zeros((2, 2), np.uint8), TypeError, "no array of bool"),
            (np.zeros((2, 2), np.float32), TypeError, "no array of bool"),
            (np.zeros((2, 3), bool), ValueError, "shape"),
            (np.zeros(4, bool), ValueError, "shape"),
            (np.broadcast_to(np.zeros(2, bool), (2, 2)), ValueError, "read-only"),
            (memoryview(bytes(4)).cast("?", (2, 2)), ValueError, "read-only"),
            ([0, 0, 0, 0], TypeError, "no array of bool"),
            ([[False, False], [False, False]], ValueError, "read-only"),
            (True, TypeError, "no array of bool"),
            ("out", TypeError, "out is of the type str, which is no array of bool"),
            (bytearray(4), TypeError, "out is of the type bytearray, which is no array of bool"),
        ],
    )
    def test_wrong(self, out: object, error: type[Exception], message: str) -> None:
        before = repr(out)
        with pytest.raises(error, match=message):
            nf.mask(self.x, "nan", out)
        assert repr(out) == before

    def test_overlap(self) -> None:
        memory = np.zeros(64, np.uint8)
        x, out = memory[:16].view(np.float32), memory[12:16].view(bool)
        with pytest.raises(ValueError, match="shares memory"):
            nf.mask(x, "nan", out)
        assert nf.mask(x, "finite", memory[16:20].view(bool)).all()

    def test_overlap_with_elements_that_are_copied(self) -> None:
        memory = np.zeros(20, np.uint8)
        swapped = memory[:16].view(">f4")
        odd = memory.view([("tag", "u1"), ("value", "<f4")])["value"]
        for x in (swapped, odd):
            with pytest.raises(ValueError, match="shares memory"):
                nf.is_finite(x, out=memory[4:8].view(bool))
        assert not memory.any()
        assert nf.is_finite(swapped, out=memory[16:].view(bool)).all()

    def test_scalar(self) -> None:
        with pytest.raises(ValueError, match="read-only"):
            nf.is_nan(float("nan"), out=np.bool_(False))
        out = np.array(False)
        assert nf.is_nan(float("nan"), out=out) is out and out

    def test_results_on_one_place(self) -> None:
        out = np.lib.stride_tricks.as_strided(np.zeros(1, bool), (2, 2), (0, 0))
        with pytest.raises(ValueError):
            nf.mask(self.x, "nan", out)


class TestWrong:
    @pytest.mark.parametrize(
        ("x", "message"),
        [
            (np.array([1.0, None], object), "astype"),
            (np.zeros(3, np.complex64), "real and imaginary"),
            (np.zeros(3, np.longdouble), "astype"),
            (np.array(["a"]), "dtype"),
            (np.array([b"a"]), "dtype"),
            (np.zeros(3, "M8[s]"), "isnat"),
            (np.zeros(3, [("a", "f4")]), "one field"),
            (np.ma.masked_invalid([1.0, np.nan]), "masked"),
            ("abc", "no array"),
            (b"abcd", "raw bytes"),
            (bytearray(8), "raw bytes"),
            (None, "no array"),
            (object(), "no array"),
            (1j, "complex"),
            ({1.0}, "no array"),
            (np.float32, "no array"),
            (np, "no array"),
        ],
        ids=lambda value: type(value).__name__,
    )
    def test_type(self, x: object, message: str) -> None:
        for ask in (nf.all_finite, nf.is_nan, nf.census, nf.assert_finite, nf.stats):
            with pytest.raises(TypeError, match=message):
                ask(x)
        with pytest.raises(TypeError, match=message):
            nf.any(x, "nan", axis=0)

    def test_predicate_and_axis(self) -> None:
        x = np.zeros((2, 3))
        stub = Path(nf.__file__).with_name("_native.pyi").read_text()
        [literal] = re.findall(r"_Predicate = Literal\[(.*?)\]", stub, re.DOTALL)
        for wrong in ("nah", "isFINITE", "NaN", "nan ", "", "exceeds 1", np.isnan, None, b"nan"):
            kind = ValueError if isinstance(wrong, str) else TypeError
            with pytest.raises(kind, match="no (predicate|string): pass one of ") as error:
                nf.mask(x, wrong)
            names = set(re.findall(r'"([^"]+)"', str(error.value).split("one of")[1]))
            assert names == set(re.findall(r'"([^"]+)"', literal)) == set(PREDICATES)
        for axis in (2, -3, 1 << 62):
            with pytest.raises(ValueError, match="2 dimensions"):
                nf.any(x, "nan", axis=axis)
            for ask in (nf.census, nf.stats, lambda x, axis: nf.position(x, "nan", axis=axis)):
                with pytest.raises(ValueError, match="axis"):
                    ask(x, axis=axis)
        with pytest.raises(ValueError, match="0 dimensions"):
            nf.count(1.0, "nan", axis=0)
        for axis in ((0, 0), (1, -1)):
            with pytest.raises(ValueError, match="duplicate value in axis"):
                nf.all(x, "nan", axis=axis)
        for wrong in ("0", 1.0, True, (0, "1"), (0, True), [0, 1], (None,)):
            with pytest.raises(TypeError, match="integer"):
                nf.count(x, "nan", axis=wrong)

    def test_class_that_lies(self) -> None:
        class Liar:
            __class__ = np.ndarray

        with pytest.raises(TypeError):
            nf.all_finite(Liar())


def test_subclass() -> None:
    class Own(np.ndarray):
        pass

    x = np.float32([1, np.nan]).view(Own)
    assert np.array_equal(nf.is_nan(x), [False, True])
    assert type(nf.is_nan(x)) is np.ndarray
    matrix = np.asmatrix([[1.0, np.inf]])
    assert nf.position(matrix, "inf") == (0, 1)


def test_scalars_and_lists() -> None:
    import ml_dtypes

    assert nf.is_nan(float("nan")) is True and nf.all_finite(10**400) is True
    assert nf.is_inf(np.float32("inf")) is True and nf.is_nan(np.float64("nan")) is True
    assert nf.is_nan(ml_dtypes.bfloat16("nan")) is True
    assert nf.is_finite(True) is True
    assert nf.is_nan([[1.0, float("nan")]]).tolist() == [[False, True]]
    assert nf.is_nan(()).shape == (0,)
    assert nf.census(float("nan")).nan.first == ()
    with pytest.raises(nf.NonFiniteError):
        nf.assert_finite(float("inf"))
