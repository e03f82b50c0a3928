"""All names in the reports of `nonfinite.trace_onnx` are those of the model."""

import re
from collections.abc import Callable, Iterable

import numpy as np
import onnx
import pytest
from onnx import TensorProto as T
from onnx import helper
from onnx_faults import CASES, INF, NAN, Case, f32, graph_of, model_of, node, value

from nonfinite.trace import Trace
from nonfinite.trace.onnx import trace_onnx


def blocked_layout() -> Case:
    """Convolutions that the runtime fuses, and computes in blocks of channels."""
    nodes = [
        node("Conv", "x w b", "c1", "conv_1"), node("Relu", "c1", "r1", "relu_1"),
        node("Conv", "r1 w2", "c2", "conv_2"), node("Add", "c2 r1", "a", "add"),
        node("Relu", "a", "r2", "relu_2"), node("MaxPool", "r2", "m", "pool", kernel_shape=[2, 2]),
        node("GlobalAveragePool", "m", "g", "mean"), node("Log", "g", "y", "log"),
    ]  # fmt: skip
    bias = np.ones(16, np.float32)
    bias[3] = NAN
    weights = {"w": np.ones((16, 3, 3, 3), "f"), "b": bias, "w2": np.ones((16, 16, 1, 1), "f")}
    made = model_of(nodes, weights, [value("x", T.FLOAT, [1, 3, 16, 16])])
    return Case(made, {"x": np.ones((1, 3, 16, 16), "f")}, "conv_1", "entry",
                coordinate=(0, 3, 0, 0))  # fmt: skip


def moved_transposes() -> Case:
    """The runtime moves the Transpose through all nodes behind it, and renames the tensors."""
    nodes = [
        node("Transpose", "x", "t", "Transpose13", perm=[0, 2, 3, 1]),
        node("Neg", "t", "n", "negate"), node("Add", "n c", "a", "add"),
        node("Div", "a c", "d", "divide"), node("Log", "d", "l", "log"),
        node("Mul", "l c", "e", "mul"),
        node("Transpose", "e", "y", "Transpose14", perm=[0, 3, 1, 2]),
    ]  # fmt: skip
    made = model_of(nodes, {"c": f32(2)}, [value("x", T.FLOAT, [1, 3, 4, 5])],
                    [value("y", T.FLOAT, [1, 3, 4, 5])])  # fmt: skip
    x = np.ones((1, 3, 4, 5), np.float32)
    x[0, 2, 3, 4] = 5
    return Case(made, {"x": x}, "log", "origin", coordinate=(0, 3, 4, 2))


def half_convolution() -> Case:
    nodes = [
        node("Mul", "x x", "p", "square"), node("Conv", "p w", "q", "conv"),
        node("Relu", "q", "r", "relu"), node("Add", "r one", "s", "add"),
        node("Sqrt", "s", "t", "root"), node("Log", "minus", "u", "log"),
        node("Sub", "t u", "y", "difference"),
    ]  # fmt: skip
    weights = {"w": np.ones((2, 1, 3, 3), np.float16), "one": np.ones(1, np.float16)}
    inputs = [value("x", T.FLOAT16, [1, 1, 8, 8]), value("minus", T.FLOAT16, [1])]
    made = model_of(nodes, weights, inputs, [value("y", T.FLOAT16)])
    arrays = {"x": np.ones((1, 1, 8, 8), np.float16), "minus": np.array([-1], np.float16)}
    return Case(made, arrays, "log", "origin", coordinate=(0,))


def bad_half_input() -> Case:
    nodes = [node("Neg", "x", "n", "negate"), node("MatMul", "n w", "y", "product")]
    made = model_of(nodes, {"w": np.ones((2, 2), np.float16)}, [value("x", T.FLOAT16, [2, 2])],
                    [value("y", T.FLOAT16)])  # fmt: skip
    return Case(made, {"x": np.array([[1, INF], [1, 1]], np.float16)}, "negate", "entry")


def constant_branch() -> Case:
    """The runtime puts the nodes of the branch into the main graph."""
    yes = graph_of([node("Sub", "x two", "s", "subtract"), node("Log", "s", "t", "log")],
                   [], [value("t", T.FLOAT, [2])])  # fmt: skip
    no = graph_of([node("Mul", "x two", "e", "double")], [], [value("e", T.FLOAT, [2])])
    nodes = [node("If", "flag", "branch", "choose", then_branch=yes, else_branch=no),
             node("Add", "branch x", "y", "add")]  # fmt: skip
    made = model_of(nodes, {"flag": np.array(True), "two": f32(2)}, [value("x", T.FLOAT, [2])])
    return Case(made, {"x": f32(3, 1)}, "log", "origin", "choose.then_branch", coordinate=(1,))


def split_operator() -> Case:
    """The runtime has no kernel of Mish, and computes it with several nodes."""
    nodes = [node("Mul", "x x", "p", "square"), node("Mish", "p", "m", "mish"),
             node("Sqrt", "m", "y", "root")]  # fmt: skip
    return Case(model_of(nodes), {"x": f32(1, 1e30)}, "square", "origin", coordinate=(1,))


def function_of_the_model() -> Case:
    inside = [node("Sub", "a a", "t", "inside_1"), node("Log", "t", "u", "inside_2"),
              node("Add", "u a", "b", "inside_3")]  # fmt: skip
    opset = helper.make_opsetid("", 20)
    function = helper.make_function("own", "Act", ["a"], ["b"], inside, [opset])
    nodes = [node("Neg", "x", "n", "negate"), node("Act", "n", "f", "call", domain="own"),
             node("Mul", "f n", "y", "mul")]  # fmt: skip
    made = model_of(nodes)
    made.functions.append(function)
    made.opset_import.append(helper.make_opsetid("own", 1))
    return Case(made, {"x": f32(1, 2)}, "call", "origin")


def fused_normalisation() -> Case:
    """LayerNorm in its parts, with a bad scale, and a gate behind it."""
    nodes = [
        node("ReduceMean", "x axis", "mean", "mean"), node("Sub", "x mean", "centred", "centre"),
        node("Pow", "centred two", "squares", "square"),
        node("ReduceMean", "squares axis", "variance", "variance"),
        node("Add", "variance eps", "safe", "safe"), node("Sqrt", "safe", "deviation", "deviation"),
        node("Div", "centred deviation", "n", "divide"), node("Mul", "n scale", "m", "scale"),
        node("Add", "m shift", "o", "shift"), node("Sigmoid", "o", "s", "sigmoid"),
        node("Mul", "o s", "y", "gate"),
    ]  # fmt: skip
    scale = np.ones(4, np.float32)
    scale[2] = INF
    weights = {"axis": np.array([-1]), "two": f32(2).reshape(()), "eps": f32(1e-5).reshape(()),
               "scale": scale, "shift": np.zeros(4, np.float32)}  # fmt: skip
    made = model_of(nodes, weights, [value("x", T.FLOAT, [2, 4])], [value("y", T.FLOAT, [2, 4])])
    x = np.array([[1, 2, 3, 4], [4, 3, 2, 1]], np.float32)
    return Case(made, {"x": x}, "scale", "entry", coordinate=(0, 2))


MADE_BY_THE_RUNTIME: list[Callable[[], Case]] = [
    blocked_layout, moved_transposes, half_convolution, bad_half_input, constant_branch,
    split_operator, function_of_the_model, fused_normalisation,
]  # fmt: skip


def graphs(graph: onnx.GraphProto) -> Iterable[onnx.GraphProto]:
    yield graph
    for each in graph.node:
        for attribute in each.attribute:
            if attribute.HasField("g"):
                yield from graphs(attribute.g)


def names_of(model: onnx.ModelProto) -> tuple[set[str], set[str]]:
    """The nodes (by the first output those without a name) and the tensors."""
    nodes, tensors = set(), set()
    for graph in graphs(model.graph):
        nodes |= {each.name or each.output[0] for each in graph.node}
        tensors |= {name for each in graph.node for name in (*each.input, *each.output)}
        tensors |= {each.name for each in (*graph.input, *graph.output, *graph.initializer)}
    return nodes, tensors


def told(report: Trace) -> tuple[list[str], list[str]]:
    """The names of nodes and of tensors in a report. Groups are taken apart."""
    nodes, tensors = [*report.reached], [*report.bad_outputs, *(p.name for p in report.peaks)]
    looks = [*report.weights, *report.bad_inputs]
    for each in report.findings:
        nodes += [each.node, *(node.name for node in each.covers)]
        looks += [*each.inputs, *each.outputs, *each.sources]
    tensors += [look.name for look in looks]
    for places in (nodes, tensors):
        inside = [name for name in places if name.startswith("inside ")]
        places[:] = [name for name in places if name not in inside]
        for name in inside:
            nodes += re.sub("^inside (the fused group of )?", "", name).split(", ")
    return nodes, tensors


@pytest.mark.parametrize("make", [*CASES, *MADE_BY_THE_RUNTIME], ids=lambda make: make.__name__)
@pytest.mark.parametrize("level", [None, "ALL", "ORIGINAL"])
@pytest.mark.parametrize("named", [True, False])
def test_names_are_those_of_the_model(make, level, named):
    case: Case = make()
    if not named:
        for graph in graphs(case.model.graph):
            for each in graph.node:
                each.name = ""
    report = trace_onnx(case.model, case.inputs, level=level, full=True)
    nodes, tensors = names_of(case.model)
    told_nodes, told_tensors = told(report)
    assert told_nodes and told_tensors
    assert set(told_nodes) <= nodes, str(report)
    assert set(told_tensors) <= tensors | nodes, str(report)
    for text in (str(report), report.to_json()):
        assert not re.search("<node|Inserted|FusedBack|reorder|_nchwc|_inlfunc", text)


@pytest.mark.parametrize("make", MADE_BY_THE_RUNTIME, ids=lambda make: make.__name__)
@pytest.mark.parametrize("level", [None, "ORIGINAL"])
def test_fault_is_named(make, level):
    case: Case = make()
    report = trace_onnx(case.model, case.inputs, level=level)
    first = report.first
    assert first is not None, report
    assert (first.node, first.kind, first.graph) == (case.node, case.kind, case.graph), str(report)
    if case.coordinate is not None:
        assert first.outputs[0].coordinate == case.coordinate


def test_nodes_that_the_runtime_keeps_apart_are_no_group():
    case = moved_transposes()
    report = trace_onnx(case.model, case.inputs, level="ALL", full=True)
    assert [node.name for node in report.first.covers] == ["log"]
    assert [look.name for look in report.first.outputs] == ["l"]
    # The runtime needs no Transpose.
    assert report.reached == ("mul",)


def test_a_group_names_first_the_node_with_the_bad_weight():
    case = blocked_layout()
    first = trace_onnx(case.model, case.inputs, level="ALL").first
    assert [node.name for node in first.covers] == ["conv_1", "relu_1"]
    # Here the weights are finite, and the fused node alone does not tell which node it was.
    case = CASES[[make.__name__ for make in CASES].index("fused_product")]()
    report = trace_onnx(case.model, case.inputs, level="ALL")
    assert report.first.node.startswith("inside the fused group of ")
    assert {"matmul", "bias", "relu"} == {node.name for node in report.first.covers}
    assert f"origin: {report.first.node} (FusedGemm)" in str(report)
