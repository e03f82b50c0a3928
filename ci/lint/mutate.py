#!/usr/bin/env python3
"""Damages the models of exported.py at random, and counts what `nonfinite lint` finds.

    ci/lint/mutate.py PROGRAM EXPORTED [--count 200] [--keep FOLDER] [LAYOUT..]

Prints a table: for each layout, how many damages were found (an error, a warning, or a file that
cannot be read), and why others were not (reasons.py); then the same for each kind of damage; then
what was missed. Seeds are fixed. `--keep` keeps the models with misses.
"""

import argparse
import json
import os
import shutil
import subprocess
import tempfile
import zlib
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

import damages
from folder import INDEX
from reasons import reason

BATCH = 40
KINDS = {**damages.OF_TENSORS, **damages.OF_BYTES, **damages.OF_CONFIG}


def damaged(source, target, random):
    """A copy of the folder with one damage: its kind, and what it did. The rest are links."""
    target.mkdir()
    for path in source.iterdir():
        os.link(path, target / path.name)
    shards = sorted(target.glob("*.safetensors"))
    kinds = [*damages.OF_BYTES]
    kinds += [*damages.OF_TENSORS] if shards else []
    kinds += [*damages.OF_CONFIG] if (target / "config.json").exists() else []
    while True:
        kind = kinds[random.integers(len(kinds))]
        if kind in damages.OF_CONFIG:
            path = target / "config.json"
            config = json.loads(path.read_text())
            what = damages.OF_CONFIG[kind](config, random)
            new = json.dumps(config).encode()
        else:
            weights = shards or sorted([*target.glob("*.gguf"), *target.glob("*.onnx")])
            path = weights[random.integers(len(weights))]
            if kind in damages.OF_BYTES:
                new = bytearray(path.read_bytes())
                what = damages.OF_BYTES[kind](new, random)
            else:
                tensors = damages.Tensors(path.read_bytes())
                what = damages.OF_TENSORS[kind](tensors, random)
                new = tensors.bytes()
        if what is None:
            continue
        # Not through the link.
        path.unlink()
        path.write_bytes(new)
        if kind in damages.OF_TENSORS and (target / INDEX).exists():
            fit_index(target, tensors, path.name)
        return kind, f"{path.name}: {what}"


def fit_index(folder, tensors, name):
    """The exporter that made the fault would have written the index with it."""
    path = folder / INDEX
    index = json.loads(path.read_text())
    where = {key: file for key, file in index["weight_map"].items() if file != name}
    index["weight_map"] = where | dict.fromkeys(tensors.all, name)
    path.unlink()
    path.write_text(json.dumps(index))


def found(program, folders):
    """The folders with an error, a warning, or a file that cannot be read; and their rules."""
    names = [folder.name for folder in folders]
    command = [program, "lint", "--json", *names]
    result = subprocess.run(command, capture_output=True, text=True, cwd=folders[0].parent)
    answer = json.loads(result.stdout)
    rules = defaultdict(set)
    for finding in answer["findings"]:
        if finding["severity"] != "note":
            rules[Path(finding["file"]).parts[0]].add(finding["rule"])
    for file in answer["files"]:
        if file["error"] or not file["complete"]:
            rules[Path(file["path"]).parts[0]].add("file")
    return rules


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("exported", type=Path)
    parser.add_argument("layouts", nargs="*")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--examples", type=int, default=3, help="how many misses of a kind to list")
    parser.add_argument("--keep", type=Path)
    options = parser.parse_intermixed_args()
    program = str(Path(options.program).resolve())
    table, misses, by_rule = defaultdict(Counter), defaultdict(list), Counter()
    sources = sorted(path for path in options.exported.iterdir() if path.is_dir())
    for source in sources:
        # Architectures differ in names only, and there are many.
        if source.name.startswith("arch-") or (
            options.layouts and source.name not in options.layouts
        ):
            continue
        random = np.random.default_rng(zlib.crc32(source.name.encode()))
        for first in range(0, options.count, BATCH):
            # Beside the models, for links do not reach other file systems.
            with tempfile.TemporaryDirectory(dir=options.exported.parent) as temporary:
                folders, done = [], []
                for number in range(first, min(first + BATCH, options.count)):
                    folders.append(Path(temporary, f"{source.name}.{number}"))
                    done.append(damaged(source, folders[-1], random))
                rules = found(program, folders)
                for folder, (kind, what) in zip(folders, done):
                    by_rule.update(rules[folder.name])
                    verdict = "found"
                    if not rules[folder.name]:
                        verdict, why = reason(kind, what, source)
                        misses[verdict, kind, why].append(f"{folder.name}: {what}")
                        if options.keep and verdict == "missed":
                            shutil.copytree(folder, options.keep / folder.name)
                    for row in (source.name, kind, "all"):
                        table[row][verdict] += 1
    show(table, misses, by_rule, options.examples)


def show(table, misses, by_rule, examples):
    columns = ("found", "missed", "unknowable", "legal")
    print("| models or damage | " + " | ".join(columns) + " |\n|---|---|---|---|---|")
    for name in sorted(table, key=lambda name: (name in KINDS, name == "all", name)):
        print(f"| {name} | " + " | ".join(str(table[name][column]) for column in columns) + " |")
    order = {"missed": 0, "unknowable": 1, "legal": 2}
    listed = sorted(misses.items(), key=lambda miss: (order[miss[0][0]], -len(miss[1])))
    for (verdict, kind, why), which in listed:
        print(f"\n{len(which)} {verdict}: {kind}: {why}")
        for line in which[:examples]:
            print(f"    {line[:160]}")
    print("\nFound by:")
    for rule, count in by_rule.most_common():
        print(f"{count:5} {rule}")


if __name__ == "__main__":
    main()
