"""The findings of numpy and ml_dtypes in an array, as the JSON of the command has them."""

import json
import os
import subprocess

import numpy as np

CODES = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def bits_of(value):
    native = value.astype(value.dtype.newbyteorder("="))
    return f"0x{int(native.view(CODES[native.dtype.itemsize])):0{2 * native.dtype.itemsize}x}"


def of_array(array, order="C"):
    """Counts, first coordinate and bits of each kind, minimum and maximum.

    Complex arrays by their parts.
    """
    parts = [array.real, array.imag] if array.dtype.kind == "c" else [array]
    with np.errstate(invalid="ignore"):
        special = {
            "nan": [np.isnan(part) for part in parts],
            "pos_inf": [np.isinf(part) & (part > 0) for part in parts],
            "neg_inf": [np.isinf(part) & (part < 0) for part in parts],
        }
        finite = np.concatenate(
            [part[np.isfinite(part)].astype(np.float64).ravel() for part in parts]
        )
    found = {}
    for kind, masks in special.items():
        count = sum(int(mask.sum()) for mask in masks)
        first = None
        if count:
            flat = np.logical_or.reduce(masks).ravel(order=order)
            place = int(flat.argmax())
            coordinate = np.unravel_index(place, array.shape, order=order)
            part = next(part for part, mask in zip(parts, masks) if mask[coordinate])
            first = ([int(i) for i in coordinate], bits_of(part[coordinate]))
        found[kind] = (count, first)
    if finite.size:
        found["min"], found["max"] = float(finite.min()), float(finite.max())
    return found


def of_report(tensor):
    found = {}
    for kind in ("nan", "pos_inf", "neg_inf"):
        first = tensor[kind]["first"]
        found[kind] = (tensor[kind]["count"], first and (first["coordinate"], first["bits"]))
    for bound in ("min", "max"):
        if bound in tensor:
            found[bound] = tensor[bound]
    return found


def run(program, *arguments, stats=True, stdin=None):
    """The tensors that the command reports, by name. The exit code must agree.

    `stdin` is the path of the file on standard input.
    """
    command = [program, "check", "--json", *(["--stats"] if stats else []), *map(str, arguments)]
    with open(stdin or os.devnull, "rb") as file:
        result = subprocess.run(command, stdin=file, capture_output=True)
    if result.returncode not in (0, 1):
        raise SystemExit(f"{arguments}: exit code {result.returncode}: {result.stderr.decode()}")
    document = json.loads(result.stdout)
    tensors = [tensor for file in document["files"] for tensor in file["tensors"]]
    assert result.returncode == int(any(tensor["bad"] for tensor in tensors)), (
        "exit code and report"
    )
    return {tensor["name"]: tensor for tensor in tensors}


def compare(what, report, array, order="C"):
    """None if equal, otherwise a line with the difference."""
    assert report["looked_at"] == "values", f"{what}: {report['looked_at']}"
    ours, numpys = of_report(report), of_array(array, order)
    return None if ours == numpys else f"{what}: ours {ours}, numpy {numpys}"
