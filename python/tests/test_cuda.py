"""Tensors on CUDA devices, without a GPU: tables, refusals, and the error if there is no driver.

`ci/cuda` runs the kernels on these tables, and `crates/cuda/gpu/measure.py` needs a GPU.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

import nonfinite as nf
from nonfinite import cuda

F32, F64 = 2, 3


def has_driver() -> bool:
    try:
        ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return False
    return True


@pytest.mark.skipif(has_driver(), reason="this machine has a CUDA driver")
def test_no_driver() -> None:
    with pytest.raises(cuda.CudaError, match="no CUDA driver: .*cuda"):
        cuda.kernels(0)
    assert issubclass(cuda.CudaError, RuntimeError)


def test_import_needs_no_torch() -> None:
    program = "import nonfinite, sys; nonfinite.cuda.Guard; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_kernels_are_in_the_package() -> None:
    ptx = Path(cuda.__file__).with_name("nonfinite.ptx").read_text()
    for name in ("nonfinite_look", "nonfinite_rows"):
        assert f".visible .entry {name}(" in ptx
    assert ".target sm_70" in ptx


def test_tables() -> None:
    tensors = [
        (0x1000, 16384, 4, F32, 7),
        (0x2000, 0, 4, F32, 7),
        (0x3008, 8193, 8, F64, 1),
        (0x4001, 1, 1, 4, 3),
    ]
    table, chunks = cuda._table(tensors)
    assert chunks == 4
    words = np.dtype([(name, "<u8") for name in "aec"] + [(name, "<u4") for name in "fr"])
    assert np.frombuffer(table, words).tolist() == [
        (0x1000, 16384, 0, F32, 7),
        (0x2000, 0, 1, F32, 7),
        (0x3008, 8193, 1, F64, 1),
        (0x4001, 1, 3, 4, 3),
    ]


def test_a_record_that_is_being_cleared() -> None:
    """One word after the other becomes 0: the place, and then the kinds."""
    reads = iter([7, 1, 2, 3, 0, *[0] * 10])
    guard = object.__new__(cuda.Guard)
    guard._words = type("Words", (), {"__getitem__": lambda words, i: next(reads)})()
    guard._names, guard._shapes = ["first"], [(1,)]
    assert guard.report() == cuda.GuardReport(0, 0, None)


def test_refused_tables() -> None:
    with pytest.raises(ValueError, match="0x1002 is no address of elements of 4 bytes"):
        cuda._table([(0x1002, 1, 4, F32, 7)])
    with pytest.raises(ValueError, match=r"2\*\*40 is the most"):
        cuda._table([(0x1000, (1 << 40) + 1, 1, 4, 7)])


def test_formats() -> None:
    """The numbers of the kernels, by the order of the formats in their source."""
    source = Path(__file__).parents[2] / "crates/cuda/kernel/nonfinite.cu"
    rows = source.read_text().partition("NF_FORMATS[15] = {\n")[2].partition("\n};")[0]
    names = [row.partition("// ")[2].partition(",")[0] for row in rows.splitlines()]
    known = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64"}
    long = [known.get(name, f"float{name[1]}_{name[2:]}") for name in names]
    for name, number in cuda._FORMATS.items():
        assert long[number] == name.removesuffix("_x2")
    assert "{1, NF_NEVER, 0}" in rows.splitlines()[cuda._NO_KINDS]
    assert cuda._format(torch.ones(1, dtype=torch.bfloat16)) == 1
    assert cuda._format(torch.ones(1, dtype=torch.int32)) == cuda._NO_KINDS


@pytest.mark.parametrize("predicate", cuda._KINDS)
def test_kinds_of_predicates(predicate: str) -> None:
    elements = np.array([np.nan, np.inf, -np.inf, 1.0], np.float32)
    holds = nf.mask(elements, predicate).tolist()
    assert [bool(cuda._refused(predicate) >> k & 1) for k in range(3)] == holds[:3]
    assert not holds[3]


class Subclass(torch.Tensor):
    """It might have no memory of its own."""


def test_refusals() -> None:
    with pytest.raises(ValueError, match="1 is on cpu, and nonfinite.cuda reads tensors on CUDA"):
        cuda._check("1", torch.ones(3))
    with pytest.raises(ValueError, match="w is on meta"):
        cuda.Guard({"w": torch.ones(3, device="meta")})
    with pytest.raises(TypeError, match="0 is a list, and nonfinite.cuda takes torch.Tensor"):
        cuda.Guard([[1.0]])  # type: ignore[list-item]
    subclass = torch.ones(3).as_subclass(Subclass)
    with pytest.raises(TypeError, match="x is a Subclass, and nonfinite.cuda takes torch.Tensor"):
        cuda.any_rows(subclass, "nan")
    with pytest.raises(ValueError, match="tensors of 0 devices"):
        cuda.Guard([])
    with pytest.raises(ValueError, match="'finite' is none of 'nan'"):
        cuda.Guard([], bad="finite")
    with pytest.raises(ValueError, match="x is on cpu"):
        cuda.any_rows(torch.ones(3, 4), "nan")


class Elsewhere:
    """What is asked of a tensor before the questions go to `nonfinite.cuda`."""

    is_cuda = True

    def __init__(self, device: int) -> None:
        self.device = device

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0

    def __dlpack__(self, **_: object) -> object:
        raise AssertionError("the memory of a device was asked for")


QUESTIONS = [nf.all_finite, nf.any_nan, nf.census, lambda x: nf.count(x, "nan")]


@pytest.mark.parametrize("ask", QUESTIONS)
def test_the_way_to_the_gpu(ask: Callable[[object], object]) -> None:
    """Tensors of CUDA reach `nonfinite.cuda`, which refuses this class. Those of ROCm do not."""
    with pytest.raises(TypeError, match="x is a Elsewhere, and nonfinite.cuda takes"):
        ask(Elsewhere(2))
    with pytest.raises(TypeError, match="x is on device 0 of ROCm"):
        ask(Elsewhere(10))
    # Questions that only the CPU answers.
    with pytest.raises(TypeError, match="x is on device 0 of CUDA"):
        nf.position(Elsewhere(2), "nan")
    with pytest.raises(TypeError, match="x is on device 0 of CUDA"):
        nf.census(Elsewhere(2), axis=0)


def test_answers_of_the_kernels() -> None:
    names, shapes = ["a", "b"], [(3,), (4, 5)]
    assert cuda._report([9, 0, 0, 0, 0], names, shapes) == cuda.GuardReport(9, 0, None)
    found = cuda.Found(6, "b", (2, 3), frozenset({"nan", "-inf"}))
    assert cuda._report([9, 5, 2, 6, 1 << 40 | 13], names, shapes) == cuda.GuardReport(9, 2, found)
    census = cuda._census([2, 0, 1, ~13 & cuda._ALL, 0, cuda._ALL], (4, 5))
    assert census.nan == nf.Occurrences(2, (2, 3))
    assert census.pos_inf == nf.Occurrences(0, None) and not census.pos_inf
    assert census.neg_inf == nf.Occurrences(1, (0, 0))
    assert census.total == 3 and census
