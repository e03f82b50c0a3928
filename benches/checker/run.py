#!/usr/bin/env python3
"""Times the checker and other programs for the same question, on the same files, in turns.

    run.py PROGRAM [GIB] [ROUNDS] [gguf]

Needs numpy and safetensors (ci/checker/venv.sh makes such a venv) and a C compiler. Uses torch from
$TORCH_PYTHON if that is set. Files go into $TMPDIR. Prints Markdown for benches/record/checker.md:
medians of the rounds, and the ratios of medians.
"""

import json
import os
import re
import resource
import statistics
import struct
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
except ImportError as missing:
    sys.exit(f"{missing}: ci/checker/venv.sh makes an environment with all that is needed")

HERE = os.path.dirname(os.path.abspath(__file__))
TENSORS = 8
NUMPY = """
import sys, time
import numpy as np, ml_dtypes
from safetensors import safe_open
start = time.perf_counter()
bad = 0
with safe_open(sys.argv[1], "np") as file:
    for name in file.keys():
        x = file.get_tensor(name)
        bad += not np.isfinite(x).all()
print(time.perf_counter() - start)
"""
TORCH = """
import json, mmap, struct, sys, time, torch
start = time.perf_counter()
with open(sys.argv[1], "rb") as file:
    map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
(length,) = struct.unpack_from("<Q", map)
types = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
bad = 0
for entry in json.loads(map[8 : 8 + length]).values():
    (begin, _), dtype = entry["data_offsets"], types[entry["dtype"]]
    x = torch.frombuffer(map, dtype=dtype, offset=8 + length + begin, count=entry["shape"][0])
    bad += not bool(torch.isfinite(x).all())
print(time.perf_counter() - start)
"""


def safetensors(path, dtype, size, length):
    """Writes all-finite tensors of `length` bytes each. Returns the place of the data."""
    header = {
        f"{i}": {
            "dtype": dtype,
            "shape": [length // size],
            "data_offsets": [i * length, (i + 1) * length],
        }
        for i in range(TENSORS)
    }
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    values = np.random.default_rng(1).standard_normal(length // 4).astype(np.float32)
    if dtype == "F16":
        data = np.resize(values.astype(np.float16), length // 2).tobytes()
    elif dtype == "BF16":
        data = np.resize((values.view(np.uint32) >> 16).astype(np.uint16), length // 2).tobytes()
    else:
        data = values.tobytes()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _ in range(TENSORS):
            file.write(data)
    return 8 + len(text), TENSORS * length


def gguf(path, length):
    """One Q4_0 tensor. Returns where the data begins and its length."""
    blocks = length // 18
    name = b"x"
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, 0)
    head += struct.pack("<Q", len(name)) + name + struct.pack("<IQIQ", 1, blocks * 32, 2, 0)
    head += b"\0" * (-len(head) % 32)
    data = np.random.default_rng(1).integers(0, 256, (1 << 16, 18), np.uint8)
    data[:, 1] = 0x20  # The upper byte of the scale: finite.
    data = np.resize(data, (blocks, 18))
    with open(path, "wb") as file:
        file.write(head)
        file.write(data.tobytes())
    return len(head), blocks * 18


def seconds(command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        raise SystemExit(f"{command}: {result.stderr}")
    return result.stdout


def cpu_seconds():
    """CPU time of all processes run so far, starts included. Other load does not affect it."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def ours(program, *arguments):
    found = re.search(r" bytes in ([0-9.]+) s, ", seconds([program, "check", *arguments]))
    return float(found.group(1))


def cold(path):
    """Asks the system to drop the file from its page cache. (A VM host may still have it.)"""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def peak(program, path):
    """The most memory that is not the map, in MB."""
    process = subprocess.Popen([program, "check", path], stdout=subprocess.DEVNULL)
    most = 0
    while process.poll() is None:
        try:
            with open(f"/proc/{process.pid}/status") as status:
                found = re.search(r"RssAnon:\s+(\d+) kB", status.read())
        except OSError:
            break
        most = max(most, int(found.group(1)) if found else 0)
        time.sleep(0.0005)
    process.wait()
    return most / 1000


def table(title, size, contenders, rounds, before=lambda: None):
    times = {name: [] for name in contenders}
    cpu = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, run in contenders.items():
            before()
            start = cpu_seconds()
            times[name].append(run())
            cpu[name].append(cpu_seconds() - start)
    medians = {name: statistics.median(values) for name, values in times.items()}
    first = next(iter(medians.values()))
    print(
        f"\n### {title}, {size / 1e9:.2f} GB\n\n"
        f"| | s, median of {rounds} | best | GB/s | time / ours | CPU s |\n"
        "|---|---|---|---|---|---|"
    )
    for name, median in medians.items():
        print(
            f"| {name} | {median:.4f} | {min(times[name]):.4f} | {size / median / 1e9:.2f} "
            f"| {median / first:.2f} | {statistics.median(cpu[name]):.3f} |"
        )
    sys.stdout.flush()


def main(program, gib="1", rounds="7", only=""):
    rounds = int(rounds)
    cores = str(os.cpu_count())
    with open("/proc/cpuinfo") as info:
        model = re.search(r"model name\s*: (.*)", info.read()).group(1)
    print(f"{model}, {cores} CPUs, load average {os.getloadavg()[0]:.1f} at the start")
    with tempfile.TemporaryDirectory() as folder:
        peers = os.path.join(folder, "peers")
        subprocess.run(
            ["cc", "-O3", "-march=native", "-o", peers, f"{HERE}/peers.c", "-lpthread"], check=True
        )
        path = os.path.join(folder, "x.safetensors")

        def peer(mode, what, threads, start, size):
            return lambda: float(seconds([peers, mode, what, threads, path, str(start), str(size)]))

        for dtype, size in (("F32", 4), ("F16", 2), ("BF16", 2)):
            if only == "gguf":
                break
            start, length = safetensors(path, dtype, size, int(float(gib) * (1 << 30)) // TENSORS)
            contenders = {
                "ours": lambda: ours(program, path),
                "ours, 1 thread": lambda: ours(program, "--threads", "1", path),
                f"limit: loads, {cores} threads": peer("load", "none", cores, start, length),
                f"limit: loads of pages mapped before, {cores} threads": peer(
                    "load", "populate", cores, start, length
                ),
                "limit: loads, 1 thread": peer("load", "none", "1", start, length),
                f"llama.cpp's algorithm, {cores} threads": peer(
                    "ggml", dtype.lower(), cores, start, length
                ),
                "llama.cpp's algorithm, 1 thread": peer("ggml", dtype.lower(), "1", start, length),
                "numpy + safetensors": lambda: float(seconds([sys.executable, "-c", NUMPY, path])),
            }
            if "TORCH_PYTHON" in os.environ:
                contenders[f"torch.isfinite().all(), {cores} threads"] = lambda: float(
                    seconds([os.environ["TORCH_PYTHON"], "-c", TORCH, path])
                )
            subprocess.run(["cat", path], stdout=subprocess.DEVNULL, check=True)
            table(f"safetensors, {dtype}, in the page cache", length, contenders, rounds)
            if dtype == "F32":
                print(f"\nMemory beyond the map, at most: {peak(program, path):.1f} MB")
                contenders = {"ours": contenders["ours"]}
                for advice in ("none", "willneed", "populate", "read"):
                    contenders[f"loads, advice {advice}, {cores} threads"] = peer(
                        "load", advice, cores, start, length
                    )
                table(
                    "safetensors, F32, not in the page cache",
                    length,
                    contenders,
                    min(rounds, 3),
                    lambda: cold(path),
                )
        path = os.path.join(folder, "x.gguf")
        start, length = gguf(path, int(float(gib) * (1 << 30)))
        subprocess.run(["cat", path], stdout=subprocess.DEVNULL, check=True)
        contenders = {
            "ours": lambda: ours(program, path),
            "ours, 1 thread": lambda: ours(program, "--threads", "1", path),
            f"limit: loads, {cores} threads": peer("load", "none", cores, start, length),
            f"llama.cpp's algorithm, {cores} threads": peer("ggml", "q4_0", cores, start, length),
            "llama.cpp's algorithm, 1 thread": peer("ggml", "q4_0", "1", start, length),
        }
        table("GGUF, Q4_0 (scales), in the page cache", length, contenders, rounds)


if len(sys.argv) < 2:
    sys.exit(__doc__)
if subprocess.run([f"{HERE}/../../ci/need", "cc"]).returncode:
    sys.exit(1)
main(*sys.argv[1:])
