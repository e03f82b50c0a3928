"""The tables of `benches/peers`: its bounds, a record, and the rows of README.md.

Times are the least of all samples. A ratio is our time divided by another loop's, so below 1 ours
is faster; means are geometric.
"""

import re
from collections import defaultdict, namedtuple
from math import exp, inf, log

from .markdown import table

Cell = namedtuple("Cell", "question format length bytes data offset")

QUESTIONS = ("all", "any", "position", "count", "mask", "bits", "census")
SEARCHES = QUESTIONS[:3]
FLOATS = ("f32", "f64", "f16", "bf16")
BACKENDS = ("avx512", "avx2", "sse2", "neon")
# The plain loops of a build for x86-64.
BASELINE = ("std", "tuned")
UNITS = ("e", "B", "KiB", "MiB")
EARLY = ("line", "kib")


def read(files):
    """Cell -> row -> nanoseconds, the least of all files."""
    found = defaultdict(dict)
    for file in files:
        for line in file.read_text().splitlines()[1:]:
            fields = line.split("\t")
            if len(fields) == 9 and fields[0] != "question":
                question, fmt, length, size, data, offset, row, least, _ = fields
                rows = found[Cell(question, fmt, length, int(size), data, int(offset))]
                rows[row] = min(float(least), rows.get(row, float("inf")))
    return found


def other(rows, backend):
    """The fastest other loop that needs no better CPU: its time and its name."""
    others = [
        (time, row)
        for row, time in rows.items()
        if not row.startswith(("nonfinite", "before", "limit"))
        and (backend == "avx512" or not row.endswith("avx512"))
        and (backend != "sse2" or row in BASELINE)
    ]
    return min(others, default=None)


def mean(values):
    return exp(sum(map(log, values)) / len(values))


def asked(cell):
    return cell.question.split("/")[0]


def place(cell):
    return "/".join([cell.question, cell.format, cell.length, cell.data, f"+{cell.offset}"])


def lengths(cells):
    """The lengths that occur, elements before bytes."""
    key = {x: re.fullmatch(r"(\d+)(\D+)", x).groups() for x in {cell.length for cell in cells}}
    return sorted(key, key=lambda x: (UNITS.index(key[x][1]), int(key[x][0])))


def beside_std(ours, rows, _):
    return ours / rows["std"], f"{ours:.1f} ns, std {rows['std']:.1f}"


def behind_std(ours, rows, _):
    return ours - rows["std"], f"{ours:.1f} ns, std {rows['std']:.1f}"


def beside_others(ours, rows, backend):
    fastest = other(rows, backend)
    return fastest and (ours / fastest[0], f"{ours:.1f} ns, {fastest[1]} {fastest[0]:.1f}")


def beside_before(ours, rows, backend):
    before = rows.get(f"before {backend}")
    return before and (ours / before, f"{ours:.1f} ns, before {before:.1f}")


def is_short(cell):
    return cell.length.endswith("e") and int(cell.length[:-1]) < 64


def is_search(cell):
    return asked(cell) in SEARCHES


def is_early_line(cell):
    return is_search(cell) and cell.data == "line"


def is_early_kib(cell):
    return is_search(cell) and cell.data == "kib"


def is_middle(cell):
    return 64 <= cell.bytes <= 4096 and cell.data in ("clean", "dirty", "dirty16")


def is_clean(cell):
    return cell.data == "clean"


def is_long(cell):
    return cell.bytes >= 4096


WORDS = {
    behind_std: "ns behind the plain loop",
    beside_std: "time / the plain loop's",
    beside_others: "time / the fastest other's",
    beside_before: "time / before",
}
# Title, the cells, the figure of a cell, and the bounds of issue 37: the greatest mean over the
# formats, and the greatest figure of a cell.
Bound = namedtuple("Bound", "title cells figure mean cell", defaults=[inf, inf])
BOUNDS = (
    Bound("below 64 elements", lambda c: is_short(c) and is_search(c), behind_std, 0.5, 0.5),
    Bound("below 64 elements", lambda c: is_short(c) and not is_search(c), beside_std, 1.25, 1.25),
    Bound("64 bytes to 4 KiB, at most 1/16 special", is_middle, beside_others, 1.03, 1 / 0.9),
    Bound("a hit in the first line", is_early_line, behind_std, 1, 1),
    Bound("a hit in the first KiB", is_early_kib, beside_others, 1.1, 1.1),
    Bound("above 4 KiB", lambda c: c.bytes > 4096 and c.data not in EARLY, beside_others),
    Bound("below 4 KiB", lambda c: not is_long(c), beside_before),
    Bound("from 4 KiB, clean", lambda c: is_long(c) and is_clean(c), beside_before, 1.02, 1.08),
    Bound("from 4 KiB, dirty", lambda c: is_long(c) and not is_clean(c), beside_before, 1.02, 1.08),
)


def middle(values, bound):
    return sum(values) / len(values) if bound.figure is behind_std else mean(values)


def section(found, backend, bound):
    """A line for each question: mean (greatest) of each length and of all, and the worst cell."""
    figures = defaultdict(list)
    for cell, rows in found.items():
        ours = rows.get(f"nonfinite {backend}")
        if ours and bound.cells(cell) and (value := bound.figure(ours, rows, backend)):
            figures[asked(cell)].append((*value, cell))
    if not figures:
        return ""
    every = [value for values in figures.values() for value in values]

    def shown(values):
        numbers = [value[0] for value in values]
        if not numbers:
            return ""
        both = (middle(numbers, bound), bound.mean), (max(numbers), bound.cell)
        average, greatest = (f"{value:.2f}{'!' * (value > limit)}" for value, limit in both)
        return f"{average} ({greatest})"

    used = lengths(cell for *_, cell in every)
    lines = []
    for question in (q for q in QUESTIONS if q in figures):
        values = figures[question]
        worst, note, cell = max(values, key=lambda value: value[0])
        of_length = [[v for v in values if v[2].length == x] for x in used]
        lines.append([question, *map(shown, (*of_length, values)), f"{place(cell)}: {note}"])
    title = f"## {backend}, {bound.title}: {WORDS[bound.figure]}\n\n"
    if bound.cell < inf:
        above = sum(value[0] > bound.cell for value in every)
        title += f"Bounds: mean {bound.mean:.2f}, cell {bound.cell:.2f}. "
        title += f"{above} of {len(every)} cells are above.\n\n"
    return title + table(["", *used, "all lengths", "worst cell"], lines)


def bounds(found):
    """What issue 37 asks for, for each backend; `!` marks what is above its bound."""
    sections = (section(found, backend, bound) for backend in BACKENDS for bound in BOUNDS)
    return "\n".join(part for part in sections if part)


DATA_WORDS = {
    "clean": "finite elements only",
    "dirty": "one element in 1000 is special",
    "dirty16": "one in 16",
    "dirty3": "one in 3",
    "line": "one NaN, in the first line",
    "kib": "one NaN, in the first KiB",
}
GROUPS = {
    "byte masks": ("mask",),
    "packed bits": ("bits",),
    "`count`": ("count",),
    "`census`": ("census",),
    "`all`, `any`, `position`": SEARCHES,
}
HEADER = """
Our speed divided by that of the fastest other loop: above 1 ours is faster. Least times; geometric
mean over f32, f64, f16 and bf16. First figure: inputs and outputs at a multiple of 64 bytes. Second
figure: 16 bytes behind one. Loops for AVX2 are compared with loops for AVX2.

## For README.md
"""


def speeds(found, backend, columns, text):
    """A line for each group of questions; `columns` are names and which cells they take."""
    lines = []
    for group, questions in GROUPS.items():
        line = [group]
        for choose in columns.values():
            at_offset = defaultdict(list)
            for cell, rows in found.items():
                ours, fastest = rows.get(f"nonfinite {backend}"), other(rows, backend)
                chosen = asked(cell) in questions and cell.format in FLOATS and choose(cell)
                if ours and fastest and chosen:
                    at_offset[cell.offset].append(fastest[0] / ours)
            line.append(", ".join(text(at_offset[offset]) for offset in sorted(at_offset)))
        lines.append(line)
    return table([backend, *columns], lines)


def of_length(found, data):
    """The columns of `speeds` for each length that was measured with this data."""
    return {
        length.replace("e", " elements").replace("KiB", " KiB").replace("MiB", " MiB"): (
            lambda cell, length=length: cell.length == length and cell.data == data
        )
        for length in lengths(cell for cell in found if cell.data == data)
    }


def record(found, cpu, about):
    """The record of a run as Markdown; the first table of each backend is what README.md shows."""
    backends = [b for b in BACKENDS if any(f"nonfinite {b}" in rows for rows in found.values())]
    parts = [f"# {cpu}: beside other loops\n\nWritten by `benches/report`. {about}", HEADER]
    early = {"a hit in the first line": is_early_line, "in the first KiB": is_early_kib}
    for backend in backends:
        columns = of_length(found, "clean") | early
        parts.append(speeds(found, backend, columns, lambda of: f"{mean(of):.2f}"))
    for data, words in DATA_WORDS.items():
        parts.append(f"## Mean (least): {words}\n")
        for backend in backends:
            columns = of_length(found, data)
            parts.append(
                speeds(found, backend, columns, lambda of: f"{mean(of):.2f} ({min(of):.2f})")
            )
    return "\n".join(parts)
