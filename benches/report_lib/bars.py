"""The bars: what each path must reach, and whether it does."""

from . import cells
from .markdown import table

KIB = 1 << 10
# Paths that the bars are for, as the machine has them.
HELD = ("avx2", "avx512")
MAX_DISPATCH_NS = 1.5
# A share above this says that the limit was not one: nothing is held against it.
SOUND = 1.1
# Data with elements that are not finite.
DIRTY = cells.DATA_ORDER[1:-1]
UNCLEAN = cells.DATA_ORDER[1:]

PASS, MISS, BEATEN = "pass", "miss", "limit beaten"


def outcome(passes):
    return PASS if passes else MISS


class Bar:
    """Shares of the limit to reach in L1, by path, and beyond, for the cells that `applies` picks."""

    def __init__(self, title, avx2, avx512, beyond, applies):
        self.title, self.l1, self.beyond, self.applies = title, {"avx2": avx2, "avx512": avx512}, beyond, applies

    def least(self, path, bytes_in):
        if bytes_in < 16 * KIB:
            return None
        return self.l1[path] if bytes_in < 256 * KIB else self.beyond

    def bound(self, path):
        if self.l1[path] == self.beyond:
            return f"at least {self.beyond} from 16 KiB on"
        return f"at least {self.l1[path]} at 16 KiB and {self.beyond} from 256 KiB on"


def clean(cell, sinks, formats):
    return cell.sink in sinks and cell.parts[1] in formats and cell.parts[-1] == "clean"


def small(cell, sinks):
    return cell.sink == "format" and cell.parts[1] in sinks and cell.parts[2].startswith("f8")


ALL = cells.FORMAT_ORDER
BARS = (
    Bar("f32 and f64 masks", 0.75, 0.9, 0.95, lambda c: clean(c, ("mask",), ("f32", "f64"))),
    Bar("f16 and bf16 masks", 0.6, 0.9, 0.95, lambda c: clean(c, ("mask",), ("f16", "bf16"))),
    Bar("fp8 masks", 0.6, 0.9, 0.9, lambda c: small(c, ("mask",))),
    Bar("bits", 0.6, 0.8, 0.9, lambda c: clean(c, ("bits",), ALL) or small(c, ("bits",))),
    Bar("all and position", 0.9, 0.9, 0.95, lambda c: clean(c, ("all", "position"), ALL) or small(c, ("all",))),
    Bar("count and census", 0.85, 0.85, 0.95, lambda c: clean(c, ("count", "census"), ALL) or small(c, ("census",))),
    Bar("dirty and all NaN", 0.4, 0.4, 0.4, lambda c: c.sink in ("count", "census") and c.parts[-1] in UNCLEAN),
)
# Of dirty data: masks beside those of clean data, and the census in GB/s at 16 KiB.
DIRTY_MASKS = 0.6
DIRTY_CENSUS = 150


def verdict(value, outcome):
    return f"{value:.2f}" if outcome == PASS else f"**{value:.2f} {outcome}**"


def shares(bar, path, found):
    """Cell without its size -> size -> (share, outcome)."""
    rows = {}
    for cell in found:
        least, share = bar.least(path, cell.bytes), cell.share(path) if bar.applies(cell) else None
        if least is not None and share is not None:
            size = next(part for part in cell.parts if cells.size_in_bytes(part))
            name = " ".join(part for part in cell.parts if part not in (size, "format", "clean"))
            rows.setdefault(name, {})[size] = (share, BEATEN if share > SOUND else outcome(share >= least))
    return rows


def dirty_masks(path, found):
    """Mask and size -> data -> (speed by that of clean data, outcome)."""
    ours = f"nonfinite {path}"
    known = {cell.name: cell for cell in found if ours in cell.times}
    rows = {}
    for cell in known.values():
        *question, data = cell.parts
        clean = known.get("/".join([*question, "clean"]))
        if cell.sink == "mask" and data in DIRTY and clean:
            value = clean.times[ours] / cell.times[ours]
            rows.setdefault(" ".join(question), {})[data] = (value, outcome(value >= DIRTY_MASKS))
    return rows


def dirty_census(path, found):
    """Format -> data -> (GB/s at 16 KiB, outcome)."""
    rows = {}
    for cell in found:
        speed = cell.gb_per_s(f"nonfinite {path}")
        if cell.sink == "census" and cell.bytes == 16 * KIB and cell.parts[-1] in DIRTY and speed:
            rows.setdefault(cell.parts[1], {})[cell.parts[-1]] = (speed, outcome(speed >= DIRTY_CENSUS))
    return rows


def strided(path, found):
    """Case -> speed by that of the loop one would write, outcome."""
    rows = {}
    for cell in found:
        ours, naive = (cell.times.get(name) for name in (f"nonfinite {path}", "nested loop"))
        if cell.sink == "strided" and ours and naive:
            rows[" ".join(cell.parts[1:])] = {"ratio": (naive / ours, outcome(naive >= ours))}
    return rows


def short(path, found):
    """Elements -> format -> (times of the loop to beat, outcome), and the same for what dispatch adds in ns."""
    times, dispatch = {}, {}
    for cell in found:
        ours, bare = (cell.times.get(f"nonfinite {path}{end}") for end in ("", " without dispatch"))
        if not ours:
            continue
        count = int(cell.parts[3])
        loop, most = ("std", 1.05) if count < 64 else ("std multiversion", 1.0)
        if loop in cell.times:
            value = ours / cell.times[loop]
            times.setdefault(f"{count} to {loop}", {})[cell.parts[1]] = (value, outcome(value <= most))
        if bare:
            added = ours - bare
            dispatch.setdefault(str(count), {})[cell.parts[1]] = (added, outcome(added <= MAX_DISPATCH_NS))
    return times, dispatch


def section(title, bound, first, rows, columns, summary):
    """Adds a line to the summary and returns the table."""
    if not rows:
        return
    outcomes = [found for row in rows.values() for _, found in row.values()]
    summary.append([title, bound, len(outcomes), *map(outcomes.count, (PASS, MISS, BEATEN))])
    lines = [[name, *(verdict(*row[c]) if c in row else "" for c in columns)] for name, row in rows.items()]
    yield f"### {title}: {bound}\n\n" + table([first, *columns], lines)


def place(cell):
    """Sorts cells for the tables of shares: those of all formats last."""
    data = cell.parts[-1] if cell.parts[-1] in UNCLEAN else "clean"
    return (cell.sink == "format", cells.DATA_ORDER.index(data), *cells.order(cell))


def sections(found):
    """A summary of all bars, then each path's figures, folded."""
    shared = sorted((cell for cell in found if cell.sink != "short"), key=place)
    timed = sorted((cell for cell in found if cell.sink == "short"), key=lambda cell: int(cell.parts[3]))
    summary, folded = [], []
    for path in HELD:
        tables = []
        for bar in BARS:
            rows = shares(bar, path, shared)
            columns = sorted({size for row in rows.values() for size in row}, key=cells.size_in_bytes)
            tables += section(f"{bar.title}, {path}", bar.bound(path), "share of the limit", rows, columns, summary)
        rows, bound = dirty_masks(path, shared), f"at least {DIRTY_MASKS} of clean ones"
        tables += section(f"dirty masks, {path}", bound, "times that of clean data", rows, DIRTY, summary)
        rows, bound = dirty_census(path, shared), f"at least {DIRTY_CENSUS} GB/s at 16 KiB"
        tables += section(f"dirty census, {path}", bound, "GB/s", rows, DIRTY, summary)
        bound = "never slower than the nested loop"
        tables += section(f"strided, {path}", bound, "case", strided(path, shared), ["ratio"], summary)
        times, dispatch = short(path, timed)
        bound = "at most 1.05 of std up to 63 elements, then at most 1.00 of std multiversion"
        tables += section(f"short, {path}", bound, "elements", times, cells.FORMAT_ORDER, summary)
        bound = f"at most {MAX_DISPATCH_NS} ns more than without"
        tables += section(f"dispatch, {path}", bound, "elements", dispatch, cells.FORMAT_ORDER, summary)
        if tables:
            inside = "\n".join(tables)
            folded.append(f"<details><summary>Every cell of {path}</summary>\n\n{inside}\n</details>\n")
    if summary:
        yield "## Bars\n\n" + table(["bar", "bound", "cells", PASS, MISS, BEATEN], summary, 2)
    yield from folded
