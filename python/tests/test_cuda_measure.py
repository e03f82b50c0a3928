"""`crates/cuda/gpu/measure.py`, the script for a GPU, with the double of the driver."""

from __future__ import annotations

import importlib
import math
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest
import torch
from double import double

__all__ = ["double"]
SCRIPT = Path(__file__).parents[2] / "crates/cuda/gpu"


@pytest.fixture
def measure(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(SCRIPT))
    return importlib.import_module("measure")


class Event:
    """An event of the CPU."""

    def __init__(self, enable_timing: bool) -> None:
        assert enable_timing

    def record(self) -> None:
        self.at = time.perf_counter()

    def synchronize(self) -> None:
        pass

    def elapsed_time(self, later: Event) -> float:
        return (later.at - self.at) * 1e3


def nothing() -> None:
    """Stands for a part that does not run."""


def test_tables(measure: ModuleType) -> None:
    for number in (1, 50, 10000):
        sizes = measure.sizes(1 << 30, number)
        assert len(sizes) == number and min(sizes) >= 16
        assert not any(size % 16 for size in sizes) and 0.99 < sum(sizes) / (1 << 30) < 1.01
    table = measure.Table(bandwidth=2000.0)
    table.add("a read", 10.0, 18000)
    table.notes.append("a note")
    table.require(True, "right")
    table.require(False, "an answer")
    lines = table.markdown("A card").splitlines()
    assert lines[0] == "# A card" and lines[-2:] == ["- WRONG: an answer", "- a note"]
    assert "| a read | 10.0 | 2 | 0.90 |" in lines


@pytest.mark.usefixtures("double")
def test_the_parts_that_need_no_gpu(
    measure: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """All except the graph and the profile of launches."""
    monkeypatch.setattr(measure, "ROUNDS", 1)
    monkeypatch.setattr(sys.modules["steps"], "STEPS", 1)
    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(torch.cuda, "_sleep", lambda cycles: None)
    monkeypatch.setattr(torch.cuda, "reset_peak_memory_stats", lambda: None)
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda: 1)
    monkeypatch.setattr(torch.cuda, "set_sync_debug_mode", lambda mode: None)
    monkeypatch.setattr(torch, "_amp_foreach_non_finite_check_and_unscale_", lambda *_: None)
    cuda = measure.host()
    assert cuda is sys.modules["nonfinite.cuda"]
    own = measure.Measurement(torch, cuda, 1 << 13, "cpu")
    own.graph = own.silence = nothing
    own.all(tmp_path / "card.md")
    assert own.table.wrong == []
    text = (tmp_path / "card.md").read_text()
    for part in ("`watch` of the six layers", "any_rows", "inputs of a 8192th"):
        assert part in text
    assert all(math.isfinite(time) for _, time, _ in own.table.lines)


def test_a_part_that_fails(measure: ModuleType, tmp_path: Path) -> None:
    """The other parts run, and the table says what failed."""
    own = measure.Measurement(torch, measure.host(), 1 << 13, "cpu")
    for name in (
        "codes", "lengths", "silence", "plain_read", "one_tensor", "blocks", "many_tensors",
        "rows", "training", "watched",
    ):  # fmt: skip
        setattr(own, name, nothing)
    own.all(tmp_path / "card.md")
    assert len(own.table.wrong) == 1 and own.table.wrong[0].startswith("graph failed: ")
    assert "- WRONG: graph failed" in (tmp_path / "card.md").read_text()
