"""The native functions that check files. Their types are in `_files.pyi`."""

from nonfinite._native import (
    Document,
    add_tallies,
    check_one,
    check_paths,
    fix_one,
    list_paths,
    look_at_pieces,
    merge_file,
    merge_paths,
    plan_file,
    run_command,
)

__all__ = [
    "Document",
    "add_tallies",
    "check_one",
    "check_paths",
    "fix_one",
    "list_paths",
    "look_at_pieces",
    "merge_file",
    "merge_paths",
    "plan_file",
    "run_command",
]
