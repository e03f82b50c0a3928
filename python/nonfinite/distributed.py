"""Checks on a cluster: Ray, Dask, Spark, or an executor of `concurrent.futures`.

An engine runs a function for each task, somewhere, and returns the results in any order. It
repeats the tasks of workers that die. Every worker needs this package, and has to find the files
by the same paths or URLs.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Unpack

import nonfinite._native as _native
import nonfinite.report as report
from nonfinite.cluster import PIECE, Piece, Plan, Tallies, check_pieces, plan
from nonfinite.errors import CheckError, InvalidFileError
from nonfinite.files import Path, as_list
from nonfinite.options import Options, checked
from nonfinite.report import Report

if TYPE_CHECKING:
    import pyarrow  # type: ignore[import-untyped, unused-ignore]
    from dask.distributed import Client
    from pyspark.sql import SparkSession

Task = tuple[int, tuple[Piece, ...]]
"""The number of a file, and some of its pieces."""
Result = tuple[int, Tallies | None]
"""The number of a file, and the findings. None for pieces that are damaged."""
Engine = Callable[[Callable[[Task], Result], Sequence[Task]], Iterable[Result]]


def check(
    paths: Path | Iterable[Path],
    engine: Engine | None = None,
    *,
    piece: int = PIECE,
    **options: Unpack[Options],
) -> Report:
    """Check files on a cluster.

    The report is equal byte for byte to that of `nonfinite.check` with `places=False`. Of .npy,
    .safetensors and .gguf files the driver reads the headers only. `piece` is the number of bytes
    in a task. Without an engine, threads of this process do the work. The option `threads` has no
    meaning here: the engine knows how many tasks run at a time.

    Raises the errors of `nonfinite.check`, and those of the engine.
    """
    arguments = as_list(paths)
    known = checked(options, "check") | {"places": False, "threads": 1}
    plans = list(_plans(_native.list_paths(arguments, known), piece, known))
    tasks = [(number, task) for number, of in enumerate(plans) for task in of.tasks(piece)]
    found: list[list[str] | None] = [[] for _ in plans]
    for number, tallies in (engine or executor())(look, tasks):
        texts = found[number]
        if tallies is None or texts is None:
            found[number] = None
        else:
            texts.append(tallies.json)
    merged = {of.path: (of.json, texts) for of, texts in zip(plans, found) if texts is not None}
    return report.report(_native.merge_paths(arguments, merged, known))


def _plans(paths: Iterable[str], piece: int, options: dict[str, Any]) -> Iterator[Plan]:
    """The plans of files. A file without a plan is left to the driver, which names the error."""
    for path in paths:
        try:
            yield plan(path, piece=piece, **options)
        except (CheckError, OSError, UnicodeError):
            continue


def look(task: Task) -> Result:
    """Look at the pieces of a task. The function that an engine runs."""
    number, pieces = task
    try:
        return number, check_pieces(pieces)
    except InvalidFileError:
        # The driver checks this file again, for the error of the report.
        return number, None


def executor(pool: Executor | None = None) -> Engine:
    """Return an engine for `concurrent.futures`. Without a pool, for threads of this process."""

    def run(function: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[Result]:
        if pool is not None:
            yield from pool.map(function, tasks)
        else:
            with ThreadPoolExecutor() as threads:
                yield from threads.map(function, tasks)

    return run


def ray(**remote: Any) -> Engine:
    """Return an engine for Ray. `remote` are options of `ray.remote`, such as `num_cpus`.

    Ray repeats a task whose worker dies `max_retries` times, 3 by default.
    """

    def run(function: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[Result]:
        import ray

        decorate = ray.remote(**remote) if remote else ray.remote
        on_worker = decorate(function)
        yield from ray.get([on_worker.remote(task) for task in tasks])

    return run


def dask(client: Client) -> Engine:
    """Return an engine for a client of `dask.distributed`.

    Dask repeats a task whose worker dies, as often as `distributed.scheduler.allowed-failures`
    allows.
    """

    def run(function: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[Result]:
        from dask.distributed import as_completed

        completed: Callable[..., Any] = as_completed
        # Tasks of the same content are not pure: a file may have changed since.
        futures = client.map(function, list(tasks), pure=False)
        for _, result in completed(futures, with_results=True):
            yield result

    return run


def spark(session: SparkSession) -> Engine:
    """Return an engine for a session of Spark, by `DataFrame.mapInArrow`.

    Spark repeats a task whose worker dies, as often as `spark.task.maxFailures` allows. With a
    master such as `local[2]` it repeats none, and with `local[2,4]` it tries each four times.
    """

    def run(function: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[Result]:
        def on_worker(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
            import pyarrow

            for batch in batches:
                tasks = (pickle.loads(task) for task in batch.column(0).to_pylist())
                results = [pickle.dumps(function(task)) for task in tasks]
                yield pyarrow.RecordBatch.from_arrays([pyarrow.array(results, "binary")], ["it"])

        if not tasks:
            return
        rows = [(bytearray(pickle.dumps(task)),) for task in tasks]
        frame = session.createDataFrame(rows, "it binary").repartition(len(tasks))
        for row in frame.mapInArrow(on_worker, "it binary").collect():
            yield pickle.loads(row[0])

    return run
