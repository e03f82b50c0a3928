#!/usr/bin/env python3
"""Compares the findings of `nonfinite check` in files of PyTorch and ONNX with numpy.

The files are written by torch and onnx.

    models.py PROGRAM      PROGRAM is the built command

Runs in a Python with numpy, ml_dtypes and onnx. If torch is not installed, its files are left out,
with a message.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import ml_dtypes
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError as missing:
    sys.exit(f"{missing}: run this by checker/oracles/numpy/run")

try:
    import torch
except ImportError:
    torch = None

PROGRAM = sys.argv[1]


def counts(array):
    """NaN, +Inf, -Inf, by numpy in f64, to which each of these types converts exactly."""
    parts = [array.real, array.imag] if np.iscomplexobj(array) else [array]
    with np.errstate(all="ignore"):
        wide = [part.astype(np.float64) for part in parts]
    tests = (np.isnan, np.isposinf, np.isneginf)
    return [int(sum(test(part).sum() for part in wide)) for test in tests]


def found(path):
    result = subprocess.run([PROGRAM, "check", "--json", str(path)], capture_output=True, text=True)
    if result.returncode not in (0, 1):
        sys.exit(f"{path}: exit code {result.returncode}\n{result.stderr}")
    tensors = json.loads(result.stdout)["files"][0]["tensors"]
    return {
        tensor["name"]: [tensor[kind]["count"] for kind in ("nan", "pos_inf", "neg_inf")]
        for tensor in tensors
    }


def compare(path, want):
    got = found(path)
    bad = {
        name: (numbers, got.get(name)) for name, numbers in want.items() if got.get(name) != numbers
    }
    if bad or not want:
        sys.exit(f"{path}: name: (numpy, ours): {bad}")
    print(
        f"{len(want):4} tensors agree, "
        f"{sum(map(sum, want.values())):6} special numbers: {path.name}"
    )


def dirty(shape, dtype, seed):
    random = np.random.default_rng(seed)
    x = random.normal(size=shape).astype(np.float32)
    for value in (np.nan, np.inf, -np.inf):
        x[tuple(random.integers(0, extent, 5) for extent in shape)] = value
    with np.errstate(all="ignore"):
        return x.astype(dtype)


def onnx_models(folder):
    types = {
        TensorProto.FLOAT: np.float32,
        TensorProto.DOUBLE: np.float64,
        TensorProto.FLOAT16: np.float16,
        TensorProto.BFLOAT16: ml_dtypes.bfloat16,
        TensorProto.FLOAT8E4M3FN: ml_dtypes.float8_e4m3fn,
        TensorProto.FLOAT8E4M3FNUZ: ml_dtypes.float8_e4m3fnuz,
        TensorProto.FLOAT8E5M2: ml_dtypes.float8_e5m2,
        TensorProto.FLOAT8E5M2FNUZ: ml_dtypes.float8_e5m2fnuz,
        TensorProto.COMPLEX64: np.complex64,
    }
    initializers, want = [], {}
    for seed, (code, dtype) in enumerate(types.items()):
        x = dirty((9, 11), dtype, seed)
        name = TensorProto.DataType.Name(code)
        want[name] = counts(x)
        initializers.append(numpy_helper.from_array(x, name))
        # In the field of numbers, as onnx.helper fills it.
        if code not in (TensorProto.COMPLEX64,):
            fields = helper.make_tensor(
                name + "_field", code, x.shape, x.astype(np.float32).ravel().tolist()
            )
            initializers.append(fields)
            want[name + "_field"] = counts(numpy_helper.to_array(fields))
    graph = helper.make_graph([], "g", [], [], initializers)
    model = helper.make_model(graph, ir_version=10)
    path = folder / "types.onnx"
    onnx.save(model, path)
    compare(path, want)
    path = folder / "external.onnx"
    external = onnx.ModelProto()
    external.CopyFrom(model)
    onnx.save(external, path, save_as_external_data=True, location="external.bin", size_threshold=0)
    compare(path, want)
    nan, inf = float("nan"), float("inf")
    sparse = helper.make_sparse_tensor(
        helper.make_tensor("v", TensorProto.FLOAT, [2], [inf, -inf]),
        helper.make_tensor("i", TensorProto.INT64, [2], [1, 4]),
        [9],
    )
    nodes = [
        helper.make_node("Elu", ["x"], ["y"], alpha=nan),
        helper.make_node(
            "Scaler", ["y"], ["z"], domain="ai.onnx.ml", scale=[1.0, inf], offset=[0.0]
        ),
        helper.make_node("Constant", [], ["float"], value_float=-inf),
        helper.make_node("Constant", [], ["floats"], value_floats=[nan, nan, 1.0]),
        helper.make_node("Constant", [], ["sparse"], sparse_value=sparse),
    ]
    path = folder / "attributes.onnx"
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", [], []), ir_version=10), path)
    compare(path, {"y.alpha": [1, 0, 0], "z.scale": [0, 1, 0], "z.offset": [0, 0, 0],
                   "float": [0, 0, 1], "floats": [2, 0, 0], "sparse": [0, 1, 1]})  # fmt: skip


def of_torch(tensor):
    # Through f64, to which torch converts each of these types exactly.
    if tensor.is_complex():
        return counts(tensor.detach().resolve_conj().to(torch.complex128).numpy())
    return counts(tensor.detach().to(torch.float64).numpy())


def torch_files(folder):
    from collections import OrderedDict

    base = torch.from_numpy(dirty((12, 10), np.float32, 77))
    tensors = OrderedDict()
    for name in ("float32", "float64", "float16", "bfloat16", "complex64", "complex128",
                 "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
                 "float8_e8m0fnu"):  # fmt: skip
        dtype = getattr(torch, name, None)
        if dtype is not None:
            source = base.abs() if name == "float8_e8m0fnu" else base
            tensors[name] = source.to(dtype)
    views = {
        "transposed": base.t(),
        "columns": base[:, ::3],
        "row": base[4],
        "element": base[3, 3],
        "expanded": base[4].expand(100, 10),
        "channels_last": torch.from_numpy(dirty((2, 3, 4, 5), np.float32, 5)).to(
            memory_format=torch.channels_last
        ),
        "parameter": torch.nn.Parameter(base.clone()),
    }
    tensors.update(views)
    path = folder / "tensors.pt"
    torch.save(tensors, path)
    want = {name: of_torch(tensor) for name, tensor in tensors.items()}
    # Each number of an expanded tensor counts once.
    compare(path, want | {"expanded": of_torch(base[4])})
    # A whole training state: nested, with an optimiser.
    module = torch.nn.Sequential(
        torch.nn.Linear(4, 5), torch.nn.BatchNorm1d(5), torch.nn.Linear(5, 2)
    )
    optimiser = torch.optim.Adam(module.parameters())
    module(torch.randn(8, 4)).sum().backward()
    optimiser.step()
    with torch.no_grad():
        module[2].weight[1, 3] = float("nan")
    path = folder / "state.ckpt"
    torch.save(
        {"model": module.state_dict(), "optimiser": optimiser.state_dict(), "epoch": 3}, path
    )
    compare(
        path,
        {
            f"model.{name}": of_torch(t)
            for name, t in module.state_dict().items()
            if t.is_floating_point()
        },
    )
    assert found(path)["optimiser.state.0.exp_avg"] == [0, 0, 0]
    path = folder / "script.jit"
    torch.jit.save(torch.jit.script(module.eval()), path)
    got = found(path)
    assert sum(numbers[0] for numbers in got.values()) == 1, got
    print(f"{len(got):4} tensors, one NaN: {path.name}")


with tempfile.TemporaryDirectory() as temporary:
    onnx_models(Path(temporary))
    if torch:
        torch_files(Path(temporary))
        more = Path(__file__).parent / "torch_files.py"
        subprocess.run([sys.executable, more, PROGRAM], check=True)
    else:
        print("torch is not installed here: files of PyTorch left out")
