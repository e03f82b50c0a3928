"""Checks on a cluster: Ray, Dask, Spark, or an executor of `concurrent.futures`.

An engine runs a function for each task, somewhere, and returns the results in any order. A task is
a file, or a shard of a set. The engine repeats the tasks of workers that die. Every worker needs
this package, and has to find the files by the same paths or URLs.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Unpack

import nonfinite._native as _native
import nonfinite.report as report
from nonfinite.errors import CheckError
from nonfinite.files import Path, as_list
from nonfinite.options import Options, checked
from nonfinite.report import Report

if TYPE_CHECKING:
    import pyarrow  # type: ignore[import-untyped, unused-ignore]
    from dask.distributed import Client
    from pyspark.sql import SparkSession

Task = tuple[str, dict[str, Any]]
"""A file, and the options of its check."""
Result = tuple[str, str | OSError | None]
"""A file, and its tally. An error if the worker cannot read it, and None for a file that
cannot be checked."""
Engine = Callable[[Callable[[Task], Result], Sequence[Task]], Iterable[Result]]


def check(
    paths: Path | Iterable[Path], engine: Engine | None = None, **options: Unpack[Options]
) -> Report:
    """Check files on a cluster.

    The report is that of `nonfinite.check`, byte for byte. A file is a task. So is each shard of a
    set, and this process compares the index with the headers of the shards. This process also opens
    the files that cannot be checked, for the error of the report. Without an engine, threads of
    this process do the work. A task uses one thread, whatever `threads` is.

    Raises the errors of `nonfinite.check`, those of the engine, and the OSError of a worker that
    cannot read what this process can read.
    """
    arguments = as_list(paths)
    known = checked(options, "check")
    files = dict.fromkeys(_native.list_files(arguments, known))
    found: dict[str, str] = {}
    for path, result in (engine or executor())(tally, [(path, known) for path in files]):
        if isinstance(result, OSError) and os.access(path, os.R_OK):
            raise result
        if isinstance(result, str):
            found[path] = result
    return report.report(_native.merge_paths(arguments, found, known))


def tally(task: Task) -> Result:
    """Make the tally of the file of a task. The function that an engine runs."""
    path, options = task
    try:
        return path, _native.tally_file(path, options | {"threads": 1})
    except CheckError:
        # The driver opens this file again, for the error of the report.
        return path, None
    except OSError as error:
        return path, error


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
