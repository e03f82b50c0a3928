"""ONNX: models of MatMul and Gemm, quantised by onnxruntime's own tools."""

import importlib.metadata

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quantize_dynamic,
    quantize_static,
)
from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

PACKAGE = f"onnxruntime {importlib.metadata.version('onnxruntime')}"


def network(path):
    random = np.random.default_rng(4)
    initializers = [
        numpy_helper.from_array(random.normal(0, 0.05, shape).astype(np.float32), name)
        for name, shape in (("up", (128, 256)), ("down", (256, 128)), ("bias", (128,)))
    ]
    nodes = [
        helper.make_node("MatMul", ["x", "up"], ["h"], name="up_proj"),
        helper.make_node("Relu", ["h"], ["a"], name="relu"),
        helper.make_node("MatMul", ["a", "down"], ["d"], name="down_proj"),
        helper.make_node("Add", ["d", "bias"], ["y"], name="add"),
    ]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 128]) for name in "xy")
    graph = helper.make_graph(nodes, "mlp", [x], [y], initializers)
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])
    onnx.save(model, path)


class Inputs(CalibrationDataReader):
    def __init__(self):
        random = np.random.default_rng(5)
        self.left = [{"x": random.normal(size=(4, 128)).astype(np.float32)} for _ in range(4)]

    def get_next(self):
        return self.left.pop() if self.left else None


def start(folder):
    folder.mkdir()
    plain = folder.with_suffix(".onnx")
    network(plain)
    return plain


def static(folder, **how):
    plain = start(folder)
    quantize_static(plain, folder / "model.onnx", Inputs(), quant_format=QuantFormat.QDQ, **how)
    plain.unlink()


def dynamic(folder):
    plain = start(folder)
    quantize_dynamic(plain, folder / "model.onnx", weight_type=QuantType.QInt8)
    plain.unlink()


def bits(folder, quant_format, **how):
    plain = start(folder)
    quantizer = MatMulNBitsQuantizer(
        onnx.load(plain), bits=4, block_size=32, quant_format=quant_format, **how
    )
    quantizer.process()
    onnx.save(quantizer.model.model, folder / "model.onnx")
    plain.unlink()


LAYOUTS = {
    "onnx-qdq-int8": lambda folder: static(folder, weight_type=QuantType.QInt8),
    "onnx-qdq-int8-channel": lambda folder: static(
        folder, weight_type=QuantType.QInt8, per_channel=True
    ),
    "onnx-qdq-uint8": lambda folder: static(
        folder, weight_type=QuantType.QUInt8, activation_type=QuantType.QUInt8
    ),
    "onnx-qdq-int4": lambda folder: static(folder, weight_type=QuantType.QInt4),
    "onnx-dynamic-int8": dynamic,
    "onnx-matmulnbits": lambda folder: bits(folder, QuantFormat.QOperator),
    "onnx-qdq-int4-block": lambda folder: bits(folder, QuantFormat.QDQ, is_symmetric=True),
}
