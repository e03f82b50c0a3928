"""Puts one IsFinite of the domain `nonfinite` for each IsFinite that a model spells with more nodes.

    python fuse.py model.onnx fused.onnx

The two patterns, with IsNaN and IsInf of the same tensor in any order:

    Not(Or(IsNaN(x), IsInf(x)))            ONNX has no IsFinite; torch's older exporter
    And(Not(IsNaN(x)), Not(IsInf(x)))      torch's newer exporter

Nothing is fused if IsInf looks at one sign only, or if a tensor between is an output of its graph or
has another consumer. Needs the package onnx. Tensors in files of their own stay where they are, so
the new model belongs into the same folder.
"""

import sys
from collections import Counter

import onnx
from onnx import helper

OURS = "nonfinite"


def fuse(model: onnx.ModelProto) -> int:
    """Fuses in the graph, the graphs inside and the functions. Returns the number of IsFinite."""
    fused = _fuse(model.graph.node, [value.name for value in model.graph.output])
    for function in model.functions:
        inside = _fuse(function.node, function.output)
        if inside:
            _import(function)
        fused += inside
    if fused:
        _import(model)
    return fused


def _fuse(nodes, outputs):
    fused = sum(
        _fuse(graph.node, [value.name for value in graph.output])
        for node in nodes
        for graph in _inside(node)
    )
    uses = Counter(outputs)
    _count(nodes, uses)
    makers = {name: node for node in nodes for name in node.output}

    def maker(kind, name):
        """The node of this kind that makes the tensor for one consumer only, else None."""
        node = makers.get(name)
        return node if _is(node, kind) and uses[name] == 1 else None

    for node in list(nodes):
        if _is(node, "Not"):
            either = maker("Or", node.input[0])
            between = [either]
            names = either.input if either else []
        elif _is(node, "And"):
            between = [maker("Not", name) for name in node.input]
            names = [inverse.input[0] for inverse in between if inverse]
        else:
            continue
        nan = [found for name in names if (found := maker("IsNaN", name))]
        inf = [found for name in names if (found := maker("IsInf", name))]
        if len(nan) != 1 or len(inf) != 1 or nan[0].input[0] != inf[0].input[0]:
            continue
        # Both signs are on by default. A sign that a function takes from its caller has 0 here.
        if any(sign.i == 0 for sign in inf[0].attribute):
            continue
        position = list(nodes).index(node)
        made = helper.make_node("IsFinite", nan[0].input, node.output, node.name, domain=OURS)
        nodes.insert(position, made)
        for gone in (node, *between, nan[0], inf[0]):
            nodes.remove(gone)
        fused += 1
    return fused


def _is(node, kind):
    return node is not None and node.op_type == kind and node.domain in ("", "ai.onnx")


def _inside(node):
    """The graphs of an If, a Loop, a Scan."""
    for attribute in node.attribute:
        yield from ([attribute.g] if attribute.HasField("g") else [])
        yield from attribute.graphs


def _count(nodes, uses):
    """Counts the consumers of each tensor, also in the graphs inside, which see the names outside."""
    for node in nodes:
        uses.update(node.input)
        for graph in _inside(node):
            uses.update(value.name for value in graph.output)
            _count(graph.node, uses)


def _import(owner):
    if OURS not in (opset.domain for opset in owner.opset_import):
        owner.opset_import.append(helper.make_opsetid(OURS, 1))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    model = onnx.load(sys.argv[1], load_external_data=False)
    print(f"{fuse(model)} fused")
    onnx.save(model, sys.argv[2])
