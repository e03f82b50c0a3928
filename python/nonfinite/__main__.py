"""The command `nonfinite`, also as `python -m nonfinite`."""

import sys

import nonfinite._files as _files


def main() -> int:
    """Run the command with the arguments of the process. Returns the exit status."""
    return _files.run_command(["nonfinite", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
