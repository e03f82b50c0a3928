"""The report as a page that needs nothing else. It has the style of `nonfinite check --html`."""

from collections import defaultdict
from html import escape
from typing import Any

from nonfinite._native import html_page
from nonfinite.trace.results import Results
from nonfinite.trace.text import CLOSE, finding, heading, kind, without_finding

WIDTH, HEIGHT, GAP_X, GAP_Y = 190, 44, 60, 16

# The classes of the shared style: of the first finding, of others, of intended ones, of the rest.
CLASSES = {"first": "first", "intended": "meant", "finite": "finite"}
KEY = (("first", "first finding"), ("hurt", "bad"), ("meant", "intended"), ("finite", "finite"))


def page(report: Results) -> str:
    """The page."""
    title = f"trace of {report.model}"
    first = report.first
    parts = [f"<h1>{escape(title)}</h1>"]
    if first is None:
        parts.append(f"<p>{escape(without_finding(report))}</p>")
    else:
        lines = escape("\n".join(finding(first)))
        parts.append(f"<h2>{escape(heading(first))}</h2><pre>{lines}</pre>")
        parts.append(_graph(report.picture))
        if report.reached:
            parts.append(f"<p>Reached: {escape(', '.join(report.reached))}</p>")
    bad = [*report.weights, *report.bad_inputs]
    if bad:
        rows = "".join(f"<li>{escape(str(look))}</li>" for look in bad)
        parts.append(f"<h2>Bad weights and inputs</h2><ul>{rows}</ul>")
    if report.findings:
        parts.append("<h2>All findings</h2>" + _findings(report))
    if any(peak.share >= CLOSE for peak in report.peaks):
        parts.append("<h2>Closest to the largest number of the type</h2>" + _peaks(report))
    parts += [f"<p>Note: {escape(note)}</p>" for note in report.notes]
    return html_page(title, "\n".join(parts))


def _findings(report: Results) -> str:
    rows = "".join(
        f"<tr><td>{escape(kind(each))}<td>{escape(each.node)}<td>{escape(each.operator)}"
        f"<td>{escape(each.graph)}<td>{'yes' if each.reaches else 'no'}"
        for each in report.findings
    )
    return _table(["kind", "node", "operator", "graph", "reaches an output"], rows)


def _peaks(report: Results) -> str:
    rows = "".join(
        f"<tr><th scope=row>{escape(each.name)}<td>{each.dtype}<td>{each.largest:.6g}"
        f"<td>{each.share:.2g}"
        for each in report.peaks[:20]
        if each.share >= CLOSE
    )
    return _table(["tensor", "type", "largest", "share of the limit"], rows)


def _table(heads: list[str], rows: str) -> str:
    head = "".join(f"<th scope=col>{head}" for head in heads)
    return (
        "<div class=wide tabindex=0 role=region aria-label=Table>"
        f"<table><thead><tr>{head}<tbody>{rows}</table></div>"
    )


def _graph(drawn: dict[str, Any]) -> str:
    """Boxes in columns, from left to right. A line goes from a node to its consumer."""
    columns: dict[int, int] = defaultdict(int)
    places = []
    for node in drawn["nodes"]:
        row = columns[node["column"]]
        columns[node["column"]] += 1
        places.append((10 + node["column"] * (WIDTH + GAP_X), 10 + row * (HEIGHT + GAP_Y)))
    lines = []
    for start, end in drawn["lines"]:
        (x0, y0), (x1, y1) = places[start], places[end]
        x0, y0, y1 = x0 + WIDTH, y0 + HEIGHT // 2, y1 + HEIGHT // 2
        middle = (x0 + x1) // 2
        lines.append(f'<path d="M{x0} {y0} C{middle} {y0} {middle} {y1} {x1} {y1}"/>')
    boxes = []
    for node, (x, y) in zip(drawn["nodes"], places, strict=True):
        name = node["name"] if len(node["name"]) < 28 else "…" + node["name"][-26:]
        boxes.append(
            f"<g><title>{escape(node['name'])}: {escape(node['kind'])}</title>"
            f'<rect class="{CLASSES.get(node["kind"], "hurt")}" x="{x}" y="{y}" '
            f'width="{WIDTH}" height="{HEIGHT}" rx="5"/>'
            f'<text x="{x + 8}" y="{y + 18}">{escape(node["operator"])}</text>'
            f'<text x="{x + 8}" y="{y + 34}">{escape(name)}</text></g>'
        )
    width = 20 + len(columns) * (WIDTH + GAP_X)
    height = 20 + max(columns.values()) * (HEIGHT + GAP_Y)
    more = f"<p>{drawn['left_out']} nodes are left out.</p>" if drawn["left_out"] else ""
    key = "".join(f"<span class={kind}></span>&nbsp;{word} " for kind, word in KEY)
    return (
        f"<p class=key>{key}</p>"
        f'<div class="wide graph" tabindex="0"><svg width="{width}" height="{height}" role="img" '
        f'aria-label="the graph around the first finding">{"".join(lines)}{"".join(boxes)}</svg>'
        f"</div>{more}<p>Ends in: {escape(', '.join(drawn['ends']))}</p>"
    )
