"""The part of a graph that a page draws: around the first finding."""

from typing import Any

from nonfinite.trace.model import NodePlace
from nonfinite.trace.names import group_of
from nonfinite.trace.run import Located, Run

# Nodes before the finding (in steps), and nodes in all.
STEPS_BEFORE = 2
NODES = 60


def picture(run: Run, first: Located) -> dict[str, Any]:
    """Boxes with their columns, and lines between them. A box is the nodes of the model that one
    node of the runtime stands for."""
    graph = run.graph
    order = {place: number for number, place in enumerate(graph.places)}
    kinds = {each.place: each.kind for each in run.judge.judged}
    kinds |= {each.place: each.finding.kind for each in run.found}
    reached, ends = run.judge.reached(first.place)
    chosen = {first.place: None}
    edge = [first.place]
    for _ in range(STEPS_BEFORE):
        keys = [key for place in edge for key in graph.inputs_of(place)]
        edge = [graph.makers[key] for key in keys if key in graph.makers]
        chosen |= dict.fromkeys(edge)
    chosen |= dict.fromkeys(reached)
    boxes: dict[tuple[NodePlace, ...], list[NodePlace]] = {}
    for place in chosen:
        nodes = first.nodes if place is first.place else run.names.nodes(place)
        if nodes:
            boxes.setdefault(nodes, []).append(place)
    kept = dict(list(boxes.items())[:NODES])
    drawn = sorted(kept, key=lambda nodes: min(map(order.__getitem__, kept[nodes])))
    numbers = {place: number for number, nodes in enumerate(drawn) for place in kept[nodes]}
    lines = {
        (numbers[maker], number)
        for place, number in numbers.items()
        for key in graph.inputs_of(place)
        if (maker := graph.makers.get(key)) in numbers and numbers[maker] < number
    }
    columns: list[int] = []
    for number in range(len(drawn)):
        before = [columns[start] for start, end in lines if end == number]
        columns.append(1 + max(before, default=-1))
    return {
        "nodes": [
            {
                "name": ", ".join(node.label for node in nodes),
                "operator": ", ".join(dict.fromkeys(node.proto.op_type for node in nodes)),
                "kind": "first" if nodes is first.nodes else _kind(kept[nodes], kinds),
                "column": column,
            }
            for nodes, column in zip(drawn, columns, strict=True)
        ],
        "lines": sorted(lines),
        "ends": list(dict.fromkeys(_end(run, end) for end in ends)),
        "left_out": len(boxes) - len(drawn),
    }


def _kind(places: list[NodePlace], kinds: dict[NodePlace, str]) -> str:
    return next((kinds[place] for place in places if place in kinds), "finite")


def _end(run: Run, end: str | NodePlace) -> str:
    return end if isinstance(end, str) else group_of(run.names.nodes(end))
