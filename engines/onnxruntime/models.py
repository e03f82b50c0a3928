"""Models and inputs for the tests, and an oracle."""

import ml_dtypes
import nonfinite_onnxruntime
import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper

LIBRARY = nonfinite_onnxruntime.library_path()
DEFAULT_DOMAIN = nonfinite_onnxruntime.default_domain_library_path()
OURS = "nonfinite"

# ONNX's type, the type that numpy knows it by, and the unsigned type of the same width.
TYPES = {
    "f32": (TensorProto.FLOAT, np.float32, np.uint32),
    "f64": (TensorProto.DOUBLE, np.float64, np.uint64),
    "f16": (TensorProto.FLOAT16, np.float16, np.uint16),
    "bf16": (TensorProto.BFLOAT16, ml_dtypes.bfloat16, np.uint16),
    "f8e4m3fn": (TensorProto.FLOAT8E4M3FN, ml_dtypes.float8_e4m3fn, np.uint8),
    "f8e4m3fnuz": (TensorProto.FLOAT8E4M3FNUZ, ml_dtypes.float8_e4m3fnuz, np.uint8),
    "f8e5m2": (TensorProto.FLOAT8E5M2, ml_dtypes.float8_e5m2, np.uint8),
    "f8e5m2fnuz": (TensorProto.FLOAT8E5M2FNUZ, ml_dtypes.float8_e5m2fnuz, np.uint8),
}


def session(model, libraries=(LIBRARY,)):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    for library in libraries:
        options.register_custom_ops_library(library)
    return ort.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def model_of(nodes, type_, shape=None, opset=20, outputs=("y",)):
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("x", type_, shape)],
        [helper.make_tensor_value_info(name, TensorProto.BOOL, None) for name in outputs],
    )
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid(OURS, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def one_node(operator, type_, domain=OURS, opset=20, **attributes):
    return model_of(
        [helper.make_node(operator, ["x"], ["y"], domain=domain, **attributes)], type_, opset=opset
    )


def run(made, bits, type_):
    """Feeds bits as they are: numpy has no names for most of these types."""
    value = ort.OrtValue.ortvalue_from_numpy_with_onnx_type(np.ascontiguousarray(bits), type_)
    return made.run_with_ort_values(["y"], {"x": value})[0].numpy()


def oracle(operator, values, detect_negative=1, detect_positive=1):
    """The answers of numpy, with ml_dtypes.

    Computed in f64, to avoid their special code for single types. The conversion is exact.
    """
    with np.errstate(all="ignore"):
        wide = values.astype(np.float64)
    if operator == "IsNaN":
        return np.isnan(wide)
    if operator == "IsFinite":
        return np.isfinite(wide)
    negative, positive = bool(detect_negative), bool(detect_positive)
    return (np.isposinf(wide) & positive) | (np.isneginf(wide) & negative)


def patterns(name):
    """All codes of types up to 16 bits. Random bits of wider types, a quarter NaN or Inf."""
    _, _, unsigned = TYPES[name]
    width = 8 * np.dtype(unsigned).itemsize
    if width <= 16:
        return np.arange(2**width, dtype=unsigned)
    random = np.random.default_rng(1)
    bits = random.integers(0, 2**width, 200_003, dtype=unsigned, endpoint=False)
    exponent = unsigned(0x7F80_0000 if width == 32 else 0x7FF0_0000_0000_0000)
    bits[::4] |= exponent
    bits[::8] &= exponent | unsigned(1 << (width - 1))
    return bits


def checked(model, **options):
    """`onnx.checker` on the model, which must have shapes for that: one dimension of any size."""
    shaped = onnx.ModelProto()
    shaped.CopyFrom(model)
    for value in (*shaped.graph.input, *shaped.graph.output):
        if not value.type.tensor_type.HasField("shape"):
            value.type.tensor_type.shape.dim.add()
    onnx.checker.check_model(shaped, **options)
