"""Tests of the library for ONNX's own domain: models run as they are, on our kernels."""

import itertools
import os
import subprocess
import sys
import unittest

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper

from models import (
    DEFAULT_DOMAIN, LIBRARY, OURS, TYPES, checked, model_of, run, session,
)  # fmt: skip

OPSETS = range(9, 24)
# IsInf exists from opset 10 on.
NODES = [("IsNaN", {})] + [
    ("IsInf", {"detect_negative": negative, "detect_positive": positive})
    for negative, positive in itertools.product((0, 1), (0, 1))
]


def plain(operator, type_, opset=20, **attributes):
    """A model of one node of ONNX's own domain, which imports nothing else."""
    node = helper.make_node(operator, ["x"], ["y"], **attributes)
    model = model_of([node], type_, opset=opset)
    del model.opset_import[1:]
    return model


def default(model):
    return session(model, [DEFAULT_DOMAIN])


def cases():
    for name, (operator, attributes), opset in itertools.product(TYPES, NODES, OPSETS):
        if operator == "IsNaN" or opset >= 10:
            yield name, operator, attributes, opset


def needs_kernel(name, attributes):
    """False for IsInf with no sign on, and of types without infinities: nothing needs a look."""
    infinities = name not in ("f8e4m3fn", "f8e4m3fnuz", "f8e5m2fnuz")
    return not attributes or (infinities and any(attributes.values()))


class Answers(unittest.TestCase):
    """Inside of other things. Types, opsets and signs: `test_versions.py`."""

    def test_subgraphs_functions_and_constants(self):
        """In an If and a Loop, in a function of the model (fp8 too), and of a constant."""
        boolean = helper.make_tensor_value_info("r", TensorProto.BOOL, None)
        nan = helper.make_node("IsNaN", ["x"], ["r"])
        inf = helper.make_node("IsInf", ["x"], ["r"])
        branches = {
            f"{name}_branch": helper.make_graph([node], name, [], [boolean])
            for name, node in (("then", nan), ("else", inf))
        }
        body = helper.make_graph(
            [helper.make_node("Identity", ["go"], ["on"]), nan],
            "body",
            [
                helper.make_tensor_value_info("i", TensorProto.INT64, []),
                helper.make_tensor_value_info("go", TensorProto.BOOL, []),
            ],
            [helper.make_tensor_value_info("on", TensorProto.BOOL, []), boolean],
        )
        value = np.array([1, np.nan, np.inf], np.float32)
        nodes = [
            helper.make_node("Constant", [], ["yes"], value_int=1),
            helper.make_node("Cast", ["yes"], ["true"], to=TensorProto.BOOL),
            helper.make_node("If", ["true"], ["of_if"], **branches),
            helper.make_node("Loop", ["yes", "true"], ["of_loop"], body=body),
            helper.make_node(
                "Constant", [], ["c"], value=onnx.numpy_helper.from_array(value)
            ),
            helper.make_node("IsInf", ["c"], ["of_constant"]),
        ]
        model = model_of(
            nodes, TensorProto.FLOAT, outputs=("of_if", "of_loop", "of_constant")
        )
        got = default(model).run(None, {"x": value})
        np.testing.assert_array_equal(got[0], np.isnan(value))
        np.testing.assert_array_equal(got[1], np.isnan(value)[None])
        np.testing.assert_array_equal(got[2], np.isinf(value))

    def test_function_with_fp8(self):
        bits = np.arange(256, dtype=np.uint8)
        model = with_function("", TensorProto.FLOAT8E4M3FN)
        got = run(default(model), bits, TensorProto.FLOAT8E4M3FN)
        np.testing.assert_array_equal(got, np.isnan(bits.view(ml_dtypes.float8_e4m3fn)))

    def test_both_libraries(self):
        nodes = [
            helper.make_node("IsNaN", ["x"], ["nan"]),
            helper.make_node("IsFinite", ["x"], ["finite"], domain=OURS),
        ]
        model = model_of(nodes, TensorProto.FLOAT, outputs=("nan", "finite"))
        x = np.array([1, np.nan, np.inf], np.float32)
        for libraries in ([LIBRARY, DEFAULT_DOMAIN], [DEFAULT_DOMAIN, LIBRARY]):
            nan, finite = session(model, libraries).run(None, {"x": x})
            np.testing.assert_array_equal(nan, np.isnan(x))
            np.testing.assert_array_equal(finite, np.isfinite(x))


def with_function(domain, type_, identity=False):
    """x, IsNaN inside of a function of the model, y."""
    nodes = [helper.make_node("IsNaN", ["b" if identity else "a"], ["c"], domain=domain)]
    if identity:
        nodes.insert(0, helper.make_node("Identity", ["a"], ["b"]))
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid(OURS, 1)]
    function = helper.make_function("local", "Outer", ["a"], ["c"], nodes, opsets)
    model = model_of([helper.make_node("Outer", ["x"], ["y"], domain="local")], type_)
    model.functions.append(function)
    model.opset_import.append(helper.make_opsetid("local", 1))
    return model


# For the child process below: every model must reach our kernels, which all fail there.
CHILD = """
from test_default_domain import cases, default, needs_kernel, plain
from models import TYPES, run
import numpy as np
ours = 0
for name, operator, attributes, opset in cases():
    type_, _, unsigned = TYPES[name]
    made = default(plain(operator, type_, opset, **attributes))
    if not needs_kernel(name, attributes):
        continue
    try:
        # Long enough that a backend is asked: a few elements need none.
        run(made, np.zeros(1000, unsigned), type_)
    except Exception as error:
        ours += "nonfinite: NONFINITE_BACKEND is" in str(error)
print("ours", ours)
"""


class Kernels(unittest.TestCase):
    def test_every_node_runs_on_our_kernels(self):
        """Our kernels fail under a backend that does not exist, and the status says why. The
        runtime's own do not fail."""
        child = subprocess.run(
            [sys.executable, "-c", CHILD],
            env={**os.environ, "NONFINITE_BACKEND": "none such", "RUST_BACKTRACE": "0"},
            cwd=os.path.dirname(os.path.abspath(__file__)),
            capture_output=True,
            text=True,
        )
        self.assertIn(f"ours {8 * 15 + 5 * 3 * 14}\n", child.stdout, child.stderr[-2000:])


class Refusals(unittest.TestCase):
    def refused(self, model, text):
        with self.assertRaises(Exception) as refused:
            default(model)
        self.assertIn(text, str(refused.exception))

    def test_before_the_operator_existed(self):
        self.refused(plain("IsNaN", TensorProto.FLOAT, 7), "IsNaN")
        self.refused(plain("IsInf", TensorProto.FLOAT, 8), "IsInf")

    def test_types(self):
        for type_ in (TensorProto.INT32, TensorProto.UINT8, TensorProto.FLOAT8E8M0):
            self.refused(plain("IsNaN", type_), "IsNaN")

    def test_attribute_of_another_type(self):
        model = plain("IsInf", TensorProto.FLOAT, detect_negative=1.0)
        self.refused(model, "detect_negative")

    def test_what_loads_and_should_not(self):
        """As README says: these load, and `onnx.checker` refuses them."""
        for model in (
            plain("IsInf", TensorProto.FLOAT16, 10),
            plain("IsNaN", TensorProto.BFLOAT16, 9),
            plain("IsNaN", TensorProto.FLOAT, 8),
            plain("IsInf", TensorProto.FLOAT, 9),
            plain("IsInf", TensorProto.FLOAT, detect_negativ=0),
        ):
            default(model)
            with self.assertRaises(Exception):
                session(model, [])
            errors = (onnx.checker.ValidationError, onnx.shape_inference.InferenceError)
            with self.assertRaises(errors):
                checked(model, full_check=True)
        checked(plain("IsInf", TensorProto.FLOAT16, 20, detect_negative=0), full_check=True)


if __name__ == "__main__":
    unittest.main()
