#!/usr/bin/env python3
"""Writes a small model folder for each layout, with the code of its exporter.

    checker/oracles/lint/exported.py OUT [LAYOUT..]

All these models are sound: `nonfinite lint` must find no error and no warning in them. Weights are
random. `OUT/LAYOUT.origin` names the package that wrote a folder. Exporters that are not installed
are left out: runs in two environments can fill one OUT.
"""

import importlib
import shutil
import sys
from pathlib import Path

EXPORTERS = (
    "gguf_files",
    "onnx_files",
    "mlx_lm_models",
    "plain",
    "training",
    "compressed",
    "modelopt_models",
    "transformers_models",
    "gptq",
    "awq",
    "bnb",
    "architectures",
)


def exporters():
    """The modules whose packages are installed, and what is missing for the others."""
    found, missing = [], {}
    for name in EXPORTERS:
        try:
            found.append(importlib.import_module(f"exporters.{name}"))
        except ModuleNotFoundError as error:
            if error.name.startswith("exporters"):
                raise
            missing[name] = error.name
    return found, missing


def write(out, name, make, origin):
    folder = out / name
    if folder.exists():
        shutil.rmtree(folder)
    make(folder)
    (out / f"{name}.origin").write_text(origin + "\n")
    print(f"{name:28} {origin}", flush=True)


def main():
    out, only = Path(sys.argv[1]), set(sys.argv[2:])
    out.mkdir(parents=True, exist_ok=True)
    found, missing = exporters()
    for module in found:
        for name, make in module.LAYOUTS.items():
            if not only or name in only:
                write(out, name, make, module.PACKAGE)
    for name, package in missing.items():
        print(f"exporters/{name}.py: left out, as {package} is not installed")


if __name__ == "__main__":
    main()
