# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""Inputs for a model: given ones, or random ones of the model's shapes."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnxruntime as ort
from onnx import GraphProto, TensorProto, ValueInfoProto, helper

# The size of a dimension that the model leaves open, except the first one, which becomes 1.
OPEN_SIZE = 32

# Types that numpy has no name for. Arrays of the unsigned type of the same width are their bits;
# arrays of ml_dtypes are taken, too.
BITS = {
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


def random(
    graph: GraphProto,
    dims: Mapping[str, int],
    shapes: Mapping[str, Sequence[int]],
    seed: int,
) -> dict[str, np.ndarray]:
    """Random inputs: normal numbers, booleans, and the integers 0 and 1.

    `dims` gives sizes by the names of open dimensions, `shapes` gives shapes by the names of
    inputs. Raises ValueError for an input that is no tensor of numbers, and for a name in `dims` or
    `shapes` that the model does not have.
    """
    for name, size in dims.items():
        if not _is_size(size):
            raise ValueError(f"the size of dimension {name} is {size!r}; it must be 0, 1, 2, ...")
    for name, sizes in shapes.items():
        if not isinstance(sizes, Sequence) or not all(map(_is_size, sizes)):
            raise ValueError(f"the shape of {name} is {sizes!r}; it must be a list of sizes")
    found = wanted(graph)
    names = {value.name for value in found}
    if more := shapes.keys() - names:
        raise ValueError(f"the model has no inputs {sorted(more)}; it has {sorted(names)}")
    params = {dim.dim_param for value in found for dim in value.type.tensor_type.shape.dim} - {""}
    if more := dims.keys() - params:
        raise ValueError(f"the model has no dimensions {sorted(more)}; it has {sorted(params)}")
    source = np.random.default_rng(seed)
    return {
        value.name: _random(value, shapes.get(value.name, _shape(value, dims)), source)
        for value in found
    }


def _is_size(size: Any) -> bool:
    return isinstance(size, (int, np.integer)) and int(size) >= 0


def _shape(value: ValueInfoProto, dims: Mapping[str, int]) -> list[int]:
    shape = []
    for axis, dim in enumerate(value.type.tensor_type.shape.dim):
        named = dims.get(dim.dim_param) if dim.dim_param else None
        # Some exporters write -1 for an open dimension.
        size = dim.dim_value if dim.dim_value > 0 else (1 if axis == 0 else OPEN_SIZE)
        shape.append(size if named is None else named)
    return shape


def _random(
    value: ValueInfoProto, shape: Sequence[int], source: np.random.Generator
) -> np.ndarray:
    tensor = value.type.tensor_type
    if not value.type.HasField("tensor_type") or tensor.elem_type == TensorProto.STRING:
        raise ValueError(
            f"input {value.name} is no tensor of numbers, and has no random values: give the inputs"
        )
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


def checked(graph: GraphProto, given: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The given inputs as arrays.

    Raises TypeError for what is no mapping, and ValueError for names that are missing or too many
    and for other dtypes than those of the model.
    """
    if not isinstance(given, Mapping):
        raise TypeError(f"inputs is a {type(given).__name__}, and must be a dict of arrays by name")
    names = {value.name for value in wanted(graph)}
    known = {value.name for value in graph.input}
    if missing := names - given.keys():
        there = f"; the arrays given are {sorted(given)}" if given else ""
        raise ValueError(f"no array for the inputs {sorted(missing)} of the model{there}")
    if more := given.keys() - known:
        raise ValueError(f"the model has no inputs {sorted(more)}; it has {sorted(known)}")
    types = {value.name: value.type.tensor_type.elem_type for value in graph.input}
    return {name: _array(name, array, types[name]) for name, array in given.items()}


def _array(name: str, given: Any, element: Any) -> np.ndarray:
    array = np.asarray(given, order="C")
    if element in (TensorProto.UNDEFINED, TensorProto.STRING):
        return array
    dtype = helper.tensor_dtype_to_np_dtype(element)
    if array.dtype not in ((dtype, BITS[element]) if element in BITS else (dtype,)):
        raise ValueError(f"input {name} has the dtype {array.dtype}; the model takes {dtype}")
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
            sizes = [str(dim.dim_value) if dim.dim_value > 0 else dim.dim_param or "?"
                     for dim in dims]  # fmt: skip
            raise ValueError(
                f"input {value.name} has the shape {list(given)}; the model takes "
                f"[{', '.join(sizes)}]"
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
