"""Reads the results of criterion."""

import json
import os
import re
from pathlib import Path

# Functions of one group run one after the other: a result this much older than the newest is of an
# earlier run, and ratios are formed only within one run.
ONE_RUN_SECONDS = 15 * 60

LIMIT_WIDTH = {"avx2": "256", "avx512": "512"}
# What the crate picks when it may, best first.
PATHS = ("avx512", "avx2", "neon", "portable")
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20}

FORMAT_ORDER = ("f32", "f64", "f16", "bf16")
PREDICATE_ORDER = ("finite", "nan", "inf", "posinf", "neginf", "all")
# Finite elements only; or one in 1000, 100, 16, 3 is NaN or infinite; or NaN only.
DATA_ORDER = ("clean", "dirty", "dirty100", "dirty16", "dirty3", "allnan")
SINK_ORDER = ("mask", "bits", "all", "position", "count", "census", "any")


def target_directory(root):
    return Path(os.environ.get("CARGO_TARGET_DIR", root / "target"))


def size_in_bytes(text):
    match = re.fullmatch(r"(\d+)(B|KiB|MiB)", text)
    return int(match[1]) * UNITS[match[2]] if match else None


class Cell:
    """A group of criterion: a question, a size and data; the nanoseconds of every function."""

    def __init__(self, name, bytes_in, times, when):
        self.name, self.bytes, self.times, self.when = name, bytes_in, times, when
        self.parts = name.split("/")
        self.sink = self.parts[0]

    def gb_per_s(self, function):
        time = self.times.get(function)
        return self.bytes / time if time else None

    def paths(self):
        return [path for path in PATHS if f"nonfinite {path}" in self.times]

    def picked(self):
        """Our function on the path that the crate picks."""
        return next((f"nonfinite {path}" for path in self.paths()), None)

    def others(self):
        return [name for name in self.times if not name.startswith(("nonfinite", "limit"))]

    def fastest_other(self):
        return min(self.others(), key=self.times.get, default=None)

    def is_mask(self):
        return self.parts[0] == "mask" or self.parts[:2] == ["format", "mask"]

    def limit(self, path):
        """The name of the limit of a backend: the widest, if the backend has no width."""
        widths = [LIMIT_WIDTH[path]] if path in LIMIT_WIDTH else ["512", "256"]
        # Of writing through the caches and past them the faster.
        kinds = ("mask", "stream") if self.is_mask() else ("load",)
        for width in widths:
            known = [name for kind in kinds if (name := f"limit {kind} {width}") in self.times]
            if known:
                return min(known, key=self.times.get)
        return None

    def share(self, path):
        """Which part of its limit a path reaches."""
        limit = self.limit(path)
        ours = self.times.get(f"nonfinite {path}")
        return self.times[limit] / ours if limit and ours else None


def read(criterion):
    """Group -> cell, from criterion's folder."""
    groups = {}
    for file in Path(criterion).glob("**/new/benchmark.json"):
        about = json.loads(file.read_text())
        estimates = file.with_name("estimates.json")
        if about["throughput"] and about["function_id"] and estimates.exists():
            median = json.loads(estimates.read_text())["median"]["point_estimate"]
            functions = groups.setdefault((about["group_id"], about["throughput"]["Bytes"]), {})
            functions[about["function_id"]] = (median, estimates.stat().st_mtime)
    cells = {}
    for (name, bytes_in), functions in groups.items():
        newest = max(when for _, when in functions.values())
        times = {
            f: time for f, (time, when) in functions.items() if newest - when < ONE_RUN_SECONDS
        }
        cells[name] = Cell(name, bytes_in, times, newest)
    return cells


def sizes(cells):
    """The sizes that occur, smallest first."""
    found = {part for cell in cells for part in cell.parts if size_in_bytes(part)}
    return sorted(found, key=size_in_bytes)


def rank(order, name):
    return (order.index(name) if name in order else len(order), name)


def order(cell):
    """Sorts cells by the SINK/FORMAT/PREDICATE/SIZE in their names."""
    sink, fmt, predicate, size, *_ = cell.parts[cell.sink in ("format", "parallel") :]
    return (
        rank(SINK_ORDER, sink),
        rank(FORMAT_ORDER, fmt),
        rank(PREDICATE_ORDER, predicate),
        size_in_bytes(size),
    )
