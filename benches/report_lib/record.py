"""The record of one machine as Markdown."""

from itertools import groupby

from . import cells, machine
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
    return sorted(
        (c for c in found if c.parts[-1] in data and c.sink not in (*SANITISE, "strided")),
        key=order,
    )


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
    lines = [
        [*name, *(row.get(data, "") for data in cells.DATA_ORDER)]
        for name, row in rows.items()
        if len(row) > 1
    ]
    if lines:
        head = [
            "sink",
            "format",
            "predicate",
            "input",
            "clean",
            "1/1000",
            "1/100",
            "1/16",
            "1/3",
            "all NaN",
        ]
        yield (
            "## Elements that are not finite, one in so many: "
            "GB/s of input (ratio to the fastest other)\n\n"
            f"On the path that the crate picks, {plain(chosen[0].picked())}.\n\n"
            + table(head, lines, 4)
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
        yield "## Strided tensors, masks if not said otherwise: GB/s of input\n\n" + speed_table(
            chosen, label
        )


def first_hit(found):
    chosen = sorted((c for c in found if c.parts[-1] == "firsthit"), key=order)
    paths = paths_of(chosen)
    rows = [
        [*cell.parts[1:4]] + [figure(cell.times.get(f"nonfinite {path}")) for path in paths]
        for cell in chosen
    ]
    if rows:
        yield "## any, first element is a hit: ns\n\n" + table(
            ["format", "predicate", "input", *paths], rows, 3
        )


def offsets(found):
    """Bits that do not begin at a byte."""
    chosen = sorted((c for c in found if c.sink == "bits" and c.parts[-1] == "clean"), key=order)
    paths = [
        p for p in paths_of(chosen) if any(f"nonfinite {p} from bit 3" in c.times for c in chosen)
    ]
    rows = [
        [*cell.parts[1:4]]
        + [figure(cell.gb_per_s(f"nonfinite {path} from bit 3")) for path in paths]
        for cell in chosen
    ]
    if rows:
        yield "## bits from bit 3 on: GB/s of input\n\n" + table(
            ["format", "predicate", "input", *paths], rows, 3
        )


def parallel(found):
    """Two threads, and their share of the limit: two threads that only read or write."""

    def place(cell):
        sink, fmt, predicate, size = cell.parts[1:5]
        return (
            cells.size_in_bytes(size),
            rank(cells.SINK_ORDER, sink),
            rank(FORMAT_ORDER, fmt),
            predicate,
        )

    rows = []
    for cell in sorted((c for c in found if c.sink == "parallel"), key=place):
        one = next(
            (name for name in cell.times if name.startswith("nonfinite") and "threads" not in name),
            None,
        )
        several = next(
            (name for name in cell.times if name.startswith("nonfinite") and "threads" in name),
            None,
        )
        limits = [name for name in cell.times if name.startswith("limit")]
        alone = min((n for n in limits if "threads" not in n), key=cell.times.get, default=None)
        limit = min((n for n in limits if "threads" in n), key=cell.times.get, default=None)
        if one and several and limit and alone:
            speeds = [figure(cell.gb_per_s(name)) for name in (one, alone, several, limit)]
            share = percent(cell.times[limit] / cell.times[several])
            rows.append(
                [*cell.parts[1:5], *speeds, share, ratio(cell.times[one] / cell.times[several])]
            )
    if rows:
        head = [
            "sink",
            "format",
            "predicate",
            "input",
            "one thread",
            "its limit",
            "two threads",
            "their limit",
        ]
        head += ["share", "two to one"]
        yield (
            "## One thread and two: GB/s of input\n\n"
            "The limits are loops that only read, or read and write a byte an element, on as many\n"
            "threads, in the same group.\n\n" + table(head, rows, 4)
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
            row += [
                figure(time(f"nonfinite {path}")),
                figure(time(f"nonfinite {path} without dispatch")),
            ]
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


def header(found, cpu, notes):
    first, last = min(c.when for c in found), max(c.when for c in found)
    lines = [
        f"# {cpu}\n",
        "Written by `benches/report`; how to read it: [benches/README.md](../../README.md).\n"
        f"{len(found)} groups, medians, {machine.utc(first)} to {machine.utc(last)} UTC.\n",
    ]
    rows = [
        [
            bench,
            n["date"],
            n["commit"],
            n["rustc"],
            n["arguments"],
            f"{n['load_before']} / {n['load_after']}",
        ]
        for bench, n in notes.items()
    ]
    head = ["benchmark", "began (UTC)", "commit", "compiler", "arguments", "load before / after"]
    lines.append(
        table(head, rows, 5) if rows else "Measured by hand: commit and load were not noted.\n"
    )
    lines.append(
        "A load well above 1 means that others ran beside: then shares and ratios hold better\n"
        "than GB/s, and neither holds well.\n"
    )
    lines.append("![Speed by size](speed-by-size.svg)\n\n![Share of the limit](roofline.svg)\n")
    return "\n".join(lines)


def text(found, cpu, notes):
    found = list(found.values())
    parts = [header(found, cpu, notes)]
    for section in (
        clean,
        unclean,
        sanitise,
        strided,
        first_hit,
        offsets,
        parallel,
        short,
        formats,
    ):
        parts += section(found)
    return "\n".join(parts)
