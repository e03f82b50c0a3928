"""All names in the reports of `nonfinite.trace_onnx` are those of the model."""

import re
from collections.abc import Iterable

import onnx
import pytest
from onnx_faults import (
    CASES, MADE_BY_THE_RUNTIME, Case, blocked_layout, fused_product, moved_transposes,
)  # fmt: skip

from nonfinite.trace import Trace
from nonfinite.trace.onnx import trace_onnx


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
    case = fused_product()
    report = trace_onnx(case.model, case.inputs, level="ALL")
    assert report.first.node.startswith("inside the fused group of ")
    assert {"matmul", "bias", "relu"} == {node.name for node in report.first.covers}
    assert f"origin: {report.first.node} (FusedGemm)" in str(report)
