"""The part of a graph that a page draws: around the first finding."""

from collections.abc import Callable
from typing import Any

from nonfinite.trace.model import Graph, Place
from nonfinite.trace.origin import Judge, Judged

# Nodes before the finding (in steps), and nodes in all.
STEPS_BEFORE = 2
NODES = 60


def picture(
    graph: Graph, judge: Judge, first: Judged | None, label: Callable[[Place], str]
) -> dict[str, Any]:
    """Nodes with their columns and lines between them. Empty if there is no finding."""
    if first is None:
        return {}
    order = {place: number for number, place in enumerate(graph.places)}
    kinds = {each.place: each.kind for each in judge.judged}
    reached, ends = judge.reached(first.place)
    chosen = [first.place]
    edge = [first.place]
    for _ in range(STEPS_BEFORE):
        keys = [key for place in edge for key in graph.inputs_of(place)]
        edge = [graph.makers[key] for key in keys if key in graph.makers]
        chosen += [place for place in edge if place not in chosen]
    chosen += [place for place in reached if place not in chosen]
    kept = sorted(chosen[:NODES], key=order.__getitem__)
    columns: dict[Place, int] = {}
    lines = []
    for place in kept:
        makers = [graph.makers.get(key) for key in graph.inputs_of(place)]
        before = [maker for maker in makers if maker in columns]
        columns[place] = 1 + max((columns[maker] for maker in before if maker), default=-1)
        lines += [(kept.index(maker), kept.index(place)) for maker in before if maker]
    return {
        "nodes": [
            {
                "name": label(place),
                "operator": place.proto.op_type,
                "kind": "first" if place is first.place else kinds.get(place, "finite"),
                "column": columns[place],
            }
            for place in kept
        ],
        "lines": sorted(set(lines)),
        "ends": list(dict.fromkeys(ends)),
        "left_out": len(chosen) - len(kept),
    }
