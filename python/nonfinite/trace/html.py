"""The report as a page that needs nothing else: no script, no font, no picture from elsewhere."""

from collections import defaultdict
from html import escape
from typing import Any

from nonfinite.trace.results import Results
from nonfinite.trace.text import finding, without_finding

WIDTH, HEIGHT, GAP_X, GAP_Y = 190, 44, 60, 16

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem;
  color: #1a1a1a; background: #fff }
pre { background: #f4f4f5; padding: 1rem; overflow-x: auto }
table { border-collapse: collapse } td, th { padding: .2rem .8rem; text-align: left;
  border-bottom: 1px solid #ddd } .graph { overflow-x: auto }
rect { fill: #f4f4f5; stroke: #71717a } .first rect { fill: #b91c1c; stroke: #7f1d1d }
.first text { fill: #fff } .bad rect { fill: #fecaca; stroke: #b91c1c }
.intended rect { fill: #fef3c7; stroke: #b45309 } path { fill: none; stroke: #71717a }
text { font: 12px system-ui, sans-serif } .key span { padding: 0 .6rem; margin-right: .6rem }
"""


def page(report: Results) -> str:
    """The page."""
    title = f"nonfinite trace: {report.model}"
    first = report.first
    parts = [f"<h1>{escape(title)}</h1>"]
    if first is None:
        parts.append(f"<p>{escape(without_finding(report))}</p>")
    else:
        head = f"{first.kind}: {first.node} ({first.operator})"
        parts.append(f"<h2>{escape(head)}</h2><pre>{escape(chr(10).join(finding(first)))}</pre>")
        parts.append(_graph(report.picture))
        if report.reached:
            parts.append(f"<p>Reached: {escape(', '.join(report.reached))}</p>")
    bad = [*report.weights, *report.bad_inputs]
    if bad:
        rows = "".join(f"<li>{escape(str(look))}</li>" for look in bad)
        parts.append(f"<h2>Bad weights and inputs</h2><ul>{rows}</ul>")
    if report.findings:
        parts.append("<h2>All findings</h2>" + _findings(report))
    parts.append("<h2>Closest to the largest number of the type</h2>" + _peaks(report))
    parts += [f"<p>Note: {escape(note)}</p>" for note in report.notes]
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{STYLE}</style><body>{''.join(parts)}</body></html>\n"
    )


def _findings(report: Results) -> str:
    rows = "".join(
        f"<tr><td>{escape(each.kind)}<td>{escape(each.node)}<td>{escape(each.operator)}"
        f"<td>{escape(each.graph)}<td>{'yes' if each.reaches else 'no'}"
        for each in report.findings
    )
    return f"<table><tr><th>kind<th>node<th>operator<th>graph<th>reaches an output{rows}</table>"


def _peaks(report: Results) -> str:
    rows = "".join(
        f"<tr><td>{escape(each.name)}<td>{each.dtype}<td>{each.largest:.6g}<td>{each.share:.2g}"
        for each in report.peaks[:20]
    )
    return f"<table><tr><th>tensor<th>type<th>largest<th>share of the limit{rows}</table>"


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
        kind = {"first": "first", "finite": "finite", "intended": "intended"}
        name = node["name"] if len(node["name"]) < 28 else "…" + node["name"][-26:]
        boxes.append(
            f'<g class="{kind.get(node["kind"], "bad")}">'
            f"<title>{escape(node['name'])}: {escape(node['kind'])}</title>"
            f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="5"/>'
            f'<text x="{x + 8}" y="{y + 18}">{escape(node["operator"])}</text>'
            f'<text x="{x + 8}" y="{y + 34}">{escape(name)}</text></g>'
        )
    width = 20 + len(columns) * (WIDTH + GAP_X)
    height = 20 + max(columns.values()) * (HEIGHT + GAP_Y)
    more = f"<p>{drawn['left_out']} nodes are left out.</p>" if drawn["left_out"] else ""
    return (
        '<p class="key"><span style="background:#b91c1c;color:#fff">first finding</span>'
        '<span style="background:#fecaca">bad</span><span style="background:#fef3c7">intended'
        '</span><span style="background:#f4f4f5">finite</span></p>'
        f'<div class="graph"><svg width="{width}" height="{height}" role="img" '
        f'aria-label="the graph around the first finding">{"".join(lines)}{"".join(boxes)}</svg>'
        f"</div>{more}<p>Ends in: {escape(', '.join(drawn['ends']))}</p>"
    )
