#!/usr/bin/env python3
"""Tests and measures the kernels on a GPU, in less than ten minutes: `gpu/measure.py [--out FILE]`.

Needs an NVIDIA card with 8 GiB of memory, and torch with CUDA. Nothing is built: this script takes
the folder python/nonfinite as it is. `watch` also needs the native module in that folder
(_native.abi3.so, as `maturin develop` leaves it, or out of a wheel); without it, the table says
that `watch` was not tried. Prints a table in Markdown with the name of the card, and writes the
table to FILE after each part. Ends with 1 if an answer is wrong or a part failed, and the other
parts run all the same; with 2 if there is no GPU or no torch. `--small` takes inputs of a 64th, to
try the script itself.
"""

import argparse
import importlib
import math
import re
import statistics
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from steps import Steps

ROOT = Path(__file__).resolve().parents[3] / "python"
ROUNDS = 30
REPLAYS = 1000
PLANTED = 617
# Names of events of the profiler that a launch must not cause.
FORBIDDEN = re.compile(r"synchronize|malloc|free|memcpy|cuMemAlloc|cuCtxSync", re.IGNORECASE)


def host() -> ModuleType:
    """nonfinite.cuda, with or without the native module of the package."""
    sys.path.insert(0, str(ROOT))
    try:
        importlib.import_module("nonfinite")
    except ImportError:
        bare = ModuleType("nonfinite")
        bare.__path__ = [str(ROOT / "nonfinite")]
        sys.modules["nonfinite"] = bare
    return importlib.import_module("nonfinite.cuda")


@dataclass
class Table:
    """Lines of the table: what was measured, microseconds, bytes that were read."""

    bandwidth: float = 0.0  # bytes a microsecond, the best plain read
    lines: list[tuple[str, float, int]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def add(self, name: str, time: float, size: int) -> None:
        self.lines.append((name, time, size))
        print(self.line(name, time, size), flush=True)

    def line(self, name: str, time: float, size: int) -> str:
        speed = size / time
        share = f"{speed / self.bandwidth:.2f}" if self.bandwidth else ""
        return f"| {name} | {time:.1f} | {speed / 1e3:.0f} | {share} |"

    def markdown(self, title: str) -> str:
        head = [f"# {title}", "", "| what | us | GB/s | share of a plain read |"]
        head.append("|---|---|---|---|")
        lines = [self.line(*line) for line in self.lines]
        notes = [*(f"WRONG: {each}" for each in self.wrong), *self.notes]
        return "\n".join([*head, *lines, "", *(f"- {note}" for note in notes), ""])

    def require(self, right: bool, what: str) -> None:
        print(f"{'right' if right else 'WRONG'}: {what}", flush=True)
        if not right:
            self.wrong.append(what)


def sizes(total: int, number: int) -> list[int]:
    """Sizes of many tensors, in bytes: most are small, a few hold most of the bytes. Multiples of
    16, so that tensors of all formats may have them."""
    weights = [math.exp(8 * ((i * 7919) % number) / number) for i in range(number)]
    scale = total / sum(weights)
    return [max(16, round(weight * scale) // 16 * 16) for weight in weights]


class Measurement(Steps):
    def __init__(self, torch: Any, cuda: ModuleType, shrink: int, device: str = "cuda") -> None:
        self.torch, self.cuda, self.shrink = torch, cuda, shrink
        self.bytes = (1 << 30) // shrink
        self.device = torch.device(device)
        self.table = Table()

    def time(self, call: Callable[[], object], calls: int = 1, ahead: bool = True) -> float:
        """Microseconds of the device for one of some calls: the median of ROUNDS. `ahead`: the
        device is kept busy first, so that the time of the host for a launch does not count."""
        torch, times = self.torch, []
        for _ in range(5):
            call()
        for _ in range(ROUNDS):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda.synchronize()
            if ahead:
                torch.cuda._sleep(1_000_000)
            begin.record()
            for _ in range(calls):
                call()
            end.record()
            end.synchronize()
            times.append(begin.elapsed_time(end) * 1e3 / calls)
        return statistics.median(times)

    def filled(self, size: int, dtype: Any) -> Any:
        """A tensor of so many bytes, all finite."""
        torch = self.torch
        x = torch.empty(size // dtype.itemsize, dtype=dtype, device=self.device)
        # Bytes of 0x2A are finite in all formats.
        x.view(torch.uint8).fill_(0x2A)
        return x

    # --- answers ---

    def codes(self) -> None:
        """All codes of the formats of 8 and 16 bits, against torch on the CPU."""
        torch = self.torch
        bits8 = torch.arange(256, dtype=torch.int16).to(torch.uint8)
        bits16 = torch.arange(-32768, 32768, dtype=torch.int32).to(torch.int16)
        for name in self.cuda._FORMATS:
            dtype = getattr(torch, name, None)
            if dtype is None or dtype.itemsize > 2 or name == "float4_e2m1fn_x2":
                continue
            codes = (bits8 if dtype.itemsize == 1 else bits16).view(dtype)
            wide = codes.float()
            census = self.cuda._census_of(codes.to(self.device))
            got = [each.count for each in (census.nan, census.pos_inf, census.neg_inf)]
            right = [wide.isnan(), wide == math.inf, wide == -math.inf]
            self.table.require(got == [int(each.sum()) for each in right], f"all codes of {name}")
            firsts = [int(each.nonzero()[0]) if each.any() else None for each in right]
            got = [each.first and each.first[0] for each in self.firsts(census)]
            self.table.require(got == firsts, f"the first codes of {name}")

    def firsts(self, census: Any) -> list[Any]:
        return [census.nan, census.pos_inf, census.neg_inf]

    def lengths(self) -> None:
        """Every length up to 300 at every address, one NaN in some of them."""
        torch = self.torch
        for dtype in (torch.float16, torch.float32, torch.float64):
            memory, tensors, wanted = [], [], []
            for length in range(1, 301):
                for at in range(16 // dtype.itemsize):
                    whole = torch.full((at + length + 40,), math.nan, dtype=dtype)
                    whole[at : at + length] = 1.0
                    bad = (length * 31 + at) % length if length % 3 else None
                    if bad is not None:
                        whole[at + bad] = math.nan
                    whole = whole.to(self.device)
                    memory.append(whole)
                    tensors.append(whole[at : at + length])
                    wanted.append(bad)
            guard = self.cuda.Guard(tensors, counts=True)
            guard.launch()
            counts = guard.counts().values()
            got = [each.nan.first and each.nan.first[0] for each in counts]
            self.table.require(got == wanted, f"{len(tensors)} lengths and addresses of {dtype}")
            first = guard.report().first
            i = next(i for i, bad in enumerate(wanted) if bad is not None)
            right = (first.name, first.index) == (str(i), (wanted[i],))
            self.table.require(right, "the first bad tensor")

    def graph(self) -> None:
        """Replays of a graph, with a NaN planted before one of them."""
        torch = self.torch
        tensors = [self.filled(1 << 16, torch.bfloat16) for _ in range(100)]
        guard = self.cuda.Guard(tensors)
        guard.launch()
        torch.cuda.synchronize()
        guard.clear()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            guard.launch()
        for step in range(REPLAYS):
            if step == PLANTED:
                tensors[77][123] = math.nan
            graph.replay()
            if step == PLANTED:
                tensors[77][123] = 1.0
        torch.cuda.synchronize()
        report, cuda = guard.report(), self.cuda
        found = cuda.Found(PLANTED, "77", (123,), frozenset({"nan"}))
        right = report == cuda.GuardReport(REPLAYS, 1, found)
        self.table.require(right, f"{REPLAYS} replays of a graph, a NaN in replay {PLANTED}")

    def silence(self) -> None:
        """Launches neither wait nor allocate."""
        torch = self.torch
        guard = self.cuda.Guard([self.filled(1 << 20, torch.float32)])
        guard.launch()
        torch.cuda.synchronize()
        activities = torch.profiler.ProfilerActivity
        before = torch.cuda.memory_stats()["allocation.all.allocated"]
        both = [activities.CPU, activities.CUDA]
        span = torch.profiler.record_function("launches")
        with torch.profiler.profile(activities=both) as profile, span:
            for _ in range(10):
                guard.launch()
                guard.report()
        allocated = torch.cuda.memory_stats()["allocation.all.allocated"] - before
        events = profile.events()
        own = [event for event in events if event.name == "launches"]
        (time,) = (event.time_range for event in own if "CPU" in str(event.device_type))
        inside = [
            event.name
            for event in events
            if time.start <= event.time_range.start <= time.end and FORBIDDEN.search(event.name)
        ]
        launches = sum(event.name == "cuLaunchKernel" for event in events)
        what = f"no waiting, no allocation: {inside} {allocated}"
        self.table.require(not inside and not allocated, what)
        seen = "The profiler saw" if launches else "The profiler does not see launches, and saw"
        self.table.notes.append(f"{seen} no synchronisation and no allocation in 10 launches.")

    # --- speed ---

    def plain_read(self) -> None:
        """The best of some reductions of torch: what a plain read can reach."""
        torch = self.torch
        x = self.filled(self.bytes, torch.float32)
        reads = {
            "sum of f32": lambda: x.sum(),
            "amax of f32": lambda: x.amax(),
            "amax of i32": lambda: x.view(torch.int32).amax(),
        }
        times = {name: self.time(read) for name, read in reads.items()}
        self.table.bandwidth = self.bytes / min(times.values())
        for name, time in times.items():
            self.table.add(f"torch: {name}, 1 tensor", time, self.bytes)

    def one_tensor(self) -> None:
        torch = self.torch
        for dtype in (torch.float32, torch.bfloat16, torch.float8_e4m3fn):
            x, name = self.filled(self.bytes, dtype), str(dtype).removeprefix("torch.")
            guard = self.cuda.Guard([x])
            self.table.add(f"guard: {name}, 1 tensor", self.time(guard.launch), self.bytes)
            if dtype.itemsize > 1:
                time = self.time(lambda x=x: torch.isfinite(x).all())
                self.table.add(f"torch.isfinite({name}).all()", time, self.bytes)

    def blocks(self) -> None:
        """How many blocks are best: for `_BLOCKS` of cuda.py and `BLOCKS` of src/guard.rs."""
        guard = self.cuda.Guard([self.filled(self.bytes, self.torch.bfloat16)])
        own = guard._blocks
        driver = importlib.import_module("nonfinite._driver")
        multiprocessors = guard._kernels.blocks // driver._BLOCKS
        for each in (2, 4, 8, 16, 32):
            guard._blocks = multiprocessors * each
            name = f"guard: bfloat16, 1 tensor, {each} blocks a multiprocessor"
            self.table.add(name, self.time(guard.launch), self.bytes)
        guard._blocks = own

    def many_tensors(self) -> None:
        torch, number = self.torch, 10000
        dtypes = (torch.float32, torch.bfloat16, torch.float8_e4m3fn)
        own = sizes(self.bytes, number)
        mixed = [self.filled(size, dtypes[i % 3]) for i, size in enumerate(own)]
        read = sum(own)
        guard = self.cuda.Guard(mixed)
        self.table.add(f"guard: {number} mixed tensors", self.time(guard.launch), read)
        del mixed, guard
        check = torch._amp_foreach_non_finite_check_and_unscale_
        found, scale = torch.zeros(1, device=self.device), torch.ones(1, device=self.device)
        for dtype in (torch.float32, torch.bfloat16):
            name = str(dtype).removeprefix("torch.")
            tensors = [self.filled(size, dtype) for size in own]
            guard = self.cuda.Guard(tensors)
            self.table.add(f"guard: {number} of {name}", self.time(guard.launch), read)
            time = self.time(lambda t=tensors: check(t, found, scale))
            self.table.add(f"_amp_foreach_non_finite_check_and_unscale_, {name}", time, read)
            time = self.time(lambda t=tensors: torch._foreach_norm(t))
            self.table.add(f"_foreach_norm, {name}", time, read)

    def rows(self) -> None:
        torch = self.torch
        shape = (256, max(163840 // self.shrink, 200))
        size = 2 * shape[0] * shape[1]
        # In turns, so that the cache of the card does not hold the next one.
        copies = [self.filled(size, torch.bfloat16).view(shape) for _ in range(8)]
        turn = iter(range(1 << 30))

        def next_one() -> Any:
            return copies[next(turn) % len(copies)]

        name = f"[{shape[0]}, {shape[1]}] bfloat16"
        time = self.time(lambda: self.cuda.any_rows(next_one(), "nan or +inf"))
        self.table.add(f"any_rows, {name}", time, size)
        plain = self.time(lambda: next_one().view(torch.int16).amax(1))
        self.table.add(f"torch: amax of rows, {name}", plain, size)
        other = self.time(lambda: torch.isfinite(next_one()).all(1))
        self.table.add(f"torch.isfinite(x).all(1), {name}", other, size)
        # Masked logits: most are -Inf, which is allowed.
        for copy in copies:
            copy[:, 100:] = -math.inf
        time = self.time(lambda: self.cuda.any_rows(next_one(), "nan or +inf"))
        self.table.add(f"any_rows, {name}, most are -Inf", time, size)
        flags = self.cuda.any_rows(copies[0], "nan or +inf")
        self.table.require(not flags.any(), "masked rows are clean")
        copies[0][17, -1] = math.inf
        flags = self.cuda.any_rows(copies[0], "nan or +inf")
        self.table.require(flags.nonzero().tolist() == [[17]], "+Inf in one of the rows")

    def all(self, out: Path | None) -> None:
        parts = (
            self.codes, self.lengths, self.graph, self.silence, self.plain_read, self.one_tensor,
            self.blocks, self.many_tensors, self.rows, self.training, self.watched,
        )  # fmt: skip
        for part in parts:
            begin = time.monotonic()
            try:
                part()
            except Exception as error:
                traceback.print_exc()
                self.table.wrong.append(f"{part.__name__} failed: {type(error).__name__}: {error}")
            print(f"-- {part.__name__}: {time.monotonic() - begin:.1f} s", flush=True)
            if out:
                out.write_text(self.markdown())

    def markdown(self) -> str:
        torch, title = self.torch, "CPU"
        if self.device.type == "cuda":
            title = torch.cuda.get_device_name()
        small = f", inputs of a {self.shrink}th" if self.shrink > 1 else ""
        return self.table.markdown(
            f"{title}, torch {torch.__version__}, CUDA {torch.version.cuda}{small}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description="Tests and measures the kernels on a GPU.")
    parser.add_argument("--out", type=Path, help="write the table to this file, too")
    parser.add_argument("--small", action="store_true", help="inputs of a 64th")
    arguments = parser.parse_args()
    try:
        import torch
    except ImportError:
        print("no torch: this script needs torch with CUDA", file=sys.stderr)
        sys.exit(2)
    if not torch.cuda.is_available():
        print("no GPU: torch finds no CUDA device", file=sys.stderr)
        sys.exit(2)
    measurement = Measurement(torch, host(), 64 if arguments.small else 1)
    measurement.all(arguments.out)
    print(measurement.markdown())
    sys.exit(1 if measurement.table.wrong else 0)


if __name__ == "__main__":
    main()
