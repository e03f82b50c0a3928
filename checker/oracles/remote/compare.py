"""Checks files of stores by their URL, and compares with the same files on disk."""

import json
import logging
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import stores
from safetensors.numpy import save_file

SLACK = 192 << 10  # bytes for headers and gaps
RUNS = 9


def files(folder):
    """Files of several formats, and how many of their bytes are floats."""
    random = np.random.default_rng(1)
    floats = random.standard_normal((2000, 1000), dtype=np.float32)
    floats[7, 5] = np.nan
    floats[1999, 999] = np.inf
    integers = random.integers(0, 255, 20_000_000, dtype=np.uint8)
    np.save(folder / "x.npy", floats)
    save_file({"a": floats, "b": integers, "c": floats[::-1].copy()}, folder / "x.safetensors")
    np.savez(folder / "x.npz", a=floats, b=integers)
    np.savez_compressed(folder / "y.npz", a=floats[:100])
    for name in ["p", "q"]:
        save_file({name: floats[:100]}, folder / f"{name} 1+.safetensors")
    index = {"weight_map": {name: f"{name} 1+.safetensors" for name in ["p", "q"]}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    size = floats.nbytes
    return {
        "x.npy": size,
        "x.safetensors": 2 * size,
        "x.npz": None,
        "y.npz": None,
        "model.safetensors.index.json": None,
    }


def check(program, target, env):
    done = subprocess.run(
        [program, "check", "--json", "--stats", target],
        env=env,
        stdout=subprocess.PIPE,
        check=False,
        text=True,
    )
    document = json.loads(done.stdout)
    for file in document["files"]:
        file["path"] = Path(file["path"]).name
        for tensor in file["tensors"]:
            # A tensor of a server is not read a second time for the places of its bad numbers.
            tensor.pop("where", None)
            if "shard" in tensor:
                tensor["shard"] = Path(tensor["shard"]).name
    return done.returncode, document


def quantised(folder):
    """A model of blocks of FP4, with a scale of E8M0 that is NaN."""
    blocks = np.full((1, 4, 2, 16), 0x11, dtype=np.uint8)
    scales = np.full((1, 4, 2), 127, dtype=np.uint8)
    scales[0, 2, 1] = 255
    save_file({"w_blocks": blocks, "w_scales": scales}, folder / "mxfp4.safetensors")
    (folder / "config.json").write_text('{"quantization_config": {"quant_method": "mxfp4"}}')


def lint(program, target, env):
    done = subprocess.run(
        [program, "lint", "--json", target],
        env=env,
        stdout=subprocess.PIPE,
        check=False,
        text=True,
    )
    found = [
        (each["rule"], each["tensor"], each["coordinate"], each["message"])
        for each in json.loads(done.stdout)["findings"]
    ]
    assert [each[:3] for each in found] == [("scale-nonfinite", "w_scales", [0, 2, 1])], found
    return done.returncode, found


def speed(command, env):
    start = time.perf_counter()
    done = subprocess.run(command, env=env, stdout=subprocess.DEVNULL, check=False)
    if done.returncode > 1:
        sys.exit(f"{command} ended with {done.returncode}")
    return time.perf_counter() - start


def compare_speed(program, fetch, url, length, env):
    """Interleaved medians: the check, and a plain download of the same ranges that drops them."""
    times = {"check": [], "fetch": []}
    for _ in range(RUNS):
        times["check"].append(speed([program, "check", "--quiet", url], env))
        times["fetch"].append(speed([fetch, url], env))
    median = {name: statistics.median(values) for name, values in times.items()}
    for name, seconds in median.items():
        print(f"{name}: {seconds:.3f} s, {length / seconds / 1e6:.0f} MB/s")
    share = median["fetch"] / median["check"]
    print(f"the check has {share:.2f} of the throughput of the download")
    if share < 0.9:
        sys.exit("the check is slower than 0.9 of the link")


def compare_store(program, store, folder, floats):
    """The files of a store have the reports of the files on disk."""
    env = os.environ | store.env
    for path in folder.iterdir():
        store.upload(path, f"a b/{path.name}")
    for name, size in floats.items():
        local = check(program, str(folder / name), env)
        before = store.counted.sent if store.counted else 0
        url = f"{store.url}/a b/{name}"
        remote = check(program, url, env)
        assert local == remote, f"{url}:\n{local}\n{remote}"
        assert remote[0] == 1, remote
        if store.counted:
            sent = store.counted.sent - before
            print(f"{url}: the same report, {sent} bytes of {(folder / name).stat().st_size}")
            if size is not None:
                assert size <= sent <= size + SLACK, f"{sent} bytes for {size} of floats"
        else:
            print(f"{url}: the same report")
        # The same with a presigned URL, which needs no credentials.
        if store.presigned and not name.endswith(".json"):
            url = store.presigned(f"a b/{name}")
            presigned = check(program, url, {**os.environ})
            presigned[1]["files"][0]["path"] = name
            assert presigned == local, f"{url}:\n{presigned}"
    url = f"{store.url}/a b/mxfp4.safetensors"
    assert lint(program, url, env) == lint(program, str(folder / "mxfp4.safetensors"), env)
    refused = subprocess.run(
        [program, "check", f"{store.url}/missing.npy"],
        env=env,
        capture_output=True,
        check=False,
        text=True,
    )
    assert refused.returncode == 2, refused
    assert f"{store.url}/missing.npy: " in refused.stderr, refused


def main():
    program, azurite = (str(Path(path).resolve()) for path in sys.argv[1:3])
    for logger in ("werkzeug", "azure"):
        logging.getLogger(logger).setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as data:
        folder = Path(name)
        floats = files(folder)
        quantised(folder)
        with stores.google() as store:
            compare_store(program, store, folder, floats)
        with stores.azure(azurite, data) as store:
            compare_store(program, store, folder, floats)
        with stores.s3() as store:
            compare_store(program, store, folder, floats)
            if len(sys.argv) > 3:
                big = folder / "big.npy"
                np.save(big, np.zeros(200_000_000, dtype=np.float16))
                store.upload(big, "big.npy")
                compare_speed(
                    program,
                    str(Path(sys.argv[3]).resolve()),
                    f"{store.url}/big.npy",
                    big.stat().st_size,
                    os.environ | store.env,
                )


main()
