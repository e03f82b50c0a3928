"""The findings of numpy and ml_dtypes in an array, as the JSON of the command has them."""

import json
import os
import subprocess

import ml_dtypes
import numpy as np

# A format of powers of two only: all its numbers are normal.
SUBNORMAL = {"float8_e8m0fnu": 0.0}
CODES = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def bits_of(value):
    native = value.astype(value.dtype.newbyteorder("="))
    return f"0x{int(native.view(CODES[native.dtype.itemsize])):0{2 * native.dtype.itemsize}x}"


def of_array(array, order="C"):
    """Counts, first coordinate and bits of each kind, and the statistics of finite numbers.

    Complex arrays by their parts.
    """
    parts = [array.real, array.imag] if array.dtype.kind == "c" else [array]
    name = parts[0].dtype.name
    tiny = SUBNORMAL[name] if name in SUBNORMAL else float(ml_dtypes.finfo(name).tiny)
    with np.errstate(invalid="ignore"):
        special = {
            "nan": [np.isnan(part) for part in parts],
            "pos_inf": [np.isinf(part) & (part > 0) for part in parts],
            "neg_inf": [np.isinf(part) & (part < 0) for part in parts],
        }
        # In the order of the file: the parts of a complex number are neighbours.
        numbers = np.stack([part.astype(np.float64).ravel(order=order) for part in parts], -1)
        numbers = numbers.ravel()
        finite = numbers[np.isfinite(numbers)]
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
    magnitudes = np.abs(finite)
    found["zeros"] = int((finite == 0).sum())
    found["subnormals"] = int(((finite != 0) & (magnitudes < tiny)).sum())
    found["normals"] = int(((finite != 0) & (magnitudes >= tiny)).sum())
    if finite.size:
        places = np.flatnonzero(np.isfinite(numbers))
        for bound, place in (
            ("min", finite.argmin()),
            ("max", finite.argmax()),
            ("max_abs", magnitudes.argmax()),
        ):
            value = magnitudes[place] if bound == "max_abs" else finite[place]
            at = np.unravel_index(int(places[place]) // len(parts), array.shape, order=order)
            found[bound] = (float(value), [int(i) for i in at])
    return found


def of_report(tensor):
    found = {}
    for kind in ("nan", "pos_inf", "neg_inf"):
        first = tensor[kind]["first"]
        found[kind] = (tensor[kind]["count"], first and (first["coordinate"], first["bits"]))
    for bound in ("min", "max", "max_abs"):
        if bound in tensor:
            found[bound] = (tensor[bound], tensor[f"{bound}_at"]["coordinate"])
    for count in ("zeros", "subnormals", "normals"):
        found[count] = tensor[count]
    return found


# What `--stats` adds to a tensor.
STATS = ["zeros", "subnormals", "normals"]
STATS += [bound + at for bound in ("min", "max", "max_abs") for at in ("", "_at")]


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
