"""The record of one machine as Markdown."""

import json
from itertools import groupby
from statistics import geometric_mean

from . import bars, cells, machine
from .cells import FORMAT_ORDER, order, rank
from .markdown import figure, percent, ratio, table

def plain(name):
    return name.removeprefix("nonfinite ")


def paths_of(chosen):
    return [path for path in cells.PATHS if any(path in cell.paths() for cell in chosen)]


def speed_table(chosen, label):
    """Ours by path, the fastest other, and the limits; `label` has the columns that name a cell."""
    paths = paths_of(chosen)
    others = any(cell.others() for cell in chosen)
    head = list(label) + paths
    head += ["fastest other", "its GB/s", "ratio"] * others
    shared = [path for path in paths if path != "portable"]
    head += [text for path in shared for text in (f"limit of {path}", "share")]
    rows = []
    for cell in chosen:
        row = [pick(cell) for pick in label.values()]
        row += [figure(cell.gb_per_s(f"nonfinite {path}")) for path in paths]
        if others:
            other, picked = cell.fastest_other(), cell.picked()
            row += [other or "", figure(other and cell.gb_per_s(other))]
            row.append(ratio(cell.times[other] / cell.times[picked]) if other and picked else "")
        for path in shared:
            limit = cell.limit(path)
            row += [figure(limit and cell.gb_per_s(limit)), percent(cell.share(path))]
        rows.append(row)
    return table(head, rows, len(label))


def part(n):
    return lambda cell: cell.parts[n]


LABEL = {"format": part(1), "predicate": part(2), "input": part(3)}
# These have no predicate.
SANITISE = ("replace", "copying", "unscale")


def with_data(found, *data):
    return sorted((c for c in found if c.parts[-1] in data and c.sink not in (*SANITISE, "strided")), key=order)


def clean(found):
    chosen = with_data(found, "clean")
    for sink, group in groupby(chosen, lambda cell: cell.sink):
        yield f"## {sink}, all elements finite: GB/s of input\n\n" + speed_table(list(group), LABEL)


def unclean(found):
    """A line a question and size, a column for each density."""
    chosen = [c for c in with_data(found, *cells.DATA_ORDER) if c.picked()]
    rows = {}
    for cell in chosen:
        other, picked = cell.fastest_other(), cell.picked()
        beside = f" ({ratio(cell.times[other] / cell.times[picked])})" if other else ""
        row = rows.setdefault(tuple(cell.parts[:4]), {})
        row[cell.parts[4]] = f"{figure(cell.gb_per_s(picked))}{beside}"
    lines = [[*name, *(row.get(data, "") for data in cells.DATA_ORDER)] for name, row in rows.items() if len(row) > 1]
    if lines:
        head = ["sink", "format", "predicate", "input", "clean", "1/1000", "1/100", "1/16", "1/3", "all NaN"]
        yield (
            "## Elements that are not finite, one in so many: GB/s of input (ratio to the fastest other)\n\n"
            f"On the path that the crate picks, {plain(chosen[0].picked())}.\n\n" + table(head, lines, 4)
        )


def sanitise(found):
    chosen = [c for c in found if c.sink in SANITISE]
    if chosen:
        label = {"what": part(0), "format": part(1), "input": part(2), "data": part(3)}
        yield "## Replacing and scaling: GB/s of input\n\n" + speed_table(chosen, label)


def strided(found):
    chosen = sorted((c for c in found if c.sink == "strided"), key=lambda cell: cell.parts[1:])
    if chosen:
        label = {"layout": part(1), "format": part(2), "input": part(3)}
        yield "## Strided tensors, masks if not said otherwise: GB/s of input\n\n" + speed_table(chosen, label)


def first_hit(found):
    chosen = sorted((c for c in found if c.parts[-1] == "firsthit"), key=order)
    paths = paths_of(chosen)
    rows = [
        [*cell.parts[1:4]] + [figure(cell.times.get(f"nonfinite {path}")) for path in paths] for cell in chosen
    ]
    if rows:
        yield "## any, first element is a hit: ns\n\n" + table(["format", "predicate", "input", *paths], rows, 3)


def offsets(found):
    """Bits that do not begin at a byte."""
    chosen = sorted((c for c in found if c.sink == "bits" and c.parts[-1] == "clean"), key=order)
    paths = [p for p in paths_of(chosen) if any(f"nonfinite {p} from bit 3" in c.times for c in chosen)]
    rows = [
        [*cell.parts[1:4]] + [figure(cell.gb_per_s(f"nonfinite {path} from bit 3")) for path in paths]
        for cell in chosen
    ]
    if rows:
        yield "## bits from bit 3 on: GB/s of input\n\n" + table(["format", "predicate", "input", *paths], rows, 3)


def parallel(found):
    """Two threads, and the share of what two threads that only read or write reach."""
    def place(cell):
        sink, fmt, predicate, size = cell.parts[1:5]
        return (cells.size_in_bytes(size), rank(cells.SINK_ORDER, sink), rank(FORMAT_ORDER, fmt), predicate)

    rows = []
    for cell in sorted((c for c in found if c.sink == "parallel"), key=place):
        one = next((name for name in cell.times if name.startswith("nonfinite") and "threads" not in name), None)
        several = next((name for name in cell.times if name.startswith("nonfinite") and "threads" in name), None)
        limits = [name for name in cell.times if name.startswith("limit")]
        alone = min((n for n in limits if "threads" not in n), key=cell.times.get, default=None)
        limit = min((n for n in limits if "threads" in n), key=cell.times.get, default=None)
        if one and several and limit and alone:
            speeds = [figure(cell.gb_per_s(name)) for name in (one, alone, several, limit)]
            share = percent(cell.times[limit] / cell.times[several])
            rows.append([*cell.parts[1:5], *speeds, share, ratio(cell.times[one] / cell.times[several])])
    if rows:
        head = ["sink", "format", "predicate", "input", "one thread", "its limit", "two threads", "their limit"]
        head += ["share", "two to one"]
        yield (
            "## One thread and two: GB/s of input\n\nThe limits are loops that only read, or read and write a byte an element, "
            "on as many threads, in the same group.\n\n" + table(head, rows, 4)
        )


def short(found):
    """Short inputs, in nanoseconds."""
    chosen = [cell for cell in found if cell.sink == "short"]
    chosen.sort(key=lambda cell: (rank(FORMAT_ORDER, cell.parts[1]), int(cell.parts[3])))
    if not chosen:
        return
    paths = paths_of(chosen)
    head = ["format", "elements"]
    head += [text for path in paths for text in (path, "without dispatch")]
    head += ["std", "to std", "std multiversion", "to it", "all", "std all"]
    rows = []
    for cell in chosen:
        time, ours = cell.times.get, cell.times.get(cell.picked())
        row = [cell.parts[1], cell.parts[3]]
        for path in paths:
            row += [figure(time(f"nonfinite {path}")), figure(time(f"nonfinite {path} without dispatch"))]
        for other in ("std", "std multiversion"):
            row += [figure(time(other)), ratio(ours / time(other)) if ours and time(other) else ""]
        rows.append([*row, figure(time("nonfinite all")), figure(time("std all"))])
    yield "## Short inputs, finite mask: ns\n\n" + table(head, rows, 2)


def formats(found):
    """Every format: one row each, the path that the crate picks."""
    chosen = [cell for cell in found if cell.sink == "format"]
    sizes = cells.sizes(chosen)
    for sink in ("mask", "bits", "all", "census"):
        rows = {}
        for cell in chosen:
            if cell.parts[1] == sink and cell.picked():
                share = cell.share(plain(cell.picked()))
                rows.setdefault(cell.parts[2], {})[cell.parts[4]] = (
                    f"{figure(cell.gb_per_s(cell.picked()))} ({percent(share)})"
                )
        if rows:
            lines = [[name, *(rows[name].get(size, "") for size in sizes)] for name in sorted(rows)]
            yield (
                f"## {sink} of every format, finite: GB/s of input (share of the limit)\n\n"
                + table(["format", *sizes], lines)
            )


def rows_of(folder, file):
    """Cell -> name -> GB/s, of what others were measured at in a run of their own."""
    path = folder / file
    by_cell = {}
    for row in json.loads(path.read_text()) if path.exists() else []:
        by_cell.setdefault(row["cell"], {})[row["name"]] = row["gb_per_s"]
    return by_cell


def standing(speeds):
    """Ours, the others, fastest first, and the ratio to the fastest; ratios only with our rows of that run."""
    ours = next((f"nonfinite {p}" for p in cells.PATHS if f"nonfinite {p}" in speeds), None)
    others = [name for name in speeds if not name.startswith(("nonfinite", "limit"))]
    ranked = sorted(others, key=speeds.get, reverse=True)
    return ours, ranked, speeds[ours] / speeds[ranked[0]] if ours and ranked else None


def merged(by_cell, title):
    lines = []
    for name, speeds in by_cell.items():
        ours, ranked, best = standing(speeds)
        listed = ", ".join(f"{n} {figure(speeds[n])}" for n in ranked)
        limits = ", ".join(f"{n.removeprefix('limit ')} {figure(v)}" for n, v in speeds.items() if n.startswith("limit"))
        us = f"{plain(ours)} {figure(speeds[ours])}" if ours else ""
        lines.append([name, listed, limits, us, ratio(best)])
    if lines:
        head = ["cell", "others, fastest first", "limits", "ours", "ratio to the fastest"]
        yield f"## {title}: GB/s of input, a run of its own\n\n" + table(head, lines, 3)


def faster_others(by_cell):
    """How many cells of each size and data another loop is faster in, and which."""
    lines, groups = [], {}
    for name, speeds in by_cell.items():
        ours, ranked, best = standing(speeds)
        if best is not None:
            groups.setdefault(tuple(name.split("/")[3:]), []).append(best)
        if best is not None and best < 1:
            row = [name, ratio(best), figure(speeds[ours]), ranked[0], figure(speeds[ranked[0]])]
            lines.append((best, row))
    if groups:
        counts = [
            [*group, len(ratios), sum(r < 1 for r in ratios), ratio(min(ratios)), ratio(geometric_mean(ratios))]
            for group, ratios in groups.items()
        ]
        head = ["input", "data", "cells", "another is faster in", "least ratio", "mean ratio"]
        yield "## Where another loop is faster, by `benches/peers`: GB/s of input\n\n" + table(head, counts, 2)
    if lines:
        yield table(["cell", "ratio", "ours", "fastest other", "its"], [row for _, row in sorted(lines)])


def peers(folder):
    by_cell = rows_of(folder, "peers.json")
    yield from faster_others(by_cell)
    # All cells would be a thousand lines.
    usual = {name: row for name, row in by_cell.items() if name.endswith(("16KiB/clean", "256KiB/clean", "MiB/clean"))}
    yield from merged(usual, "Other libraries")


def static(path):
    """What llvm-mca says of other CPUs, one level down."""
    if path.exists():
        lines = path.read_text().splitlines()
        yield "\n".join(f"#{line}" if line.startswith("#") else line for line in lines) + "\n"


def header(found, cpu, notes):
    first, last = min(c.when for c in found), max(c.when for c in found)
    lines = [
        f"# {cpu}\n",
        f"Written by `benches/report`; how to read it: [benches/README.md](../../README.md). {len(found)} groups, "
        f"measured {machine.utc(first)} to {machine.utc(last)} UTC, medians.\n",
    ]
    rows = [
        [bench, n["date"], n["commit"], n["rustc"], n["arguments"], f"{n['load_before']} / {n['load_after']}"]
        for bench, n in notes.items()
    ]
    head = ["benchmark", "began (UTC)", "commit", "compiler", "arguments", "load before / after"]
    lines.append(table(head, rows, 5) if rows else "Measured by hand: commit and load were not noted.\n")
    lines.append(
        "A load well above 1 means that others ran beside: shares and ratios hold better than GB/s, and neither holds "
        "well.\n"
    )
    lines.append("![Speed by size](speed-by-size.svg)\n\n![Share of the limit](roofline.svg)\n")
    return "\n".join(lines)


def text(found, cpu, notes, folder):
    found = list(found.values())
    parts = [header(found, cpu, notes), *bars.sections(found)]
    for section in (clean, unclean, sanitise, strided, first_hit, offsets, parallel, short, formats):
        parts += section(found)
    parts += peers(folder)
    parts += merged(rows_of(folder, "frameworks.json"), "Frameworks")
    parts += static(folder.parent / "static.md")
    return "\n".join(parts)
