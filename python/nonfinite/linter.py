"""The lint of models: quantised checkpoints that load without a word and compute garbage."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import nonfinite._native as _native
import nonfinite.report as report
from nonfinite._progress import shown
from nonfinite.files import Path, Progress, as_list
from nonfinite.options import Texts


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found. As text: the line of `nonfinite lint`."""

    rule: str
    """The name of the rule, such as "scale-zero". `nonfinite lint --rules` lists the rules."""
    severity: Literal["error", "warning", "note"]
    file: str
    """The file of the tensor, or of the configuration."""
    tensor: str | None
    """None if the finding is about no tensor that is there."""
    coordinate: tuple[int, ...] | None
    """The index of the first element, if the finding is about elements."""
    message: str
    source: str
    """The evidence: reports of the fault, or the code that relies on the rule."""

    def __str__(self) -> str:
        tensor = "" if self.tensor is None else f": {json.dumps(self.tensor, ensure_ascii=False)}"
        place = "" if self.coordinate is None else f" {list(self.coordinate)}"
        where = f"{self.file}{tensor}{place}"
        return f"{self.severity}[{self.rule}]: {where}: {self.message} ({self.source})"


@dataclass(frozen=True, slots=True)
class LintedFile:
    """A file that was checked."""

    path: str
    complete: bool
    """Whether every tensor that could hold a NaN was looked at."""
    error: str | None
    """Why the file could not be checked."""
    not_looked_at: tuple[report.NotLookedAt, ...]


@dataclass(frozen=True, slots=True)
class LintReport:
    """What `lint` found. A notebook shows it as a page."""

    schema_version: int
    version: str
    complete: bool
    """Whether every file could be read, and every tensor that could hold a NaN was looked at."""
    exit_status: int
    """That of the command: 2 if a file is damaged, else 1 if there is an error, else 2 if not
    complete, or 0. `strict` changes this."""
    findings: tuple[Finding, ...]
    """By folder, the worst first, without those that are allowed or not listed."""
    files: tuple[LintedFile, ...] = field(repr=False)
    no_format: tuple[str, ...]
    """The files of no known format in folders and patterns. They do not count for `complete`."""
    _document: _native.Document = field(repr=False, compare=False)

    @property
    def ok(self) -> bool:
        """Whether everything was looked at, and there is no error. False if there are no files."""
        return self.exit_status == 0 and bool(self.files)

    @property
    def errors(self) -> list[Finding]:
        """The findings with which a loader computes garbage, or cannot load the model."""
        return [found for found in self.findings if found.severity == "error"]

    @property
    def warnings(self) -> list[Finding]:
        """The findings that are probably wrong, or wrong for some loaders."""
        return [found for found in self.findings if found.severity == "warning"]

    def to_json(self) -> str:
        """Return the document of `nonfinite lint --json`, byte for byte, without line feed."""
        return self._document.json()

    def to_html(self) -> str:
        """Return the page of `nonfinite lint --html`."""
        return self._document.page()

    def _repr_html_(self) -> str | None:
        return report.frame(self._document)


def lint(
    paths: Path | Iterable[Path],
    *,
    allow: Texts = (),
    warnings: Literal["off", "on", "notes"] = "on",
    strict: bool = False,
    max_bytes: int | None = None,
    threads: int | None = None,
    progress: Progress = False,
) -> LintReport:
    """Find what makes a checkpoint compute garbage: bad scales, missing tensors, holes.

    `paths` are folders of models, files, patterns, or the index of a sharded set; one of them or
    several. The configuration is read from the folder of each file. The check is included: every
    NaN and infinity is an error.

    `allow` names findings that are meant to be there: "RULE" or "RULE:PATTERN", such as
    "scale-zero:*.lm_head.*". `warnings` says which findings are listed besides errors: none
    ("off"), warnings ("on"), or notes as well ("notes"). `strict`, `max_bytes` and `threads` are
    those of `check`: see `nonfinite.options.Options`.

    A file that could not be checked is in the report, with its `error`, and the report is not
    `complete`. `LintReport.ok` is True if everything was looked at and there is no error.

    Raises OSError (such as FileNotFoundError) for a path that leads to no file of a known format or
    to one that cannot be read, ValueError for no paths, and ValueError or TypeError for a wrong
    option.

    >>> import nonfinite, os, struct, tempfile
    >>> header = b'''{"a.weight": {"dtype": "F8_E4M3", "shape": [2, 2], "data_offsets": [0, 4]},
    ... "a.weight_scale": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}}'''
    >>> model = struct.pack("<Q", len(header)) + header + b"8888" + struct.pack("<f", 0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(os.path.join(folder, "model.safetensors"), "wb") as file:
    ...         count = file.write(model)
    ...     report = nonfinite.lint(folder)
    >>> report.ok, report.complete, len(report.warnings)
    (False, True, 0)
    >>> [(found.rule, found.tensor, found.coordinate) for found in report.errors]
    [('scale-zero', 'a.weight_scale', (0,))]
    """
    options = {"allow": allow, "warnings": warnings, "strict": strict}
    options |= {"max_bytes": max_bytes, "threads": threads}
    document = _native.lint_paths(as_list(paths), options, shown(progress))
    read: dict[str, Any] = json.loads(document.json())
    read |= {"exit_status": document.status, "_document": document}
    linted: LintReport = report.read_as(LintReport, read)
    return linted
