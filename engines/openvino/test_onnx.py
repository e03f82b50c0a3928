"""Tests of ONNX files with the domain `nonfinite` in OpenVINO, and of masks as u8.

Run by the script `test` in this folder, with the library's path as the argument.
"""

import itertools
import os
import sys
import tempfile
import unittest

import numpy as np
import onnx
import openvino as ov
from onnx import TensorProto, helper

from test import CORE, DTYPES, EXACT, OURS, codes, infer, layer, net, right, tensor

ONNX_TYPES = {
    "f16": TensorProto.FLOAT16,
    "bf16": TensorProto.BFLOAT16,
    "f32": TensorProto.FLOAT,
}
BOOL, FLOAT = TensorProto.BOOL, TensorProto.FLOAT
# A number in ONNX, and whether the sign is on.
SIGNS = [(1, "true"), (0, "false"), (-3, "true")]
node = helper.make_node


def ours(operator, out="y", **attributes):
    return node(operator, ["x"], [out], domain=OURS, **attributes)


def read(nodes, type_=FLOAT, shape=("n",), result=BOOL, opset=20):
    """The model of an ONNX file, as OpenVINO reads it."""
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("x", type_, shape)],
        [helper.make_tensor_value_info("y", result, None)],
    )
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid(OURS, 1)]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), path)
        return CORE.read_model(path)


def compiled(*arguments, **options):
    return CORE.compile_model(read(*arguments, **options), "CPU", EXACT)


class OnnxFiles(unittest.TestCase):
    def test_every_code(self):
        cases = [("IsFinite", None, {}), ("IsNaN", None, {}), ("IsInf", None, {})]
        for (negative, below), (positive, above) in itertools.product(SIGNS, SIGNS):
            given = {"detect_negative": negative, "detect_positive": positive}
            cases.append(("IsInf", (below, above), given))
        for name, (operator, signs, given) in itertools.product(ONNX_TYPES, cases):
            x = codes(name)
            for shape in (("n",), x.shape):
                with self.subTest(name=name, operator=operator, shape=shape, **given):
                    network = compiled([ours(operator, **given)], ONNX_TYPES[name], shape)
                    got = infer(network, tensor(x, name))
                    self.assertEqual(got.dtype, np.bool_)
                    np.testing.assert_array_equal(got, right(operator, signs, x))

    def test_opsets_and_shapes(self):
        for opset, shape in itertools.product((9, 13, 20, 23), ((), (0,), (3, 5), (2, 0, 3))):
            with self.subTest(opset=opset, shape=shape):
                x = np.resize(np.array([1, np.nan, np.inf], np.float32), shape)
                # OpenVINO leaves out an input of an ONNX file that has the shape [0].
                given = shape if x.size else tuple("abc"[: x.ndim])
                network = compiled([ours("IsNaN")], shape=given, opset=opset)
                got = infer(network, tensor(x, "f32"))
                self.assertEqual(got.shape, shape)
                np.testing.assert_array_equal(got, np.isnan(x))

    def test_the_operators_are_ours(self):
        for operator in ("IsFinite", "IsNaN", "IsInf"):
            found = {
                (op.get_type_name(), op.get_type_info().version_id)
                for op in read([ours(operator, unknown=1)]).get_ops()
            }
            self.assertIn((operator, OURS), found)

    def test_type_that_is_not_a_float(self):
        message = "The element type of the input tensor must be a floating point number"
        for operator in ("IsFinite", "IsNaN", "IsInf"):
            with self.assertRaisesRegex(RuntimeError, message):
                read([ours(operator)], TensorProto.INT32)

    def test_consumers_of_masks(self):
        """All of OpenVINO's own operators that read booleans, without a Cast in the file."""
        x = np.array([[1, np.nan, np.inf], [-np.inf, 0, -2]], np.float32)
        finite, nan = np.isfinite(x), np.isnan(x)
        zero = node("Constant", [], ["zero"], value_float=0.0)
        mask, second = ours("IsFinite", "mask"), ours("IsNaN", "second")
        cast = {to: node("Cast", ["mask"], ["y"], to=to) for to in (FLOAT, TensorProto.UINT8)}
        whole = node("Cast", ["mask"], ["whole"], to=TensorProto.INT64)
        cases = {
            "Not": ([mask, node("Not", ["mask"], ["y"])], BOOL, ~finite),
            "Or": ([mask, second, node("Or", ["mask", "second"], ["y"])], BOOL, finite | nan),
            "And": ([mask, second, node("And", ["mask", "second"], ["y"])], BOOL, finite & nan),
            "Xor": ([mask, second, node("Xor", ["mask", "second"], ["y"])], BOOL, finite ^ nan),
            "Equal": (
                [mask, second, node("Equal", ["mask", "second"], ["y"])],
                BOOL,
                finite == nan,
            ),
            "Where": (
                [mask, zero, node("Where", ["mask", "x", "zero"], ["y"])],
                FLOAT,
                np.where(finite, x, 0),
            ),
            "Cast to float": ([mask, cast[FLOAT]], FLOAT, finite.astype(np.float32)),
            "Cast to uint8": ([mask, cast[TensorProto.UINT8]], TensorProto.UINT8, finite * 1),
            "ReduceSum": (
                [mask, whole, node("ReduceSum", ["whole"], ["y"], keepdims=0)],
                TensorProto.INT64,
                finite.sum(),
            ),
            "Transpose": ([mask, node("Transpose", ["mask"], ["y"])], BOOL, finite.T),
            "NonZero": (
                [mask, node("NonZero", ["mask"], ["y"])],
                TensorProto.INT64,
                finite.nonzero(),
            ),
        }
        for name, (nodes, result, want) in cases.items():
            for shape in (("rows", "cols"), x.shape):
                with self.subTest(name=name, shape=shape):
                    got = infer(compiled(nodes, shape=shape, result=result), tensor(x, "f32"))
                    np.testing.assert_array_equal(got, want)


class MasksAsU8(unittest.TestCase):
    """`output_type="u8"` in models of OpenVINO's own format."""

    def model(self, output_type, after=()):
        """IsFinite with this type of output, then layers with one input, of (type, data)."""
        layers = [
            layer(0, "Parameter", "opset1", data='<data shape="?" element_type="f32"/>'),
            layer(1, "IsFinite", OURS, inputs=1, data=f'<data output_type="{output_type}"/>'),
        ]
        for kind, data in after:
            layers.append(layer(len(layers), kind, "opset1", inputs=1, data=data))
        last = len(layers) - 1
        layers.append(layer(last + 1, "Result", "opset1", inputs=1, outputs=0))
        edges = [(i, min(i, 1), i + 1, 0) for i in range(last + 1)]
        return net(layers, edges)

    def test_answers(self):
        x = codes("f32")[:5000]
        booleans = ("Convert", '<data destination_type="boolean"/>')
        for output_type, after, want in (
            ("boolean", [], np.isfinite(x)),
            ("u8", [], np.isfinite(x).astype(np.uint8)),
            ("u8", [booleans, ("LogicalNot", "")], ~np.isfinite(x)),
        ):
            with self.subTest(output_type=output_type, after=after):
                network = CORE.compile_model(self.model(output_type, after), "CPU", EXACT)
                got = infer(network, tensor(x, "f32"))
                self.assertEqual(got.dtype, want.dtype)
                np.testing.assert_array_equal(got, want)

    def test_type_survives_copies_and_files(self):
        model = self.model("u8")
        self.assertEqual(model.clone().output(0).element_type, ov.Type.u8)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.xml")
            ov.serialize(model, path)
            self.assertEqual(CORE.read_model(path).output(0).element_type, ov.Type.u8)

    def test_other_types_are_refused(self):
        with self.assertRaisesRegex(RuntimeError, "output type must be boolean or u8"):
            self.model("f32")


class Parts(unittest.TestCase):
    """The CPU plugin hands parts of tensors to operators packed."""

    def test_input(self):
        for name in ("f32", "f16", "bf16"):
            whole = np.resize(codes(name)[::7], (20, 30, 70))
            for begin, end in (((3, 5, 2), (17, 29, 69)), ((0, 0, 5), (20, 30, 6))):
                part = ov.Tensor(
                    tensor(whole, name), ov.Coordinate(list(begin)), ov.Coordinate(list(end))
                )
                self.assertFalse(part.is_continuous())
                inside = whole[tuple(slice(a, b) for a, b in zip(begin, end))]
                want = right("IsNaN", None, inside)
                for shape in (want.shape, ("a", "b", "c")):
                    request = compiled(
                        [ours("IsNaN")], ONNX_TYPES[name], shape
                    ).create_infer_request()
                    request.set_input_tensor(part)
                    request.infer()
                    np.testing.assert_array_equal(request.get_output_tensor(0).data, want)

    def test_part_from_another_operator(self):
        """The parts that Split makes may lie in the memory of the whole."""
        whole = np.resize(codes("f32")[::7], (20, 72))
        split = node("Split", ["whole"], ["a", "x", "b"], axis=1, num_outputs=3)
        add = node("Add", ["x_in", "x_in"], ["whole"])
        graph = helper.make_graph(
            [add, split, ours("IsNaN", "mask"), node("Not", ["mask"], ["y"])],
            "graph",
            [helper.make_tensor_value_info("x_in", FLOAT, [20, 72])],
            [
                helper.make_tensor_value_info("y", BOOL, [20, 24]),
                *(helper.make_tensor_value_info(name, FLOAT, [20, 24]) for name in "ab"),
            ],
        )
        opsets = [helper.make_opsetid("", 20), helper.make_opsetid(OURS, 1)]
        made = helper.make_model(graph, opset_imports=opsets, ir_version=9)
        model = CORE.read_model(made.SerializeToString())
        got = infer(CORE.compile_model(model, "CPU", EXACT), tensor(whole, "f32"))
        np.testing.assert_array_equal(got, ~right("IsNaN", None, whole[:, 24:48]))


assert set(ONNX_TYPES) < set(DTYPES)

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
