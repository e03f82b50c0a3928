#!/usr/bin/env python3
"""The fuzz targets of all products. Writes the first corpus: fuzz/targets.py [TARGET|PRODUCT...]

A product has its targets in PRODUCT/fuzz. The generator of a target's inputs stands in `SEEDS` of
seeds.py there; it may yield any bytes that the target can decode. A target without a generator gets
`bare`. The inputs go to corpus/TARGET/seed-* in the product's folder, beside the findings of
cargo-fuzz.
"""

import functools
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

FUZZ = Path(__file__).resolve().parent
# One folder of builds for all: fuzz/Cargo.toml is their workspace.
BUILDS = FUZZ / "target"
BINARIES = BUILDS / "x86_64-unknown-linux-gnu/release"
MEMBERS = re.search(r"^members = (.*)$", (FUZZ / "Cargo.toml").read_text(), re.MULTILINE)[1]
# The folder of each product, by a name for `chosen`.
PRODUCTS = {
    Path(member).parent.name or "core": (FUZZ / member).resolve() for member in json.loads(MEMBERS)
}
# By the name of a target: the folder of its product.
TARGETS = {
    file.stem: folder
    for folder in PRODUCTS.values()
    for file in sorted((folder / "fuzz_targets").glob("*.rs"))
}


def chosen(names):
    """These targets and those of these products, or all."""
    found = []
    for name in names:
        of_product = [target for target, place in TARGETS.items() if place == PRODUCTS.get(name)]
        if name not in TARGETS and not of_product:
            sys.exit(f"no target {name}: there are {' '.join([*PRODUCTS, *TARGETS])}")
        found += of_product or [name]
    return found or list(TARGETS)


def build(targets):
    """Builds all targets of the products that these belong to."""
    for folder in dict.fromkeys(TARGETS[target] for target in targets):
        command = ["cargo", "+nightly", "fuzz", "build", "--fuzz-dir", folder]
        subprocess.run([*command, "--target-dir", BUILDS], cwd=FUZZ.parent, check=True)


def bare():
    """For inputs without a fixed layout: an empty one, and ones with some bytes of every kind."""
    yield b""
    yield bytes(range(256))
    for step in (3, 5, 7):
        yield bytes(i * step % 256 for i in range(512))


@functools.cache
def generators(folder):
    """`SEEDS` of a product."""
    file = folder / "seeds.py"
    if not file.exists():
        return {}
    sys.path[:0] = [str(folder), str(FUZZ)]
    spec = importlib.util.spec_from_file_location(f"seeds of {folder}", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    del sys.path[:2]
    return module.SEEDS


def write_seeds(targets):
    for target in targets:
        place = TARGETS[target]
        folder = place / "corpus" / target
        folder.mkdir(parents=True, exist_ok=True)
        seeds = list(generators(place).get(target, bare)())
        for i, seed in enumerate(seeds):
            (folder / f"seed-{i:04}").write_bytes(seed)
        print(f"{target}: {len(seeds)} seeds, {sum(map(len, seeds))} bytes")


if __name__ == "__main__":
    write_seeds(chosen(sys.argv[1:]))
