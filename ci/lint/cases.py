#!/usr/bin/env python3
"""Writes models with one fault each, and the same models without: ci/lint/cases.py OUT [CASE..].

`OUT/CASE/bad` and `OUT/CASE/good`, and what `nonfinite lint` must find in `bad` in
`OUT/CASE/expected.json`. The cases are those of faults that users met (the number of the report is
in the text), and at least one for each rule.
"""

import json
import shutil
import struct
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Callable

import ml_dtypes
import numpy as np

import folder as folders

NUMPY = {
    "F64": np.float64, "F32": np.float32, "F16": np.float16, "BF16": ml_dtypes.bfloat16,
    "F8_E4M3": ml_dtypes.float8_e4m3fn, "F8_E5M2": ml_dtypes.float8_e5m2,
    "F8_E8M0": ml_dtypes.float8_e8m0fnu, "I64": np.int64, "I32": np.int32, "I8": np.int8,
    "U8": np.uint8, "U32": np.uint32,
}  # fmt: skip


@dataclass
class Case:
    """A fault. `damage(tensors, config)` changes a sound model of `layout` in place."""

    name: str
    # None: the files cannot be read, and the command ends with 2.
    rule: str | None
    severity: str
    # The finding names this tensor, or one whose name begins so.
    tensor: str
    layout: Callable[[Path], None]
    damage: Callable
    # What the report was.
    report: str = ""
    coordinate: list[int] | None = None
    # Rules that the same fault breaks, too.
    also: list[str] = field(default_factory=list)
    # Changes of both models before the damage.
    prepare: Callable | None = None
    # The exit code, if not the one that follows from the severity.
    code: int | None = None
    # Whether `damage` changes the written folder instead.
    of_files: bool = False


class Model:
    """The tensors of a folder, by name, and its configuration."""

    def __init__(self, folder):
        self.folder = folder
        self.files, self.tensors = {}, {}
        for path in sorted(folder.glob("*.safetensors")):
            data = path.read_bytes()
            for name, (dtype, shape, start, end) in folders.header(path).items():
                array = np.frombuffer(data[start:end], NUMPY[dtype]).reshape(shape).copy()
                self.tensors[name], self.files[name] = array, path.name
        self.config = folders.read_config(folder) if (folder / "config.json").exists() else {}

    def save(self, index=True):
        """Writes the files anew, and an index that fits them, unless the index is to stay."""
        where = {}
        for path in self.folder.glob("*.safetensors"):
            names = [name for name, file in self.files.items() if file == path.name]
            arrays = {name: self.tensors[name] for name in names if name in self.tensors}
            new = self.tensors.keys() - self.files.keys()
            if path == min(self.folder.glob("*.safetensors")):
                arrays |= {name: self.tensors[name] for name in new}
            arrays = {name: folders.contiguous(array) for name, array in arrays.items()}
            folders.save_file(arrays, path, {"format": "pt"})
            where |= dict.fromkeys(arrays, path.name)
        if index and (self.folder / folders.INDEX).exists():
            size = sum(array.nbytes for array in self.tensors.values())
            folders.write_index(self.folder, where, size)
        if self.config:
            folders.write_config(self.folder, self.config)


def bits(array):
    """The bytes of an array of 1-byte elements, or the words of others, to be written through."""
    return array.view({1: np.uint8, 2: np.uint16, 4: np.uint32}[array.itemsize])


def write(case, out):
    place = out / case.name
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for which in ("good", "bad"):
        folder = place / which
        case.layout(folder)
        if case.of_files:
            if which == "bad":
                case.damage(folder)
            continue
        model = Model(folder)
        if case.prepare:
            case.prepare(model.tensors, model.config)
        if which == "bad":
            case.damage(model.tensors, model.config)
        model.save()
    kept = ("rule", "severity", "tensor", "coordinate", "also", "report", "code")
    expected = {key: value for key, value in asdict(strip(case)).items() if key in kept}
    (place / "expected.json").write_text(json.dumps(expected, indent=2))
    print(f"{case.name:32} {case.rule}")


def strip(case):
    return Case(case.name, case.rule, case.severity, case.tensor, None, None, case.report,
                case.coordinate, case.also, code=case.code)  # fmt: skip


def truncate(path, left):
    """Cuts a file to a part of its length."""
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * left)])


def header_length(path):
    return struct.unpack("<Q", path.read_bytes()[:8])[0]


def main():
    import cases_of_models
    import cases_of_scales

    out, only = Path(sys.argv[1]), set(sys.argv[2:])
    for case in cases_of_scales.CASES + cases_of_models.CASES:
        if not only or case.name in only:
            write(case, out)


if __name__ == "__main__":
    main()
