"""The picture of README.md: speed by size, beside other loops, from a run of `benches/peers`."""

from html import escape
from math import ceil, floor, log2

from . import peers

PANELS = (
    ("all_finite, f32", "all/finite", "f32"),
    ("is_finite into a mask, f32", "mask/finite", "f32"),
    ("census, bf16", "census/all", "bf16"),
)
# Colours that also differ for the colour-blind (Okabe and Ito).
LINES = (
    ("nonfinite", "ours", 2.6),
    ("fastest of all other loops at this size", "other", 2),
    ("plain loop of rustc", "plain", 2),
)
STYLE = """
.ours{stroke:#d55e00;fill:#d55e00}.other{stroke:#0072b2;fill:#0072b2}
.plain{stroke:#8a8a8a;fill:#8a8a8a}.grid{stroke:#dddddd}.page{fill:#ffffff}
text{fill:#222222;font:12px "DejaVu Sans",Helvetica,Arial,sans-serif}
.bold{font-weight:bold}.faint{fill:#666666;font-size:11px}
@media (prefers-color-scheme:dark){.page{fill:#0d1117}.grid{stroke:#30363d}text{fill:#e6edf3}
.faint{fill:#9198a1}.other{stroke:#56b4e9;fill:#56b4e9}.ours{stroke:#ff8c3a;fill:#ff8c3a}}
"""
WIDTH, HEIGHT, LEFT, TOP, GAP = 250, 150, 40, 74, 42
TICKS = ((32, "32 B"), (256, "256"), (1 << 10, "1 KiB"), (4 << 10, "4"), (16 << 10, "16"))
TICKS += ((256 << 10, "256 KiB"),)
# Inputs begin 16 bytes behind a multiple of 64, where malloc puts long ones.
OFFSET = 16


def speeds(found, question, fmt):
    """Class of a line -> its points, as bytes and GB/s, of clean data."""
    lines = {name: {} for _, name, _ in LINES}
    for cell, rows in found.items():
        if (cell.question, cell.format, cell.data, cell.offset) != (question, fmt, "clean", OFFSET):
            continue
        backend = next(b for b in peers.BACKENDS if f"nonfinite {b}" in rows)
        times = {
            "ours": rows[f"nonfinite {backend}"],
            "other": peers.other(rows, backend)[0],
            "plain": rows["std"],
        }
        for name, time in times.items():
            lines[name][cell.bytes] = cell.bytes / time
    return {name: sorted(points.items()) for name, points in lines.items()}


def panel(x0, title, lines):
    speeds = [log2(speed) for points in lines.values() for _, speed in points]
    bottom, top = floor(min(speeds)), ceil(max(speeds))
    first, last = (log2(lines["ours"][end][0]) for end in (0, -1))

    def x(size):
        return x0 + WIDTH * (log2(size) - first) / (last - first)

    def y(speed):
        return TOP + HEIGHT * (top - log2(speed)) / (top - bottom)

    yield f'<text x="{x0}" y="{TOP - 10}" class="bold">{escape(title)}</text>'
    for speed in (2**power for power in range(bottom, top + 1)):
        yield f'<path d="M{x0} {y(speed):.1f}h{WIDTH}" class="grid"/>'
        yield (
            f'<text x="{x0 - 5}" y="{y(speed) + 4:.1f}" class="faint" text-anchor="end">'
            f"{speed}</text>"
        )
    for size, text in TICKS:
        if first <= log2(size) <= last:
            yield (
                f'<text x="{x(size):.1f}" y="{TOP + HEIGHT + 17}" class="faint" '
                f'text-anchor="middle">{text}</text>'
            )
    for _, name, width in reversed(LINES):
        points = " ".join(f"{x(size):.1f},{y(speed):.1f}" for size, speed in lines[name])
        yield (
            f'<polyline points="{points}" class="{name}" style="fill:none" '
            f'stroke-width="{width}"/>'
        )


def draw(found, cpu):
    width, height = LEFT + len(PANELS) * (WIDTH + GAP) - 20, TOP + HEIGHT + 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">',
        f"<style>{STYLE}</style>",
        f'<rect width="{width}" height="{height}" rx="6" class="page"/>',
        f'<text x="{LEFT}" y="22" class="bold">GB/s by size of the input, both logarithmic: one '
        f"thread, finite elements, placed as malloc does, {escape(cpu)}</text>",
    ]
    at = LEFT
    for text, name, _ in LINES:
        parts.append(f'<path d="M{at} 39h22" class="{name}" stroke-width="2.6"/>')
        parts.append(f'<text x="{at + 28}" y="43">{text}</text>')
        at += 60 + 7 * len(text)
    for n, (title, question, fmt) in enumerate(PANELS):
        parts += panel(LEFT + n * (WIDTH + GAP), title, speeds(found, question, fmt))
    return "\n".join([*parts, "</svg>"]) + "\n"
