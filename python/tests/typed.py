"""The types of the functions, for mypy --strict and pyright. python/test runs both."""

from __future__ import annotations

import array
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
from typing_extensions import assert_type

import nonfinite as nf

Bools = npt.NDArray[np.bool_]

x = np.ones((3, 4), np.float32)
half = x.astype(ml_dtypes.bfloat16)
plain = array.array("d", [1.0])

assert_type(nf.all_finite(x), bool)
assert_type(nf.any_nan(half), bool)
assert_type(nf.all_finite(plain), bool)
assert_type(nf.all_finite(1.0), bool)
assert_type(nf.any(x, "nan"), bool)
assert_type(nf.any(x, "nan", axis=1), Bools | bool)
assert_type(nf.all(x, "finite", axis=-1, threads=2), Bools | bool)
assert_type(nf.count(x, "non-finite"), int)
assert_type(nf.count(x, "+inf", axis=0), npt.NDArray[np.intp] | int)
assert_type(nf.position(x, "nan or +inf"), tuple[int, ...] | None)
assert_type(nf.position(x, "nan", axis=0), npt.NDArray[np.intp] | int)
assert_type(nf.census(x, axis=0), npt.NDArray[np.void] | np.void)
assert_type(nf.stats(x, axis=-1), npt.NDArray[np.void] | np.void)
assert_type(nf.any(x, "nan", axis=(0, -1), keepdims=True), Bools | bool)
assert_type(nf.count(x, "nan", keepdims=True), npt.NDArray[np.intp] | int)
assert_type(nf.all_finite({"x": x}), bool)
assert_type(nf.any_inf(iter([x])), bool)
assert_type(nf.count({"x": x}.items(), "nan"), int)
assert_type(nf.isnan(x), Bools)
assert_type(nf.__version__, str)
assert_type(nf.mask(x, "-inf"), Bools)
assert_type(nf.mask(1.0, "inf"), bool)
assert_type(nf.mask(x, "nan", np.empty(x.shape, np.bool_)).ndim, int)
assert_type(nf.is_nan(x), Bools)
assert_type(nf.is_inf([1.0, 2.0]), Bools)
assert_type(nf.is_finite(1.0), bool)
assert_type(nf.census(x).nan.first, tuple[int, ...] | None)
assert_type(nf.census(x).total, int)
assert_type(nf.stats(x).zeros, int)
least = nf.stats(x).min
if least is not None:
    assert_type(least.value, float)


class Tensor:
    """As a tensor of torch, for a type checker."""

    def is_neg(self) -> bool:
        return False

    def __dlpack__(self) -> object:
        return x.__dlpack__()


if TYPE_CHECKING:
    assert_type(nf.is_nan(Tensor()), Tensor)
    assert_type(nf.any(Tensor(), "nan", axis=0), Tensor | bool)
    assert_type(nf.all(Tensor(), "nan", axis=(0, 1), keepdims=True), Tensor | bool)
nf.assert_finite(x, name="x")
assert_type(nf.nan_to_num(1.0), float)
assert_type(nf.nan_to_num(plain, copy=False), npt.NDArray[Any])
assert_type(nf.unscale_and_check(x, 0.5), bool)
try:
    nf.assert_finite(x)
except nf.NonFiniteError as error:
    assert_type(error.census.pos_inf.count, int)

if TYPE_CHECKING:
    # Refused by the types. Both checkers complain if a line needs no such comment.
    nf.mask(x, "nah")  # type: ignore[call-overload]  # pyright: ignore
    nf.all_finite(None)  # type: ignore[arg-type]  # pyright: ignore
    nf.count(x, "nan", axis="0")  # type: ignore[call-overload]  # pyright: ignore
    nf.any(x, "NaN")  # type: ignore[call-overload]  # pyright: ignore
    nf.is_nan({"x": x})  # type: ignore[call-overload]  # pyright: ignore
