"""Tensors of torch."""

from __future__ import annotations

import traceback

import numpy as np
import pytest
import torch

import nonfinite as nf

FLOATS = (
    "float16 bfloat16 float32 float64 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz "
    "float8_e8m0fnu"
).split()


@pytest.mark.parametrize("name", FLOATS)
def test_dtypes(name: str) -> None:
    dtype = getattr(torch, name, None)
    if dtype is None:
        pytest.skip(f"torch {torch.__version__} has no {name}")
    size = torch.empty((), dtype=dtype).element_size()
    codes = torch.randint(0, 256, (24, 16 * size), dtype=torch.uint8)
    codes[0, :] = 0xFF
    x = codes.view(dtype)
    for view in (x, x[::2, 3:], x.T, x[0, 0], x[:0]):
        wide = view.to(torch.float64)
        want = torch.isnan(wide).numpy()
        assert nf.any_nan(view) is bool(want.any())
        got = nf.is_nan(view)
        assert isinstance(got, torch.Tensor if view.ndim else bool)
        assert np.array_equal(got, want)
        assert nf.all_finite(view) is bool(torch.isfinite(wide).all())
        assert nf.count(view, "nan") == want.sum()
        out = torch.zeros(view.shape, dtype=torch.bool)
        assert nf.is_finite(view, out=out) is out
        assert torch.equal(out, torch.isfinite(wide))
        if view.ndim:
            rows = nf.any(view, "nan", axis=0)
            assert isinstance(rows, torch.Tensor if view.ndim > 1 else bool)
            assert np.array_equal(rows, want.any(0))


def test_parameters_and_gradients() -> None:
    x = torch.nn.Parameter(torch.tensor([1.0, float("nan")]))
    plain = torch.ones(2)
    for _ in range(10):
        assert nf.all_finite(x) is False and nf.all_finite(plain) is True
    y = x * 2
    assert nf.position(y, "nan") == (1,)
    with torch.no_grad():
        assert nf.nan_to_num(x).tolist() == [1.0, 0.0] and not nf.nan_to_num(x).requires_grad
    with pytest.raises(ValueError, match="detach"):
        nf.nan_to_num(x, copy=False)
    assert nf.nan_to_num(x.detach(), copy=False).tolist() == [1.0, 0.0]
    assert nf.all_finite(x)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("numbers", [(0.0, None, None), (2.0, 3.0, -4.0)])
def test_nan_to_num_has_a_gradient(dtype: torch.dtype, numbers: tuple[float | None, ...]) -> None:
    grads = []
    for replace in (nf.nan_to_num, lambda x, _, *numbers: torch.nan_to_num(x, *numbers)):
        x = torch.tensor([1.0, float("nan"), float("inf"), -float("inf")], dtype=dtype)
        x.requires_grad_()
        y = replace(x * 3, True, *numbers)
        y.float().sum().backward()
        grads.append((y.tolist(), x.grad.tolist()))
    assert grads[0] == grads[1] and grads[0][1] == [3, 0, 0, 0]
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x.detach(), torch.ones(4, dtype=dtype))
        tangent = torch.autograd.forward_ad.unpack_dual(nf.nan_to_num(dual, True, *numbers)).tangent
        assert tangent.tolist() == [1, 0, 0, 0]
        with pytest.raises(ValueError, match="detach"):
            nf.nan_to_num(dual, copy=False)


def test_public_names() -> None:
    import nonfinite.torch

    assert dir(nonfinite.torch) == sorted(nonfinite.torch.__all__)


def test_negative_bit() -> None:
    x = torch.tensor([complex(1, float("inf")), complex(2, 3)]).conj().imag
    assert x.is_neg()
    assert nf.all_finite(x) is False and nf.position(x, "inf") == (0,)
    for ask in (nf.census, nf.stats, lambda x: nf.count(x, "-inf"), lambda x: nf.mask(x, "+inf")):
        with pytest.raises(ValueError, match="resolve_neg"):
            ask(x)
    assert nf.count(x.resolve_neg(), "-inf") == 1
    assert nf.nan_to_num(x, posinf=5.0, neginf=7.0).tolist() == [7.0, -3.0]
    assert nf.nan_to_num(x, copy=False, posinf=5.0, neginf=7.0) is x
    assert x.tolist() == [7.0, -3.0]


def no_frames(error: BaseException) -> bool:
    """Whether a traceback shows no frame of C++."""
    text = "".join(traceback.format_exception(error))
    return "frame #" not in text and "Exception raised from" not in text


def test_refused() -> None:
    x = torch.ones(4, 4)
    for wrong in (
        x.to_sparse(),
        x.to_sparse_csr(),
        x.to(torch.complex64),
        x.to(torch.complex64).conj(),
        torch.ones(2, device="meta"),
        torch.quantize_per_tensor(x, 0.1, 0, torch.qint8),
        torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
    ):
        with pytest.raises((TypeError, ValueError)) as error:
            nf.all_finite(wrong)
        assert "x " in str(error.value)
        assert no_frames(error.value)


def test_no_memory() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        fake = torch.ones(3)
    with pytest.raises((TypeError, ValueError)):
        nf.all_finite(fake)
    x = torch.ones(3)
    x.untyped_storage().resize_(0)
    with pytest.raises((TypeError, ValueError)):
        nf.all_finite(x)


def test_integers_and_devices() -> None:
    assert nf.all_finite(torch.arange(5)) is True
    assert nf.is_nan(torch.tensor([True, False])).tolist() == [False, False]


def test_unscale() -> None:
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        x = torch.arange(12, dtype=dtype).reshape(3, 4)
        assert nf.unscale_and_check(x.T, 0.5) is False
        assert torch.equal(x, torch.arange(12, dtype=dtype).reshape(3, 4) * 0.5)
        x[1, 1] = float("inf")
        assert nf.unscale_and_check(x[:, ::2], 2.0) is False
        assert nf.unscale_and_check(x[:, 1::2], 2.0) is True
        assert x[0].tolist() == [0.0, 1.0, 2.0, 3.0]


def test_subclass() -> None:
    """Other subclasses than Parameter."""

    class Own(torch.Tensor):
        pass

    x = torch.tensor([1.0, float("nan")]).as_subclass(Own)
    assert nf.position(x, "nan") == (1,) and nf.all_finite(x[:1]) is True


def test_inside_of_vmap() -> None:
    """A batched tensor has the type of others, but no memory."""
    seen = []

    def ask(x: torch.Tensor) -> torch.Tensor:
        with pytest.raises((TypeError, ValueError)) as error:
            nf.all_finite(x)
        seen.append(str(error.value))
        assert no_frames(error.value)
        return x

    torch.vmap(ask)(torch.ones(2, 3))
    assert len(seen) == 1 and seen[0].startswith("x ")


def test_threads() -> None:
    x = torch.ones(1000, 2000)
    x[999, 1999] = float("nan")
    assert nf.position(x, "nan", threads=2) == (999, 1999)
