"""Tests of `nonfinite.trace_onnx`."""

import json
import re
import sys
import time
import tomllib
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto as T
from onnx import helper
from onnx_faults import (
    CASES, INF, MADE_BY_THE_RUNTIME, NAN, Case, body_of, embedding_row, f32, graph_of,
    hidden_half_overflow, log_of_negative, masked_softmax, model_of, node, value,
)  # fmt: skip

import nonfinite
from nonfinite.trace.command import main
from nonfinite.trace.model import Graph
from nonfinite.trace.native import Library
from nonfinite.trace.onnx import trace_onnx
from nonfinite.trace.weights import bad_weights


@pytest.mark.parametrize("make", [*CASES, *MADE_BY_THE_RUNTIME], ids=lambda make: make.__name__)
@pytest.mark.parametrize("level", [None, "ORIGINAL"])
def test_fault_is_named(make, level):
    case: Case = make()
    report = trace_onnx(case.model, case.inputs, level=level)
    assert not report.clean
    first = report.first
    assert first is not None, report
    assert (first.node, first.kind) == (case.node, case.kind), str(report)
    assert first.graph == case.graph
    assert first.call == case.call
    if case.coordinate is not None:
        assert first.outputs[0].coordinate == case.coordinate
    kinds = {finding.node: finding.kind for finding in report.findings}
    assert case.more.items() <= kinds.items(), kinds


def branch_in(outer_trips):
    """A loop takes a branch from its fourth iteration on, of which a later call has a fault. The
    loop may be in a loop itself."""
    yes = graph_of([node("Sub", "carried one", "less", "less"), node("Log", "less", "t", "log")],
                   [], [value("t", T.FLOAT, [1])])  # fmt: skip
    no = graph_of([node("Mul", "carried one", "e", "same")], [], [value("e", T.FLOAT, [1])])
    body = body_of(
        [node("Greater", "i two", "late", "late"), node("Sub", "carried one", "next", "decrease"),
         node("If", "late", "branch", "choose", then_branch=yes, else_branch=no)],
        value("carried", T.FLOAT, [1]),
        [value("next", T.FLOAT, [1]), value("branch", T.FLOAT, [1])],
    )  # fmt: skip
    loop = node("Loop", "trips yes x", "last y", "loop", body=body)
    weights = {"trips": np.array(8), "yes": np.array(True), "one": f32(1), "two": np.array(2)}
    if not outer_trips:
        return model_of([loop], weights, [value("x", T.FLOAT, [1])])
    loop = node("Loop", "trips yes outside", "after rows", "loop", body=body)
    around = graph_of(
        [node("Identity", "go_on", "once_more", "keep_on"), loop],
        [value("j", T.INT64, []), value("go_on", T.BOOL, []), value("outside", T.FLOAT, [1])],
        [value("once_more", T.BOOL, []), value("after", T.FLOAT, [1]),
         value("rows", T.FLOAT, [8, 1])],
    )  # fmt: skip
    nodes = [node("Loop", "many yes x", "last y", "outer", body=around)]
    weights["many"] = np.array(outer_trips)
    return model_of(nodes, weights, [value("x", T.FLOAT, [1])])


@pytest.mark.parametrize("level", [None, "ORIGINAL"])
def test_the_iteration_of_a_branch_in_a_loop(level):
    """The branch counts its own calls. Of a loop in a loop only the outer iteration is known."""
    report = trace_onnx(branch_in(0), {"x": f32(6.5)}, level=level)
    first = report.first
    assert (first.node, first.graph, first.call) == ("log", "loop.body.choose.then_branch", 3)
    assert [(each.loop, each.number) for each in first.loops] == [("loop", 6)]
    told = "log (Log) in loop.body.choose.then_branch, call 3, iteration 6 of loop: the inputs"
    assert told in str(report)
    report = trace_onnx(branch_in(3), {"x": f32(13.5)}, level=level)
    first = report.first
    assert (first.node, first.call) == ("log", 7)
    assert [(each.loop, each.number) for each in first.loops] == [("outer", 1)]
    assert ", call 7, iteration 1 of outer: the inputs" in str(report)
    assert trace_onnx(branch_in(0), {"x": f32(100)}, level=level).clean


def test_iterations_are_told_of_other_findings_too():
    body = body_of(
        [node("Exp", "c", "e", "exp"), node("Reciprocal", "e", "r", "reciprocal"),
         node("Add", "c ten", "next", "add")],
        value("c", T.FLOAT, [1]), [value("next", T.FLOAT, [1]), value("r", T.FLOAT, [1])],
    )  # fmt: skip
    nodes = [node("Loop", "trips yes x", "l y", "loop", body=body)]
    weights = {"trips": np.array(12), "yes": np.array(True), "ten": f32(10)}
    report = trace_onnx(model_of(nodes, weights, [value("x", T.FLOAT, [1])]), {"x": f32(1)})
    told = "  origin: exp (Exp) in loop.body, iteration 9 of loop, reaches no output"
    assert told in str(report).splitlines()


@pytest.mark.parametrize("level", [None, "ORIGINAL"])
def test_hidden_overflow(level, tmp_path, capsys):
    """The runtime computes in float32, and no value of the run is bad."""
    case = hidden_half_overflow()
    made, x = case.model, case.inputs["x"]
    report = trace_onnx(made, {"x": x}, level=level)
    first = report.first
    assert (first.node, first.kind, report.clean) == ("square", "hidden overflow", False)
    assert (first.overflow.name, first.overflow.dtype) == ("y", "float16")
    assert report.bad_outputs == () and len(report.findings) == 1
    assert (report.peaks[0].name, report.peaks[0].dtype) == ("y", "float16")
    assert report.peaks[0].share == 1e6 / 65504
    told = "overflow of float16, hidden by onnxruntime's CPU: y is 1e+06, float16 ends at 65504"
    assert str(report).splitlines()[1:3] == [told, "  made by node square (Mul)"]
    found = report.to_dict()["first"]
    assert (found["kind"], found["overflow"]["largest"]) == ("hidden overflow", 1e6)
    model, arrays = (tmp_path / name for name in ("m.onnx", "x.npz"))
    onnx.save(made, str(model))
    np.savez(arrays, x=x)
    assert main([str(model), "--input", str(arrays)]) == 1
    assert told in capsys.readouterr().out
    # Intended, or within the type.
    assert trace_onnx(made, {"x": x}, allow=["square"], level=level).clean
    assert trace_onnx(made, {"x": np.full(4, 255, np.float16)}, level=level).clean


def test_an_overflow_ends_where_rounding_to_an_infinity_begins():
    nodes = [node("Add", "x d", "y", "add"), node("Mul", "y small", "z", "scale")]
    inputs = [value("x", T.FLOAT16, [1]), value("d", T.FLOAT16, [1])]
    made = model_of(nodes, {"small": np.array([0.5], np.float16)}, inputs,
                    [value("z", T.FLOAT16)])  # fmt: skip
    for more, clean in ((15.99, True), (16, False)):
        arrays = {"x": np.array([65504], np.float16), "d": np.array([more], np.float16)}
        assert trace_onnx(made, arrays).clean == clean


@pytest.mark.parametrize("level", [None, "ORIGINAL"])
def test_overflow_of_a_cast_that_the_runtime_leaves_out(level):
    nodes = [
        node("Add", "x x", "a", "add"), node("Cast", "a", "h", "narrow", to=T.FLOAT16),
        node("Neg", "h", "n", "negate"), node("Cast", "n", "y", "widen", to=T.FLOAT),
    ]  # fmt: skip
    made = model_of(nodes, inputs=[value("x", T.FLOAT, [2])])
    first = trace_onnx(made, {"x": f32(1, 5e4)}, level=level).first
    assert (first.node, first.kind, first.overflow.largest) == ("narrow", "hidden overflow", 1e5)
    assert trace_onnx(made, {"x": f32(1, 3e4)}, level=level).clean


def test_hidden_overflow_inside_of_a_loop():
    """The types of the body are those of what the loop passes to it."""
    nodes = [node("Add", "carried carried", "d", "add"), node("Mul", "d small", "next", "scale")]
    body = body_of(nodes, value("carried", T.FLOAT16, [1]), [value("next", T.FLOAT16, [1])])
    nodes = [node("Loop", "trips yes x", "y", "loop", body=body)]
    weights = {"trips": np.array(3), "yes": np.array(True), "small": np.array([0.75], np.float16)}
    made = model_of(nodes, weights, [value("x", T.FLOAT16, [1])], [value("y", T.FLOAT16)])
    report = trace_onnx(made, {"x": np.array([20000], np.float16)})
    first = report.first
    assert (first.node, first.graph, first.kind) == ("add", "loop.body", "hidden overflow")
    assert first.overflow.largest == 2 * 44992  # 20000 * 1.5 * 1.5, in float16.
    assert trace_onnx(made, {"x": np.array([10000], np.float16)}).clean


def test_an_overflow_that_the_runtime_shows_is_an_origin():
    made = model_of([node("Mul", "x x", "y", "square"), node("Neg", "y", "z", "negate")], {},
                    [value("x", T.FLOAT16, [1])], [value("y", T.FLOAT16), value("z", T.FLOAT16)])
    report = trace_onnx(made, {"x": np.array([1000], np.float16)})
    assert (report.first.node, report.first.kind) == ("square", "origin")
    assert (len(report.findings), report.bad_outputs) == (1, ("y", "z"))


def test_the_answers_do_not_depend_on_threads():
    """A tensor above 256 KiB is looked at in parts."""
    x = np.ones((600, 1000), np.float32)
    x[433, 7] = -1
    x[599, 999] = -1
    made = model_of([node("Log", "x", "l", "log"), node("Exp", "l", "y", "exp")])
    for threads in (1, 2, 5):
        output = trace_onnx(made, {"x": x}, threads=threads).first.outputs[0]
        assert (output.nan, output.coordinate, output.elements) == (2, (433, 7), 600_000)
        assert (output.zeros, output.max) == (599_998, 0)


def test_numbers_of_the_inputs():
    case = log_of_negative()
    look = trace_onnx(case.model, case.inputs).first.inputs[0]
    assert (look.name, look.shape, look.dtype) == ("a", (3,), "float32")
    assert (look.min, look.max, look.bad) == (-0.5, 2, 0)


def test_mask_that_leaves_numbers_is_clean():
    case = masked_softmax()
    case.inputs["keep"][1, 1] = True
    report = trace_onnx(case.model, case.inputs)
    assert report.clean
    assert {each.kind for each in report.findings} == {"intended"}
    # The -Inf is a weight, and is listed.
    assert [look.name for look in report.weights] == ["minus_inf"]


def test_minus_inf_of_a_mask_in_the_output_is_intended():
    nodes = [node("Add", "x mask", "m", "add"), node("Mul", "m two", "y", "mul")]
    made = model_of(nodes, {"mask": f32(0, -INF), "two": f32(2)})
    report = trace_onnx(made, {"x": f32(1, 1)})
    assert report.clean and report.bad_outputs == ()


@pytest.mark.parametrize(("operator", "kind"), [
    ("Exp", "origin"), ("ReduceSum", "origin"), ("Sum", "origin"),
    ("Neg", None), ("Abs", None),
])  # fmt: skip
def test_an_overflow_beside_a_mask_is_a_fault(operator, kind):
    """Where the operator cannot make +Inf of the -Inf of the mask."""
    masks = {"keep": np.array([[True, True], [False, True]]), "bad": f32(-INF), "axis": [1]}
    more = {"ReduceSum": " axis", "Sum": " m"}.get(operator, "")
    nodes = [node("Where", "keep x bad", "m", "mask"), node(operator, "m" + more, "y", "last")]
    made = model_of(nodes, {name: np.array(each) for name, each in masks.items()})
    report = trace_onnx(made, {"x": f32([3e38, 3e38], [1, 1])})
    found = report.first and (report.first.node, report.first.kind)
    assert found == (kind and ("last", kind)), str(report)
    assert report.bad_outputs == (("y",) if kind else ())
    assert ("the inputs have no +Inf, the output has" in str(report)) == bool(kind)
    assert trace_onnx(made, {"x": f32([1, 2], [3, 4])}).clean


def test_transient_infinity_is_no_fault():
    nodes = [node("Exp", "x", "e", "exp"), node("Reciprocal", "e", "y", "reciprocal")]
    report = trace_onnx(model_of(nodes), {"x": f32(1, 100)})
    assert report.clean
    assert [(f.node, f.reaches) for f in report.findings] == [("exp", False)]


def test_layer_norm_is_judged_as_it_runs():
    """Decomposed, 1e20 overflows in the square. The fused operator has no square in f32."""
    nodes = [
        node("LayerNormalization", "x scale", "n", "norm", axis=-1),
        node("Tanh", "n", "y", "tanh"),
    ]
    report = trace_onnx(model_of(nodes, {"scale": f32(1, 1, 1)}), {"x": f32([1e20, 2e20, 3e20])})
    assert report.clean, str(report)
    square = trace_onnx(model_of([node("Mul", "x x", "y", "square")]), {"x": f32(1e20)})
    assert square.first.node == "square"


def test_unused_bad_row_is_found_in_its_weight():
    case = embedding_row()
    report = trace_onnx(case.model, {"x": np.array([1, 2])})
    assert report.first is None and not report.clean
    assert [(look.name, look.coordinate) for look in report.weights] == [("table", (7, 2))]


@pytest.mark.parametrize(("type_", "bad"), [(T.FLOAT8E8M0, True), (T.INT2, False)])
def test_types_whose_numbers_differ_in_the_runtime(type_, bad):
    """The C interface of ONNX Runtime numbers float8e8m0 as ONNX numbers int2."""
    model = model_of([node("Tanh", "x", "y", "tanh")])
    model.graph.initializer.append(
        onnx.TensorProto(name="w", data_type=type_, dims=[2], raw_data=b"\xff\x00"[: 1 + bad])
    )
    library = Library()
    found = bad_weights(library, Graph(model), Path())
    assert [(look.dtype, look.nan) for look in found.values()] == [("float8e8m0", 1)] * bad


@pytest.mark.parametrize("operator", [
    "ArgMax", "TopK", "Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Equal", "NonZero",
    "DynamicQuantizeLinear", "Hardmax", "ThresholdedRelu", "Shrink", "MaxPool", "GlobalMaxPool",
    "ReduceMax", "ReduceMin", "Unique", "Multinomial",
])  # fmt: skip
def test_nan_that_decides_a_finite_output(operator):
    weights = {"TopK": {"k": np.array([1])}}.get(operator, {})
    if operator in ("Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Equal"):
        weights = {"w": f32(1)}
    outputs = {"TopK": "v y", "DynamicQuantizeLinear": "y s z"}.get(operator, "y")
    attributes = {"kernel_shape": [2]} if operator == "MaxPool" else {}
    last = node(operator, " ".join(["l", *weights]), outputs, "last", **attributes)
    made = model_of([node("Log", "x", "l", "log"), last], weights,
                    outputs=[helper.make_empty_tensor_value_info("y")])  # fmt: skip
    x = f32([3, -1, 4, 2]).reshape((1, 4) if operator == "Multinomial" else (1, 1, 4))
    for level in (None, "ORIGINAL"):
        report = trace_onnx(made, {"x": x}, level=level)
        assert not report.clean and report.bad_outputs == (), str(report)
        assert report.first.node == "log"


@pytest.mark.parametrize(("last", "x"), [
    (node("Greater", "l w", "y", "last"), 0),  # -Inf is less than others.
    (node("IsNaN", "l", "y", "last"), -1),
    (node("Equal", "l l", "y", "last"), -1),
])  # fmt: skip
def test_questions_about_bad_values_are_no_fault(last, x):
    nodes = [node("Log", "x", "l", "log"), last]
    made = model_of(nodes, {"w": f32(1)}, outputs=[value("y", T.BOOL)])
    assert trace_onnx(made, {"x": f32(x)}).clean


def test_a_branch_that_gives_back_an_outer_tensor():
    """The output of the branch is an alias of a tensor of the main graph."""
    yes = graph_of([node("Reshape", "l all", "t", "same")], [], [value("t", T.FLOAT, [1])])
    no = graph_of([node("Neg", "x", "e", "negate")], [], [value("e", T.FLOAT, [1])])
    nodes = [node("Log", "x", "l", "log"),
             node("If", "flag", "y", "choose", then_branch=yes, else_branch=no)]  # fmt: skip
    made = model_of(nodes, {"all": np.array([-1])},
                    [value("x", T.FLOAT, [1]), value("flag", T.BOOL, [])])  # fmt: skip
    for level in (None, "ORIGINAL"):
        report = trace_onnx(made, {"x": f32(-1), "flag": np.array(True)}, level=level)
        assert (report.first.node, report.bad_outputs) == ("log", ("y",))
        assert trace_onnx(made, {"x": f32(-1), "flag": np.array(False)}, level=level).clean


def test_scale_of_dynamic_quantisation():
    nodes = [node("DynamicQuantizeLinear", "x", "q s z", "quantise"),
             node("DequantizeLinear", "q s z", "y", "back")]  # fmt: skip
    assert trace_onnx(model_of(nodes), {"x": f32(-3e38, 3e38)}).first.node == "quantise"


def test_bad_values_beyond_the_table_are_not_clean():
    """The iterations of a loop fill the table with infinities that end in it."""
    nodes = [node("Exp", "c", "e", "exp"), node("Reciprocal", "e", "r", "reciprocal"),
             node("Add", "r c", "next", "add")]  # fmt: skip
    body = body_of(nodes, value("c", T.FLOAT, [1]), [value("next", T.FLOAT, [1])])
    nodes = [node("Loop", "trips yes x", "l", "loop", body=body), node("Sub", "l l", "d", "zero"),
             node("Reciprocal", "d", "y", "last")]  # fmt: skip
    made = model_of(nodes, {"trips": np.array(1 << 14), "yes": np.array(True)},
                    [value("x", T.FLOAT, [1])])  # fmt: skip
    report = trace_onnx(made, {"x": f32(100)})
    assert (report.clean, report.first, report.bad_outputs) == (False, None, ("y",))
    assert "bad outputs of the model: y; no node is known" in str(report)


def test_the_time_does_not_grow_with_the_square_of_the_findings():
    """All weights of a model are bad, as after a training that diverged."""
    count = 1500
    nodes = [node("Add", f"t{i} w{i}", f"t{i + 1}", f"n{i}") for i in range(count)]
    weights = {f"w{i}": f32(NAN) for i in range(count)}
    made = model_of(nodes, weights, [value("t0", T.FLOAT, [1])], [value(f"t{count}")])
    start = time.process_time()
    report = trace_onnx(made, {"t0": f32(1)}, threads=1)
    assert time.process_time() - start < 10
    assert (report.first.node, len(report.findings)) == ("n0", count)
    assert all(finding.reaches for finding in report.findings)


def test_allow_list():
    nodes = [node("Reciprocal", "x", "r", "reciprocal"), node("Add", "r x", "y", "add")]
    made = model_of(nodes)
    inputs = {"x": f32(0, 1)}
    assert trace_onnx(made, inputs).first.node == "reciprocal"
    for name in ("reciprocal", "recip*", "r"):
        assert trace_onnx(made, inputs, allow=[name]).clean
    # A name that nothing has may be a typing error.
    for name, notes in (("recip*", 0), ("reziprok", 1), ("R", 1)):
        found = trace_onnx(made, inputs, allow=[name, "r"]).notes
        assert [f"allow: no node and no output of a node has the name {name!r}"] * notes == [*found]
    # A NaN is never intended.
    assert not trace_onnx(made, {"x": f32(NAN)}, allow=["*"]).clean


def test_saturated_fp8_is_at_its_limit():
    nodes = [
        node("Cast", "x", "small", "to_fp8", to=T.FLOAT8E4M3FN, saturate=1),
        node("Cast", "small", "y", "back", to=T.FLOAT),
    ]
    report = trace_onnx(model_of(nodes), {"x": f32(1, 1e6)})
    assert report.clean
    peak = report.peaks[0]
    assert (peak.name, peak.dtype, peak.largest, peak.share) == (
        "small", "float8e4m3fn", 448, 1,
    )  # fmt: skip


def test_nodes_without_names():
    made = model_of([node("Neg", "x", "n", ""), node("Log", "n", "y", "")])
    first = trace_onnx(made, {"x": f32(1)}).first
    assert (first.node, first.operator) == ("y", "Log")


def test_external_data(tmp_path):
    weight = np.ones((64, 64), np.float32)
    weight[5, 6] = NAN
    made = model_of([node("MatMul", "x w", "p", "matmul"), node("Tanh", "p", "y", "tanh")],
                    {"w": weight})  # fmt: skip
    path = tmp_path / "model.onnx"
    onnx.save(made, str(path), save_as_external_data=True, location="data.bin", size_threshold=0)
    for level in (None, "ORIGINAL"):
        report = trace_onnx(path, {"x": np.ones((1, 64), np.float32)}, level=level)
        assert (report.first.node, report.first.kind) == ("matmul", "entry")
        assert report.weights[0].coordinate == (5, 6)


def test_inputs_of_types_that_numpy_lacks():
    nodes = [node("Cast", "x", "wide", "widen", to=T.FLOAT), node("Log", "wide", "y", "log")]
    made = model_of(nodes, inputs=[value("x", T.BFLOAT16, [3])])
    bits = (f32(1, -2, 3).view(np.uint32) >> 16).astype(np.uint16)
    assert trace_onnx(made, {"x": bits}).first.node == "log"
    assert trace_onnx(made, {"x": f32(1, -2, 3).astype(ml_dtypes.bfloat16)}).first.node == "log"
    with pytest.raises(ValueError, match="float16; the model takes bfloat16"):
        trace_onnx(made, {"x": np.ones(3, np.float16)})
    bits[0] = 0x7F80
    report = trace_onnx(made, {"x": bits})
    assert (report.first.node, report.bad_inputs[0].pos_inf) == ("widen", 1)


def test_random_inputs_fit_the_model():
    x = value("x", T.FLOAT, ["batch", 3, "height", "height"])
    made = model_of([node("GlobalAveragePool", "x", "y", "pool")], inputs=[x])
    report = trace_onnx(made, dims={"batch": 1, "height": 7})
    assert report.clean
    assert report.notes == ("the inputs are random: x [1, 3, 7, 7]",)
    report = trace_onnx(made, shapes={"x": [2, 3, 5, 5]})
    assert report.notes == ("the inputs are random: x [2, 3, 5, 5]",)
    assert report.to_dict() == trace_onnx(made, shapes={"x": [2, 3, 5, 5]}).to_dict()


def test_values_fill_random_inputs():
    x, d = value("x", T.FLOAT, [2, 3]), value("d", T.FLOAT, [])
    made = model_of([node("Div", "x d", "y", "by")], inputs=[x, d])
    assert trace_onnx(made, values={"d": 2}).clean
    assert trace_onnx(made, values={"d": 0}).first.node == "by"
    with pytest.raises(ValueError, match=r"no inputs \['s'\]"):
        trace_onnx(made, values={"s": 1})
    with pytest.raises(ValueError, match="for random inputs"):
        trace_onnx(made, {"x": f32(1), "d": f32(1)}, values={"d": 1})


def test_random_inputs_that_do_not_fit_are_shown():
    x, b = value("x", T.FLOAT, ["n", 3]), value("b", T.FLOAT, ["m", 2])
    made = model_of([node("MatMul", "x b", "y", "product")], inputs=[x, b])
    with pytest.raises(Exception, match="product") as raised:
        trace_onnx(made, dims={"n": 1, "m": 1})
    assert any("x [1, 3], b [1, 2]" in note for note in raised.value.__notes__)
    # The error of the runtime has the names of the model, and no number of ours.
    assert "<node" not in str(raised.value)


def test_inputs_without_an_array_are_random():
    x, d, e = value("x", T.FLOAT, [2]), value("d", T.FLOAT, [2]), value("e", T.FLOAT, ["n"])
    nodes = [node("Div", "x d", "q", "by"), node("Mul", "q e", "y", "mul")]
    made = model_of(nodes, inputs=[x, d, e])
    report = trace_onnx(made, {"x": f32(1, 2)}, values={"d": 0}, dims={"n": 2})
    assert (report.first.node, report.first.inputs[0].max) == ("by", 2)
    assert report.notes[0] == "the inputs are random: d [2], e [2]"
    assert trace_onnx(made, {"x": f32(1, 2), "d": f32(1, 1), "e": f32(1)}).notes == ()
    assert "random: x [2], d [2], e [1]" in trace_onnx(made, {}, dims={"n": 1}).notes[0]


def test_an_input_of_open_sizes_needs_a_shape(tmp_path, capsys):
    x = value("x", T.FLOAT, ["batch", 3, None])
    made = model_of([node("Neg", "x", "y", "negate")], inputs=[x])
    told = (
        "the model leaves sizes of input x open: [batch, 3, ?]. Give its shape: "
        "shapes={'x': [SIZE, 3, SIZE]} (--shape x=SIZE,3,SIZE), dims={'batch': SIZE} "
        "(--dim batch=SIZE); or give an array: inputs={'x': array} (--input X.npz)"
    )
    with pytest.raises(ValueError) as raised:
        trace_onnx(made)
    assert str(raised.value) == told
    # One size is not enough.
    with pytest.raises(ValueError, match=r"--shape x=1,3,SIZE\); or give an array"):
        trace_onnx(made, dims={"batch": 1})
    path = tmp_path / "m.onnx"
    onnx.save(made, str(path))
    assert main([str(path)]) == 2
    assert capsys.readouterr().err == f"nonfinite trace: {told}\n"
    assert main([str(path), "--shape", "x=1,3,4"]) == 0
    # An input without a shape may have any number of dimensions.
    made = model_of([node("Neg", "x", "y", "negate")], inputs=[value("x", T.FLOAT)])
    with pytest.raises(ValueError, match=r"input x open: it has no shape\. .*x=SIZE,SIZE\); or"):
        trace_onnx(made)
    assert trace_onnx(made, shapes={"x": []}).clean


def test_the_message_names_the_numbers_that_the_model_knows():
    x, rate = value("x", T.FLOAT, [5]), value("rate", T.INT64, [])
    yes = graph_of([node("Neg", "x", "t", "negate")], [], [value("t")])
    no = graph_of([node("Reshape", "x wrong", "e", "reshape")], [], [value("e")])
    nodes = [node("Equal", "rate known", "flag", "is_known"),
             node("If", "flag", "y", "choose", then_branch=yes, else_branch=no)]  # fmt: skip
    weights = {"known": np.array(16000), "wrong": np.array([3, 3])}
    made = model_of(nodes, weights, [x, rate])
    with pytest.raises(Exception, match="reshape") as raised:
        trace_onnx(made)
    notes = " ".join(raised.value.__notes__)
    assert "--value" in notes and "compares rate with 16000" in notes
    assert trace_onnx(made, values={"rate": 16000}).clean


def test_wrong_arguments():
    made = log_of_negative().model
    with pytest.raises(ValueError, match="no inputs"):
        trace_onnx(made, {"x": f32(1), "z": f32(1)})
    with pytest.raises(ValueError, match="level"):
        trace_onnx(made, {"x": f32(1)}, level="FAST")
    with pytest.raises(ValueError, match="threads is -3"):
        trace_onnx(made, {"x": f32(1)}, threads=-3)
    with pytest.raises(TypeError, match="inputs is a list"):
        trace_onnx(made, [f32(1)])
    for name in ("allow", "custom_ops"):
        with pytest.raises(TypeError, match=f"{name} is the string 'log', and must be a list"):
            trace_onnx(made, {"x": f32(1)}, **{name: "log"})
    for model in (None, b"model", made.graph):
        with pytest.raises(TypeError, match="must be a path or an onnx.ModelProto"):
            trace_onnx(model, {"x": f32(1)})
    for wrong in ([1], [1.0], "text", None):
        with pytest.raises(ValueError, match="input x has the dtype .*; the model takes float32"):
            trace_onnx(made, {"x": wrong})
    x = value("x", T.FLOAT, ["batch"])
    open_size = model_of([node("Neg", "x", "y", "negate")], inputs=[x])
    with pytest.raises(ValueError, match="no dimensions"):
        trace_onnx(made, {"x": f32(1)}, dims={"batch": 2})
    with pytest.raises(ValueError, match=r"no dimensions \['batsh'\]; it has \['batch'\]"):
        trace_onnx(open_size, dims={"batsh": 2})
    with pytest.raises(ValueError, match="no inputs .*; it has"):
        trace_onnx(made, shapes={"z": [1]})


def test_command(tmp_path, capsys):
    case = log_of_negative()
    model, arrays = (tmp_path / name for name in ("m.onnx", "x.npz"))
    onnx.save(case.model, str(model))
    np.savez(arrays, **case.inputs)
    assert main([str(model), "--input", str(arrays)]) == 1
    assert "origin: node log (Log)" in capsys.readouterr().out
    assert main([str(model), "--input", str(arrays), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["first"]["node"] == "log"
    assert found["first"]["outputs"][0]["coordinate"] == [1]
    np.savez(arrays, x=f32(2, 3))
    assert main([str(model), "--input", str(arrays)]) == 0
    np.save(tmp_path / "x.npy", f32(2, 3))
    for wrong in (model, tmp_path / "x.npy"):
        assert main([str(model), "--input", str(wrong)]) == 2
        assert f"{wrong} is no .npz file" in capsys.readouterr().err
    assert main([str(tmp_path / "missing.onnx")]) == 2
    assert "missing.onnx" in capsys.readouterr().err


def test_shapes_that_the_model_does_not_take():
    x = value("x", T.FLOAT, ["batch", 3, None])
    made = model_of([node("Log", "x", "y", "log")], inputs=[x])
    assert trace_onnx(made, {"x": np.ones((2, 3, 1), np.float32)}).clean
    for wrong in ((2, 2, 4), (3, 4)):
        with pytest.raises(ValueError, match=r"shape .*; the model takes \[batch, 3, \?\]"):
            trace_onnx(made, {"x": np.ones(wrong, np.float32)})
    with pytest.raises(ValueError, match=r"shape \[1, 3\]; the model takes \[batch, 3, \?\]"):
        trace_onnx(made, shapes={"x": [1, 3]})
    for size in (-2, "2", 2.5):
        with pytest.raises(ValueError, match="dimension batch is .*; it must be 0, 1, 2"):
            trace_onnx(made, dims={"batch": size})
    for shape in ([1, 3, -1], 3, ["3"]):
        with pytest.raises(ValueError, match="shape of x is .*; it must be a list of sizes"):
            trace_onnx(made, shapes={"x": shape})
    assert "input x has no elements" in trace_onnx(made, shapes={"x": [0, 3, 1]}).notes
    with pytest.raises(ValueError, match=r"no inputs \['images'\]; it has \['x'\]"):
        trace_onnx(made, {"images": f32(1)})


def test_a_model_that_needs_no_look_says_so():
    made = model_of([node("Relu", "x", "y", "relu")])
    report = trace_onnx(made, {"x": f32(1)})
    assert report.clean and report.sinks == 0
    assert "no node of the graph that ran can make a NaN or an infinity" in str(report)


def test_files_that_are_no_models(tmp_path, capsys):
    for name, data in (("text.onnx", b"no model"), ("empty.onnx", b"")):
        path = tmp_path / name
        path.write_bytes(data)
        assert main([str(path)]) == 2
        assert f"{path} is no ONNX model" in capsys.readouterr().err
    for name, what in (("saved_model.pb", "a TensorFlow model"), ("m.mlmodel", "a Core ML model")):
        path = tmp_path / name
        path.write_bytes(b"\x08\x01\x12\x00")
        assert main([str(path)]) == 2
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == 1 and f"{path} is {what}, no ONNX model" in lines[0]
    texts = tmp_path / "texts.onnx"
    nodes = [node("StringNormalizer", "x", "y", "normalise")]
    onnx.save(model_of(nodes, inputs=[value("x", T.STRING, [2])], outputs=[value("y", T.STRING)]),
              str(texts))  # fmt: skip
    np.savez(tmp_path / "texts.npz", x=np.array(["a", "b"]))
    for options in ([], ["--input", str(tmp_path / "texts.npz")]):
        assert main([str(texts), *options]) == 2
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == 1 and "input x is of strings" in lines[0]
    model, arrays = tmp_path / "m.onnx", tmp_path / "objects.npz"
    onnx.save(log_of_negative().model, str(model))
    np.savez(arrays, x=np.array([{}], object))
    assert main([str(model), "--input", str(arrays)]) == 2
    assert f"{arrays} has an array that is not of numbers" in capsys.readouterr().err


def test_packages_that_are_missing_are_named(capsys, monkeypatch):
    gone = ("onnx", "onnxruntime", "nonfinite_onnxruntime")
    for name in [each for each in sys.modules if each.startswith("nonfinite.trace.")]:
        if name != "nonfinite.trace.command":
            monkeypatch.delitem(sys.modules, name)
    for name in gone:
        monkeypatch.setitem(sys.modules, name, None)
    assert main(["m.onnx", "--input", "x.npz"]) == 2
    told = capsys.readouterr().err
    assert INSTALL in told and ", ".join(gone) in told
    with pytest.raises(ImportError, match=", ".join(gone)):
        nonfinite.trace_onnx


INSTALL = "pip install './python[trace]' ./engines/onnxruntime"


def test_one_line_installs_what_a_trace_needs():
    python = Path(__file__).parents[1]
    project = tomllib.loads((python / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extra = {re.split("[<>=]", each)[0] for each in project["optional-dependencies"]["trace"]}
    source = (python / "nonfinite/trace/onnx.py").read_text(encoding="utf-8")
    needed = re.search(r"^_needed = \((.*)\)$", source, re.MULTILINE)[1]
    assert extra == {each.strip(' "').replace("_", "-") for each in needed.split(",")}
    for page in ("README.md", "docs/trace.md"):
        assert INSTALL in (python / page).read_text(encoding="utf-8")


def test_a_clean_model_needs_fewer_sinks():
    nodes = [node("Log", "x", "l", "log"), node("Relu", "l", "r", "relu"),
             node("Concat", "r l", "y", "concat", axis=0)]  # fmt: skip
    assert trace_onnx(model_of(nodes), {"x": f32(1)}, level="BASIC").sinks == 1
    assert trace_onnx(model_of(nodes), {"x": f32(1)}, level="BASIC", full=True).sinks == 3
    carried = model_of([node("Exp", "x", "e", "exp"), node("Mul", "e x", "m", "mul"),
                        node("Sub", "m e", "y", "sub")])  # fmt: skip
    assert trace_onnx(carried, {"x": f32(1)}, level="BASIC").sinks == 1
    assert trace_onnx(carried, {"x": f32(100)}, level="BASIC").first.node == "exp"
    report = trace_onnx(model_of(nodes), {"x": f32(-1)}, level="BASIC")
    assert (report.sinks, report.first.node) == (3, "log")
    # A bad weight behind a node that only moves values is seen by the second run.
    bad = model_of([node("Concat", "x w", "y", "concat", axis=0)], {"w": f32(NAN)})
    assert trace_onnx(bad, {"x": f32(1)}).first.node == "concat"


def test_branches_that_use_a_name_twice():
    def branch(operator):
        return graph_of([node(operator, "x zeros", "t", operator)], [], [value("t", T.FLOAT, [2])])

    inputs = [value("x", T.FLOAT, [2]), value("zeros", T.FLOAT, [2]), value("flag", T.BOOL, [])]
    for flag, branches in ((True, ("Div", "Mul")), (False, ("Mul", "Div"))):
        yes, no = map(branch, branches)
        nodes = [node("If", "flag", "y", "choose", then_branch=yes, else_branch=no)]
        arrays = {"x": f32(1, 0), "zeros": f32(1, 0), "flag": np.array(flag)}
        assert trace_onnx(model_of(nodes, {}, inputs), arrays).first.node == "Div"


def test_bad_values_that_no_node_makes_are_not_clean():
    """A bad input goes through nodes that only move elements, or nodes became a bad constant."""
    moved = model_of([node("Reshape", "x shape", "y", "reshape")], {"shape": np.array([-1])})
    report = trace_onnx(moved, {"x": f32(1, NAN)})
    assert (report.clean, report.first, report.bad_outputs) == (False, None, ("y",))
    assert "bad outputs of the model: y; the values are those of an input" in str(report)
    # The -Inf of a mask is intended.
    assert trace_onnx(moved, {"x": f32(1, -INF)}).clean
    nodes = [node("Sqrt", "minus", "y", "root"), node("Neg", "x", "z", "negate")]
    made = model_of(nodes, {"minus": f32(-1)}, outputs=[value("y"), value("z")])
    report = trace_onnx(made, {"x": f32(1)})
    assert (report.clean, report.first.node, report.bad_outputs) == (False, "root", ("y",))


def test_maximum_of_nothing_is_infinite():
    nodes = [node("ReduceMax", "x axis", "y", "maximum", keepdims=0)]
    made = model_of(nodes, {"axis": np.array([1])}, [value("x", T.FLOAT, [2, 0])])
    report = trace_onnx(made, {"x": np.zeros((2, 0), np.float32)})
    assert report.first.node == "maximum"


def test_a_node_does_not_reach_itself():
    """The runtime puts casts around the operator of f16."""
    nodes = [node("MatMul", "x w", "p", "matmul"), node("Neg", "p", "y", "negate")]
    inputs, outputs = [value("x", T.FLOAT16, [1, 3])], [value("y", T.FLOAT16)]
    made = model_of(nodes, {"w": np.full((3, 3), INF, np.float16)}, inputs, outputs)
    report = trace_onnx(made, {"x": np.zeros((1, 3), np.float16)})
    assert (report.first.node, report.reached) == ("matmul", ("negate",))


def test_a_tensor_without_elements_carries_nothing():
    nodes = [node("Exp", "x", "e", "exp"), node("Mul", "e none", "y", "mul"),
             node("Relu", "e", "z", "relu")]  # fmt: skip
    inputs = [value("x", T.FLOAT, [1, 2]), value("none", T.FLOAT, [0, 2])]
    made = model_of(nodes, {}, inputs, [value("y"), value("z")])
    arrays = {"x": f32([1, 100]), "none": np.zeros((0, 2), np.float32)}
    report = trace_onnx(made, arrays)
    assert (report.first.node, report.bad_outputs) == ("exp", ("z",))
    assert trace_onnx(made, arrays | {"x": f32([1, 2])}).clean


def test_sequences_are_looked_through():
    """A sink cannot look at a sequence. The tensors in it are looked at before."""
    made = [node("Log", "x", "l", "log"), node("SequenceConstruct", "x l", "s", "sequence")]
    joined = model_of([*made, node("ConcatFromSequence", "s", "y", "join", axis=0)])
    report = trace_onnx(joined, {"x": f32(1, -1)})
    assert (report.first.node, len(report.findings)) == ("log", 1)
    output = helper.make_tensor_sequence_value_info("s", T.FLOAT, None)
    assert trace_onnx(model_of(made, outputs=[output]), {"x": f32(-1)}).first.node == "log"
    # Out of a branch, and out of the iterations of a loop.
    typed = [helper.make_tensor_sequence_value_info(name, T.FLOAT, None) for name in "str"]
    log, flag = node("Log", "x", "l", "log"), value("flag", T.BOOL, [])
    body = body_of([log, node("SequenceInsert", "t l", "s", "insert")], typed[1], typed[:1])
    yes = graph_of([log, node("SequenceConstruct", "l l", "s", "sequence")], [], typed[:1])
    no = graph_of([node("SequenceConstruct", "x x", "t", "other")], [], typed[1:2])
    branch = node("If", "flag", "r", "if", then_branch=yes, else_branch=no)
    loop = [node("SequenceEmpty", "", "none", "empty"),
            node("Loop", "trips flag none", "r", "loop", body=body)]  # fmt: skip
    for owner in ([branch], loop):
        for last, output in ((node("ConcatFromSequence", "r", "y", "join", axis=0), value("y")),
                             (node("Neg", "x", "y", "negate"), typed[2])):  # fmt: skip
            whole = model_of([*owner, last], {"trips": np.array(2)},
                             [value("x", T.FLOAT, [1]), flag], [output])  # fmt: skip
            report = trace_onnx(whole, {"x": f32(-1), "flag": np.array(True)})
            assert (report.first.node, len(report.findings)) == ("log", 1)
            assert trace_onnx(whole, {"x": f32(1), "flag": np.array(True)}).clean
    # Only the good tensor is taken out.
    one = model_of([*made, node("SequenceAt", "s zero", "y", "at")], {"zero": np.array(0)})
    assert trace_onnx(one, {"x": f32(-1)}).clean
