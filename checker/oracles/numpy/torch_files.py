"""Files of PyTorch, written by torch itself, against torch.load: see models.py.

torch_files.py PROGRAM      in a Python that has torch and numpy
"""

import json
import os
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import torch
import torch.distributed.checkpoint as dcp

NAN = float("nan")
KINDS = ("nan", "pos_inf", "neg_inf")


def counts(numbers):
    """NaN, +Inf and -Inf of anything that torch or numpy takes for numbers."""
    if isinstance(numbers, torch.Tensor):
        numbers = numbers.detach().to(torch.float64).numpy()
    numbers = np.asarray(numbers, np.float64)
    tests = (np.isnan, np.isposinf, np.isneginf)
    return [int(test(numbers).sum()) for test in tests]


def found(program, path, complete=True):
    """The NaN and infinities that the command finds, by tensor name."""
    result = subprocess.run([program, "check", "--json", path], capture_output=True, text=True)
    if result.returncode == 2 and complete:
        sys.exit(f"{path}: exit status 2\n{result.stderr}")
    files = json.loads(result.stdout)["files"]
    if complete != all(file["complete"] for file in files):
        sys.exit(f"{path}: {'not ' if complete else ''}complete")
    tensors = [tensor for file in files for tensor in file["tensors"]]
    every = {tensor["name"]: [tensor[kind]["count"] for kind in KINDS] for tensor in tensors}
    return {name: numbers for name, numbers in every.items() if any(numbers)}


def compare(program, path, want, complete=True):
    got = found(program, path, complete)
    want = {name: counts(numbers) for name, numbers in want.items()}
    want = {name: numbers for name, numbers in want.items() if any(numbers)}
    if got != want or not want:
        sys.exit(f"{path}: torch {want}, ours {got}")
    print(f"{len(want):3} of {os.path.basename(path)} agree")


def clean(program, path):
    if found(program, path):
        sys.exit(f"{path}: is clean, and something was found")
    print(f"    {os.path.basename(path)} is clean and complete")


def dirty(*shape):
    random = np.random.default_rng(len(shape))
    numbers = random.normal(size=shape).astype(np.float32)
    for value in (np.nan, np.inf, -np.inf):
        numbers[tuple(random.integers(0, extent, 3) for extent in shape)] = value
    return numbers


def module(bad):
    layers = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.ReLU(), torch.nn.Linear(5, 2))
    if bad:
        with torch.no_grad():
            layers[2].weight[1, 3] = NAN
    return layers


def views(base):
    # Tensors that share storages, with gaps and turned axes.
    return {"all": base, "turned": base.t(), "row": base[4], "columns": base[:, ::3]}


def before_1_6(program, path):
    tensors = views(torch.from_numpy(dirty(12, 10)))
    tensors["half"] = tensors["all"].to(torch.bfloat16)
    torch.save(tensors, path, _use_new_zipfile_serialization=False)
    loaded = torch.load(path)
    compare(program, path, loaded)
    torch.save(module(True), path, _use_new_zipfile_serialization=False)
    compare(program, path, {"_modules.2._parameters.weight": module(True)[2].weight})


def numbers(program, path):
    """Arrays and scalars of numpy, by all protocols of pickles, beside numbers of Python."""
    array = dirty(3, 4)
    saved = {
        "array": array,
        "fortran": np.asfortranarray(array),
        "big": array.astype(">f8"),
        "scalar": np.float64(NAN),
        "integers": np.arange(5),
        "best": -np.inf,
        "lr": 0.1,
        "losses": [2.0, NAN, 1.0],
    }
    for protocol in (2, 3, 4, 5):
        torch.save(saved, path, pickle_protocol=protocol)
        loaded = torch.load(path, weights_only=False)
        loaded = {name: value for name, value in loaded.items() if hasattr(value, "dtype")}
        compare(program, path, loaded)
        torch.save(saved, path, pickle_protocol=protocol, _use_new_zipfile_serialization=False)
        compare(program, path, loaded)
    for unread in (np.float32(NAN).tobytes(), np.array([1.0, NAN], dtype=object)):
        torch.save({"x": torch.ones(1) * NAN, "unread": unread}, path)
        compare(program, path, {"x": NAN}, complete=False)


def quantised(program, path):
    ones = torch.ones(2, 3)
    scales, zeros = torch.tensor([0.1, NAN]), torch.tensor([0, 0])
    saved = {
        "good": torch.quantize_per_tensor(ones, 0.1, 0, torch.qint8),
        "tensor": torch.quantize_per_tensor(ones, NAN, 0, torch.quint8),
        "channels": torch.quantize_per_channel(ones, scales, zeros, 0, torch.qint8),
    }
    torch.save(saved, path)
    loaded = torch.load(path)
    want = {
        "tensor.scale": loaded["tensor"].q_scale(),
        "channels.scale": loaded["channels"].q_per_channel_scales(),
    }
    compare(program, path, want)


def scripts(program, path):
    for bad in (False, True):
        layers = module(bad).eval()
        traced = torch.jit.trace(layers, torch.ones(3, 4), check_trace=False)
        for script in (torch.jit.script(layers), traced):
            torch.jit.save(script, path, _extra_files={"note.txt": "hello"})
            if bad:
                compare(program, path, {"2.weight": layers[2].weight})
            else:
                clean(program, path)
    torch.jit.save(traced, path, _extra_files={"blob": b"\0\0\xc0\x7f"})
    compare(program, path, {"2.weight": layers[2].weight}, complete=False)


def checkpoint(program, path):
    saved = {"model": module(True).state_dict(), "x": torch.tensor([1.0, NAN]), "lr": NAN, "n": 3}
    dcp.save(saved, checkpoint_id=path, no_dist=True)
    want = {f"model.{name}": numbers for name, numbers in saved["model"].items()}
    want |= {"x": saved["x"]}
    compare(program, path, want)
    os.remove(os.path.join(path, ".metadata"))
    # Alone, the file of a checkpoint is several archives, of which one is read at most.
    (file,) = os.listdir(path)
    result = subprocess.run([program, "check", path], capture_output=True, text=True)
    if result.returncode == 0 or file not in result.stderr:
        sys.exit(f"a file of a checkpoint alone: {result}")
    print(f"    {file} alone is not clean")


def shards(program, path):
    os.mkdir(path)
    torch.save({"a": torch.tensor([NAN])}, os.path.join(path, "model-1.bin"))
    torch.save({"b": torch.tensor([np.inf])}, os.path.join(path, "model-2.bin"))
    index = {"weight_map": {"a": "model-1.bin", "b": "model-2.bin"}}
    with open(os.path.join(path, "pytorch_model.bin.index.json"), "w") as file:
        json.dump(index, file)
    compare(program, path, {"a": NAN, "b": np.inf})


def exported(program, path):
    program_of_torch = torch.export.export(module(True), (torch.ones(3, 4) * NAN,))
    torch.export.save(program_of_torch, path)
    result = subprocess.run([program, "check", path], capture_output=True, text=True)
    # Raw weights are named, or found to be bad.
    if result.returncode == 0:
        sys.exit(f"{path}: a NaN passed as clean")
    print("    export.pt2 is not clean")


def main(program):
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        at = lambda name: os.path.join(folder, name)
        before_1_6(program, at("old.pt"))
        numbers(program, at("numbers.pt"))
        quantised(program, at("quantised.pt"))
        scripts(program, at("script.pt"))
        checkpoint(program, at("checkpoint"))
        shards(program, at("shards"))
        exported(program, at("export.pt2"))


main(os.path.abspath(sys.argv[1]))
