"""Nanoseconds a call, beside numpy, bottleneck, torch and pyarrow: `python benches/calls.py`.

Each line is the least of several rounds, less the cost of the empty loop. What is not installed is
left out.
"""

from __future__ import annotations

import importlib
import timeit
from typing import Any

import nonfinite as nf

# Many short rounds: on a shared machine a few of them are undisturbed.
ROUNDS = 150


def optional(name: str) -> Any:
    """The module, or None."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


np, torch, pa = optional("numpy"), optional("torch"), optional("pyarrow")
ml_dtypes, bottleneck = optional("ml_dtypes"), optional("bottleneck")


def nanoseconds(statement: str, names: dict[str, Any]) -> float:
    """The least time of a call in ns, without the loop."""
    timer = timeit.Timer(statement, globals=names)
    empty = timeit.Timer("pass", globals=names)
    calls = 1
    while timer.timeit(calls) < 0.001:
        calls *= 2
    loop = min(empty.repeat(ROUNDS, calls))
    return max(0.0, (min(timer.repeat(ROUNDS, calls)) - loop) / calls * 1e9)


def print_line(what: str, statement: str, names: dict[str, Any]) -> None:
    """One line of the table of calls."""
    print(f"| {what} | `{statement}` | {nanoseconds(statement, names):,.1f} |", flush=True)


def calls() -> None:
    """The cost of a call with 64 elements."""
    print("| input (64 elements) | call | ns |")
    print("|---|---|--:|")
    names: dict[str, Any] = {**vars(nf), "np": np, "torch": torch, "bn": bottleneck}
    lines = [("number", "id(1.0)"), ("number", "all_finite(1.0)")]
    if np:
        names |= {
            "a": np.ones(64, np.float32),
            "d": np.ones(64),
            "s": np.ones(128, np.float32)[::2],
            "m": np.ones((8, 16), np.float32)[:, ::2],
            "w": np.ones(64, ">f4"),
            "out": np.zeros(64, bool),
            "i": np.arange(64),
        }
        of_f32 = [
            "all_finite(a)", "any_nan(a)", 'any(a, "nan")', 'count(a, "nan")', 'position(a, "nan")',
            "census(a)", 'mask(a, "finite", out)', 'mask(a, "finite", out=out)',
            "is_finite(a, out)", "is_finite(a)", "assert_finite(a)", "nan_to_num(a)",
            "nan_to_num(a, copy=False)", "np.isfinite(a, out=out)", "np.isfinite(a)",
            "np.isfinite(a).all()", "np.nan_to_num(a)",
        ]  # fmt: skip
        lines += [("f32", each) for each in of_f32]
        lines += [
            ("f64", "all_finite(d)"), ("f32 [::2]", "all_finite(s)"),
            ("f32 [::2]", "np.isfinite(s).all()"), ("f32 8x8 of 8x16", "all_finite(m)"),
            ("f32, other byte order", "all_finite(w)"), ("int64", "all_finite(i)"),
            ("memoryview of f32", "all_finite(v)"),
        ]  # fmt: skip
        names["v"] = memoryview(names["a"])
    if bottleneck:
        lines.append(("f32", "bn.anynan(a)"))
    if ml_dtypes and np:
        for name in ("bfloat16", "float8_e4m3fn"):
            names[name] = np.ones(64, getattr(ml_dtypes, name))
            lines.append((name, f"all_finite({name})"))
            lines.append((name, f"np.isfinite({name}).all()"))
    if torch:
        names |= {"t": torch.ones(64), "ts": torch.ones(128)[::2], "tb": torch.ones(64).bfloat16()}
        names["p"] = torch.nn.Parameter(torch.ones(64))
        lines += [
            ("torch f32", "all_finite(t)"),
            ("torch f32 parameter", "all_finite(p)"),
            ("torch bf16", "all_finite(tb)"),
            ("torch f32 [::2]", "all_finite(ts)"),
            ("torch f32", "torch.isfinite(t).all()"),
        ]
    if pa:
        import pyarrow.compute

        names |= {"r": pa.array([1.0] * 64), "pc": pyarrow.compute}
        lines += [("Arrow f64", "all_finite(r)"), ("Arrow f64", "pc.all(pc.is_finite(r))")]
    for what, statement in lines:
        print_line(what, statement, names)


if __name__ == "__main__":
    calls()
