#!/usr/bin/env python3
"""Compares the folders written by hand with those of the exporters: ci/lint/compare.py OUT.

Tensors must have the same names, dtypes and shapes. Values differ.
"""

import sys
import tempfile
from pathlib import Path

from by_hand_layouts import LAYOUTS, PACKAGE
from exported import origin_of
from folder import header

# Exporters write these in other models than by_hand.py does.
OTHER_MODELS = {"plain-gemma2", "plain-mixtral", "lora"}


def parts(folder):
    return {
        name: tuple(entry[:2])
        for path in sorted(folder.glob("*.safetensors"))
        for name, entry in ((n, (d, tuple(s))) for n, (d, s, *_) in header(path).items())
    }


def main():
    out, wrong, compared = Path(sys.argv[1]), 0, 0
    with tempfile.TemporaryDirectory() as temporary:
        for name, make in LAYOUTS.items():
            if origin_of(out, name) in (None, PACKAGE) or name in OTHER_MODELS:
                continue
            make(Path(temporary, name))
            theirs, ours = parts(out / name), parts(Path(temporary, name))
            compared += 1
            for tensor in sorted(theirs.keys() | ours.keys()):
                # The description of a matrix is JSON, whose length differs.
                if theirs.get(tensor) != ours.get(tensor) and "quant_state" not in tensor:
                    wrong += 1
                    print(f"{name}: {tensor}: {theirs.get(tensor)} of the exporter, "
                          f"{ours.get(tensor)} by hand")  # fmt: skip
    print(f"{compared} layouts compared, {wrong} tensors differ")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
