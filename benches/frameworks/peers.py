"""The frameworks that are measured.

Each is a function of a format, a question and a tensor (a numpy array). It returns None if the
framework has no answer, or two functions: one to time, and one that makes its result comparable.
Tensors, models and outputs are prepared outside of the timed function.
"""

import ctypes

import numpy as np

from data import FORMATS

PEERS = {}


def peer(name):
    def add(function):
        PEERS[name] = function
        return function

    return add


def same(result):
    return result


def load_ours(path):
    """Our library, on each path that this CPU has."""
    library = ctypes.CDLL(path)
    library.peers_mask.argtypes = [
        ctypes.c_uint32,
        ctypes.c_uint32,
        ctypes.c_void_p,
        ctypes.c_size_t,
        ctypes.c_void_p,
        ctypes.c_size_t,
    ]
    for function in (library.peers_all, library.peers_any):
        function.argtypes = [ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t]

    def tasks(fmt, ask, x, path):
        library.peers_use_backend(path)
        number = list(FORMATS).index(fmt)
        predicate = 0 if ask.endswith("finite") else 1
        # As ctypes objects: a call does not convert them again.
        head = (ctypes.c_uint32(number), ctypes.c_uint32(predicate))
        head += (ctypes.c_void_p(x.ctypes.data), ctypes.c_size_t(x.nbytes))
        if ask.startswith("mask"):
            out = np.empty(x.size, bool)
            tail = (ctypes.c_void_p(out.ctypes.data), ctypes.c_size_t(out.size))
            function = library.peers_mask

            def run():
                return function(*head, *tail)

            # The closure keeps the memory that the pointers point to.
            return run, lambda status: out if status == 0 and x is not None else status
        function = library.peers_all if ask.startswith("all") else library.peers_any
        return lambda: function(*head), lambda result: bool(result) if x is not None else result

    for number, path_name in enumerate(("avx2", "avx512", "neon")):
        if library.peers_use_backend(number):
            # The path is for the whole library: chosen again before each measurement, by `select`.
            def task(fmt, ask, x, number=number):
                return tasks(fmt, ask, x, number)

            task.select = lambda number=number: library.peers_use_backend(number)
            PEERS[f"nonfinite {path_name}"] = task


@peer("numpy")
def numpy_peer(fmt, ask, x):
    """numpy, with ml_dtypes for bf16. Masks get an output; reductions allocate their own mask."""
    question = np.isfinite if ask.endswith("finite") else np.isnan
    if ask.startswith("mask"):
        out = np.empty(x.size, bool)
        return lambda: question(x, out=out), same
    if ask.startswith("all"):
        return lambda: question(x).all(), bool
    return lambda: question(x).any(), bool


@peer("torch")
def torch_peer(fmt, ask, x):
    import torch

    torch.set_num_threads(1)
    tensor = (
        torch.from_numpy(x.view(np.int16)).view(torch.bfloat16)
        if fmt == "bf16"
        else torch.from_numpy(x)
    )
    question = torch.isfinite if ask.endswith("finite") else torch.isnan
    if ask.startswith("mask"):
        return lambda: question(tensor), lambda result: result.numpy()
    if ask.startswith("all"):
        return lambda: question(tensor).all().item(), same
    return lambda: question(tensor).any().item(), same


@peer("onnxruntime")
def onnxruntime_peer(fmt, ask, x):
    """IsNaN; for finite the graph Not(Or(IsNaN, IsInf)), as there is no such operator."""
    if not ask.startswith("mask"):
        return None
    import onnxruntime
    from onnx import TensorProto, helper

    element = {
        "f32": TensorProto.FLOAT,
        "f64": TensorProto.DOUBLE,
        "f16": TensorProto.FLOAT16,
        "bf16": TensorProto.BFLOAT16,
    }[fmt]
    if ask == "mask/nan":
        nodes = [helper.make_node("IsNaN", ["x"], ["y"])]
    else:
        nodes = [
            helper.make_node("IsNaN", ["x"], ["nan"]),
            helper.make_node("IsInf", ["x"], ["inf"]),
            helper.make_node("Or", ["nan", "inf"], ["bad"]),
            helper.make_node("Not", ["bad"], ["y"]),
        ]
    graph = helper.make_graph(
        nodes,
        "ask",
        [helper.make_tensor_value_info("x", element, [x.size])],
        [helper.make_tensor_value_info("y", TensorProto.BOOL, [x.size])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, ["CPUExecutionProvider"]
        )
    except Exception as error:
        if "NOT_IMPLEMENTED" in str(error) or "NotImplemented" in type(error).__name__:
            return None
        raise
    binding = session.io_binding()
    if fmt == "bf16":
        value = onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(x.view(np.uint16), element)
    else:
        value = onnxruntime.OrtValue.ortvalue_from_numpy(x)
    out = onnxruntime.OrtValue.ortvalue_from_numpy(np.zeros(x.size, bool))
    binding.bind_ortvalue_input("x", value)
    binding.bind_ortvalue_output("y", out)
    return lambda: session.run_with_iobinding(binding), lambda _: out.numpy()


@peer("openvino")
def openvino_peer(fmt, ask, x):
    if not ask.startswith("mask"):
        return None
    import openvino
    from openvino import opset10

    element = {
        "f32": openvino.Type.f32,
        "f64": openvino.Type.f64,
        "f16": openvino.Type.f16,
        "bf16": openvino.Type.bf16,
    }[fmt]
    parameter = opset10.parameter([x.size], element)
    question = opset10.is_finite if ask.endswith("finite") else opset10.is_nan
    model = openvino.Model([question(parameter)], [parameter])
    settings = {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"}
    request = openvino.Core().compile_model(model, "CPU", settings).create_infer_request()
    if fmt == "bf16":
        tensor = openvino.Tensor(x.view(np.uint16), [x.size], element)
    else:
        tensor = openvino.Tensor(x, shared_memory=True)
    request.set_input_tensor(tensor)
    return request.infer, lambda _: request.get_output_tensor().data.astype(bool)


@peer("pyarrow")
def pyarrow_peer(fmt, ask, x):
    """Packed bits, not bytes."""
    if fmt == "bf16":
        return None
    import pyarrow
    import pyarrow.compute

    array = pyarrow.array(x)
    question = pyarrow.compute.is_finite if ask.endswith("finite") else pyarrow.compute.is_nan
    try:
        question(array)
    except pyarrow.lib.ArrowNotImplementedError:
        return None
    if ask.startswith("mask"):
        return lambda: question(array), lambda result: result.to_numpy(zero_copy_only=False)
    if ask.startswith("all"):
        return lambda: pyarrow.compute.all(question(array)), lambda result: result.as_py()
    return lambda: pyarrow.compute.any(question(array)), lambda result: result.as_py()


@peer("polars")
def polars_peer(fmt, ask, x):
    """Packed bits, not bytes."""
    if fmt == "bf16":
        return None
    import polars

    series = polars.Series(x)
    if not series.dtype.is_float():
        return None
    question = series.is_finite if ask.endswith("finite") else series.is_nan
    if ask.startswith("mask"):
        return question, lambda result: result.to_numpy()
    if ask.startswith("all"):
        return lambda: question().all(), same
    return lambda: question().any(), same


@peer("scikit-learn")
def sklearn_peer(fmt, ask, x):
    """Raises an error where something is not finite."""
    if ask != "all/finite" or fmt == "bf16":
        return None
    from sklearn.utils import assert_all_finite

    def run():
        try:
            assert_all_finite(x)
            return True
        except ValueError:
            return False

    return run, same


@peer("bottleneck")
def bottleneck_peer(fmt, ask, x):
    # Other types are handed on to a function in Python.
    if ask != "any/nan" or fmt not in ("f32", "f64"):
        return None
    import bottleneck

    return lambda: bottleneck.anynan(x), bool


@peer("opencv")
def opencv_peer(fmt, ask, x):
    """checkRange, and the mask of OpenCV 5. (patchNaNs changes its input: no answer to compare.)"""
    if fmt not in ("f32", "f64"):
        return None
    import cv2

    cv2.setNumThreads(1)
    if ask == "all/finite":
        return lambda: cv2.checkRange(x), lambda result: bool(result[0])
    if ask == "mask/finite" and hasattr(cv2, "finiteMask"):
        image = x.reshape(1, -1)
        return lambda: cv2.finiteMask(image), lambda result: result.reshape(-1) != 0
    return None
