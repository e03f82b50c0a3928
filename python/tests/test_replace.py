"""nan_to_num and unscale_and_check against numpy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from conftest import DTYPES
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import expected
from test_numpy import arrays

import nonfinite as nf

IEEE = [np.float16, np.float32, np.float64, ml_dtypes.bfloat16]
INF = float("inf")
NUMBERS = st.sampled_from([0.0, -0.0, 1.5, -3.0, 65519.0, 65520.0, 1e300, -1e300])
OPTIONS = NUMBERS | st.sampled_from([float("nan"), float("inf")])


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether values agree, NaN with NaN, and signs of zeros."""
    a, b = np.asarray(a).astype(float), np.asarray(b).astype(float)
    return a.shape == b.shape and bool(
        np.all((a == b) & (np.signbit(a) == np.signbit(b)) | np.isnan(a) & np.isnan(b))
    )


@settings(max_examples=300, deadline=None)
@given(
    arrays().filter(lambda x: x.dtype.char in "efd"),
    OPTIONS,
    st.none() | NUMBERS,
    st.none() | NUMBERS,
)
def test_as_numpy(x: np.ndarray, nan: float, posinf: float | None, neginf: float | None) -> None:
    with np.errstate(all="ignore"):
        want = np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)
        before = x.copy()
        got = nf.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)
        assert same(x, before)
        assert got.dtype == x.dtype and got.shape == x.shape
        assert same(got, want)
        assert not np.shares_memory(got, x) or x.size == 0
        own = x.copy(order="K")
        assert nf.nan_to_num(own, False, nan, posinf, neginf) is own
        assert same(own, want)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.name)
@given(number=st.floats(allow_nan=False, width=32) | st.floats(-500, 500))
@settings(max_examples=150, deadline=None)
def test_numbers_are_rounded_as_by_the_dtype(dtype: np.dtype, number: float) -> None:
    if dtype.itemsize > 1:
        x = np.array([np.nan], dtype)
    else:
        codes = np.arange(256, dtype=np.uint8).view(dtype)
        x = codes[expected(codes, "nan")][:1]
        if not len(x):
            assert nf.nan_to_num(codes, nan=number).view(np.uint8).tolist() == list(range(256))
            return
    if dtype.name == "float8_e8m0fnu" and np.float32(number) <= 0:
        # This format has neither zero nor a sign. ml_dtypes casts zero to NaN. The default of
        # nan_to_num must not be NaN, so zero becomes the least number here.
        return
    with np.errstate(all="ignore"):
        want = np.array([number], np.float32).astype(dtype)
    got = nf.nan_to_num(x, nan=float(np.float32(number)))
    assert same(got, want), (got, want)


def test_powers_of_two_are_rounded_as_by_ml_dtypes() -> None:
    nan = np.array([0xFF], np.uint8).view(ml_dtypes.float8_e8m0fnu)
    for exponent in range(-126, 128):
        for factor in (1.0, 1.25, 1.499999, 1.5, 1.500001, 1.75):
            number = np.float32(factor * 2.0**exponent)
            want = np.array([number]).astype(nan.dtype)
            got = nf.nan_to_num(nan, nan=float(number))
            assert got.view(np.uint8) == want.view(np.uint8), number


@pytest.mark.parametrize("view", [np.s_[:], np.s_[::2], np.s_[::-1], np.s_[:, ::3], np.s_[1:0]])
@pytest.mark.parametrize("order", ["C", "F"])
def test_layouts_in_place(view: object, order: str) -> None:
    random = np.random.default_rng(1)
    whole = np.array(random.choice([1, np.nan, np.inf, -np.inf], (8, 9)), order=order)
    want = whole.copy()
    want[view] = np.nan_to_num(want[view])
    assert nf.nan_to_num(whole[view], copy=False) is not None
    assert same(whole, want)


def test_other_inputs() -> None:
    assert nf.nan_to_num(float("inf")) == np.finfo(float).max
    assert nf.nan_to_num(3) == 3 and type(nf.nan_to_num(3)) is int
    assert nf.nan_to_num([1.0, float("nan")]).tolist() == [1.0, 0.0]
    assert type(nf.nan_to_num(np.float32("nan"))) is np.float32

    class Number(float):
        pass

    assert nf.nan_to_num(Number("nan")) == 0 and isinstance(nf.nan_to_num(Number("nan")), float)
    integers = np.arange(3)
    got = nf.nan_to_num(integers)
    assert got is not integers and np.array_equal(got, integers)
    z = np.array([complex(np.nan, np.inf), 1 + 2j])
    assert np.array_equal(nf.nan_to_num(z), np.nan_to_num(z))
    assert nf.nan_to_num(z, copy=False) is z and np.array_equal(z, np.nan_to_num(z))
    assert type(nf.nan_to_num(z[0])) is np.complex128 and nf.nan_to_num(1j * INF).real == 0
    swapped = np.array([np.nan, 1], ">f4")
    assert nf.nan_to_num(swapped, copy=False, nan=7) is swapped
    assert swapped.tolist() == [7, 1] and swapped.dtype == ">f4"

    class Own(np.ndarray):
        pass

    assert type(nf.nan_to_num(np.ones(2).view(Own))) is Own


def test_wrong() -> None:
    x = np.float32([np.nan])
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        nf.nan_to_num(x, copy=False)
    with pytest.raises(ValueError, match="read-only"):
        nf.unscale_and_check(x, 2.0)
    assert np.isnan(x[0])
    for wrong in ([2.0, 4.0], 2.0, np.float32(2)):
        with pytest.raises(ValueError, match="read-only"):
            nf.unscale_and_check(wrong, 0.5)
    for wrong in (np.array([None]), "abc", np.ma.masked_invalid([np.nan])):
        with pytest.raises(TypeError):
            nf.nan_to_num(wrong)
        with pytest.raises(TypeError):
            nf.unscale_and_check(wrong, 2.0)
    with pytest.raises(TypeError, match="f64, f32, f16 or bf16"):
        nf.unscale_and_check(np.zeros(2, ml_dtypes.float8_e5m2), 2.0)
    with pytest.raises(TypeError, match="f64, f32, f16 or bf16"):
        nf.unscale_and_check(np.zeros(2, int), 2.0)


@pytest.mark.parametrize("dtype", IEEE, ids=lambda d: d.__name__)
def test_unscale(dtype: type) -> None:
    random = np.random.default_rng(5)
    for bad in (None, np.nan, -np.inf):
        for view in (np.s_[:], np.s_[::2, ::-1]):
            x = random.normal(size=(64, 33)).astype(dtype)
            if bad is not None:
                x[2, 0] = bad
            want = x.copy()
            with np.errstate(all="ignore"):
                want[view] = (want[view].astype(float) * 0.5).astype(dtype)
            assert nf.unscale_and_check(x[view], 0.5) is (bad is not None)
            assert same(x, want)
    swapped = np.array([2.0, 4.0], ">f4")
    assert nf.unscale_and_check(swapped, 0.5) is False and swapped.tolist() == [1, 2]
