"""A double of the CUDA driver: the kernels compiled for the CPU, behind the functions of the driver
that `nonfinite._driver` calls. Tensors on the CPU stand for those on a device.

What the double does not have: launches that run later than the call, and memory that the host
cannot read.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from nonfinite import _driver, cuda
from nonfinite.torch import look, tallies

SOURCES = Path(__file__).parents[2] / "crates/cuda/tests/cpu"


_folder = tempfile.TemporaryDirectory()


@cache
def library() -> ctypes.CDLL:
    """The double, built once a process."""
    target = Path(_folder.name) / "libcuda.so"
    sources = [SOURCES / f"{name}.cpp" for name in ("kernel", "shim", "driver")]
    options = ["-std=c++20", "-O1", "-fno-strict-aliasing", "-pthread", "-fPIC", "-shared"]
    compiler = os.environ.get("CXX", "g++")
    subprocess.run([compiler, *options, *sources, "-o", target], check=True)
    loaded = ctypes.CDLL(str(target))
    loaded.launches_since.restype = ctypes.c_size_t
    return loaded


def launches() -> list[int]:
    """The streams of the launches since the last call."""
    most = 1 << 16
    streams = (ctypes.c_size_t * most)()
    count = library().launches_since(streams, ctypes.c_size_t(most))
    return list(streams[:count])


class Double:
    """What stands for torch with CUDA."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.stream = 0
        patch.setattr(_driver, "LIBRARY", library()._name)
        driver = _driver._Driver()
        patch.setattr(_driver, "_driver", driver)
        # The index of the device of a tensor on the CPU is None.
        loaded = {None: _driver.Kernels(driver, 0)}
        patch.setattr(_driver, "_loaded", loaded)
        patch.setattr(cuda, "_DEVICE", "cpu")
        patch.setattr(cuda, "pinned", lambda words: torch.zeros(words, dtype=torch.int64))
        patch.setattr(look, "_HERE", "nowhere")

        def stream(device: object = None) -> SimpleNamespace:
            return SimpleNamespace(cuda_stream=self.stream)

        patch.setattr(torch.cuda, "current_stream", stream)
        patch.setattr(torch.cuda, "synchronize", lambda device=None: None)
        tallies._works.cache_clear()
        launches()


@pytest.fixture
def double(monkeypatch: pytest.MonkeyPatch) -> Double:
    """The package takes tensors on the CPU for tensors on a CUDA device."""
    yield Double(monkeypatch)
    tallies._works.cache_clear()
