"""Tests of the script that puts IsFinite for Not(Or(IsNaN, IsInf)) and And(Not(IsNaN), Not(IsInf)).

Answers before and after are those of ONNX Runtime.
"""

import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
from nonfinite_onnxruntime.fuse import fuse
from onnx import TensorProto, helper

from models import OURS, checked, model_of, session

X = np.array([[1, np.nan, np.inf], [-np.inf, 0, -2]], np.float32)
node = helper.make_node


def not_or(x="x", y="y", inf_of=None, swapped=False, prefix="", **attributes):
    between = [f"{prefix}nan", f"{prefix}inf"]
    return [
        node("IsNaN", [x], between[:1]),
        node("IsInf", [inf_of or x], between[1:], **attributes),
        node("Or", between[::-1] if swapped else between, [f"{prefix}either"]),
        node("Not", [f"{prefix}either"], [y]),
    ]


def and_not(x="x", y="y", **attributes):
    return [
        node("IsInf", [x], ["inf"], **attributes),
        node("Not", ["inf"], ["not_inf"]),
        node("IsNaN", [x], ["nan"]),
        node("Not", ["nan"], ["not_nan"]),
        node("And", ["not_inf", "not_nan"], [y]),
    ]


def of(nodes, outputs=("y",)):
    return model_of(nodes, TensorProto.FLOAT, outputs=outputs)


def kinds(nodes):
    """The operators, with those of graphs inside."""
    found = []
    for each in nodes:
        found.append(each.op_type)
        for attribute in each.attribute:
            found += kinds(attribute.g.node)
    return found


class Checked(unittest.TestCase):
    def check(self, model, fused, **inputs):
        """Fuses. The number is this, and the answers stay."""
        feeds = {"x": X, **inputs}
        before = session(model).run(None, feeds)
        old = kinds(model.graph.node) + [k for f in model.functions for k in kinds(f.node)]
        self.assertEqual(fuse(model), fused)
        new = kinds(model.graph.node) + [k for f in model.functions for k in kinds(f.node)]
        checked(model)
        for got, want in zip(session(model).run(None, feeds), before, strict=True):
            np.testing.assert_array_equal(got, want)
        self.assertEqual(new.count("IsFinite"), fused)
        self.assertEqual(new.count("IsNaN"), old.count("IsNaN") - fused)
        self.assertEqual(new.count("IsInf"), old.count("IsInf") - fused)
        if not fused:
            self.assertEqual(new, old)
        return new


class Fuse(Checked):
    def test_patterns(self):
        for nodes in (not_or(), not_or(swapped=True), and_not(), not_or(detect_negative=1)):
            self.assertEqual(self.check(of(nodes), 1), ["IsFinite"])

    def test_several_in_a_model(self):
        nodes = [
            node("Relu", ["x"], ["a"]),
            *not_or("a", "b"),
            node("Where", ["b", "a", "x"], ["c"]),
            *not_or("c", "y", prefix="second_"),
        ]
        self.assertEqual(self.check(of(nodes), 2), ["Relu", "IsFinite", "Where", "IsFinite"])

    def test_model_without_our_domain(self):
        model = of(not_or())
        del model.opset_import[1:]
        self.check(model, 1)
        self.assertEqual([(o.domain, o.version) for o in model.opset_import], [("", 20), (OURS, 1)])

    def test_different_inputs(self):
        self.check(of([node("Neg", ["x"], ["z"]), *not_or(inf_of="z")]), 0)

    def test_cast_to_double_before_is_inf(self):
        """What `torch.onnx` makes of isfinite, from its opset 10 on."""
        cast = node("Cast", ["x"], ["wide"], to=TensorProto.DOUBLE)
        nodes = [cast, *not_or(inf_of="wide")]
        self.assertEqual(self.check(of(nodes), 1), ["IsFinite"])
        consumer = node("ReduceMax", ["wide"], ["max"])
        kept = node("Cast", ["max"], ["z"], to=TensorProto.BOOL)
        found = self.check(of([*nodes, consumer, kept], outputs=("y", "z")), 1)
        self.assertEqual(found, ["Cast", "IsFinite", "ReduceMax", "Cast"])

    def test_other_casts_before_is_inf(self):
        """A cast to f16 makes infinities of large numbers."""
        cast = node("Cast", ["x"], ["narrow"], to=TensorProto.FLOAT16)
        self.check(of([cast, *not_or(inf_of="narrow")]), 0)
        of_another = [
            node("Neg", ["x"], ["z"]),
            node("Cast", ["z"], ["wide"], to=TensorProto.DOUBLE),
            *not_or(inf_of="wide"),
        ]
        self.check(of(of_another), 0)

    def test_one_sign(self):
        for attributes in ({"detect_positive": 0}, {"detect_negative": 0}):
            self.check(of(not_or(**attributes)), 0)
            self.check(of(and_not(**attributes)), 0)

    def test_graph_output(self):
        for name in ("nan", "inf", "either"):
            self.check(of(not_or(), outputs=("y", name)), 0)
        for name in ("nan", "inf", "not_nan", "not_inf"):
            self.check(of(and_not(), outputs=("y", name)), 0)

    def test_another_consumer(self):
        for name in ("nan", "inf", "either"):
            nodes = [*not_or(), node("Identity", [name], ["other"])]
            self.check(of(nodes, outputs=("y", "other")), 0)

    def test_other_nodes_between(self):
        two_nan = not_or()
        two_nan[1] = node("IsNaN", ["x"], ["inf"])
        xor = not_or()
        xor[2] = node("Xor", ["nan", "inf"], ["either"])
        no_not = and_not()
        no_not[1] = node("Identity", ["inf"], ["not_inf"])
        for nodes in (two_nan, xor, no_not, not_or()[:3] + [node("Identity", ["either"], ["y"])]):
            self.check(of(nodes), 0)

    def test_operators_of_another_domain(self):
        nodes = not_or()
        nodes[0].domain = OURS
        self.check(of(nodes), 0)


def if_of(then, y="y"):
    """If the first element of x is 1: these nodes, which make r. Else all false."""
    result = [helper.make_tensor_value_info("r", TensorProto.BOOL, ["m", "n"])]
    other = [node("Less", ["x", "x"], ["r"])]
    return [
        node("Constant", [], ["first"], value_ints=[0, 0]),
        node("GatherND", ["x", "first"], ["element"]),
        node("Cast", ["element"], ["condition"], to=TensorProto.BOOL),
        node(
            "If",
            ["condition"],
            [y],
            then_branch=helper.make_graph(then, "then", [], result),
            else_branch=helper.make_graph(other, "else", [], result),
        ),
    ]


class Inside(Checked):
    """In graphs inside of the graph, and in functions."""

    def test_whole_pattern_in_a_branch(self):
        self.check(of(if_of(not_or(y="r"))), 1)

    def test_whole_pattern_in_a_loop(self):
        body = helper.make_graph(
            [node("Identity", ["go"], ["on"]), *not_or(y="r")],
            "body",
            [
                helper.make_tensor_value_info("i", TensorProto.INT64, []),
                helper.make_tensor_value_info("go", TensorProto.BOOL, []),
            ],
            [
                helper.make_tensor_value_info("on", TensorProto.BOOL, []),
                helper.make_tensor_value_info("r", TensorProto.BOOL, ["m", "n"]),
            ],
        )
        nodes = [
            node("Constant", [], ["three"], value_int=3),
            node("Cast", ["three"], ["true"], to=TensorProto.BOOL),
            node("Loop", ["three", "true"], ["y"], body=body),
        ]
        self.check(of(nodes), 1)

    def test_pattern_across_a_border(self):
        """The branch has the Not alone, and later the Or too."""
        self.check(of(not_or()[:3] + if_of([node("Not", ["either"], ["r"])])), 0)
        inside = [node("Or", ["nan", "inf"], ["either"]), node("Not", ["either"], ["r"])]
        self.check(of(not_or()[:2] + if_of(inside)), 0)

    def test_consumer_in_a_branch(self):
        for name in ("nan", "inf", "either"):
            nodes = not_or() + if_of([node("Identity", [name], ["r"])], "z")
            self.check(of(nodes, outputs=("y", "z")), 0)

    def test_output_of_a_branch(self):
        """The Or is what the branch returns, and the Not has no consumer."""
        nodes = not_or(y="unused")
        nodes[2].output[0] = nodes[3].input[0] = "r"
        self.check(of(if_of(nodes)), 0)

    def test_output_of_a_branch_from_outside(self):
        """The branch returns a tensor of the graph around. ONNX Runtime refuses that; others may
        not."""
        then = helper.make_graph([], "then", [], [helper.make_empty_tensor_value_info("nan")])
        model = of([*not_or(), node("If", ["x"], ["z"], then_branch=then)])
        self.assertEqual(fuse(model), 0)

    def function(self, nodes, attributes=(), **given):
        made = helper.make_function(
            "local", "Finite", ["x"], ["y"], nodes, [helper.make_opsetid("", 20)], attributes
        )
        model = of([node("Finite", ["x"], ["y"], domain="local", **given)])
        model.functions.append(made)
        model.opset_import.append(helper.make_opsetid("local", 1))
        return model

    def test_function(self):
        model = self.function(not_or())
        self.check(model, 1)
        self.assertIn(OURS, [opset.domain for opset in model.functions[0].opset_import])

    def test_sign_that_the_caller_of_a_function_gives(self):
        nodes = not_or()
        sign = nodes[1].attribute.add()
        sign.name = sign.ref_attr_name = "detect_positive"
        sign.type = onnx.AttributeProto.INT
        self.check(self.function(nodes, ["detect_positive"], detect_positive=0), 0)


class Script(unittest.TestCase):
    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            old, new = (os.path.join(folder, name) for name in ("old.onnx", "new.onnx"))
            onnx.save(of(not_or()), old)
            command = [sys.executable, "-m", "nonfinite_onnxruntime.fuse", old, new]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            self.assertEqual(done.stdout, "1 fused\n")
            self.assertEqual(kinds(onnx.load(new).graph.node), ["IsFinite"])
            done = subprocess.run(command[:-1], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn("fused.onnx", done.stderr)


if __name__ == "__main__":
    unittest.main()
