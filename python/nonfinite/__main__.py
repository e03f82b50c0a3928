"""The command `nonfinite`, also as `python -m nonfinite`."""

import contextlib
import os
import signal
import sys

import nonfinite._native as _native

HELP = """
Only in the package of Python:
  trace        Run an ONNX model, and name the node that made the first NaN
"""


def main() -> int:
    """Run the command with the arguments of the process. Returns the exit status."""
    if sys.argv[1:2] == ["trace"]:
        from nonfinite.trace.command import main as trace

        return trace(sys.argv[2:])
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # The native command handles Ctrl-C, unless the parent process ignores it.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    status = _native.run_command(["nonfinite", *sys.argv[1:]])
    if sys.argv[1:] in (["--help"], ["-h"], ["help"]):
        # Written past Python's buffer, as the text above, and ignored by a pager that has ended.
        with contextlib.suppress(BrokenPipeError):
            os.write(1, HELP.encode())
    return status


if __name__ == "__main__":
    sys.exit(main())
