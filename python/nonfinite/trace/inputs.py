# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""Inputs for a model: given ones, or random ones of the model's shapes."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnxruntime as ort
from onnx import GraphProto, TensorProto, ValueInfoProto, helper, numpy_helper

from nonfinite.trace.model import constant

# Types that numpy has no name for. Arrays of the unsigned type of the same width are their bits;
# arrays of ml_dtypes are taken, too.
BITS: dict[int, Any] = {
    TensorProto.BFLOAT16: np.uint16,
    TensorProto.FLOAT8E4M3FN: np.uint8,
    TensorProto.FLOAT8E4M3FNUZ: np.uint8,
    TensorProto.FLOAT8E5M2: np.uint8,
    TensorProto.FLOAT8E5M2FNUZ: np.uint8,
}


def wanted(graph: GraphProto) -> list[ValueInfoProto]:
    """The inputs of a graph that have no initialiser."""
    weights = {tensor.name for tensor in graph.initializer}
    return [value for value in graph.input if value.name not in weights]


def read(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """The arrays of an .npz file. Raises ValueError for other files and for arrays of objects."""
    try:
        file = np.load(path, allow_pickle=False)
    except (ValueError, EOFError):
        file = None
    if not isinstance(file, np.lib.npyio.NpzFile):
        raise ValueError(f"{path} is no .npz file: write one with numpy.savez(path, name=array)")
    with file:
        try:
            return {name: file[name] for name in file.files}
        except ValueError as error:
            raise ValueError(f"{path} has an array that is not of numbers: {error}") from error


def complete(
    graph: GraphProto,
    given: Mapping[str, Any],
    dims: Mapping[str, int],
    shapes: Mapping[str, Sequence[int]],
    values: Mapping[str, float],
    seed: int,
) -> dict[str, np.ndarray]:
    """The given inputs as arrays. The others are random: normal numbers, booleans, and the integers
    0 and 1.

    `dims` gives sizes by the names of open dimensions, `shapes` gives shapes by the names of
    inputs, and `values` gives numbers that fill inputs.

    Raises TypeError for given inputs that are no mapping, and ValueError for a name that the model
    does not have, for a given array of another type than the model's, for an input that is no
    tensor of numbers, and for a random input with a size that is not known.
    """
    if not isinstance(given, Mapping):
        raise TypeError(f"inputs is a {type(given).__name__}, and must be a dict of arrays by name")
    for name, one in dims.items():
        if not _is_size(one):
            raise ValueError(f"the size of dimension {name} is {one!r}; it must be 0, 1, 2, ...")
    for name, sizes in shapes.items():
        if not isinstance(sizes, Sequence) or not all(map(_is_size, sizes)):
            raise ValueError(f"the shape of {name} is {sizes!r}; it must be a list of sizes")
    known = {value.name: value for value in graph.input}
    for value in known.values():
        kind = value.type.WhichOneof("value")
        if kind != "tensor_type" or value.type.tensor_type.elem_type == TensorProto.STRING:
            what = "of strings" if kind == "tensor_type" else f"a {str(kind).partition('_')[0]}"
            raise ValueError(f"input {value.name} is {what}: a trace takes tensors of numbers only")
    options = shapes.keys() | values.keys()
    if more := (given.keys() | options) - known.keys():
        raise ValueError(f"the model has no inputs {sorted(more)}; it has {sorted(known)}")
    open_ = [value for value in wanted(graph) if value.name not in given]
    if more := options - {value.name for value in open_}:
        raise ValueError(f"shapes and values are for random inputs, and not for {sorted(more)}")
    params = {dim.dim_param for value in open_ for dim in _dims(value)} - {""}
    if more := dims.keys() - params:
        raise ValueError(f"the model has no dimensions {sorted(more)}; it has {sorted(params)}")
    source = np.random.default_rng(seed)
    made = {name: _array(known[name], array) for name, array in given.items()}
    for value in open_:
        name = value.name
        made[name] = _random(value, shapes[name] if name in shapes else _shape(value, dims), source)
        if name in values:
            if value.type.tensor_type.elem_type in BITS:
                raise ValueError(f"numpy has no type for the value of input {name}: give the input")
            made[name] = np.full_like(made[name], values[name])
    return made


def compared(graph: GraphProto) -> dict[str, list[float]]:
    """The numbers with which the model compares its inputs, such as the sample rates it knows."""
    constants, found = _constants(graph), dict[str, list[float]]()
    names = {value.name for value in graph.input}
    for node in graph.node:
        for name, number in (node.input, node.input[::-1]) if node.op_type == "Equal" else ():
            if name in names and number in constants:
                numbers = numpy_helper.to_array(constants[number]).ravel().tolist()
                found.setdefault(name, []).extend(numbers)
    return found


def _constants(graph: GraphProto) -> dict[str, TensorProto]:
    made = {node.output[0]: tensor for node in graph.node if (tensor := constant(node))}
    return made | {tensor.name: tensor for tensor in graph.initializer}


def _is_size(size: Any) -> bool:
    return isinstance(size, (int, np.integer)) and int(size) >= 0


def _dims(value: ValueInfoProto) -> list[Any]:
    return list(value.type.tensor_type.shape.dim)


def _shape(value: ValueInfoProto, named: Mapping[str, int]) -> list[int]:
    """The sizes of an input. Raises ValueError if one of them is not known."""
    tensor = value.type.tensor_type
    # Some exporters write 0 or -1 for an open dimension.
    shape = [
        dim.dim_value if dim.dim_value > 0 else named.get(dim.dim_param) for dim in tensor.shape.dim
    ]
    if tensor.HasField("shape") and None not in shape:
        return [size for size in shape if size is not None]
    name, sizes = value.name, _takes(value)
    example = ",".join("SIZE" if size is None else str(size) for size in shape) or "SIZE,SIZE"
    params = [dim.dim_param for dim in tensor.shape.dim if dim.dim_param]
    named_size = next((each for each in params if each not in named), None)
    by_name = f", dims={{{named_size!r}: SIZE}} (--dim {named_size}=SIZE)" if named_size else ""
    raise ValueError(
        f"the model leaves sizes of input {name} open: {sizes}. Give its shape: "
        f"shapes={{{name!r}: [{example.replace(',', ', ')}]}} (--shape {name}={example}){by_name}; "
        f"or give an array: inputs={{{name!r}: array}} (--input X.npz)"
    )


def _takes(value: ValueInfoProto) -> str:
    """The shape of an input as the model has it, in words."""
    tensor = value.type.tensor_type
    if not tensor.HasField("shape"):
        return "it has no shape"
    # Some exporters write 0 or -1 for an open dimension.
    sizes = [str(dim.dim_value) if dim.dim_value > 0 else dim.dim_param or "?"
             for dim in tensor.shape.dim]  # fmt: skip
    return f"[{', '.join(sizes)}]"


def _random(value: ValueInfoProto, shape: Sequence[int], source: np.random.Generator) -> np.ndarray:
    tensor = value.type.tensor_type
    if tensor.elem_type in BITS:
        wide = source.standard_normal(shape, np.float32)
        if tensor.elem_type == TensorProto.BFLOAT16:
            return (wide.view(np.uint32) >> 16).astype(np.uint16)
        return source.integers(0x20, 0x40, shape, np.uint8)
    dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    if dtype == np.bool_:
        return source.integers(0, 2, shape).astype(bool)
    if np.issubdtype(dtype, np.integer):
        return source.integers(0, 2, shape).astype(dtype)
    return source.standard_normal(shape).astype(dtype)


def _array(value: ValueInfoProto, given: Any) -> np.ndarray:
    element = value.type.tensor_type.elem_type
    array = np.asarray(given, order="C")
    if element == TensorProto.UNDEFINED:
        return array
    dtype = helper.tensor_dtype_to_np_dtype(element)
    if array.dtype not in ((dtype, BITS[element]) if element in BITS else (dtype,)):
        raise ValueError(f"input {value.name} has the dtype {array.dtype}; the model takes {dtype}")
    return array


def fit(graph: GraphProto, arrays: Mapping[str, np.ndarray]) -> None:
    """Raises ValueError for an array whose shape is not that of the input."""
    for value in graph.input:
        dims = value.type.tensor_type.shape.dim
        if value.name not in arrays or not dims:
            continue
        given = arrays[value.name].shape
        # Some exporters write 0 or -1 for an open dimension.
        pairs = zip(dims, given, strict=False)
        wrong = any(dim.dim_value > 0 and dim.dim_value != size for dim, size in pairs)
        if wrong or len(dims) != len(given):
            raise ValueError(
                f"input {value.name} has the shape {list(given)}; the model takes {_takes(value)}"
            )


def sizes(arrays: Mapping[str, np.ndarray]) -> str:
    """The shapes of arrays as words, with the number of a scalar."""
    return ", ".join(
        f"{name} {list(array.shape)}" if array.ndim else f"{name} {array.item():.6g}"
        for name, array in arrays.items()
    )


def feeds(graph: GraphProto, arrays: Mapping[str, np.ndarray]) -> dict[str, ort.OrtValue]:
    """The arrays as the runtime takes them."""
    types = {value.name: value.type.tensor_type.elem_type for value in graph.input}
    made = {}
    for name, array in arrays.items():
        if types[name] in BITS:
            bits = array.view(BITS[types[name]])
            made[name] = ort.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, types[name])
        else:
            made[name] = ort.OrtValue.ortvalue_from_numpy(array)
    return made
