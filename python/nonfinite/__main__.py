"""The command `nonfinite`, also as `python -m nonfinite`."""

import sys

import nonfinite._files as _files


def main() -> int:
    """Run the command with the arguments of the process. Returns the exit status."""
    if sys.argv[1:2] == ["trace"]:
        from nonfinite.trace.command import main as trace

        return trace(sys.argv[2:])
    return _files.run_command(["nonfinite", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
