"""torch's own samples and references of isnan, isinf, isfinite, isposinf, isneginf and nan_to_num.

`python tests/upstream_torch.py` asks our functions about each sample input of torch's `OpInfo`, for
each dtype that torch has on the CPU, and compares with the answer of torch and with the reference
in numpy. The table has the number of samples that agree. The exit status is 1 if one differs, or
raises an error that is not expected. It needs expecttest.
"""

from __future__ import annotations

import collections
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db

import nonfinite as nf

OURS: dict[str, Callable[..., Any]] = {
    "isnan": nf.is_nan,
    "isinf": nf.is_inf,
    "isfinite": nf.is_finite,
    "isposinf": lambda x: nf.mask(x, "+inf"),
    "isneginf": lambda x: nf.mask(x, "-inf"),
    "nan_to_num": nf.nan_to_num,
}

#: The only dtypes without answers, with the message of the error.
COMPLEX = (torch.complex32, torch.complex64, torch.complex128)
REFUSED = "complex"


def agree(op: Any, sample: Any) -> bool:
    """Whether our answer about one sample is that of torch, and that of the reference."""
    arguments, named = sample.args, sample.kwargs
    got = torch.as_tensor(OURS[op.name](sample.input, *arguments, **named))
    want = op(sample.input, *arguments, **named)
    if got.dtype != want.dtype or not torch.equal(got, want):
        return False
    if op.ref is None or sample.input.dtype == torch.bfloat16:
        return True
    reference = op.ref(sample.input.numpy(), *arguments, **named)
    return np.array_equal(got.numpy(), np.asarray(reference), equal_nan=True)


def main() -> int:
    failures = 0
    print("| function | dtype | samples | agree |\n|---|---|--:|--:|")
    found = [op for op in op_db if op.name in OURS]
    for op in found:
        for dtype in sorted(op.supported_dtypes("cpu"), key=str):
            outcomes = collections.Counter[str]()
            for sample in op.reference_inputs("cpu", dtype):
                try:
                    outcomes["agree" if agree(op, sample) else "DIFFER"] += 1
                except TypeError as error:
                    refused = dtype in COMPLEX and REFUSED in str(error)
                    outcomes["refused" if refused else f"UNEXPECTED: {error}"] += 1
            name, samples = str(dtype).removeprefix("torch."), sum(outcomes.values())
            rest = [f"{count} {key}" for key, count in outcomes.items() if key != "agree"]
            agreed = ", ".join([str(outcomes["agree"]), *rest])
            print(f"| {op.name} | {name} | {samples} | {agreed} |")
            failures += samples - outcomes["agree"] - outcomes["refused"]
    missing = set(OURS) - {op.name for op in found}
    print(f"{failures} samples differ. Not among torch's operators: {sorted(missing)}.")
    return int(failures > 0 or bool(missing))


if __name__ == "__main__":
    sys.exit(main())
