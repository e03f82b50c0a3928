"""Arrays of jax, by `__dlpack__`."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import nonfinite as nf

CPU = jax.devices("cpu")[0]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "float8_e4m3fn"])
def test_dtypes(dtype: str) -> None:
    with jax.enable_x64(True):
        x = jax.device_put(np.array([[1.0, np.nan, -2.0], [0.5, 4.0, np.nan]]), CPU).astype(dtype)
        assert x.dtype == dtype
        want = np.asarray(jnp.isnan(x))
        for view, mask in [(x, want), (x.T, want.T), (x[1], want[1]), (x[:0], want[:0])]:
            assert np.array_equal(nf.is_nan(view), mask)
            assert nf.count(view, "nan") == mask.sum()
            assert nf.all_finite(view) is not bool(mask.any())
        assert nf.position(x, "nan") == (0, 1)
        assert nf.census(x, axis=1)["nan"]["first"].tolist() == [1, 2]


@pytest.mark.parametrize("trace", [jax.jit, jax.grad, jax.vmap])
@pytest.mark.parametrize(
    "ask",
    [nf.all_finite, nf.is_nan, nf.census, nf.assert_finite, lambda x: nf.any(x, "nan", axis=0)],
)
def test_traced(trace: object, ask: object) -> None:
    """The error is that of jax, with its message."""
    with pytest.raises(jax.errors.ConcretizationTypeError, match="traced array") as error:
        trace(lambda x: ask(x) or x.sum())(jnp.ones(1 if trace is jax.vmap else ()))
    assert "jax.numpy.isfinite" in error.value.__notes__[0]


def test_integers_and_scalars() -> None:
    assert nf.all_finite(jnp.arange(3)) is True
    assert nf.is_nan(jnp.float32(np.nan)) is True


def test_read_only() -> None:
    x = jnp.float32([1, np.inf])
    with pytest.raises(ValueError, match="read-only"):
        nf.unscale_and_check(x, 2.0)
    assert nf.nan_to_num(x, posinf=3.0).tolist() == [1, 3]
    assert x[1] == np.inf
