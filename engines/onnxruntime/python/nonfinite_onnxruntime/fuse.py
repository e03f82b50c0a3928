"""Replaces the nodes with which a model computes "is finite" by IsFinite of the domain `nonfinite`.

    python fuse.py model.onnx fused.onnx

The two patterns, with IsNaN and IsInf of the same tensor in any order:

    Not(Or(IsNaN(x), IsInf(x)))
    And(Not(IsNaN(x)), Not(IsInf(x)))

IsInf may look at x cast to double, as in models of `torch.onnx`: this cast changes no NaN, infinity
or finite number into another of the three.

Nothing is fused if IsInf looks at one sign only, or if an intermediate tensor is an output of its
graph or has another consumer. Needs the package onnx. External data files are not copied: the new
model belongs into the folder of the old one.
"""

import sys
from collections import Counter

import onnx
from onnx import TensorProto, helper

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
        if len(nan) != 1 or len(inf) != 1:
            continue
        x = nan[0].input[0]
        gone = [node, *between, nan[0], inf[0]]
        if inf[0].input[0] != x:
            cast = makers.get(inf[0].input[0])
            if not _is(cast, "Cast") or cast.input[0] != x or not _to_double(cast):
                continue
            if uses[cast.output[0]] == 1:
                gone.append(cast)
        # Both signs are on by default. A sign that a function takes from its caller has 0 here.
        if any(sign.i == 0 for sign in inf[0].attribute):
            continue
        position = list(nodes).index(node)
        made = helper.make_node("IsFinite", [x], node.output, node.name, domain=OURS)
        nodes.insert(position, made)
        for each in gone:
            nodes.remove(each)
        fused += 1
    return fused


def _is(node, kind):
    return node is not None and node.op_type == kind and node.domain in ("", "ai.onnx")


def _to_double(cast):
    return any(each.name == "to" and each.i == TensorProto.DOUBLE for each in cast.attribute)


def _inside(node):
    """The graphs of an If, a Loop, a Scan."""
    for attribute in node.attribute:
        yield from ([attribute.g] if attribute.HasField("g") else [])
        yield from attribute.graphs


def _count(nodes, uses):
    """Counts the consumers of each tensor. Graphs inside see the names outside, so they count."""
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
