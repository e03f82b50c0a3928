"""The two plots of a record."""

import re

from . import cells
from .svg import FAINT, GRID, INK, Svg

# Colours that also differ for the colour-blind (Okabe and Ito).
OURS, NARROW, OTHER, STD = "#d55e00", "#e69f00", "#0072b2", "#999999"
BY_SIZE = ("#56b4e9", "#009e73", "#0072b2", "#cc79a7", "#222222")

PANELS = (
    ("f32 mask, is_finite", "mask/f32/finite/{}/clean"),
    ("f64 mask, is_finite", "mask/f64/finite/{}/clean"),
    ("bf16 mask, is_finite", "mask/bf16/finite/{}/clean"),
    ("f32 packed bits, is_finite", "bits/f32/finite/{}/clean"),
    ("f32 all finite", "all/f32/finite/{}/clean"),
    ("f32 count of NaN", "count/f32/nan/{}/clean"),
)
# Rows of the roofline.
ROWS = [
    f"{sink}/{fmt}/{predicate}/{{}}/clean"
    for sink, predicate in (
        ("mask", "finite"),
        ("mask", "nan"),
        ("bits", "finite"),
        ("all", "finite"),
        ("position", "nan"),
        ("count", "nan"),
        ("census", "all"),
    )
    for fmt in cells.FORMAT_ORDER
]


def spaced(size):
    return re.sub(r"(?<=\d)(?=\D)", " ", size)


def nice_top(value):
    """The end of an axis, and its step."""
    for step in (5, 10, 20, 25, 50, 100, 200, 500):
        if value / step <= 6:
            break
    return -(-value // step) * step, step


def lines_of(found, pattern, sizes):
    """Name, colour, dashes and GB/s by size of each line in a panel."""
    here = [found.get(pattern.format(size)) for size in sizes]
    paths = [path for path in cells.PATHS if any(cell and path in cell.paths() for cell in here)]
    picked = paths[0] if paths else None

    def speeds(function):
        names = [cell and function(cell) for cell in here]
        return [cell.gb_per_s(name) if name else None for cell, name in zip(here, names)]

    yield "limit", INK, "5 4", speeds(lambda cell: cell.limit(picked))
    yield "std loop", STD, "", speeds(lambda _: "std")
    yield "fastest other loop", OTHER, "", speeds(lambda cell: cell.fastest_other())
    if picked == "avx512":
        yield "nonfinite avx2", NARROW, "", speeds(lambda _: "nonfinite avx2")
    yield f"nonfinite {picked}", OURS, "", speeds(lambda cell: cell.picked())


def speed_by_size(found):
    panels = [
        (t, p) for t, p in PANELS if any(p.format(s) in found for s in cells.sizes(found.values()))
    ]
    sizes = [s for s in cells.sizes(found.values()) if any(p.format(s) in found for _, p in panels)]
    width, height, columns = 300, 230, 3
    left, top, gap_x, gap_y = 50, 84, 36, 66
    rows = -(-len(panels) // columns)
    svg = Svg(left + columns * (width + gap_x), top + rows * (height + gap_y) - 30)
    svg.text(
        left,
        24,
        "GB/s of input by size of the input, one thread, all elements finite",
        15,
        bold=True,
    )
    legend = {}
    for n, (title, pattern) in enumerate(panels):
        x0, y0 = left + n % columns * (width + gap_x), top + n // columns * (height + gap_y)
        lines = list(lines_of(found, pattern, sizes))
        legend |= {name: (color, dashes) for name, color, dashes, _ in lines}
        end, step = nice_top(max(v for *_, values in lines for v in values if v))
        svg.text(x0, y0 - 8, title, 13, bold=True)
        for value in range(0, int(end) + 1, step):
            y = y0 + height * (1 - value / end)
            svg.line([(x0, y), (x0 + width, y)], GRID, 1)
            svg.text(x0 - 5, y + 4, str(value), 11, "end", FAINT)
        places = [x0 + width * (i + 0.5) / len(sizes) for i in range(len(sizes))]
        for x, size in zip(places, sizes):
            svg.text(x, y0 + height + 16, spaced(size), 11, "middle", FAINT)
        for _, color, dashes, values in lines:
            points = [(x, y0 + height * (1 - v / end)) for x, v in zip(places, values) if v]
            svg.line(points, color, 2, dashes)
            for x, y in points if not dashes else ():
                svg.dot(x, y, color, 3)
    x = left
    for name, (color, dashes) in reversed(legend.items()):
        svg.line([(x, 46), (x + 26, 46)], color, 2.5, dashes)
        svg.text(x + 32, 50, name, 12)
        x += 60 + 7.2 * len(name)
    return str(svg)


def roofline(found):
    """Share of the limit by cell, ours beside the fastest other loop; a dot for each size."""
    known = cells.sizes(found.values())
    rows = [row for row in ROWS if any(row.format(size) in found for size in known)]
    sizes = [
        s
        for s in known
        if cells.size_in_bytes(s) >= 16 << 10 and any(r.format(s) in found for r in rows)
    ]
    left, top, width, pitch, gap, end = 150, 104, 380, 17, 40, 1.2
    bottom = top + pitch * len(rows)
    svg = Svg(left + 2 * (width + gap), bottom + 40)
    svg.text(
        20,
        24,
        "Share of what the machine allows: reading the input and writing the result",
        15,
        bold=True,
    )
    beyond = f"a dot at the right edge is at {100 * end:.0f} % or beyond: its limit is in doubt"
    svg.text(left + 2 * width + gap, 50, beyond, 11, "end", FAINT)
    for n, size in enumerate(sizes):
        svg.dot(26 + 90 * n, 46, BY_SIZE[n % len(BY_SIZE)], 5)
        svg.text(36 + 90 * n, 50, spaced(size), 12)
    panels = (
        ("nonfinite, on the path that it picks", lambda cell: cell.picked()),
        ("fastest other loop", lambda cell: cell.fastest_other()),
    )
    for n, (title, function) in enumerate(panels):
        x0 = left + n * (width + gap)
        svg.text(x0, top - 22, title, 13, bold=True)
        for tenth in range(0, int(end * 10) + 1, 2):
            x = x0 + width * tenth / 10 / end
            svg.line([(x, top - 8), (x, bottom)], INK if tenth == 10 else GRID, 1)
            svg.text(x, bottom + 18, f"{10 * tenth} %", 11, "middle", FAINT)
        for i, row in enumerate(rows):
            y = top + pitch * (i + 0.5)
            sink, fmt, predicate, *_ = row.split("/")
            if i and sink + predicate != "".join(rows[i - 1].split("/")[:3:2]):
                svg.line([(x0, y - pitch / 2), (x0 + width, y - pitch / 2)], GRID, 1)
            if n == 0:
                svg.text(left - 10, y + 4, f"{sink} {fmt} {predicate}", 11, "end")
            for k, size in enumerate(sizes):
                cell = found.get(row.format(size))
                name, limit = (function(cell), best_limit(cell)) if cell else (None, None)
                if name and limit:
                    share = min(cell.times[limit] / cell.times[name], end)
                    # One above the other, for sizes often come out the same.
                    svg.dot(
                        x0 + width * share / end,
                        y + 3 * (k - (len(sizes) - 1) / 2),
                        BY_SIZE[k % len(BY_SIZE)],
                        3,
                    )
    return str(svg)


def best_limit(cell):
    """That of the path picked, for both panels."""
    return cell.limit(cell.paths()[0]) if cell.paths() else None


def plots(found):
    return {"speed-by-size.svg": speed_by_size(found), "roofline.svg": roofline(found)}
