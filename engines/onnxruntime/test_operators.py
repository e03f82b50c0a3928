"""Tests of the custom operators in ONNX Runtime. `./test` sets everything up."""

import itertools
import unittest
import warnings

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper
from onnx.backend.test.case.node import collect_testcases

from models import (
    DEFAULT_DOMAIN, LIBRARY, OURS, TYPES, model_of, one_node, oracle, patterns, run, session,
)  # fmt: skip


class NodeTests(unittest.TestCase):
    """ONNX's own node tests, through both libraries."""

    def test_node_tests(self):
        # Making the cases of all other operators warns of overflows.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cases = collect_testcases(None)
        ran = set()
        for case in cases:
            if case.model is None or [node.op_type for node in case.model.graph.node] not in (
                ["IsNaN"],
                ["IsInf"],
            ):
                continue
            ours = onnx.ModelProto()
            ours.CopyFrom(case.model)
            ours.graph.node[0].domain = OURS
            ours.opset_import.append(helper.make_opsetid(OURS, 1))
            for model, library in ((case.model, DEFAULT_DOMAIN), (ours, LIBRARY)):
                made = session(model, [library])
                names = [value.name for value in made.get_inputs()]
                for inputs, outputs in case.data_sets:
                    with self.subTest(name=case.name, library=library):
                        got = made.run(None, dict(zip(names, inputs)))[0]
                        np.testing.assert_array_equal(got, outputs[0])
                        self.assertEqual(got.dtype, np.bool_)
                        ran.add(case.name)
        # The names that ONNX 1.23 has; later ones may have more.
        known = "nan nan_float16 inf inf_positive inf_negative inf_float16".split()
        self.assertLessEqual({f"test_is{name}" for name in known}, ran)


class Codes(unittest.TestCase):
    """All codes of all types, against numpy and against the operators of the runtime.

    Signs and opsets: `test_versions.py`.
    """

    def check(self, name, operator, **attributes):
        type_, dtype, _ = TYPES[name]
        bits = patterns(name)
        got = run(session(one_node(operator, type_, **attributes)), bits, type_)
        np.testing.assert_array_equal(got, oracle(operator, bits.view(dtype), **attributes))
        self.assertGreater(got.size, 255)
        return got

    def test_runtime(self):
        for name, operator in itertools.product(TYPES, ("IsNaN", "IsInf")):
            with self.subTest(name=name, operator=operator):
                type_ = TYPES[name][0]
                theirs = run(session(one_node(operator, type_, domain="")), patterns(name), type_)
                np.testing.assert_array_equal(self.check(name, operator), theirs)

    def test_runtime_is_finite(self):
        """Not(Or(IsNaN, IsInf)), which is what ONNX has instead of IsFinite."""
        for name in TYPES:
            with self.subTest(name=name):
                type_ = TYPES[name][0]
                nodes = [
                    helper.make_node("IsNaN", ["x"], ["nan"]),
                    helper.make_node("IsInf", ["x"], ["inf"]),
                    helper.make_node("Or", ["nan", "inf"], ["either"]),
                    helper.make_node("Not", ["either"], ["y"]),
                ]
                theirs = run(session(model_of(nodes, type_)), patterns(name), type_)
                np.testing.assert_array_equal(self.check(name, "IsFinite"), theirs)


class Models(unittest.TestCase):
    def test_inferred_shape(self):
        nodes = [helper.make_node("IsFinite", ["x"], ["y"], domain=OURS)]
        made = session(model_of(nodes, TensorProto.FLOAT, ["rows", 3]))
        self.assertEqual(made.get_outputs()[0].shape, ["rows", 3])
        self.assertEqual(made.get_outputs()[0].type, "tensor(bool)")

    def test_bf16_at_opset_13(self):
        """ONNX allows bf16 for IsNaN from 13 on. The runtime has no kernel for it; ours runs."""
        with self.assertRaises(Exception) as refused:
            session(one_node("IsNaN", TensorProto.BFLOAT16, domain="", opset=13))
        self.assertIn("Could not find an implementation for IsNaN(13)", str(refused.exception))
        bits = patterns("bf16")
        got = run(
            session(one_node("IsNaN", TensorProto.BFLOAT16, opset=13)), bits, TensorProto.BFLOAT16
        )
        np.testing.assert_array_equal(got, oracle("IsNaN", bits.view(ml_dtypes.bfloat16)))

    def test_inside_a_model(self):
        """Non-finite logits are replaced before a softmax."""
        nodes = [
            helper.make_node("IsFinite", ["x"], ["finite"], domain=OURS),
            helper.make_node("Where", ["finite", "x", "floor"], ["clean"]),
            helper.make_node("Softmax", ["clean"], ["probabilities"], axis=-1),
            helper.make_node("ReduceSum", ["probabilities", "axes"], ["sums"], keepdims=0),
            helper.make_node("IsNaN", ["probabilities"], ["bad"], domain=OURS),
        ]
        graph = helper.make_graph(
            nodes,
            "safe_softmax",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", "cols"])],
            [
                helper.make_tensor_value_info("sums", TensorProto.FLOAT, ["rows"]),
                helper.make_tensor_value_info("bad", TensorProto.BOOL, ["rows", "cols"]),
            ],
            [
                helper.make_tensor("floor", TensorProto.FLOAT, [], [-1e4]),
                helper.make_tensor("axes", TensorProto.INT64, [1], [-1]),
            ],
        )
        opsets = [helper.make_opsetid("", 20), helper.make_opsetid(OURS, 1)]
        made = session(helper.make_model(graph, opset_imports=opsets, ir_version=9))
        x = np.random.default_rng(2).normal(size=(17, 101)).astype(np.float32)
        x[3, 4], x[5, 6], x[7, 8] = np.nan, np.inf, -np.inf
        sums, bad = made.run(None, {"x": x})
        np.testing.assert_allclose(sums, np.ones(17), rtol=1e-5)
        self.assertFalse(bad.any())

    def test_two_sessions_and_threads(self):
        from concurrent.futures import ThreadPoolExecutor

        first, second = (session(one_node("IsInf", TensorProto.DOUBLE)) for _ in range(2))
        x = np.zeros(100_001)
        x[[7, 99_999]] = np.inf, -np.inf
        with ThreadPoolExecutor(4) as pool:
            for got in pool.map(lambda made: made.run(None, {"x": x})[0], [first, second] * 20):
                self.assertEqual(np.flatnonzero(got).tolist(), [7, 99_999])


class Refusals(unittest.TestCase):
    def test_types(self):
        for type_ in (TensorProto.INT32, TensorProto.BOOL, TensorProto.STRING, TensorProto.UINT8):
            with self.subTest(type=type_), self.assertRaises(Exception) as refused:
                session(one_node("IsNaN", type_))
            self.assertIn("IsNaN", str(refused.exception))

    def test_attribute_of_another_type(self):
        for value in (1.0, "true"):
            with self.subTest(value=value), self.assertRaises(Exception) as refused:
                session(one_node("IsInf", TensorProto.FLOAT, detect_negative=value))
            self.assertIn("detect_negative", str(refused.exception))


if __name__ == "__main__":
    unittest.main()
